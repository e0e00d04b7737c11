package activities

import "time"

// Audit statuses, as in the audit table's status column.
const (
	StatusDryRun            = "dry_run"
	StatusRefused           = "refused"
	StatusRejected          = "rejected"
	StatusExpired           = "expired"
	StatusCancelled         = "cancelled"
	StatusFailed            = "failed"
	StatusRolledBack        = "rolled_back"
	StatusCompleted         = "completed"
	StatusVacuumed          = "vacuumed"
	StatusErased            = "erased"
	StatusErasureIncomplete = "erasure_incomplete"
	StatusRestored          = "restored"
)

// RecordAuditInput appends one row to the audit table, once per run and status
// (and Sequence, for statuses that may repeat).
type RecordAuditInput struct {
	Run                Run        `json:"run"`
	AuditTable         string     `json:"audit_table"`
	Status             string     `json:"status"`
	Sequence           int        `json:"sequence"`
	ExecTime           time.Time  `json:"exec_time"`
	Criteria           string     `json:"criteria"`
	Caller             Caller     `json:"caller"`
	Policy             string     `json:"policy"`
	LegalBasis         string     `json:"legal_basis"`
	ApprovedBy         string     `json:"approved_by,omitempty"`
	ApprovalIdentity   string     `json:"approval_identity,omitempty"` // claimed | verified
	RowsMarked         *int64     `json:"rows_marked"`
	RowsDeleted        *int64     `json:"rows_deleted"`
	RowsArchived       *int64     `json:"rows_archived"`
	RowsHeld           *int64     `json:"rows_held"`
	RowsUndated        *int64     `json:"rows_undated"`
	RowsReleased       *int64     `json:"rows_released"`
	BytesBefore        *int64     `json:"bytes_before"`
	BytesReclaimed     *int64     `json:"bytes_reclaimed"`
	VersionBefore      *int64     `json:"version_before"`
	VersionAfter       *int64     `json:"version_after"`
	ArchiveTable       string     `json:"archive_table,omitempty"`
	VacuumFilesDeleted *int64     `json:"vacuum_files_deleted"`
	VacuumPending      *int64     `json:"vacuum_pending"`
	ErasureDue         *time.Time `json:"erasure_due"`
	Error              string     `json:"error,omitempty"`
	// RestoreID tells restores of one run apart; Note goes to the run folder.
	RestoreID string `json:"restore_id,omitempty"`
	Note      string `json:"note,omitempty"`
}

// RecordAuditResult anchors the chain: Head is the row_hash of the row written.
type RecordAuditResult struct {
	AuditTable string `json:"audit_table"`
	Version    int64  `json:"version"`
	Head       string `json:"head"`
}
