package spec

// APIVersion is the version of every document of this package.
const APIVersion = "lakewarden/v1"

// Kinds of documents.
const (
	KindRetentionPolicy = "RetentionPolicy"
	KindPurgeLakehouse  = "PurgeLakehouse"
	KindRestoreRequest  = "RestoreRequest"
	KindPartitionCheck  = "PartitionCheck"
	KindSilverTable     = "SilverTable"
)

// None is written where a table or column is deliberately not used:
// mark: {column: none}, archive: {table: none, reason: …}.
const None = "none"

// RetentionPolicy says which rows of one table are purged, who agrees, and what
// is kept of them. It is the input of a purge.
type RetentionPolicy struct {
	// Version of the document: lakewarden/v1.
	APIVersion string `json:"apiVersion"`
	// Kind of the document: RetentionPolicy.
	Kind string `json:"kind"`
	// Name of the policy, for people and for the audit: letters, digits, dot, dash, underscore.
	Name string `json:"name"`
	// Team or person who answers for the policy.
	Owner string `json:"owner"`
	// Why the rows may or must go: the law, contract or rule, in words.
	LegalBasis string `json:"legal_basis"`
	// Table to purge, as schema.table under the worker's lakehouse roots.
	Table string `json:"table"`
	// Rows that are due. All parts that are given must hold.
	Criteria Criteria `json:"criteria"`
	// Rows that are never purged although they are due, such as those of a lawsuit.
	Hold *Hold `json:"hold,omitempty"`
	// How due rows are flagged before anything is deleted.
	Mark Mark `json:"mark,omitzero"`
	// Whether people must agree first. Without it nobody is asked.
	Approval Approval `json:"approval,omitzero"`
	// Where purged rows are kept. Deliberately keeping nothing needs a reason.
	Archive Archive `json:"archive"`
	// How the delete finds its rows.
	Delete Delete `json:"delete,omitzero"`
	// Sizes past which the purge is refused.
	Limits Limits `json:"limits,omitzero"`
	// When files that no version needs any more are removed from storage.
	Vacuum Vacuum `json:"vacuum,omitzero"`
	// Whether physical erasure is proved once the files are past their retention.
	Erasure Erasure `json:"erasure,omitzero"`
	// Where each run and its outcome is recorded.
	Audit Audit `json:"audit,omitzero"`
	// Who is told about a run.
	Notify *Notify `json:"notify,omitempty"`
	// Plan, report, and change nothing.
	DryRun bool `json:"dry_run,omitempty"`
	// Who asks for the purge. This person cannot approve it.
	RequestedBy string `json:"requested_by,omitempty"`
}

// Criteria choose the rows that are due: all parts that are given must hold, and
// at least one must be given.
type Criteria struct {
	// Rows whose date is older than an age or than a day.
	OlderThan *OlderThan `json:"older_than,omitempty"`
	// SQL predicate with Spark's semantics; only rows for which it is TRUE are due.
	Where string `json:"where,omitempty"`
	// Rows whose key is in a table or file of keys.
	Keys *Keys `json:"keys,omitempty"`
}

// OlderThan compares a date with a cutoff that is computed once per run, in the
// policy's time zone. The cutoff is exclusive: days: 30 on 10 March makes rows
// before 8 February due and keeps those of 8 February.
type OlderThan struct {
	// Column that dates a row: date, timestamp, timestamp_ntz, or, with format, string or integer. a.b is field b of struct a; `a.b` in backticks is a column of that name.
	Column string `json:"column"`
	// Age in days. One of days, months, years and until is given.
	Days *int `json:"days,omitempty"`
	// Age in calendar months; where a month is too short, its last day counts.
	Months *int `json:"months,omitempty"`
	// Age in calendar years; 29 February becomes the 28th.
	Years *int `json:"years,omitempty"`
	// Fixed day as yyyy-MM-dd: rows before it are due.
	Until string `json:"until,omitempty"`
	// Where the age starts: date (the row's own date) or end_of_year (the end of that calendar year).
	From From `json:"from,omitempty"`
	// Time zone of the tz database that decides which day it is.
	Timezone string `json:"timezone,omitempty"`
	// Pattern of a string or integer column, such as yyyy-MM-dd or yyyyMMdd; parsed strictly.
	Format string `json:"format,omitempty"`
	// What happens to rows without a readable date: report. They are counted, never purged by age.
	Undated Undated `json:"undated,omitempty"`
}

// From is the day an age starts at.
type From string

// Values of From.
const (
	FromDate      From = "date"
	FromEndOfYear From = "end_of_year"
)

// Undated says what happens to rows without a readable date.
type Undated string

// UndatedReport counts undated rows and keeps them. There is no other value: a
// policy that must purge them says so with where.
const UndatedReport Undated = "report"

// Keys are rows chosen by their key.
type Keys struct {
	// Delta table that lists the keys, as schema.table. Keys in a file are loaded into a table first.
	From string `json:"from"`
	// Columns of the key, by their names in the table of keys.
	Columns []string `json:"columns"`
	// The same columns by their names in the purged table, where those differ.
	TargetColumns []string `json:"target_columns,omitempty"`
}

// Hold keeps due rows. where and table may be given together; a row is kept when
// either holds it. Holds are read again just before the delete.
type Hold struct {
	// SQL predicate with Spark's semantics; rows for which it is TRUE are kept.
	Where string `json:"where,omitempty"`
	// Table of held keys, as schema.table.
	Table string `json:"table,omitempty"`
	// Columns of the key, by their names in the table of holds.
	Keys []string `json:"keys,omitempty"`
	// The same columns by their names in the purged table, where those differ.
	TargetColumns []string `json:"target_columns,omitempty"`
	// Date or timestamp column of the table of holds after which a hold ends; a hold without one never ends.
	UntilColumn string `json:"until_column,omitempty"`
}

// Mark says how due rows are flagged.
type Mark struct {
	// Boolean column that flags due rows, added where missing; none plans without flagging.
	Column string `json:"column,omitempty"`
}

// On reports whether rows are flagged.
func (m Mark) On() bool { return m.Column != None }

// ApprovalOn is the point at which people are asked.
type ApprovalOn string

// Values of ApprovalOn.
const (
	ApprovalPlan   ApprovalOn = "plan"
	ApprovalMarked ApprovalOn = "marked"
	ApprovalNone   ApprovalOn = "none"
)

// Approval says whether people must agree before rows go.
type Approval struct {
	// When people are asked: plan (nothing is touched yet), marked (due rows carry the flag) or none.
	On ApprovalOn `json:"on,omitempty"`
	// Who may approve. Empty: anyone but the person who asked for the purge.
	Approvers []string `json:"approvers,omitempty"`
	// How long an answer may take; then the purge is undone. At most half of vacuum.retention.
	Deadline Duration `json:"deadline,omitempty"`
	// How often approvers are reminded.
	RemindEvery Duration `json:"remind_every,omitempty"`
}

// Asked reports whether people are asked. It judges a policy after Defaults.
func (a Approval) Asked() bool { return a.On == ApprovalPlan || a.On == ApprovalMarked }

// Archive says where purged rows are kept.
type Archive struct {
	// Table that keeps purged rows, as schema.table, created when missing; none keeps nothing.
	Table string `json:"table"`
	// Why nothing is kept. Only with table: none.
	Reason string `json:"reason,omitempty"`
}

// On reports whether purged rows are archived.
func (a Archive) On() bool { return a.Table != None }

// DeleteMatch is the way the delete finds its rows.
type DeleteMatch string

// Values of DeleteMatch.
const (
	MatchFlag DeleteMatch = "flag"
	MatchKeys DeleteMatch = "keys"
)

// Delete says how the delete finds its rows.
type Delete struct {
	// flag: the rows this run flagged (or planned, where it flags nothing). keys: every row with the key of such a row; refused when that hits a row that is not flagged.
	Match DeleteMatch `json:"match,omitempty"`
	// Columns of the key. Only with match: keys.
	Keys []string `json:"keys,omitempty"`
}

// Limits refuse a purge that is larger than expected.
type Limits struct {
	// Largest share of the table's rows.
	MaxShareOfRows Percent `json:"max_share_of_rows,omitempty"`
	// Largest number of rows; without it only the share counts.
	MaxRows *int64 `json:"max_rows,omitempty"`
	// Largest multiple of the median of this table's completed runs.
	MaxMultipleOfMedian *float64 `json:"max_multiple_of_median,omitempty"`
	// Limits of a table's first completed run, which finds years at once.
	FirstRun FirstRunLimits `json:"first_run,omitzero"`
}

// FirstRunLimits stand in for Limits until a table has a completed run.
type FirstRunLimits struct {
	// Largest share of the table's rows.
	MaxShareOfRows Percent `json:"max_share_of_rows,omitempty"`
	// Largest number of rows; without it only the share counts.
	MaxRows *int64 `json:"max_rows,omitempty"`
}

// Vacuum says when unneeded files leave storage.
type Vacuum struct {
	// Age at which a file that no version needs may be removed. At least 168h, and at least what the table itself asks for.
	Retention Duration `json:"retention,omitempty"`
	// Allows a retention below 168h to whoever names the risk.
	AllowBelowFloor *BelowFloor `json:"allow_below_floor,omitempty"`
}

// BelowFloor accepts the risk of a vacuum that removes files others may still read.
type BelowFloor struct {
	// The risk and why it is taken, in words.
	Risk string `json:"risk"`
}

// Erasure says whether physical erasure is proved.
type Erasure struct {
	// Wait until the files are past their retention, vacuum again, and certify that no file holds the rows.
	Prove *bool `json:"prove,omitempty"`
}

// On reports whether erasure is proved. It judges a policy after Defaults.
func (e Erasure) On() bool { return e.Prove != nil && *e.Prove }

// Audit says where runs are recorded.
type Audit struct {
	// Append-only table of runs, as schema.table, created when missing.
	Table string `json:"table,omitempty"`
}

// Event is something a notification tells.
type Event string

// Values of Event.
const (
	EventApprovalDue Event = "approval_due"
	EventFailed      Event = "failed"
	EventCompleted   Event = "completed"
	EventErased      Event = "erased"
)

// Notify says who is told about a run.
type Notify struct {
	// Signed HTTP request to an address that only the worker knows.
	Webhook *Webhook `json:"webhook,omitempty"`
	// Events that are told.
	Events []Event `json:"events,omitempty"`
}

// Webhook names environment variables of the worker. Addresses and secrets are
// never written in a policy: it is kept in histories and audits.
type Webhook struct {
	// Environment variable of the worker that holds the URL. Starts with LAKEWARDEN_.
	URLEnv string `json:"url_env"`
	// Environment variable of the worker that holds the signing secret. Starts with LAKEWARDEN_.
	SecretEnv string `json:"secret_env"`
}
