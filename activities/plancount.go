package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/internal/auditlog"
)

// count makes the plan, recovering first what runs that are over left behind.
func (p *planner) count(ctx context.Context) error {
	closed, err := p.settle(ctx)
	if err != nil || len(p.out.Refusals) > 0 {
		return err
	}
	run, err := p.a.purgeRun(ctx, &loaded{plan: p.plan, folder: p.folder, table: p.table, env: p.env})
	if err != nil {
		return err
	}
	counts, err := purge.PlanPurge(ctx, p.table, purge.PlanOptions{Run: run, ClosedRuns: closed})
	var flags *purge.FlagsError
	var criteria *purge.CriteriaError
	var outside *deltaio.OutsideError
	switch {
	case errors.As(err, &outside):
		p.refuse("files_outside_root", "Bring the files under the table's root and remove the links.", "%v", err)
		return nil
	case errors.As(err, &flags):
		p.refuse("foreign_flags", "Find out who flagged them; clear the flags, or name another marker column.", "%v", err)
		return nil
	case errors.As(err, &criteria):
		p.refuse("criteria", "Mend the criteria, the hold or the marker column.", "%v", err)
		return nil
	}
	if err != nil {
		return err
	}
	p.counts = counts
	p.fill()
	return p.checkLimits(ctx)
}

// maxWriters is how many other writers a plan names.
const maxWriters = 20

func (p *planner) fill() {
	c, o := p.counts, p.out
	o.Version = c.Version
	o.RowsTotal, o.RowsDue, o.RowsHeld, o.RowsUndated = &c.Rows, &c.RowsDue, &c.RowsHeld, &c.RowsUndated
	o.BytesBefore, o.FilesTotal, o.FilesWhole, o.FilesSplit = c.Bytes, c.Files, c.FilesWhole, c.FilesSplit
	o.BytesToRewrite, o.Partitions, o.ChangeFeed = c.BytesWhole+c.BytesSplit, c.PartitionsDue, c.ChangeFeed
	for _, w := range c.Writers[:min(maxWriters, len(c.Writers))] {
		o.OtherWriters = append(o.OtherWriters, fmt.Sprintf("%s (%d commits, last %s)", w.Engine, w.Commits, w.Last.UTC().Format(time.RFC3339)))
	}
	if c.Rows > 0 {
		share := float64(c.RowsDue) / float64(c.Rows)
		o.Share = &share
	}
	if c.RowsUndated > 0 {
		o.Warnings = append(o.Warnings, fmt.Sprintf("%d rows have no readable date and are kept", c.RowsUndated))
	}
}

// checkLimits compares the plan with the policy's limits and with former runs.
func (p *planner) checkLimits(ctx context.Context) error {
	former, err := p.formerRuns(ctx)
	if err != nil {
		return err
	}
	l := p.in.Policy.Limits
	share, maxRows, name := l.MaxShareOfRows, l.MaxRows, "limits"
	p.out.FirstRun = len(former) == 0
	if p.out.FirstRun {
		share, maxRows, name = l.FirstRun.MaxShareOfRows, l.FirstRun.MaxRows, "limits.first_run"
	}
	due, total := p.counts.RowsDue, p.counts.Rows
	do := "Look whether the criteria are right; if so, raise " + name + "."
	if share != "" && due > 0 && share.Exceeded(due, total) {
		p.refuse("limit_share", do, "%d of %d rows are due, more than the %s of %s.max_share_of_rows", due, total, share, name)
	}
	if maxRows != nil && due > *maxRows {
		p.refuse("limit_rows", do, "%d rows are due, more than the %d of %s.max_rows", due, *maxRows, name)
	}
	if m := l.MaxMultipleOfMedian; m != nil && len(former) > 0 {
		if mid := median(former); mid > 0 && float64(due) > *m*float64(mid) {
			p.refuse("limit_median", do, "%d rows are due, more than %g times the median of former runs (%d)", due, *m, mid)
		}
	}
	return nil
}

// formerRuns gives the deleted rows of this table's completed runs.
func (p *planner) formerRuns(ctx context.Context) ([]int64, error) {
	store, err := p.a.Lake.Table(ctx, p.in.Policy.Audit.Table)
	if err != nil {
		return nil, err
	}
	rows, err := auditlog.New(store, p.env).With(p.a.Audit).Rows(ctx)
	if errors.Is(err, deltaio.ErrNotATable) {
		return nil, nil
	}
	var deleted []int64
	for _, r := range rows {
		if r.TargetTable == p.in.Policy.Table && r.Status == StatusCompleted && r.RowsDeleted != nil {
			deleted = append(deleted, *r.RowsDeleted)
		}
	}
	return deleted, err
}

func median(xs []int64) int64 {
	slices.Sort(xs)
	return xs[len(xs)/2]
}
