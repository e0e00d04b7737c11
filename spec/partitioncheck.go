package spec

// PartitionCheck says which partitions a table must have, and what must hold of
// them. It is the input of a validation.
type PartitionCheck struct {
	// Version of the document: lakewarden/v1.
	APIVersion string `json:"apiVersion"`
	// Kind of the document: PartitionCheck.
	Kind string `json:"kind"`
	// Name of the check, for people and for the tables of results: letters, digits, dot, dash, underscore.
	Name string `json:"name"`
	// Table to check, as schema.table under the worker's lakehouse roots: a Delta table, or a directory of Parquet files. One of table and path is given.
	Table string `json:"table,omitempty"`
	// Directory of Parquet files (or Delta table), as a URL under one of the worker's roots, or relative to the root that takes all schemas.
	Path string `json:"path,omitempty"`
	// How partitions are named. Without it the scheme is detected.
	Partition PartitionScheme `json:"partition,omitzero"`
	// Which partitions must be there. Without it only what is there is checked.
	Expected *Expected `json:"expected,omitempty"`
	// What must hold.
	Checks []PartitionRule `json:"checks"`
	// How far files are read.
	Files PartitionFiles `json:"files,omitzero"`
	// What is done when a check of severity fail does not hold.
	OnFailure *OnFailure `json:"on_failure,omitempty"`
	// Tables that keep findings and statistics.
	Record PartitionRecord `json:"record,omitzero"`
	// Where purges of the table are recorded: what they removed is no gap.
	Audit Audit `json:"audit,omitzero"`
	// Who is told how a validation ended.
	Notify *Notify `json:"notify,omitempty"`
	// Check and report, and neither record nor repair.
	DryRun bool `json:"dry_run,omitempty"`
	// Who asks. This person cannot approve a rollback.
	RequestedBy string `json:"requested_by,omitempty"`
}

// SchemeKind is the way dates stand in partition columns.
type SchemeKind string

// Values of SchemeKind.
const (
	SchemeDate         SchemeKind = "date"           // one column: dt=2026-09-01
	SchemeHour         SchemeKind = "hour"           // one column with an hour, or a date and an hour column
	SchemeWeek         SchemeKind = "week"           // one column: 2026-W36
	SchemeMonth        SchemeKind = "month"          // one column: 2026-09
	SchemeYearMonth    SchemeKind = "year_month"     // two columns
	SchemeYearMonthDay SchemeKind = "year_month_day" // three columns, a fourth is the hour
	SchemeYearWeek     SchemeKind = "year_week"      // two columns, of an ISO week
)

// PartitionScheme says how a partition's name holds its date.
type PartitionScheme struct {
	// Columns that hold the date, coarsest first: [dt], [year, month, day]. Further partition columns, such as a region, are left out; each of their values is looked at together.
	Columns []string `json:"columns,omitempty"`
	// Pattern of a date in one column, such as yyyy-MM-dd, yyyyMMdd, yyyy-MM-dd-HH or YYYY-'W'ww; parsed strictly.
	Format string `json:"format,omitempty"`
	// How the columns are read, where that is not plain from columns and format.
	Scheme SchemeKind `json:"scheme,omitempty"`
	// Time zone that the writer's partitions are days of; decides for values with an instant. Without it expected.timezone counts, where given; else values near a day's boundary are reported as ambiguous.
	Timezone string `json:"timezone,omitempty"`
}

// Expected is the range of partitions that must be there: last (a window that
// ends now), or start with or without end.
type Expected struct {
	// Window of periods that have ended, such as 14 days; the one in progress is looked at beside them.
	Last Period `json:"last,omitempty"`
	// First day of a fixed range, as yyyy-MM-dd.
	Start string `json:"start,omitempty"`
	// Last day of a fixed range; without it the range ends now.
	End string `json:"end,omitempty"`
	// How often a partition comes: 1 hour, 1 day, 1 week (from Monday), 1 month.
	Every Period `json:"every,omitempty"`
	// Time zone that decides which day it is.
	Timezone string `json:"timezone,omitempty"`
	// Time of day, on the day after the period ended, until which its partition may come: 09:00. With an offset in days: 09:00+2d. Of hours: minutes after the hour, as 00:15.
	Deadline string `json:"deadline,omitempty"`
	// Periods that may be missing: days, ranges (2026-08-01..2026-08-15), months and days of every year (--12-25), weekdays (saturday).
	Except []string `json:"except,omitempty"`
	// Text file with one entry of except a line, as a URL under one of the worker's roots, or relative to the root that takes all schemas.
	ExceptFile string `json:"except_file,omitempty"`
}

// Per is what a metric is taken of.
type Per string

// Values of Per.
const (
	PerTable     Per = "table"
	PerPartition Per = "partition"
	PerFile      Per = "file"
)

// Severity is what a rule that does not hold means for the run.
type Severity string

// Values of Severity.
const (
	SeverityFail Severity = "fail"
	SeverityWarn Severity = "warn"
)

// PartitionRule is one check: a metric, and what it must be. Exactly one of the
// must keys is given.
type PartitionRule struct {
	// What is measured.
	Metric Metric `json:"metric"`
	// Column that is measured.
	Column string `json:"column,omitempty"`
	// What it is measured of: table, partition or file.
	Per Per `json:"per,omitempty"`
	// What a change is a change from: median 7, mean 7 (of the partitions before it) or previous. weekday: only those of the same weekday count, as in median 4 weekday.
	Baseline string `json:"baseline,omitempty"`
	// Pattern of the dates in a text column; of values_outside_partition only.
	Format string `json:"format,omitempty"`
	// The value itself.
	MustBe *Bound `json:"must_be,omitempty"`
	// Any value but this.
	MustNotBe *Bound `json:"must_not_be,omitempty"`
	// More than this.
	GreaterThan *Bound `json:"must_be_greater_than,omitempty"`
	// This or more.
	AtLeast *Bound `json:"must_be_at_least,omitempty"`
	// Less than this.
	LessThan *Bound `json:"must_be_less_than,omitempty"`
	// This or less.
	AtMost *Bound `json:"must_be_at_most,omitempty"`
	// Two values; both, and what lies between, are right.
	Between []Bound `json:"must_be_between,omitempty"`
	// fail ends the run as failed; warn is told.
	Severity Severity `json:"severity,omitempty"`
}

// FilesVerify says how far files are read.
type FilesVerify string

// Values of FilesVerify.
const (
	VerifyPages   FilesVerify = "pages"
	VerifyFooters FilesVerify = "footers"
)

// PartitionFiles says how files are checked.
type PartitionFiles struct {
	// pages: every page is read, by its checksum where the writer left one, else decoded. footers: only what files say of themselves.
	Verify FilesVerify `json:"verify,omitempty"`
}

// PartitionRecord names the tables of results.
type PartitionRecord struct {
	// Append-only table of findings, as schema.table, created when missing.
	Validation string `json:"validation,omitempty"`
	// Append-only table of statistics by partition, which baselines are taken from.
	Stats string `json:"stats,omitempty"`
}

// OnFailure says what is done about findings of severity fail.
type OnFailure struct {
	// Loads missing partitions, then checks again.
	Backfill *Backfill `json:"backfill,omitempty"`
	// Takes back the load that broke partitions, where nothing else was committed since, then checks again.
	Rollback *Rollback `json:"rollback,omitempty"`
	// Who is told of a failure, where that is not who is told of everything.
	Notify *Notify `json:"notify,omitempty"`
}

// Backfill loads one missing partition at a time, by one of workflow, webhook
// and fabric_job. In inputs, bodies and parameters {partition}, {date}, {hour},
// {year}, {month}, {day}, {week}, {start}, {end}, {table} and {run_id} are
// replaced.
type Backfill struct {
	// Type name of the workflow that loads a partition.
	Workflow string `json:"workflow,omitempty"`
	// Task queue of the workflow.
	Queue string `json:"queue,omitempty"`
	// Input of the workflow, body of the webhook or parameters of the Fabric job.
	Input Template `json:"input,omitempty"`
	// Signed HTTP request; an answer of 2xx means that the partition is loaded.
	Webhook *Webhook `json:"webhook,omitempty"`
	// Job of Microsoft Fabric, polled until it is done.
	FabricJob *FabricJob `json:"fabric_job,omitempty"`
	// How many partitions are loaded at once.
	MaxParallel *int `json:"max_parallel,omitempty"`
	// Most partitions that are loaded in one run: more missing ones than that need a person.
	MaxPartitions *int `json:"max_partitions,omitempty"`
	// How long one load may take.
	Timeout Duration `json:"timeout,omitempty"`
}

// FabricJob names a job and where the worker finds its service principal.
type FabricJob struct {
	// Id of the workspace.
	Workspace string `json:"workspace"`
	// Id of the item: a pipeline, notebook or Spark job definition.
	Item string `json:"item"`
	// Type of the job.
	JobType string `json:"job_type,omitempty"`
	// Environment variable of the worker with the tenant's id. Starts with LAKEWARDEN_.
	TenantEnv string `json:"tenant_env"`
	// Environment variable of the worker with the application's id. Starts with LAKEWARDEN_.
	ClientIDEnv string `json:"client_id_env"`
	// Environment variable of the worker with the application's secret. Starts with LAKEWARDEN_.
	ClientSecretEnv string `json:"client_secret_env"`
}

// Rollback takes a bad load back.
type Rollback struct {
	// Asks people first.
	Approval *RollbackApproval `json:"approval,omitempty"`
}

// RollbackApproval says who agrees to a rollback.
type RollbackApproval struct {
	// Who may approve. Empty: anyone but the person who asked for the check.
	Approvers []string `json:"approvers,omitempty"`
	// How long an answer may take; then nothing is rolled back.
	Deadline Duration `json:"deadline,omitempty"`
	// How often approvers are reminded.
	RemindEvery Duration `json:"remind_every,omitempty"`
}
