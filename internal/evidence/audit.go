package evidence

import (
	"time"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Outcomes of a run, as the audit's status column spells them.
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

// Statuses lists every outcome.
var Statuses = []string{
	StatusDryRun, StatusRefused, StatusRejected, StatusExpired, StatusCancelled, StatusFailed,
	StatusRolledBack, StatusCompleted, StatusVacuumed, StatusErased, StatusErasureIncomplete, StatusRestored,
}

// How sure the identity of an approver is.
const (
	IdentityClaimed  = "claimed"
	IdentityVerified = "verified"
)

// AuditRow is one row of the audit table: one outcome of one run. The fields
// stand in the order of the columns, of which the first seven are those of the
// adopted tables. nil is null: not known, or not said by this row. Text that is
// empty is null too.
//
// Later rows of a run (vacuum, erasure) repeat no counts.
type AuditRow struct {
	RunID       string    `json:"run_id"`
	TargetTable string    `json:"target_table"`
	Criteria    string    `json:"criteria"`
	ExecTime    time.Time `json:"exec_time"` // kept to the microsecond
	RowsMarked  *int64    `json:"rows_marked"`
	RowsDeleted *int64    `json:"rows_deleted"`
	Status      string    `json:"status"`

	ExecutedBy         string     `json:"executed_by"`
	ApprovedBy         string     `json:"approved_by"`
	ApprovalIdentity   string     `json:"approval_identity"` // claimed or verified
	Policy             string     `json:"policy"`
	LegalBasis         string     `json:"legal_basis"`
	RowsArchived       *int64     `json:"rows_archived"`
	RowsHeld           *int64     `json:"rows_held"`
	RowsUndated        *int64     `json:"rows_undated"`
	RowsReleased       *int64     `json:"rows_released"`
	BytesBefore        *int64     `json:"bytes_before"`
	BytesReclaimed     *int64     `json:"bytes_reclaimed"`
	VersionBefore      *int64     `json:"version_before"`
	VersionAfter       *int64     `json:"version_after"`
	ArchiveTable       string     `json:"archive_table"`
	VacuumFilesDeleted *int64     `json:"vacuum_files_deleted"`
	VacuumPending      *int64     `json:"vacuum_pending"`
	ErasureDue         *time.Time `json:"erasure_due"` // kept to the microsecond
	Error              string     `json:"error"`
	WorkflowID         string     `json:"workflow_id"`
	WorkflowRunID      string     `json:"workflow_run_id"`
	PlanDigest         string     `json:"plan_digest"`
	PrevHash           string     `json:"prev_hash"`
	RowHash            string     `json:"row_hash"`

	// Columns that came later. They are added to older tables, behind the others.
	Reason            string `json:"reason"`             // why people approved, rejected or restored
	RestoreID         string `json:"restore_id"`         // of the restore, as in the table of holds
	CertificateDigest string `json:"certificate_digest"` // of the certificate in the run folder
}

// adopted is how many columns a table of the tutorial's shape has.
const adopted = 7

// column ties a column of the audit table to its field: at gives a pointer to
// the field, of type *string, **int64, *time.Time or **time.Time.
type column struct {
	name string
	kind schema.Primitive
	at   func(*AuditRow) any
}

var columns = []column{
	{"run_id", schema.String, func(r *AuditRow) any { return &r.RunID }},
	{"target_table", schema.String, func(r *AuditRow) any { return &r.TargetTable }},
	{"criteria", schema.String, func(r *AuditRow) any { return &r.Criteria }},
	{"exec_time", schema.Timestamp, func(r *AuditRow) any { return &r.ExecTime }},
	{"rows_marked", schema.Long, func(r *AuditRow) any { return &r.RowsMarked }},
	{"rows_deleted", schema.Long, func(r *AuditRow) any { return &r.RowsDeleted }},
	{"status", schema.String, func(r *AuditRow) any { return &r.Status }},
	{"executed_by", schema.String, func(r *AuditRow) any { return &r.ExecutedBy }},
	{"approved_by", schema.String, func(r *AuditRow) any { return &r.ApprovedBy }},
	{"approval_identity", schema.String, func(r *AuditRow) any { return &r.ApprovalIdentity }},
	{"policy", schema.String, func(r *AuditRow) any { return &r.Policy }},
	{"legal_basis", schema.String, func(r *AuditRow) any { return &r.LegalBasis }},
	{"rows_archived", schema.Long, func(r *AuditRow) any { return &r.RowsArchived }},
	{"rows_held", schema.Long, func(r *AuditRow) any { return &r.RowsHeld }},
	{"rows_undated", schema.Long, func(r *AuditRow) any { return &r.RowsUndated }},
	{"rows_released", schema.Long, func(r *AuditRow) any { return &r.RowsReleased }},
	{"bytes_before", schema.Long, func(r *AuditRow) any { return &r.BytesBefore }},
	{"bytes_reclaimed", schema.Long, func(r *AuditRow) any { return &r.BytesReclaimed }},
	{"version_before", schema.Long, func(r *AuditRow) any { return &r.VersionBefore }},
	{"version_after", schema.Long, func(r *AuditRow) any { return &r.VersionAfter }},
	{"archive_table", schema.String, func(r *AuditRow) any { return &r.ArchiveTable }},
	{"vacuum_files_deleted", schema.Long, func(r *AuditRow) any { return &r.VacuumFilesDeleted }},
	{"vacuum_pending", schema.Long, func(r *AuditRow) any { return &r.VacuumPending }},
	{"erasure_due", schema.Timestamp, func(r *AuditRow) any { return &r.ErasureDue }},
	{"error", schema.String, func(r *AuditRow) any { return &r.Error }},
	{"workflow_id", schema.String, func(r *AuditRow) any { return &r.WorkflowID }},
	{"workflow_run_id", schema.String, func(r *AuditRow) any { return &r.WorkflowRunID }},
	{"plan_digest", schema.String, func(r *AuditRow) any { return &r.PlanDigest }},
	{"prev_hash", schema.String, func(r *AuditRow) any { return &r.PrevHash }},
	{"row_hash", schema.String, func(r *AuditRow) any { return &r.RowHash }},
	{"reason", schema.String, func(r *AuditRow) any { return &r.Reason }},
	{"restore_id", schema.String, func(r *AuditRow) any { return &r.RestoreID }},
	{"certificate_digest", schema.String, func(r *AuditRow) any { return &r.CertificateDigest }},
}

// lastOfV1 is the last column of the first encoding of hashes.
const lastOfV1 = "row_hash"

// later are the columns behind it.
var later = laterColumns()

func laterColumns() map[string]bool {
	out, behind := map[string]bool{}, false
	for _, c := range columns {
		if behind {
			out[c.name] = true
		}
		behind = behind || c.name == lastOfV1
	}
	return out
}

// AuditSchema is the schema of an audit table that lakewarden creates.
func AuditSchema() *schema.Struct {
	s := &schema.Struct{}
	for _, c := range columns {
		s.Fields = append(s.Fields, c.field())
	}
	return s
}

func (c column) field() schema.Field {
	return schema.Field{Name: c.name, Type: c.kind, Nullable: true}
}
