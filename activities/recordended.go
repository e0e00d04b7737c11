package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

// recordEnded writes the audit row of each closed run that deleted rows and ended
// before it could say so, and notes whose erasure nobody proves. The row is the
// same whoever writes it: its time is the delete's. What cannot be recorded is a
// warning, not a reason to keep rows that are due.
func (p *planner) recordEnded(ctx context.Context, found []purge.Leftover) error {
	audits := auditRows{p: p, known: map[string]map[string][]evidence.AuditRow{}}
	for _, l := range found {
		if !l.Deleted || l.RunID == p.in.RunID {
			continue
		}
		rows, err := audits.of(ctx, p.in.Policy.Audit.Table, l.RunID)
		if err != nil {
			return err
		}
		if recorded(rows) && !unproved(rows) {
			continue
		}
		old, err := p.a.oldPlan(ctx, l.RunID)
		if _, retry := classify(err); err != nil && retry {
			return err
		}
		if err != nil {
			p.warn("run %s deleted rows of this table, what became of it is not all in %s, and its plan cannot be read: %v", l.RunID, p.in.Policy.Audit.Table, err)
			continue
		}
		if err := p.recordOne(ctx, old, &audits); err != nil {
			return err
		}
	}
	return nil
}

// recordOne does it for one run of which the audit of this policy does not tell
// everything.
func (p *planner) recordOne(ctx context.Context, old *frozenPlan, audits *auditRows) error {
	rows, err := audits.of(ctx, old.Policy.Audit.Table, old.RunID)
	if err != nil || recorded(rows) && !unproved(rows) {
		return err
	}
	over, err := p.a.closed(ctx, old.Caller)
	if err != nil || !over { // else it will do it itself
		return err
	}
	if !recorded(rows) {
		row, err := p.recordDelete(ctx, old)
		if err != nil {
			return fmt.Errorf("record what run %s deleted: %w", old.RunID, err)
		}
		if row == nil {
			return nil
		}
		rows = append(rows, *row)
	}
	return p.oweErasure(ctx, old, rows)
}

// auditRows keeps the rows of audit tables by run: each table is read once.
type auditRows struct {
	p     *planner
	known map[string]map[string][]evidence.AuditRow
}

func (x *auditRows) of(ctx context.Context, table, runID string) ([]evidence.AuditRow, error) {
	if x.known[table] == nil {
		all, err := x.p.a.auditTable(ctx, table, x.p.env)
		if err != nil && !errors.Is(err, deltaio.ErrNotATable) {
			return nil, fmt.Errorf("audit table %s: %w", table, err)
		}
		x.known[table] = map[string][]evidence.AuditRow{}
		for _, r := range all {
			x.known[table][r.RunID] = append(x.known[table][r.RunID], r)
		}
	}
	return x.known[table][runID], nil
}

func (a *Activities) auditTable(ctx context.Context, table string, env deltaio.Env) ([]evidence.AuditRow, error) {
	store, err := a.Lake.Table(ctx, table)
	if err != nil {
		return nil, err
	}
	return auditlog.New(store, env).With(a.Audit).Rows(ctx)
}

// recorded: the audit tells how many rows the run deleted.
func recorded(rows []evidence.AuditRow) bool {
	return slices.ContainsFunc(rows, func(r evidence.AuditRow) bool { return r.RowsDeleted != nil })
}

// maxWarnings bounds what a plan carries into history.
const maxWarnings = 50

func (p *planner) warn(format string, args ...any) {
	if len(p.out.Warnings) < maxWarnings {
		p.out.Warnings = append(p.out.Warnings, short(fmt.Sprintf(format, args...)))
	}
}

// recordDelete appends the row that a closed run owes, and gives it; nil when
// there is none, or when it cannot be drawn any more.
func (p *planner) recordDelete(ctx context.Context, old *frozenPlan) (*evidence.AuditRow, error) {
	folder, err := p.a.Lake.Run(ctx, old.RunID)
	if err != nil {
		return nil, err
	}
	in, err := p.owedRow(ctx, old, purge.Run{ID: old.RunID, Journal: folder})
	var lost *purge.LostRecordError
	if errors.As(err, &lost) {
		p.warn("run %s deleted rows of this table and ended before that was recorded; it cannot be recorded now: %v", old.RunID, err)
		return nil, nil
	}
	if err != nil || in == nil {
		return nil, err
	}
	store, err := p.a.Lake.Table(ctx, in.AuditTable)
	if err != nil {
		return nil, err
	}
	done, err := auditlog.New(store, p.env).With(p.a.Audit).Append(ctx, in.row())
	if err != nil {
		return nil, err
	}
	p.warn("run %s had ended after its delete and before its audit row; the row was written now", old.RunID)
	return &done.Row, nil
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
		Error: lateNote + "; recorded by run " + p.in.RunID,
	}
	if row.ErasureDue, err = p.a.erasureDue(ctx, p.table, old, run); err != nil {
		return nil, err
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

// lateNote begins the error of a row that another run wrote for a terminated one.
const lateNote = "the run was ended after its delete and before it was recorded"

// digest names the plan as save did.
func (f *frozenPlan) digest() (string, error) {
	data, err := evidence.CanonicalJSON(f)
	if err != nil {
		return "", fmt.Errorf("plan of run %s: %w", f.RunID, err)
	}
	return evidence.Digest(data), nil
}
