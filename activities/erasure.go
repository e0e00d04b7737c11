package activities

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
)

// ErasureOwed is a run whose erasure has to be proved: what ProveErasure needs to
// know, drawn from the run's audit rows and its plan.
type ErasureOwed struct {
	Run         Run          `json:"run"`
	Policy      string       `json:"policy"`
	LegalBasis  string       `json:"legal_basis"`
	Criteria    string       `json:"criteria"`
	AuditTable  string       `json:"audit_table"`
	Notify      *spec.Notify `json:"notify,omitempty"`
	RequestedBy string       `json:"requested_by,omitempty"`
	Owner       string       `json:"owner,omitempty"`
	// What the certificate says of the delete.
	RowsDeleted   *int64    `json:"rows_deleted"`
	VersionBefore *int64    `json:"version_before"`
	VersionAfter  *int64    `json:"version_after"`
	DeletedAt     time.Time `json:"deleted_at"`
	AuditHead     string    `json:"audit_head"`
	// Due is when the files of the run are past retention.
	Due time.Time `json:"due"`
}

// FindErasureResult: Owed is nil when the run deleted nothing, or its policy asks
// for no proof.
type FindErasureResult struct {
	Owed *ErasureOwed `json:"owed,omitempty"`
}

// FindErasure draws from audit and run folder what a proof of a run's erasure
// needs, so that one that was stopped can be started again.
func (a *Activities) FindErasure(ctx context.Context, in FindRunInput) (*FindErasureResult, error) {
	env, stop := a.beat(ctx, "find erasure")
	defer stop()
	rows, err := a.auditTable(ctx, in.AuditTable, env)
	if err != nil {
		return nil, fail(ctx, err)
	}
	rows = slices.DeleteFunc(rows, func(r evidence.AuditRow) bool { return r.RunID != in.RunID })
	old, err := a.oldPlan(ctx, in.RunID)
	if err != nil {
		return nil, fail(ctx, err)
	}
	table, err := a.open(ctx, old.Policy.Table, env)
	if err != nil {
		return nil, fail(ctx, err)
	}
	owed, err := a.owed(ctx, table, old, rows)
	return &FindErasureResult{Owed: owed}, fail(ctx, err)
}

// maxOwed bounds the erasures that one plan names; the next plan names the rest.
const maxOwed = 20

// oweErasure notes that the erasure of a closed run has to be proved.
func (p *planner) oweErasure(ctx context.Context, old *frozenPlan, rows []evidence.AuditRow) error {
	if !unproved(rows) || len(p.out.Owed) >= maxOwed {
		return nil
	}
	owed, err := p.a.owed(ctx, p.table, old, rows)
	if err != nil || owed == nil {
		return err
	}
	p.out.Owed = append(p.out.Owed, *owed)
	p.warn("the audit shows no sign that run %s, which is over, came to the proof of its erasure; unless one is there, it is started now, as workflow erasure:%s, and due on %s",
		old.RunID, old.RunID, owed.Due.UTC().Format(time.RFC3339))
	return nil
}

// unproved: the run recorded its delete, and the audit shows no sign that it came
// as far as the proof of its erasure. A run that was terminated before its vacuum
// looks like that, and so does one whose vacuum failed: for the latter the proof
// is there, and a second start of it does nothing.
func unproved(rows []evidence.AuditRow) bool {
	late, beyond := false, false
	for _, r := range rows {
		switch r.Status {
		case StatusCompleted:
			late = late || strings.HasPrefix(r.Error, lateNote)
			if r.RowsDeleted != nil && *r.RowsDeleted == 0 {
				return false
			}
		case StatusErased, StatusErasureIncomplete, StatusRestored, StatusFailed:
			return false
		case StatusVacuumed:
			beyond = true
		}
	}
	return late || !beyond
}

// owed draws what a proof needs; nil when none is asked for.
func (a *Activities) owed(ctx context.Context, t *deltaio.Table, old *frozenPlan, rows []evidence.AuditRow) (*ErasureOwed, error) {
	i := slices.IndexFunc(rows, func(r evidence.AuditRow) bool { return r.Status == StatusCompleted && r.RowsDeleted != nil })
	if i < 0 || *rows[i].RowsDeleted == 0 || !old.Policy.Erasure.On() {
		return nil, nil
	}
	r := rows[i]
	folder, err := a.Lake.Run(ctx, old.RunID)
	if err != nil {
		return nil, err
	}
	out := &ErasureOwed{
		Run:    Run{RunID: old.RunID, Table: old.Policy.Table, PlanDigest: r.PlanDigest},
		Policy: old.Policy.Name, LegalBasis: old.Policy.LegalBasis, Criteria: r.Criteria, AuditTable: old.Policy.Audit.Table,
		Notify: old.Policy.Notify, RequestedBy: old.Caller.RequestedBy, Owner: old.Policy.Owner,
		RowsDeleted: r.RowsDeleted, VersionBefore: r.VersionBefore, VersionAfter: r.VersionAfter, DeletedAt: r.ExecTime, AuditHead: r.RowHash,
	}
	if at, ok, err := purge.DeletedAt(ctx, t, old.RunID); err != nil {
		return nil, err
	} else if ok {
		out.DeletedAt = at
	}
	due, err := a.erasureDue(ctx, t, old, purge.Run{ID: old.RunID, Journal: folder})
	if err != nil {
		return nil, err
	}
	out.Due = a.Now() // no file is left: the proof can be had at once
	if due != nil {
		out.Due = *due
	}
	return out, nil
}

// erasureDue is when the run's files are past the retention that its policy asks
// for; nil when none is left.
func (a *Activities) erasureDue(ctx context.Context, t *deltaio.Table, old *frozenPlan, run purge.Run) (*time.Time, error) {
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	own, err := snap.FileRetention()
	if err != nil {
		return nil, err
	}
	due, _, err := purge.ErasureDue(ctx, t, run, vacuumRetention(old.Policy, own))
	return due, err
}
