package activities

import "time"

// Run names a purge run in every activity input. Its frozen plan (policy,
// cutoff, criteria as SQL) lies in the run folder; PlanDigest proves that an
// activity acts on the plan that was shown.
type Run struct {
	RunID      string `json:"run_id"`
	Table      string `json:"table"`
	PlanDigest string `json:"plan_digest"`
}

// Caller says which workflow execution asks, and who is said to have started it.
type Caller struct {
	WorkflowID    string `json:"workflow_id"`
	WorkflowRunID string `json:"workflow_run_id"`
	RequestedBy   string `json:"requested_by,omitempty"`
}

// Refusal is a reason not to touch a table, with what to do about it.
type Refusal struct {
	Code    string `json:"code"` // stable, such as marker_column_type
	Message string `json:"message"`
	Do      string `json:"do"`
}

// Step names: the part of the txn appId behind lakewarden/<run_id>/.
const (
	StepMark    = "mark"
	StepArchive = "archive"
	StepDelete  = "delete"
)

// Progress is what long activities heartbeat.
type Progress struct {
	Phase      string    `json:"phase"`
	FilesDone  int       `json:"files_done"`
	FilesTotal int       `json:"files_total"`
	RowsDone   int64     `json:"rows_done"`
	BytesDone  int64     `json:"bytes_done"`
	BytesTotal int64     `json:"bytes_total"`
	At         time.Time `json:"at"`
}
