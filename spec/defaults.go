package spec

import (
	"slices"
	"time"
)

// Defaults of a policy. Where a setting guards rows, the default is the careful
// one; docs and the JSON Schema repeat them.
const (
	DefaultMarkColumn        = "_lakewarden_due"
	DefaultTimezone          = "UTC"
	DefaultApprovalDeadline  = Duration("72h")
	DefaultRemindEvery       = Duration("24h")
	DefaultMaxShareOfRows    = Percent("10%")
	DefaultFirstRunShare     = Percent("50%")
	DefaultMultipleOfMedian  = 10.0
	DefaultVacuumRetention   = Duration("168h")
	DefaultAuditTable        = "control.expurgo_audit"
	DefaultMaxParallel       = 4
	DefaultContinueOnFailure = true
	DefaultProveErasure      = true
)

// HoldTable is where restores register what they hold; every purge reads it. It
// has no key: a hold in another table would hold nothing.
const HoldTable = "control.lakewarden_holds"

// VacuumFloor is the youngest age at which an unneeded file may be removed
// without naming the risk. It covers readers and writers that started before
// the file became unneeded.
const VacuumFloor = 168 * time.Hour

// Defaults gives a copy of p with every setting that p leaves open:
//
//   - criteria.older_than: from date, timezone UTC, undated report
//   - mark.column _lakewarden_due
//   - approval.on none without an approval section, else marked (plan, where
//     nothing is marked); deadline 72h, or half of vacuum.retention where that
//     is less; remind_every 24h
//   - delete.match flag
//   - limits: max_share_of_rows 10%, max_multiple_of_median 10, first_run 50%
//     (or max_share_of_rows, where that is more)
//   - vacuum.retention 168h, erasure.prove true
//   - audit.table control.expurgo_audit
//   - notify.events all
//
// The archive has no default: keeping or not keeping rows is the owner's word.
func (p RetentionPolicy) Defaults() RetentionPolicy {
	p.Criteria = p.Criteria.defaults()
	p.Hold = clone(p.Hold)
	p.Mark.Column = or(p.Mark.Column, DefaultMarkColumn)
	p.Vacuum.Retention = or(p.Vacuum.Retention, DefaultVacuumRetention)
	p.Vacuum.AllowBelowFloor = clone(p.Vacuum.AllowBelowFloor)
	p.Approval = p.Approval.defaults(p.Mark.On(), p.Vacuum.Retention)
	p.Delete.Match = or(p.Delete.Match, MatchFlag)
	p.Delete.Keys = slices.Clone(p.Delete.Keys)
	p.Limits = p.Limits.defaults()
	p.Erasure.Prove = defaultTo(p.Erasure.Prove, DefaultProveErasure)
	p.Audit.Table = or(p.Audit.Table, DefaultAuditTable)
	p.Notify = p.Notify.defaults()
	return p
}

func (c Criteria) defaults() Criteria {
	c.Keys = clone(c.Keys)
	c.OlderThan = clone(c.OlderThan)
	if o := c.OlderThan; o != nil {
		o.From = or(o.From, FromDate)
		o.Timezone = or(o.Timezone, DefaultTimezone)
		o.Undated = or(o.Undated, UndatedReport)
	}
	return c
}

func (a Approval) defaults(marks bool, retention Duration) Approval {
	a.Approvers = slices.Clone(a.Approvers)
	if a.On == "" {
		switch {
		case len(a.Approvers) == 0 && a.Deadline == "" && a.RemindEvery == "":
			a.On = ApprovalNone
		case marks:
			a.On = ApprovalMarked
		default:
			a.On = ApprovalPlan
		}
	}
	if !a.Asked() {
		return a
	}
	if a.Deadline == "" {
		a.Deadline = DefaultApprovalDeadline
		if half := retention.Or(VacuumFloor) / 2; half < a.Deadline.Or(0) {
			a.Deadline = DurationOf(half)
		}
	}
	a.RemindEvery = or(a.RemindEvery, DefaultRemindEvery)
	return a
}

func (l Limits) defaults() Limits {
	l.MaxRows = clone(l.MaxRows)
	l.MaxShareOfRows = or(l.MaxShareOfRows, DefaultMaxShareOfRows)
	l.MaxMultipleOfMedian = defaultTo(l.MaxMultipleOfMedian, DefaultMultipleOfMedian)
	l.FirstRun.MaxRows = clone(l.FirstRun.MaxRows)
	if l.FirstRun.MaxShareOfRows == "" {
		l.FirstRun.MaxShareOfRows = DefaultFirstRunShare
		if l.MaxShareOfRows.above(DefaultFirstRunShare) && !l.MaxShareOfRows.above("100%") {
			l.FirstRun.MaxShareOfRows = l.MaxShareOfRows
		}
	}
	return l
}

func (n *Notify) defaults() *Notify {
	if n == nil {
		return nil
	}
	c := *n
	c.Webhook = clone(n.Webhook)
	c.Events = slices.Clone(n.Events)
	if len(c.Events) == 0 {
		c.Events = []Event{EventApprovalDue, EventFailed, EventCompleted, EventErased}
	}
	return &c
}

// Defaults gives a copy of l with max_parallel 4, continue_on_failure true, and
// in each policy its own defaults plus dry_run and requested_by of the list.
func (l PurgeLakehouse) Defaults() PurgeLakehouse {
	l.MaxParallel = defaultTo(l.MaxParallel, DefaultMaxParallel)
	l.ContinueOnFailure = defaultTo(l.ContinueOnFailure, DefaultContinueOnFailure)
	l.Policies = slices.Clone(l.Policies)
	for i, p := range l.Policies {
		p = p.Defaults()
		p.DryRun = p.DryRun || l.DryRun
		p.RequestedBy = or(p.RequestedBy, l.RequestedBy)
		l.Policies[i] = p
	}
	return l
}

// Defaults gives a copy of r with the default audit table.
func (r RestoreRequest) Defaults() RestoreRequest {
	r.Keys = slices.Clone(r.Keys)
	r.Audit.Table = or(r.Audit.Table, DefaultAuditTable)
	return r
}

func or[T ~string](v, fallback T) T {
	if v == "" {
		return fallback
	}
	return v
}

func defaultTo[T any](v *T, fallback T) *T {
	if v == nil {
		return &fallback
	}
	return clone(v)
}

func clone[T any](v *T) *T {
	if v == nil {
		return nil
	}
	c := *v
	return &c
}
