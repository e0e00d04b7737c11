package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/spec"
)

// vacuumFloor is the least age at which vacuum removes a file, by default: the
// longest time for which a reader or writer may still need it.
const vacuumFloor = 168 * time.Hour

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
		if err := p.snap.CheckColumn(name, schema.Boolean); err != nil {
			p.refuse("marker_column_add", "Name another marker column in mark.column, or set mark.column: none.", "the table cannot get the marker column %s: %v", name, err)
		}
	case f.Type != schema.Boolean:
		p.refuse("marker_column_type", "Name another marker column in mark.column, or use none.", "column %s is %s, not boolean", f.Name, f.Type)
	case slices.Contains(p.snap.PartitionBy(), f.Name):
		p.refuse("marker_column_partition", "Name another marker column in mark.column.", "column %s partitions the table", f.Name)
	}
	return nil
}

func (p *planner) refusedMarker() bool {
	return slices.ContainsFunc(p.out.Refusals, func(r Refusal) bool { return strings.HasPrefix(r.Code, "marker_column_") })
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
	if p.in.Policy.Vacuum.AllowBelowFloor != nil {
		p.out.Warnings = append(p.out.Warnings, "vacuum may remove files younger than 168h: "+p.in.Policy.Vacuum.AllowBelowFloor.Risk)
	} else if asked < vacuumFloor {
		p.refuse("retention_below_floor", "Set vacuum.retention to 168h or more, or name the risk in vacuum.allow_below_floor.",
			"vacuum.retention %s is below the floor of 168h: readers and writers that run longer would lose their files", p.in.Policy.Vacuum.Retention)
	}
	if asked < table && p.in.Policy.Vacuum.AllowBelowFloor == nil {
		p.out.Warnings = append(p.out.Warnings, fmt.Sprintf("the table keeps removed files for %s, longer than the policy asks for; vacuum waits that long", spec.DurationOf(table)))
	}
	p.out.VacuumRetention = spec.DurationOf(vacuumRetention(p.in.Policy, table))
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
	if p.refusedMarker() { // which columns the archive has to hold is not known
		return nil
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
