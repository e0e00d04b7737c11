package activities

import (
	"context"
	"errors"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

// recordEnded writes the audit row of each closed run that deleted rows and ended
// before it could say so. The row is the same whoever writes it: its time is the
// delete's. What cannot be recorded is a warning, not a reason to keep rows that
// are due.
func (p *planner) recordEnded(ctx context.Context, found []purge.Leftover) error {
	known := map[string]map[string]bool{} // runs with a delete, by audit table
	recorded := func(table, runID string) (bool, error) {
		if known[table] == nil {
			runs, err := p.recordedDeletes(ctx, table)
			if err != nil {
				return false, fmt.Errorf("audit table %s: %w", table, err)
			}
			known[table] = runs
		}
		return known[table][runID], nil
	}
	for _, l := range found {
		if !l.Deleted || l.RunID == p.in.RunID {
			continue
		}
		if ok, err := recorded(p.in.Policy.Audit.Table, l.RunID); ok || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		old, err := p.a.oldPlan(ctx, l.RunID)
		if err != nil { // the next plan tries again
			p.warn("run %s deleted rows of this table and is not in %s, and its plan cannot be read: %v", l.RunID, p.in.Policy.Audit.Table, err)
			continue
		}
		if ok, err := recorded(old.Policy.Audit.Table, l.RunID); ok || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		over, err := p.a.closed(ctx, old.Caller)
		if err != nil {
			return err
		}
		if !over { // it will record itself
			continue
		}
		if err := p.recordDelete(ctx, old); err != nil {
			return fmt.Errorf("record what run %s deleted: %w", l.RunID, err)
		}
	}
	return nil
}

func (p *planner) warn(format string, args ...any) {
	p.out.Warnings = append(p.out.Warnings, fmt.Sprintf(format, args...))
}

// recordedDeletes gives the runs of which an audit table tells how many rows they
// deleted.
func (p *planner) recordedDeletes(ctx context.Context, table string) (map[string]bool, error) {
	runs := map[string]bool{}
	store, err := p.a.Lake.Table(ctx, table)
	if err != nil {
		return nil, err
	}
	rows, err := auditlog.New(store, p.env).With(p.a.Audit).Rows(ctx)
	if errors.Is(err, deltaio.ErrNotATable) {
		return runs, nil
	}
	for _, r := range rows {
		if r.RowsDeleted != nil {
			runs[r.RunID] = true
		}
	}
	return runs, err
}

// recordDelete appends the row that a closed run owes.
func (p *planner) recordDelete(ctx context.Context, old *frozenPlan) error {
	folder, err := p.a.Lake.Run(ctx, old.RunID)
	if err != nil {
		return err
	}
	row, err := p.owedRow(ctx, old, purge.Run{ID: old.RunID, Journal: folder})
	var lost *purge.LostRecordError
	if errors.As(err, &lost) {
		p.warn("run %s deleted rows of this table and ended before that was recorded; it cannot be recorded now: %v", old.RunID, err)
		return nil
	}
	if err != nil || row == nil {
		return err
	}
	store, err := p.a.Lake.Table(ctx, row.AuditTable)
	if err != nil {
		return err
	}
	if _, err := auditlog.New(store, p.env).With(p.a.Audit).Append(ctx, row.row()); err != nil {
		return err
	}
	p.warn("run %s had ended after its delete and before its audit row; the row was written now. Its files were not vacuumed and no proof of their erasure was started", old.RunID)
	return nil
}

// owedRow draws the row from the run's own records; nil when no delete is
// committed.
func (p *planner) owedRow(ctx context.Context, old *frozenPlan, run purge.Run) (*RecordAuditInput, error) {
	done, err := purge.FenceDelete(ctx, p.table, run)
	if err != nil || done == nil {
		return nil, err
	}
	at, ok, err := purge.DeletedAt(ctx, p.table, run.ID)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &purge.LostRecordError{Run: run.ID, Step: StepDelete, Folder: run.Journal.URL(), Err: errors.New("the log no longer says when it was")}
	}
	digest, err := old.digest()
	if err != nil {
		return nil, err
	}
	row := &RecordAuditInput{
		Run: Run{RunID: old.RunID, Table: old.Policy.Table, PlanDigest: digest}, AuditTable: old.Policy.Audit.Table,
		Status: StatusCompleted, ExecTime: at, Criteria: describe(old.Match, old.Policy.Criteria.Keys), Caller: old.Caller,
		Policy: old.Policy.Name, LegalBasis: old.Policy.LegalBasis,
		RowsDeleted: &done.RowsDeleted, RowsReleased: &done.RowsReleased, VersionAfter: &done.Version,
		Error: "the run was ended after its delete and before it was recorded; recorded by run " + p.in.RunID,
	}
	if c := old.Counts; c != nil {
		row.RowsHeld, row.RowsUndated, row.BytesBefore = &c.RowsHeld, &c.RowsUndated, &c.Bytes
	}
	if old.Policy.Archive.On() {
		// A delete removes exactly what is archived, or nothing.
		row.ArchiveTable, row.RowsArchived = old.Policy.Archive.Table, &done.RowsDeleted
	}
	return row, p.addMark(ctx, old, run, row)
}

// addMark adds what the mark tells.
func (p *planner) addMark(ctx context.Context, old *frozenPlan, run purge.Run, row *RecordAuditInput) error {
	if !old.Policy.Mark.On() {
		if c := old.Counts; c != nil {
			row.RowsMarked, row.VersionBefore = &c.RowsDue, &c.Version
		}
		return nil
	}
	m, err := purge.CommittedMark(ctx, p.table, run)
	if err != nil || m == nil {
		return err
	}
	row.RowsMarked, row.VersionBefore = &m.RowsMarked, &m.VersionBefore
	return nil
}

// digest names the plan as save did.
func (f *frozenPlan) digest() (string, error) {
	data, err := evidence.CanonicalJSON(f)
	if err != nil {
		return "", fmt.Errorf("plan of run %s: %w", f.RunID, err)
	}
	return evidence.Digest(data), nil
}
