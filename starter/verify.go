package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lakewarden/lakewarden/internal/runcheck"
	"github.com/lakewarden/lakewarden/spec"
)

func (a *app) verifyCommand() *cobra.Command {
	var audit string
	c := &cobra.Command{
		Use: "verify RUN_ID", Short: "Check a run against table, archive and audit, without Temporal", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := a.lake()
			if err != nil {
				return err
			}
			r, err := runcheck.Verify(cmd.Context(), l, a.env(), audit, args[0])
			if err != nil {
				return err
			}
			if err := a.print(r, func(w io.Writer) { printChecks(w, r) }); err != nil {
				return err
			}
			if !r.OK {
				return quietError{"a check failed"}
			}
			return nil
		},
	}
	c.Flags().StringVar(&audit, "audit", spec.DefaultAuditTable, "audit table of the run")
	return c
}

func printChecks(w io.Writer, r *runcheck.Report) {
	fmt.Fprintf(w, "run %s of %s: %s\n", r.RunID, r.Table, r.Status)
	for _, c := range r.Checks {
		mark := "ok  "
		if !c.OK {
			mark = "FAIL"
		}
		fmt.Fprintf(w, "  %s  %s: %s\n", mark, c.Name, c.Detail)
	}
	for _, d := range r.Due {
		fmt.Fprintf(w, "  due   %s\n", d)
	}
}
