package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/calendar"
	"github.com/lakewarden/lakewarden/spec"
)

// vacuumFloor is the least age at which vacuum removes a file, by default: the
// longest time for which a reader or writer may still need it.
const vacuumFloor = 168 * time.Hour

// freezeCriteria turns the policy's criteria into SQL with the clock in it.
func (p *planner) freezeCriteria(ctx context.Context) error {
	zone, err := p.freezeAge()
	if err != nil {
		p.refuse("criteria", "Mend criteria.older_than.", "%v", err)
		return nil
	}
	p.plan.Zone = zone.String()
	ec := expr.Context{Now: p.in.Now, Zone: zone}
	if w := p.in.Policy.Criteria.Where; w != "" {
		p.plan.Match = p.freezeSQL("criteria.where", w, p.plan.Match, ec)
	}
	if h := p.in.Policy.Hold; h != nil && h.Where != "" {
		p.plan.Hold = p.freezeSQL("hold.where", h.Where, "", ec)
	}
	if len(p.out.Refusals) > 0 {
		return nil
	}
	p.checkKeyFiles()
	_, err = p.a.criteria(ctx, &p.plan, p.env)
	if kind, retry := classify(err); err != nil && !retry {
		p.refuse("criteria", "Mend the criteria or the hold.", "%v (%s)", err, kind)
		return nil
	}
	if err != nil {
		return err
	}
	p.out.Criteria, p.out.Hold = describe(p.plan.Match, p.in.Policy.Criteria.Keys), describeHold(p.plan.Hold, p.in.Policy.Hold)
	return nil
}

// freezeAge computes the cutoff, and says in which zone days are counted.
func (p *planner) freezeAge() (*time.Location, error) {
	age := p.in.Policy.Criteria.OlderThan
	if age == nil {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(age.Timezone)
	if err != nil {
		return nil, err
	}
	kind, err := calendar.LookupColumn(p.snap.Schema(), age.Column)
	if err != nil {
		return nil, err
	}
	cutoff, err := calendar.Of(*age, p.in.Now, zone)
	if err != nil {
		return nil, err
	}
	sql, err := cutoff.SQL(age.Column, kind, age.Format)
	if err != nil {
		return nil, err
	}
	p.plan.Match, p.plan.Undated, p.plan.Cutoff = sql.Due, sql.Undated, cutoff.String()
	p.out.Cutoff = p.plan.Cutoff
	return zone, nil
}

// freezeSQL checks a predicate against the schema and replaces its clock; both
// it and also must hold.
func (p *planner) freezeSQL(key, text, also string, ec expr.Context) string {
	x, err := expr.Parse(text)
	if err == nil {
		var b *expr.Bound
		if b, err = x.Bind(p.snap.Schema(), ec); err == nil && b.Type() != schema.Boolean {
			err = fmt.Errorf("%s: the expression is %s, want a condition (boolean)", text, b.Type())
		}
	}
	if err != nil {
		p.refuse("predicate", "Mend "+key+".", "%s: %v", key, err)
		return also
	}
	frozen := x.Freeze(ec).String()
	if also == "" {
		return frozen
	}
	return "(" + also + ") AND (" + frozen + ")"
}

// checkKeyFiles refuses what only tables can give today.
func (p *planner) checkKeyFiles() {
	if k := p.in.Policy.Criteria.Keys; k != nil && strings.ContainsAny(k.From, "/\\") {
		p.refuse("keys_from_file", "Load the keys into a Delta table and name it as schema.table.", "criteria.keys.from: %s is a file; only tables are read yet", k.From)
	}
}

func describe(match string, keys *spec.Keys) string {
	if keys == nil {
		return match
	}
	in := "(" + strings.Join(targetColumns(keys.Columns, keys.TargetColumns), ", ") + ") IN " + keys.From
	if match == "" {
		return in
	}
	return "(" + match + ") AND " + in
}

func describeHold(where string, h *spec.Hold) string {
	if h == nil || h.Table == "" {
		return where
	}
	in := "(" + strings.Join(targetColumns(h.Keys, h.TargetColumns), ", ") + ") IN " + h.Table
	if where == "" {
		return in
	}
	return "(" + where + ") OR " + in
}

// checkMarker looks at the marker column.
func (p *planner) checkMarker(context.Context) error {
	name := p.in.Policy.Mark.Column
	if !p.in.Policy.Mark.On() {
		return nil
	}
	f, ok := p.snap.Schema().Field(name)
	switch {
	case !ok:
		p.out.AddsColumn = true
	case f.Type != schema.Boolean:
		p.refuse("marker_column_type", "Name another marker column in mark.column, or use none.", "column %s is %s, not boolean", f.Name, f.Type)
	case slices.Contains(p.snap.PartitionBy(), f.Name):
		p.refuse("marker_column_partition", "Name another marker column in mark.column.", "column %s partitions the table", f.Name)
	}
	return nil
}

// checkRetention refuses a vacuum below the floor unless the risk is named.
func (p *planner) checkRetention(context.Context) error {
	table, err := p.snap.FileRetention()
	if err != nil {
		p.refuse("table_retention", "Mend the table's property delta.deletedFileRetentionDuration.", "%v", err)
		return nil
	}
	p.out.TableRetention = spec.DurationOf(table)
	asked := p.in.Policy.Vacuum.Retention.Or(vacuumFloor)
	floor := vacuumFloor
	if p.in.Policy.Vacuum.AllowBelowFloor != nil {
		floor = 0
		p.out.Warnings = append(p.out.Warnings, "vacuum may remove files younger than 168h: "+p.in.Policy.Vacuum.AllowBelowFloor.Risk)
	} else if asked < vacuumFloor {
		p.refuse("retention_below_floor", "Set vacuum.retention to 168h or more, or name the risk in vacuum.allow_below_floor.",
			"vacuum.retention %s is below the floor of 168h: readers and writers that run longer would lose their files", p.in.Policy.Vacuum.Retention)
	}
	if asked < table && p.in.Policy.Vacuum.AllowBelowFloor == nil {
		p.out.Warnings = append(p.out.Warnings, fmt.Sprintf("the table keeps removed files for %s, longer than the policy asks for; vacuum waits that long", spec.DurationOf(table)))
		floor = max(floor, table)
	}
	p.out.VacuumRetention = spec.DurationOf(max(asked, floor))
	return nil
}

// checkArchive sees whether the archive can take the rows.
func (p *planner) checkArchive(ctx context.Context) error {
	if !p.in.Policy.Archive.On() {
		p.out.Warnings = append(p.out.Warnings, "nothing is archived: "+p.in.Policy.Archive.Reason)
		return nil
	}
	p.out.ArchiveTable = p.in.Policy.Archive.Table
	store, err := p.a.Lake.Table(ctx, p.in.Policy.Archive.Table)
	if err != nil {
		p.refuse("archive_outside_roots", "Add its schema to a root of the worker's configuration, or mend archive.table.", "%v", err)
		return nil
	}
	marker := ""
	if p.in.Policy.Mark.On() {
		marker = p.in.Policy.Mark.Column
	}
	c, err := purge.CheckArchive(ctx, p.snap, store, p.env, marker)
	if kind, retry := classify(err); err != nil && !retry {
		p.refuse("archive", "Mend the archive table or name another in archive.table.", "%v (%s)", err, kind)
		return nil
	}
	if err != nil {
		return err
	}
	p.out.ArchiveExists = c.Exists
	if len(c.Adds) > 0 {
		p.out.Warnings = append(p.out.Warnings, "the archive gets new columns: "+strings.Join(c.Adds, ", "))
	}
	return nil
}

// checkAudit sees whether the outcome can be recorded.
func (p *planner) checkAudit(ctx context.Context) error {
	store, err := p.a.Lake.Table(ctx, p.in.Policy.Audit.Table)
	if err != nil {
		p.refuse("audit_outside_roots", "Add its schema to a root of the worker's configuration, or mend audit.table.", "%v", err)
		return nil
	}
	switch err := auditlog.New(store, p.env).Check(ctx); {
	case err == nil:
	case unclear(ctx, err):
		return err
	default:
		p.refuse("audit", "Mend the audit table or name another in audit.table.", "%v", err)
	}
	return nil
}

// clearAttempts is how often a store is asked again that gives no clear answer,
// before that is taken for a no.
const clearAttempts = 3

// unclear says whether an error may be a store's hiccup, which is no reason to
// refuse a purge: the plan is tried again.
func unclear(ctx context.Context, err error) bool {
	for _, clear := range []error{storage.ErrPermission, storage.ErrNoSpace, storage.ErrUnsupported} {
		if errors.Is(err, clear) {
			return false
		}
	}
	_, retry := classify(err)
	return retry && activity.GetInfo(ctx).Attempt < clearAttempts
}

// checkRights tries the rights that the run will need.
func (p *planner) checkRights(ctx context.Context) error {
	names := []string{p.in.Policy.Table, p.in.Policy.Audit.Table}
	if p.in.Policy.Archive.On() {
		names = append(names, p.in.Policy.Archive.Table)
	}
	for _, name := range names {
		s, err := p.a.Lake.Table(ctx, name)
		if err != nil {
			continue // refused elsewhere
		}
		if err := p.checkRightsOn(ctx, name, s); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) checkRightsOn(ctx context.Context, name string, s storage.Store) error {
	err := purge.ProbeRights(ctx, s, p.in.RunID)
	switch {
	case err == nil:
	case errors.Is(err, storage.ErrNoSpace):
		p.refuse("no_space", "Free space there, then start again.", "%s: %v", name, err)
	case unclear(ctx, err):
		return err
	default:
		p.refuse("rights", "Give the worker the right to list, write and delete there.", "%s: %v", name, err)
	}
	return nil
}

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
	switch {
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

func (p *planner) fill() {
	c, o := p.counts, p.out
	o.Version = c.Version
	o.RowsTotal, o.RowsDue, o.RowsHeld, o.RowsUndated = &c.Rows, &c.RowsDue, &c.RowsHeld, &c.RowsUndated
	o.BytesBefore, o.FilesTotal, o.FilesWhole, o.FilesSplit = c.Bytes, c.Files, c.FilesWhole, c.FilesSplit
	o.BytesToRewrite, o.Partitions, o.ChangeFeed = c.BytesWhole+c.BytesSplit, c.PartitionsDue, c.ChangeFeed
	for _, w := range c.Writers {
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
	rows, err := auditlog.New(store, p.env).Rows(ctx)
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
