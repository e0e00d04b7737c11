package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/internal/config"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/workflows"
)

// pollEvery is how often a watched run is looked at.
const pollEvery = 400 * time.Millisecond

func (a *app) watchCommand() *cobra.Command {
	var asked bool
	c := &cobra.Command{
		Use: "watch TABLE", Short: "Follow a purge until it ends; the exit code is its outcome", Args: cobra.ExactArgs(1),
		Example: "  lakewarden watch bronze.vendas",
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, _, err := a.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer cl.Close()
			v := a.view(a.err)
			v.untilAsked = asked
			return a.watchBy(cmd.Context(), v, cl, workflowID(args[0]), "")
		},
	}
	c.Flags().BoolVar(&asked, "until-asked", false, "stop watching, with exit code 0, when the run waits for a person")
	return c
}

func (a *app) view(w io.Writer) *view {
	return &view{w: w, tty: isTerminal(w), flags: a.flags, now: a.now}
}

// watch follows a run until it ends, then prints its result.
func (a *app) watch(ctx context.Context, cl client.Client, id, runID string) error {
	return a.watchBy(ctx, a.view(a.err), cl, id, runID)
}

func (a *app) watchBy(ctx context.Context, v *view, cl client.Client, id, runID string) error {
	r, err := v.follow(ctx, cl, id, runID)
	if errors.Is(err, errAsked) {
		return nil
	}
	if ctx.Err() != nil { // Ctrl-C ends the watching, not the run
		table := strings.TrimPrefix(id, workflows.PurgeID(""))
		return fmt.Errorf("no longer watching; %s goes on\n  look: %s\n  cancel it: %s", id, command(a.flags, "status", table), command(a.flags, "cancel", table))
	}
	return a.finish(r, err)
}

// follow shows a run's stages and progress until it ends; it gives the
// result and the error with which the run ended.
func (v *view) follow(ctx context.Context, cl client.Client, id, runID string) (workflows.PurgeResult, error) {
	done := make(chan error, 1)
	var result workflows.PurgeResult
	go func() { done <- cl.GetWorkflow(ctx, id, runID).Get(ctx, &result) }()
	defer v.close()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return result, err
		case <-tick.C:
			v.show(ctx, cl, id, runID)
			if v.untilAsked && (v.stage == workflows.StageApproval || v.stage == workflows.StageHeld) {
				return result, errAsked
			}
		}
	}
}

// finish prints a run's result and turns its outcome into an exit code.
func (a *app) finish(r workflows.PurgeResult, err error) error {
	var app *temporal.ApplicationError
	if errors.As(err, &app) && app.HasDetails() {
		_ = app.Details(&r) // a failure without our details is still reported below
	}
	var cancelled *temporal.CanceledError
	if errors.As(err, &cancelled) && cancelled.HasDetails() {
		_ = cancelled.Details(&r)
	}
	if r.Outcome == "" && err != nil {
		return plain(err)
	}
	if perr := a.print(r, func(w io.Writer) { printResult(w, r) }); perr != nil {
		return perr
	}
	if err != nil || r.Outcome == workflows.OutcomeSkipped {
		return quietError{r.Outcome}
	}
	return nil
}

func printResult(w io.Writer, r workflows.PurgeResult) {
	fmt.Fprintf(w, "%s: %s\n", r.Table, r.Outcome)
	if r.Message != "" {
		fmt.Fprintf(w, "  %s\n", r.Message)
	}
	if r.RunID == "" {
		return
	}
	fmt.Fprintf(w, "  run           %s\n", r.RunID)
	if r.Cutoff != "" {
		fmt.Fprintf(w, "  cutoff        %s\n", r.Cutoff)
	}
	if r.RowsDue != nil {
		fmt.Fprintf(w, "  rows due      %d\n", *r.RowsDue)
	}
	fmt.Fprintf(w, "  rows          marked %s, archived %s, deleted %s, held %s, released %s, undated %s\n", evidence.Count(r.RowsMarked),
		evidence.Count(r.RowsArchived), evidence.Count(r.RowsDeleted), evidence.Count(r.RowsHeld), evidence.Count(r.RowsReleased), evidence.Count(r.RowsUndated))
	if r.ArchiveTable != "" {
		fmt.Fprintf(w, "  archive       %s\n", r.ArchiveTable)
	}
	if r.AuditHead != "" {
		fmt.Fprintf(w, "  audit         %s, head %s\n", r.AuditTable, r.AuditHead)
	}
	if r.ErasureDue != nil {
		fmt.Fprintf(w, "  erasure due   %s, proved by workflow %s\n", r.ErasureDue.UTC().Format(time.RFC3339), r.ErasureID)
	}
}

// errAsked ends the following of a run that waits for a person.
var errAsked = errors.New("the run waits for a person")

// view draws stages as lines and the running activity as a bar.
type view struct {
	w     io.Writer
	tty   bool
	stage string
	bar   *progressbar.ProgressBar
	phase string
	flags config.Flags // of this call, which the commands shown repeat
	now   func() time.Time
	alone bool // it was said that no worker is there
	// untilAsked ends the following when a person has to act.
	untilAsked bool
	// attempts are the newest that were printed, by step.
	attempts map[string]int32
}

func (v *view) show(ctx context.Context, cl client.Client, id, runID string) {
	s, err := queryStatus(ctx, cl, id, runID)
	if err != nil {
		v.waits(nobodyWorks(ctx, cl, id, v.now()))
		return // no worker yet, or just ended: the next look tells
	}
	v.alone = false
	if s.Stage != v.stage {
		v.close()
		v.stage = s.Stage
		fmt.Fprintf(v.w, "%s  %s\n", s.Since.UTC().Format("15:04:05"), stageLine(s, v.flags))
	}
	acts := describe(ctx, cl, id, runID).GetPendingActivities()
	v.failed(retries(acts))
	if v.tty {
		v.progress(heartbeat(acts))
	}
}

// waits says once that nobody works on the run.
func (v *view) waits(why string) {
	if why == "" || v.alone {
		return
	}
	v.alone = true
	fmt.Fprintf(v.w, "          waiting: %s\n", why)
}

// failed prints each new attempt once.
func (v *view) failed(rs []retrying) {
	for _, r := range rs {
		if v.attempts[r.Step] == r.Attempt {
			continue
		}
		if v.attempts == nil {
			v.attempts = map[string]int32{}
		}
		v.attempts[r.Step] = r.Attempt
		v.close()
		fmt.Fprintf(v.w, "          %s\n", r)
	}
}

func stageLine(s workflows.Status, f config.Flags) string {
	if s.Stage == workflows.StageApproval && s.Approval != nil {
		who := "anyone but who asked"
		if len(s.Approval.Approvers) > 0 {
			who = strings.Join(s.Approval.Approvers, ", ")
		}
		return fmt.Sprintf("waiting for approval of %d rows until %s, by %s\n          %s",
			s.Approval.Rows, s.Approval.Deadline.UTC().Format(time.RFC3339), who, strings.Join(nextCommands(s, f), "\n          "))
	}
	if s.Next != "" {
		return s.Stage + ": " + s.Error + "\n          " + s.Next
	}
	return s.Stage
}

// heartbeat reads what the running activity last reported.
func heartbeat(acts []*workflowpb.PendingActivityInfo) (p activities.Progress) {
	for _, act := range acts {
		if h := act.GetHeartbeatDetails(); h != nil {
			if converter.GetDefaultDataConverter().FromPayloads(h, &p) == nil && p.FilesTotal > 0 {
				return p
			}
		}
	}
	return activities.Progress{}
}

func (v *view) progress(p activities.Progress) {
	if p.FilesTotal == 0 {
		return
	}
	if v.bar == nil || v.phase != p.Phase {
		v.close()
		v.phase = p.Phase
		v.bar = progressbar.NewOptions(p.FilesTotal, progressbar.OptionSetWriter(v.w), progressbar.OptionSetDescription("          "+p.Phase),
			progressbar.OptionShowCount(), progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish())
	}
	_ = v.bar.Set(p.FilesDone) // a bar that cannot be drawn is no reason to stop watching
}

func (v *view) close() {
	if v.bar != nil {
		_ = v.bar.Clear()
		v.bar = nil
	}
}
