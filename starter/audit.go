package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
)

func (a *app) auditCommand() *cobra.Command {
	var name string
	c := &cobra.Command{Use: "audit", Short: "Read and verify the audit table"}
	c.PersistentFlags().StringVar(&name, "audit", spec.DefaultAuditTable, "audit table")
	c.AddCommand(a.auditList(&name), a.auditVerify(&name))
	return c
}

func (a *app) auditRows(cmd *cobra.Command, name string) ([]evidence.AuditRow, error) {
	l, err := a.lake()
	if err != nil {
		return nil, err
	}
	store, err := l.Table(cmd.Context(), name)
	if err != nil {
		return nil, err
	}
	return auditlog.New(store, a.env()).Rows(cmd.Context())
}

func (a *app) auditList(name *string) *cobra.Command {
	var run, table string
	c := &cobra.Command{
		Use: "list", Short: "List what runs did, oldest first", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows, err := a.auditRows(cmd, *name)
			if err != nil {
				return err
			}
			shown := []evidence.AuditRow{}
			slices.SortStableFunc(rows, func(x, y evidence.AuditRow) int { return x.ExecTime.Compare(y.ExecTime) })
			for _, r := range rows {
				if (run == "" || r.RunID == run) && (table == "" || r.TargetTable == table) {
					shown = append(shown, r)
				}
			}
			return a.print(shown, func(w io.Writer) { printAudit(w, shown) })
		},
	}
	c.Flags().StringVar(&run, "run", "", "only this run")
	c.Flags().StringVar(&table, "table", "", "only this table")
	return c
}

// counted is a count of a row; nothing for the later rows of a run, which repeat
// no counts of the first.
func counted(status string, n *int64) string {
	switch status {
	case evidence.StatusVacuumed, evidence.StatusErased, evidence.StatusErasureIncomplete:
		if n == nil {
			return ""
		}
	}
	return evidence.Count(n)
}

func printAudit(w io.Writer, rows []evidence.AuditRow) {
	lines := make([][]string, len(rows))
	for i, r := range rows {
		lines[i] = []string{
			r.ExecTime.UTC().Format(time.DateTime), r.TargetTable, r.Status, counted(r.Status, r.RowsMarked), counted(r.Status, r.RowsArchived), counted(r.Status, r.RowsDeleted), r.ApprovedBy, r.RunID,
		}
	}
	printTable(w, []string{"time (UTC)", "table", "status", "marked", "archived", "deleted", "approved by", "run"}, lines)
}

func (a *app) auditVerify(name *string) *cobra.Command {
	var anchor string
	c := &cobra.Command{
		Use: "verify", Short: "Look for edited, removed or reordered audit rows", Args: cobra.NoArgs,
		Long: "Verify the hash chain of the audit table. With --anchor, a row_hash kept elsewhere (a workflow result, a\nnotification, a certificate), a cut tail is found as well.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			rows, err := a.auditRows(cmd, *name)
			if err != nil {
				return err
			}
			r := evidence.Verify(rows, anchor)
			if err := a.print(r, func(w io.Writer) { printChain(w, r) }); err != nil {
				return err
			}
			if !r.OK() {
				return quietError{"the audit chain is broken"}
			}
			return nil
		},
	}
	c.Flags().StringVar(&anchor, "anchor", "", "row_hash that must be in the chain")
	return c
}

func printChain(w io.Writer, r evidence.ChainReport) {
	if r.OK() {
		fmt.Fprintf(w, "the audit chain is whole: %d rows, head %s\n", r.Sealed, r.Head)
		return
	}
	fmt.Fprintf(w, "the audit chain is broken: %d findings in %d rows\n", len(r.Findings), r.Sealed)
	for _, f := range r.Findings {
		fmt.Fprintf(w, "  %s\n", f)
	}
}
