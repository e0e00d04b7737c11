// Package runcheck checks what a run left behind (table, archive, audit, run
// folder) against what it said, without Temporal. It reads only, and it reads
// everything again: no figure is taken from the run's own word.
package runcheck

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/calendar"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/internal/lake"
)

// Check is one question and its answer.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// Report is everything that was checked about a run.
type Report struct {
	RunID  string  `json:"run_id"`
	Table  string  `json:"table"`
	Status string  `json:"status"` // newest status in the audit
	OK     bool    `json:"ok"`
	Checks []Check `json:"checks"`
	// Due is what remains to be done, and when.
	Due []string `json:"due,omitempty"`
}

// checker holds what the checks share.
type checker struct {
	lake   *lake.Lake
	env    deltaio.Env
	rows   []evidence.AuditRow // of this run, oldest first
	report Report
}

// Verify checks a run by the rows of its audit table.
func Verify(ctx context.Context, l *lake.Lake, env deltaio.Env, auditTable, runID string) (*Report, error) {
	store, err := l.Table(ctx, auditTable)
	if err != nil {
		return nil, err
	}
	all, err := auditlog.New(store, env).Rows(ctx)
	if err != nil {
		return nil, err
	}
	c := &checker{lake: l, env: env, report: Report{RunID: runID}}
	for _, r := range all {
		if r.RunID == runID {
			c.rows = append(c.rows, r)
		}
	}
	if len(c.rows) == 0 {
		return nil, fmt.Errorf("run %s is not in %s; lakewarden audit list shows the runs", runID, auditTable)
	}
	newest := c.newest()
	c.report.Table, c.report.Status = newest.TargetTable, newest.Status
	c.chain(all)
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	c.report.OK = true
	for _, k := range c.report.Checks {
		c.report.OK = c.report.OK && k.OK
	}
	return &c.report, nil
}

func (c *checker) add(ok bool, name, format string, args ...any) {
	c.report.Checks = append(c.report.Checks, Check{Name: name, OK: ok, Detail: fmt.Sprintf(format, args...)})
}

func (c *checker) newest() evidence.AuditRow {
	out := c.rows[0]
	for _, r := range c.rows {
		if r.ExecTime.After(out.ExecTime) {
			out = r
		}
	}
	return out
}

// of gives the run's row of a status.
func (c *checker) of(status string) *evidence.AuditRow {
	for i := range c.rows {
		if c.rows[i].Status == status {
			return &c.rows[i]
		}
	}
	return nil
}

func (c *checker) chain(all []evidence.AuditRow) {
	r := evidence.Verify(all, c.newest().RowHash)
	detail := fmt.Sprintf("%d rows, head %s", r.Sealed, r.Head)
	if !r.OK() {
		detail = fmt.Sprintf("%d findings, such as %v", len(r.Findings), r.Findings[0])
	}
	c.add(r.OK(), "the audit chain is whole and holds this run", "%s", detail)
}

func (c *checker) check(ctx context.Context) error {
	done := c.deleted()
	if done == nil {
		return c.untouched(ctx)
	}
	c.counts(*done)
	c.restored(*done)
	if err := c.archive(ctx, *done); err != nil {
		return err
	}
	if err := c.flags(ctx); err != nil {
		return err
	}
	if err := c.before(ctx, *done); err != nil {
		return err
	}
	return c.certificate(ctx)
}

// deleted gives the row that tells of the delete: a run whose verification failed
// has deleted all the same.
func (c *checker) deleted() *evidence.AuditRow {
	if r := c.of(evidence.StatusCompleted); r != nil {
		return r
	}
	if r := c.of(evidence.StatusFailed); r != nil && r.RowsDeleted != nil {
		return r
	}
	return nil
}

// counts compares the audit row's own figures. Rows marked are those deleted and
// released, unless other writers deleted or flagged rows in between.
func (c *checker) counts(r evidence.AuditRow) {
	agree := r.RowsMarked != nil && r.RowsDeleted != nil && (r.ArchiveTable == "" || r.RowsArchived != nil && *r.RowsArchived == *r.RowsDeleted)
	others := ""
	if agree && r.RowsReleased != nil && *r.RowsMarked != *r.RowsDeleted+*r.RowsReleased {
		others = fmt.Sprintf("; other writers changed the flagged rows meanwhile, by %+d", *r.RowsDeleted+*r.RowsReleased-*r.RowsMarked)
	}
	c.add(agree, "rows marked, archived and deleted agree in the audit", "marked %s, archived %s, deleted %s, released %s%s",
		evidence.Count(r.RowsMarked), evidence.Count(r.RowsArchived), evidence.Count(r.RowsDeleted), evidence.Count(r.RowsReleased), others)
}

// archive counts the run's rows in the archive, by reading them.
func (c *checker) archive(ctx context.Context, r evidence.AuditRow) error {
	if r.ArchiveTable == "" || r.RowsDeleted == nil {
		return nil
	}
	snap, err := c.snapshot(ctx, r.ArchiveTable)
	if errors.Is(err, deltaio.ErrNotATable) && *r.RowsDeleted == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	id := calendar.QuoteString(c.report.RunID)
	total, err := count(ctx, snap, "run_id = "+id)
	if err != nil {
		return err
	}
	stamped, err := count(ctx, snap, "run_id = "+id+" AND archived_at IS NOT NULL")
	if err != nil {
		return err
	}
	c.add(total == *r.RowsDeleted && stamped == total, "the archive holds exactly the purged rows, with run_id and archived_at",
		"%d rows in %s, %d of them stamped, %d deleted", total, r.ArchiveTable, stamped, *r.RowsDeleted)
	if *r.RowsDeleted == 0 && total == 0 {
		return nil
	}
	return c.content(ctx, r.ArchiveTable)
}

// restored says what a restore leaves to be done: it stops the proof of erasure.
func (c *checker) restored(r evidence.AuditRow) {
	back := c.newestOf(evidence.StatusRestored)
	if back == nil {
		return
	}
	text := "rows of this run were restored on " + back.ExecTime.UTC().Format(time.DateOnly) + "; the archive keeps its copies"
	if c.of(evidence.StatusErased) == nil && c.newestDue() != nil {
		text += "; the proof of its erasure was stopped, and the old files leave storage with the next vacuum past their retention, which nobody proves"
	}
	if back.RowsReleased != nil && r.RowsDeleted != nil && *back.RowsReleased < *r.RowsDeleted {
		text += fmt.Sprintf("; the last restore brought back %d of the %d rows: the others stay purged", *back.RowsReleased, *r.RowsDeleted)
	}
	c.report.Due = append(c.report.Due, text)
}

// newestOf gives the run's newest row of a status.
func (c *checker) newestOf(status string) (out *evidence.AuditRow) {
	for i, r := range c.rows {
		if r.Status == status && (out == nil || r.ExecTime.After(out.ExecTime)) {
			out = &c.rows[i]
		}
	}
	return out
}

// readable is the question of before.
const readable = "the version before is still readable"

// before looks whether the version before the purge can still be read. After an
// erasure it must not be.
func (c *checker) before(ctx context.Context, r evidence.AuditRow) error {
	if r.VersionBefore == nil || (r.RowsDeleted != nil && *r.RowsDeleted == 0) {
		return nil
	}
	erased, due := c.of(evidence.StatusErased), c.newestDue()
	t, err := c.open(ctx, c.report.Table)
	if err != nil {
		return err
	}
	missing, err := missingFiles(ctx, t, *r.VersionBefore)
	past := due != nil && c.env.Now().After(*due)
	switch {
	case erased != nil:
		c.erased(*erased, *r.VersionBefore, missing, err)
	case past && (missing > 0 || errors.Is(err, deltaio.ErrNoVersion)):
		c.add(true, readable+" until its retention ends", "that was on %s", due.UTC().Format(time.DateOnly))
	case err != nil:
		c.add(false, readable, "%v", err)
	default:
		c.add(missing == 0, readable, "version %d, %d files missing", *r.VersionBefore, missing)
	}
	if erased == nil && due != nil && c.of(evidence.StatusRestored) == nil {
		c.report.Due = append(c.report.Due, "physical erasure of the purged files, on "+due.UTC().Format(time.RFC3339))
	}
	return nil
}

// erased judges the version before of a run whose erasure is proved: its files are
// gone, or the log has lost the version. Any other error proves nothing.
func (c *checker) erased(r evidence.AuditRow, version int64, missing int, err error) {
	const name = "the files of the version before are erased"
	day := r.ExecTime.UTC().Format(time.DateOnly)
	switch {
	case errors.Is(err, deltaio.ErrNoVersion):
		c.add(true, name, "erased on %s; version %d is gone from the log too", day, version)
	case err != nil:
		c.add(false, name, "%v", err)
	default:
		c.add(missing > 0, name, "erased on %s; %d files of version %d are gone", day, missing, version)
	}
}

func (c *checker) newestDue() (due *time.Time) {
	for _, r := range c.rows {
		if r.ErasureDue != nil && (due == nil || r.ErasureDue.After(*due)) {
			due = r.ErasureDue
		}
	}
	return due
}

// untouched checks a run that deleted nothing: it must have left nothing.
func (c *checker) untouched(ctx context.Context) error {
	for _, r := range c.rows {
		if r.ArchiveTable == "" {
			continue
		}
		snap, err := c.snapshot(ctx, r.ArchiveTable)
		if errors.Is(err, deltaio.ErrNotATable) {
			break
		}
		if err != nil {
			return err
		}
		n, err := count(ctx, snap, "run_id = "+calendar.QuoteString(c.report.RunID))
		if err != nil {
			return err
		}
		c.add(n == 0, "the archive holds no row of this run", "%d rows in %s", n, r.ArchiveTable)
		break
	}
	if c.report.Status == evidence.StatusRefused || c.report.Status == evidence.StatusDryRun {
		return nil
	}
	return c.flags(ctx)
}

func (c *checker) open(ctx context.Context, name string) (*deltaio.Table, error) {
	store, err := c.lake.Table(ctx, name)
	if err != nil {
		return nil, err
	}
	t, err := deltaio.Open(ctx, store, c.env)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", name, err)
	}
	return t, nil
}

func (c *checker) snapshot(ctx context.Context, name string) (*deltaio.Snapshot, error) {
	t, err := c.open(ctx, name)
	if err != nil {
		return nil, err
	}
	return t.Snapshot(ctx)
}

// count counts the rows for which the predicate is TRUE, by reading them.
func count(ctx context.Context, snap *deltaio.Snapshot, where string) (n int64, err error) {
	x, err := expr.Parse(where)
	if err != nil {
		return 0, err
	}
	for rec, err := range snap.Scan(ctx, deltaio.ScanOptions{Columns: x.Columns(), Where: x, Context: expr.Context{Zone: time.UTC}}) {
		if err != nil {
			return 0, err
		}
		n += rec.NumRows()
		rec.Release()
	}
	return n, nil
}
