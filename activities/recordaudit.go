package activities

import (
	"context"
	"time"

	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

// Audit statuses, as in the audit table's status column.
const (
	StatusDryRun            = evidence.StatusDryRun
	StatusRefused           = evidence.StatusRefused
	StatusRejected          = evidence.StatusRejected
	StatusExpired           = evidence.StatusExpired
	StatusCancelled         = evidence.StatusCancelled
	StatusFailed            = evidence.StatusFailed
	StatusRolledBack        = evidence.StatusRolledBack
	StatusCompleted         = evidence.StatusCompleted
	StatusVacuumed          = evidence.StatusVacuumed
	StatusErased            = evidence.StatusErased
	StatusErasureIncomplete = evidence.StatusErasureIncomplete
	StatusRestored          = evidence.StatusRestored
)

// IdentityClaimed is the approval_identity of an approver who was not proved to be
// who they say.
const IdentityClaimed = evidence.IdentityClaimed

// RecordAuditInput appends one row to the audit table, once per run, status and
// ExecTime: a status that may repeat has another time each time.
type RecordAuditInput struct {
	Run                Run        `json:"run"`
	AuditTable         string     `json:"audit_table"`
	Status             string     `json:"status"`
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
	// Reason is why people approved, rejected or restored.
	Reason            string `json:"reason,omitempty"`
	RestoreID         string `json:"restore_id,omitempty"`
	CertificateDigest string `json:"certificate_digest,omitempty"`
}

// RecordAuditResult anchors the chain: Head is the row_hash of the row written.
type RecordAuditResult struct {
	AuditTable string `json:"audit_table"`
	Version    int64  `json:"version"`
	Head       string `json:"head"`
}

// RecordAudit appends to the audit chain, once per run, status and time.
func (a *Activities) RecordAudit(ctx context.Context, in RecordAuditInput) (*RecordAuditResult, error) {
	env, stop := a.beat(ctx, "audit")
	defer stop()
	store, err := a.Lake.Table(ctx, in.AuditTable)
	if err != nil {
		return nil, fail(ctx, err)
	}
	done, err := auditlog.New(store, env).With(a.Audit).Append(ctx, in.row())
	if err != nil {
		return nil, fail(ctx, err)
	}
	return &RecordAuditResult{AuditTable: in.AuditTable, Version: done.Version, Head: done.Row.RowHash}, nil
}

func (in RecordAuditInput) row() evidence.AuditRow {
	return evidence.AuditRow{
		RunID: in.Run.RunID, TargetTable: in.Run.Table, Criteria: in.Criteria, ExecTime: in.ExecTime, RowsMarked: in.RowsMarked,
		RowsDeleted: in.RowsDeleted, Status: in.Status, ExecutedBy: in.Caller.RequestedBy, ApprovedBy: in.ApprovedBy,
		ApprovalIdentity: in.ApprovalIdentity, Policy: in.Policy, LegalBasis: in.LegalBasis, RowsArchived: in.RowsArchived,
		RowsHeld: in.RowsHeld, RowsUndated: in.RowsUndated, RowsReleased: in.RowsReleased, BytesBefore: in.BytesBefore,
		BytesReclaimed: in.BytesReclaimed, VersionBefore: in.VersionBefore, VersionAfter: in.VersionAfter, ArchiveTable: in.ArchiveTable,
		VacuumFilesDeleted: in.VacuumFilesDeleted, VacuumPending: in.VacuumPending, ErasureDue: in.ErasureDue, Error: in.Error,
		WorkflowID: in.Caller.WorkflowID, WorkflowRunID: in.Caller.WorkflowRunID, PlanDigest: in.Run.PlanDigest,
		Reason: in.Reason, RestoreID: in.RestoreID, CertificateDigest: in.CertificateDigest,
	}
}
