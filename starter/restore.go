package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

func (a *app) restoreCommand() *cobra.Command {
	req := spec.RestoreRequest{APIVersion: spec.APIVersion, Kind: spec.KindRestoreRequest}
	var wait bool
	c := &cobra.Command{
		Use: "restore RUN_ID --keys id --hold-until 2026-12-31 --reason why", Short: "Put archived rows of a run back, and hold them", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.RunID = args[0]
			if req.RequestedBy == "" {
				req.RequestedBy = me()
			}
			if err := req.Defaults().Validate(nil).Err(); err != nil {
				return err
			}
			return a.startRestore(cmd.Context(), req, wait)
		},
	}
	f := c.Flags()
	f.StringVar(&req.Where, "where", "", "SQL predicate over the archived rows (default: all of the run)")
	f.StringSliceVar(&req.Keys, "keys", nil, "key columns, by which the rows are held and a key that exists in the table refuses the restore; only --dry-run goes without")
	f.StringVar(&req.HoldUntil, "hold-until", "", "day until which the rows are not purged again, as yyyy-MM-dd")
	f.StringVar(&req.Reason, "reason", "", "why, for the table of holds")
	f.StringVar(&req.RequestedBy, "requested-by", "", "who asks (default: you)")
	f.StringVar(&req.Audit.Table, "audit", "", "audit table of the run (default "+spec.DefaultAuditTable+")")
	f.BoolVar(&req.DryRun, "dry-run", false, "count and report, and change nothing")
	f.BoolVar(&wait, "wait", true, "wait for the result")
	cobra.CheckErr(c.MarkFlagRequired("hold-until"))
	cobra.CheckErr(c.MarkFlagRequired("reason"))
	return c
}

func (a *app) startRestore(ctx context.Context, req spec.RestoreRequest, wait bool) error {
	cl, cfg, err := a.dial(ctx)
	if err != nil {
		return err
	}
	defer cl.Close()
	s, err := startWorkflow(ctx, cl, cfg, workflows.TypeRestorePurge, workflows.RestoreID(req.RunID), "Restore rows of run "+req.RunID, req.Reason, req)
	if err != nil {
		return err
	}
	if !wait {
		return a.print(s, func(w io.Writer) { fmt.Fprintf(w, "started workflow %s (run %s)\n", s.WorkflowID, s.RunID) })
	}
	var r workflows.RestoreResult
	if err := cl.GetWorkflow(ctx, s.WorkflowID, s.RunID).Get(ctx, &r); err != nil {
		return fmt.Errorf("restore of run %s: %w", req.RunID, plain(err))
	}
	return a.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s\n", r.Table, r.Outcome)
		if r.Rows != nil {
			fmt.Fprintf(w, "  rows   %s, held until %s\n", evidence.Count(r.Rows.RowsRestored), moment(r.Rows.HoldUntil))
		}
	})
}
