package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"

	"github.com/lakewarden/lakewarden/internal/config"
	"github.com/lakewarden/lakewarden/workflows"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status TABLE", Short: "Show the state of a table's newest purge, and the next command", Args: cobra.ExactArgs(1),
		Long: "Show the state of the newest purge of a table, or of a workflow by its ID (purge:bronze.vendas, erasure:RUN_ID).",
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, _, err := a.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer cl.Close()
			id := workflowID(args[0])
			s, err := queryStatus(cmd.Context(), cl, id, "")
			if err != nil {
				if why := nobodyWorks(cmd.Context(), cl, id, a.now()); why != "" {
					return fmt.Errorf("status of %s: %s", id, why)
				}
				return err
			}
			d := describe(cmd.Context(), cl, id, "")
			shown := shownStatus{Status: s, Retrying: retries(d.GetPendingActivities())}
			if s.Outcome == "" {
				shown.Ended = endedWithout(d.GetWorkflowExecutionInfo())
			}
			if shown.Ended != "" {
				shown.Next = "" // nobody listens any more
			}
			return a.print(shown, func(w io.Writer) { shown.text(w, a.flags) })
		},
	}
}

// shownStatus is a workflow's own state and what the server knows beside it.
type shownStatus struct {
	workflows.Status
	Retrying []retrying `json:"retrying,omitempty"`
	// Ended says that the workflow is over although its state is not: it was
	// terminated or timed out.
	Ended string `json:"ended,omitempty"`
}

// endedWithout says how a workflow ended that recorded no outcome; "" when it
// runs, or that is not known.
func endedWithout(info *workflowpb.WorkflowExecutionInfo) string {
	if info.GetCloseTime() == nil {
		return ""
	}
	return fmt.Sprintf("the workflow is over since %s (%s) without an outcome: what follows is its last state; the next purge of the table undoes or records what it left",
		info.GetCloseTime().AsTime().Format(time.RFC3339), strings.ToLower(info.GetStatus().String()))
}

func (s *shownStatus) text(w io.Writer, f config.Flags) {
	if s.Ended != "" {
		fmt.Fprintln(w, s.Ended)
	}
	fmt.Fprintln(w, plainText(s.Markdown()))
	if s.Ended != "" {
		return
	}
	if next := nextCommands(s.Status, f); len(next) > 0 {
		fmt.Fprintln(w, "here:\n  "+strings.Join(next, "\n  "))
	}
	for _, r := range s.Retrying {
		fmt.Fprintln(w, r)
	}
}

func queryStatus(ctx context.Context, cl client.Client, id, runID string) (workflows.Status, error) {
	var s workflows.Status
	v, err := cl.QueryWorkflow(ctx, id, runID, workflows.QueryStatus)
	if err != nil {
		return s, fmt.Errorf("status of %s: %w", id, err)
	}
	if err := v.Get(&s); err != nil {
		return s, fmt.Errorf("status of %s: %w", id, err)
	}
	return s, nil
}
