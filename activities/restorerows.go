package activities

import (
	"time"

	"github.com/lakewarden/lakewarden/spec"
)

// RestoreRowsInput puts archived rows of a run back.
type RestoreRowsInput struct {
	Request   spec.RestoreRequest `json:"request"`
	RestoreID string              `json:"restore_id"` // uuid of this restore
	Now       time.Time           `json:"now"`
	Caller    Caller              `json:"caller"`
}

// FindRunInput looks a run up in the audit tables and run folders.
type FindRunInput struct {
	RunID      string `json:"run_id"`
	AuditTable string `json:"audit_table"`
}

// FindRunResult is what remains known of a run without Temporal's history.
type FindRunResult struct {
	Run          Run    `json:"run"`
	AuditTable   string `json:"audit_table"`
	ArchiveTable string `json:"archive_table"`
	Status       string `json:"status"` // newest
	Policy       string `json:"policy"`
	LegalBasis   string `json:"legal_basis"`
}

// RestoreRowsResult says what came back.
type RestoreRowsResult struct {
	RowsRestored *int64     `json:"rows_restored"`
	RowsRefused  int64      `json:"rows_refused"` // their keys exist in the table
	Version      int64      `json:"version"`
	HoldUntil    *time.Time `json:"hold_until"`
	DryRun       bool       `json:"dry_run"`
	Record       string     `json:"record"`
}
