package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/lakewarden/lakewarden/workflows"
)

// decideCommand is approve or reject.
func (a *app) decideCommand(update string) *cobra.Command {
	var d workflows.Decision
	short := map[string]string{
		workflows.UpdateApprove: "Let a purge that waits for approval go on",
		workflows.UpdateReject:  "Stop a purge that waits for approval, and undo it",
	}[update]
	c := &cobra.Command{
		Use: update + " TABLE", Short: short, Args: cobra.ExactArgs(1),
		Example: fmt.Sprintf("  lakewarden %s bronze.vendas --by dpo --digest 1f0e9d8c7b6a5f4e", update),
		RunE: func(cmd *cobra.Command, args []string) error {
			var state workflows.Approval
			if err := a.update(cmd.Context(), args[0], update, d, &state); err != nil {
				return err
			}
			return a.print(state, func(w io.Writer) { fmt.Fprintf(w, "%s by %s: %d rows\n", state.State, state.By, state.Rows) })
		},
	}
	c.Flags().StringVar(&d.By, "by", me(), "who decides")
	c.Flags().StringVar(&d.Digest, "digest", "", "digest that the status shows: it binds the decision to what you saw")
	c.Flags().StringVar(&d.Reason, "reason", "", "why: the status shows it, and the audit row of a rejection")
	cobra.CheckErr(c.MarkFlagRequired("digest"))
	return c
}

// update sends an update to a table's purge and waits for its answer.
func (a *app) update(ctx context.Context, table, name string, arg, answer any) error {
	cl, _, err := a.dial(ctx)
	if err != nil {
		return err
	}
	defer cl.Close()
	return updateWorkflow(ctx, cl, workflowID(table), name, arg, answer)
}

func updateWorkflow(ctx context.Context, cl client.Client, id, name string, arg, answer any) error {
	h, err := cl.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: name, WaitForStage: client.WorkflowUpdateStageCompleted, Args: []any{arg},
	})
	if err == nil {
		err = h.Get(ctx, answer)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", name, id, plain(err))
	}
	return nil
}

func (a *app) retryCommand() *cobra.Command {
	return &cobra.Command{
		Use: "retry TABLE", Short: "Try again what holds a purge after its delete", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var said string
			if err := a.update(cmd.Context(), args[0], workflows.UpdateRetry, workflows.RetryRequest{By: me()}, &said); err != nil {
				return err
			}
			return a.print(map[string]string{"answer": said}, func(w io.Writer) { fmt.Fprintln(w, said) })
		},
	}
}

func (a *app) cancelCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cancel TABLE", Short: "Cancel a purge; what it did before its delete is undone", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, _, err := a.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer cl.Close()
			id := workflowID(args[0])
			d, err := cl.DescribeWorkflow(cmd.Context(), id, "")
			if err != nil {
				return fmt.Errorf("cancel %s: %w", id, err)
			}
			if info := d.RawResponse.GetWorkflowExecutionInfo(); info.GetCloseTime() != nil {
				return fmt.Errorf("cancel %s: it ended at %s (%s): there is nothing to cancel; its outcome: lakewarden status %s",
					id, info.GetCloseTime().AsTime().Format(time.RFC3339), strings.ToLower(info.GetStatus().String()), args[0])
			}
			failing := retries(d.RawResponse.GetPendingActivities()) // a cancelled step no longer shows why it failed
			if err := cl.CancelWorkflow(cmd.Context(), id, ""); err != nil {
				return fmt.Errorf("cancel %s: %w", id, err)
			}
			answer := map[string]any{"cancel_requested": id}
			if len(failing) > 0 {
				answer["retrying"] = failing
			}
			return a.print(answer, func(w io.Writer) {
				for _, r := range failing {
					fmt.Fprintln(w, r)
				}
				fmt.Fprintf(w, "cancel requested; see how it ends: lakewarden status %s\n", args[0])
			})
		},
	}
}
