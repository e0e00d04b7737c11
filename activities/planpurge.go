package activities

import (
	"time"

	"github.com/lakewarden/lakewarden/spec"
)

// PlanPurgeInput asks for the plan of one run.
type PlanPurgeInput struct {
	RunID  string               `json:"run_id"`
	Policy spec.RetentionPolicy `json:"policy"`
	// Now is the run's frozen clock: the cutoff and current_date() come from it.
	Now    time.Time `json:"now"`
	Caller Caller    `json:"caller"`
}

// PlanPurgeResult is the plan in figures. The full plan, with a reason for each
// file, is plan.json in RunFolder; PlanDigest is its SHA-256 in hex.
type PlanPurgeResult struct {
	PlanDigest string `json:"plan_digest"`
	RunFolder  string `json:"run_folder"`
	TableID    string `json:"table_id"`
	TableURL   string `json:"table_url"`
	Version    int64  `json:"version"`

	Criteria string `json:"criteria"`         // frozen, as SQL
	Cutoff   string `json:"cutoff,omitempty"` // with its zone; empty without older_than
	Hold     string `json:"hold,omitempty"`

	RowsTotal   *int64 `json:"rows_total"`
	RowsDue     *int64 `json:"rows_due"`
	RowsHeld    *int64 `json:"rows_held"`
	RowsUndated *int64 `json:"rows_undated"`
	BytesBefore int64  `json:"bytes_before"` // live bytes of the table

	FilesTotal     int   `json:"files_total"`
	FilesWhole     int   `json:"files_whole"` // every row due
	FilesSplit     int   `json:"files_split"`
	BytesToRewrite int64 `json:"bytes_to_rewrite"`
	Partitions     int   `json:"partitions"` // with due rows

	// Share of the table's rows that are due, 0 to 1, and whether the audit
	// table knows no earlier completed run of this table.
	Share    *float64 `json:"share"`
	FirstRun bool     `json:"first_run"`

	AddsColumn    bool     `json:"adds_column"`
	ChangeFeed    bool     `json:"change_feed"`
	OtherWriters  []string `json:"other_writers,omitempty"` // engines seen in recent commits
	ArchiveTable  string   `json:"archive_table,omitempty"`
	ArchiveExists bool     `json:"archive_exists"`

	// TableRetention is the table's deletedFileRetentionDuration, VacuumRetention
	// the age that vacuum will ask for (never below the floor).
	TableRetention  spec.Duration `json:"table_retention"`
	VacuumRetention spec.Duration `json:"vacuum_retention"`

	Refusals []Refusal `json:"refusals,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
	// Report is the plan as Markdown, for the Web UI and for approvers.
	Report string `json:"report"`
}
