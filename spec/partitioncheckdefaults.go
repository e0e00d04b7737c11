package spec

import "slices"

// Defaults of a partition check.
const (
	DefaultValidationTable = "control.partition_validation"
	DefaultStatsTable      = "control.partition_stats"
	DefaultEvery           = Period("1 day")
	DefaultBackfillTimeout = Duration("6h")
	DefaultMaxPartitions   = 100
	DefaultJobType         = "Pipeline"
)

// Defaults gives a copy of c with every setting that c leaves open:
//
//   - expected.every 1 day
//   - checks: severity fail; per the metric's own (table for counts of
//     partitions and files, partition for the rest, file for file_bytes)
//   - files.verify pages
//   - on_failure.backfill: max_parallel 4, max_partitions 100, timeout 6h,
//     job_type Pipeline; on_failure.rollback.approval: deadline 72h, remind_every
//     24h; notify.events all
//   - record.validation control.partition_validation, record.stats
//     control.partition_stats; audit.table control.expurgo_audit
func (c PartitionCheck) Defaults() PartitionCheck {
	c.Expected = clone(c.Expected)
	c.Partition.Columns = slices.Clone(c.Partition.Columns)
	if e := c.Expected; e != nil {
		e.Every = or(e.Every, DefaultEvery)
		e.Except = slices.Clone(e.Except)
	}
	c.Checks = slices.Clone(c.Checks)
	for i := range c.Checks {
		r := &c.Checks[i]
		r.Severity = or(r.Severity, SeverityFail)
		if m, known := metricRules[r.Metric]; known && r.Per == "" {
			r.Per = m.per[0]
		}
	}
	c.Files.Verify = or(c.Files.Verify, VerifyPages)
	c.OnFailure = c.OnFailure.defaults()
	c.Record.Validation = or(c.Record.Validation, DefaultValidationTable)
	c.Record.Stats = or(c.Record.Stats, DefaultStatsTable)
	c.Audit.Table = or(c.Audit.Table, DefaultAuditTable)
	c.Notify = c.Notify.defaults()
	return c
}

func (f *OnFailure) defaults() *OnFailure {
	if f == nil {
		return nil
	}
	o := *f
	o.Notify = o.Notify.defaults()
	if b := clone(o.Backfill); b != nil {
		b.MaxParallel = defaultTo(b.MaxParallel, DefaultMaxParallel)
		b.MaxPartitions = defaultTo(b.MaxPartitions, DefaultMaxPartitions)
		b.Timeout = or(b.Timeout, DefaultBackfillTimeout)
		if b.FabricJob = clone(b.FabricJob); b.FabricJob != nil {
			b.FabricJob.JobType = or(b.FabricJob.JobType, DefaultJobType)
		}
		o.Backfill = b
	}
	if r := clone(o.Rollback); r != nil {
		if a := clone(r.Approval); a != nil {
			a.Deadline = or(a.Deadline, DefaultApprovalDeadline)
			a.RemindEvery = or(a.RemindEvery, DefaultRemindEvery)
			r.Approval = a
		}
		o.Rollback = r
	}
	return &o
}

// Target is the table, or the path where no table is named.
func (c PartitionCheck) Target() string { return or(c.Table, c.Path) }

// Zone is the time zone of the calendar: UTC, where none is written.
func (e Expected) Zone() string { return or(e.Timezone, DefaultTimezone) }

// PartitionZone is the time zone that partitions are days of: the scheme's own,
// else that of the calendar; empty where neither is written. A zone that nobody
// wrote must not decide what a writer's partitions are days of.
func (c PartitionCheck) PartitionZone() string {
	if c.Partition.Timezone == "" && c.Expected != nil {
		return c.Expected.Timezone
	}
	return c.Partition.Timezone
}
