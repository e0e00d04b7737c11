package workflows

import (
	"time"

	"github.com/lakewarden/lakewarden/activities"
)

// Stages of a run, as shown by the status query and LakewardenStage.
const (
	StagePlanning   = "planning"
	StageMarking    = "marking"
	StageApproval   = "waiting_for_approval"
	StageArchiving  = "archiving"
	StageDeleting   = "deleting"
	StageVerifying  = "verifying"
	StageHeld       = "held" // after the delete; waits for retry
	StageVacuuming  = "vacuuming"
	StageRecording  = "recording"
	StageUndoing    = "undoing"
	StageWaiting    = "waiting_for_retention"
	StageProving    = "proving_erasure"
	StageRestoring  = "restoring"
	StageDelegating = "delegating"
	StageDone       = "done"
)

// OutcomeSkipped is the outcome of a start that found another purge of the same
// table running: DelegatedTo names it. It has no audit row: nothing was attempted.
const OutcomeSkipped = "skipped"

// Status is the answer to the status query: the whole state of a run, with the
// command that is next, if one is.
type Status struct {
	RunID   string    `json:"run_id"`
	Table   string    `json:"table"`
	Policy  string    `json:"policy,omitempty"`
	Stage   string    `json:"stage"`
	Since   time.Time `json:"since"`
	Outcome string    `json:"outcome,omitempty"`
	Error   string    `json:"error,omitempty"`
	// Next is what a person has to do, as a command where there is one.
	Next string `json:"next,omitempty"`

	Plan     *activities.PlanPurgeResult     `json:"plan,omitempty"`
	Mark     *activities.MarkRowsResult      `json:"mark,omitempty"`
	Approval *Approval                       `json:"approval,omitempty"`
	Archive  *activities.ArchiveRowsResult   `json:"archive,omitempty"`
	Verified *activities.VerifyArchiveResult `json:"verified,omitempty"`
	Delete   *activities.MergeDeleteResult   `json:"delete,omitempty"`
	Checks   []activities.Check              `json:"checks,omitempty"`
	Vacuum   *activities.VacuumTableResult   `json:"vacuum,omitempty"`
	Audit    *activities.RecordAuditResult   `json:"audit,omitempty"`
	Erasure  *activities.ProveErasedResult   `json:"erasure,omitempty"`
	Undone   []string                        `json:"undone,omitempty"`
	// Proofs are workflows that this run started for earlier runs, which had been
	// terminated before they could.
	Proofs []string `json:"proofs,omitempty"`
	// DelegatedTo is the workflow that does the work of this start, or that was
	// running already (outcome skipped).
	DelegatedTo string `json:"delegated_to,omitempty"`
	// ErasureID is the workflow that proves the erasure, once started.
	ErasureID  string     `json:"erasure_id,omitempty"`
	ErasureDue *time.Time `json:"erasure_due,omitempty"`
}

// PurgeResult is the result of PurgeTable, and the details of its failure.
type PurgeResult struct {
	RunID         string     `json:"run_id"`
	Table         string     `json:"table"`
	Outcome       string     `json:"outcome"`
	Cutoff        string     `json:"cutoff,omitempty"`
	RowsDue       *int64     `json:"rows_due"` // when it was planned
	RowsMarked    *int64     `json:"rows_marked"`
	RowsArchived  *int64     `json:"rows_archived"`
	RowsDeleted   *int64     `json:"rows_deleted"`
	RowsHeld      *int64     `json:"rows_held"`
	RowsUndated   *int64     `json:"rows_undated"`
	RowsReleased  *int64     `json:"rows_released"`
	VersionBefore *int64     `json:"version_before"`
	VersionAfter  *int64     `json:"version_after"`
	ArchiveTable  string     `json:"archive_table,omitempty"`
	AuditTable    string     `json:"audit_table,omitempty"`
	AuditHead     string     `json:"audit_head,omitempty"`
	RunFolder     string     `json:"run_folder,omitempty"`
	ErasureID     string     `json:"erasure_id,omitempty"`
	ErasureDue    *time.Time `json:"erasure_due"`
	VacuumPending *int64     `json:"vacuum_pending"`
	Message       string     `json:"message,omitempty"`
	// DelegatedTo is the workflow that purges the table, where that is another.
	DelegatedTo string `json:"delegated_to,omitempty"`
}

// result draws the workflow's result from the state.
func (s *Status) result(auditTable string) PurgeResult {
	r := PurgeResult{
		RunID: s.RunID, Table: s.Table, Outcome: s.Outcome, AuditTable: auditTable,
		ErasureID: s.ErasureID, ErasureDue: s.ErasureDue, Message: s.Error,
	}
	if p := s.Plan; p != nil {
		r.Cutoff, r.RunFolder, r.RowsDue, r.RowsHeld, r.RowsUndated = p.Cutoff, p.RunFolder, p.RowsDue, p.RowsHeld, p.RowsUndated
	}
	if m := s.Mark; m != nil {
		r.RowsMarked, r.VersionBefore = &m.RowsMarked, &m.VersionBefore
	}
	if a := s.Archive; a != nil {
		r.RowsArchived, r.ArchiveTable = &a.Rows, a.ArchiveTable
	}
	if d := s.Delete; d != nil && d.Outcome == activities.Deleted {
		r.RowsDeleted, r.RowsReleased, r.VersionAfter = d.RowsDeleted, d.RowsReleased, &d.Version
	}
	if v := s.Vacuum; v != nil {
		r.VacuumPending = &v.FilesPending
	}
	if s.Audit != nil {
		r.AuditHead = s.Audit.Head
	}
	return r
}
