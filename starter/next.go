package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/lakewarden/lakewarden/internal/config"
	"github.com/lakewarden/lakewarden/workflows"
)

// program is how this program was called.
var program = "lakewarden"

// command is a call of this program that works as pasted: it repeats how this
// call was told to reach the server.
func command(f config.Flags, args ...string) string {
	words := append([]string{program}, args...)
	queue := f.Queue
	if args[0] != "run" { // the others find the run by its workflow
		queue = ""
	}
	if f.Namespace == client.DefaultNamespace {
		f.Namespace = ""
	}
	for _, flag := range []struct{ name, value string }{
		{"--config", f.File}, {"--address", f.Address}, {"--namespace", f.Namespace}, {"--profile", f.Profile}, {"--queue", queue},
	} {
		if flag.value != "" {
			words = append(words, flag.name, flag.value)
		}
	}
	for i, w := range words {
		words[i] = quoted(w)
	}
	return strings.Join(words, " ")
}

// quoted makes a word safe for a shell.
func quoted(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t\n\"'`$&|;<>()*?[]#~\\!{}") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// nextCommands are the calls by which a person moves a run on.
func nextCommands(s workflows.Status, f config.Flags) []string {
	switch {
	case s.Stage == workflows.StageApproval && s.Approval != nil && s.Approval.State == workflows.ApprovalWaiting:
		by := me()
		if len(s.Approval.Approvers) > 0 {
			by = s.Approval.Approvers[0]
		}
		return []string{
			command(f, workflows.UpdateApprove, s.Table, "--by", by, "--digest", s.Approval.Digest),
			command(f, workflows.UpdateReject, s.Table, "--by", by, "--digest", s.Approval.Digest, "--reason", "not now"),
		}
	case s.Stage == workflows.StageHeld:
		return []string{command(f, workflows.UpdateRetry, s.Table)}
	}
	return nil
}

// nobodyWorks says that a workflow does not answer since no worker polls its
// queue; "" when that is not the reason, or not known.
func nobodyWorks(ctx context.Context, cl client.Client, id string, now time.Time) string {
	queue := describe(ctx, cl, id, "").GetExecutionConfig().GetTaskQueue().GetName()
	if queue == "" {
		return ""
	}
	if n, err := workersOn(ctx, cl, queue, now); err != nil || n > 0 {
		return ""
	}
	return fmt.Sprintf("no worker polls its queue %s; start one: worker --queue %s --root URL", queue, quoted(queue))
}
