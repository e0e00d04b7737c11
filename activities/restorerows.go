package activities

import (
	"context"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/evidence"
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
	Status       string `json:"status"`    // newest
	Completed    bool   `json:"completed"` // its rows were deleted
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

// FindRun looks a run up by its audit rows and its folder, without Temporal.
func (a *Activities) FindRun(ctx context.Context, in FindRunInput) (*FindRunResult, error) {
	store, err := a.Lake.Table(ctx, in.AuditTable)
	if err != nil {
		return nil, fail(ctx, err)
	}
	rows, err := auditlog.New(store, a.env()).With(a.Audit).Rows(ctx)
	if err != nil {
		return nil, fail(ctx, err)
	}
	out := &FindRunResult{AuditTable: in.AuditTable}
	var newest time.Time
	for _, r := range rows {
		if r.RunID != in.RunID {
			continue
		}
		if r.ArchiveTable != "" {
			out.ArchiveTable = r.ArchiveTable
		}
		if r.RowsDeleted != nil && (r.Status == StatusCompleted || r.Status == StatusFailed) { // failed: in what followed the delete
			out.Completed = true
		}
		if !r.ExecTime.Before(newest) {
			newest = r.ExecTime
			out.Run = Run{RunID: r.RunID, Table: r.TargetTable, PlanDigest: r.PlanDigest}
			out.Status, out.Policy, out.LegalBasis = r.Status, r.Policy, r.LegalBasis
		}
	}
	if out.Run.RunID == "" {
		return nil, refused("run %s is not in the audit table %s; `lakewarden audit list` shows the runs", in.RunID, in.AuditTable)
	}
	return out, nil
}

// RestoreRows puts archived rows back, and holds them until a day. As a dry run
// it finds every refusal and writes nothing: RestorePurge makes one first. After a
// failure that is no dry run, FenceRestore must follow.
func (a *Activities) RestoreRows(ctx context.Context, in RestoreRowsInput) (*RestoreRowsResult, error) {
	env, stop := a.beat(ctx, "restore")
	defer stop()
	found, err := a.FindRun(ctx, FindRunInput{RunID: in.Request.RunID, AuditTable: in.Request.Audit.Table})
	if err != nil {
		return nil, err
	}
	if !found.Completed || found.ArchiveTable == "" {
		return nil, refused("run %s has no archived rows: its last status is %s", in.Request.RunID, found.Status)
	}
	if len(in.Request.Keys) == 0 && !in.Request.DryRun {
		return nil, refused("keys are needed: the columns that identify a row, by which the next purge is held off the restored rows")
	}
	r, err := a.restore(ctx, in, found, env)
	return r, fail(ctx, err)
}

func (a *Activities) restore(ctx context.Context, in RestoreRowsInput, found *FindRunResult, env deltaio.Env) (*RestoreRowsResult, error) {
	old, err := a.oldPlan(ctx, in.Request.RunID)
	if err != nil {
		return nil, err
	}
	table, err := a.open(ctx, found.Run.Table, env)
	if err != nil {
		return nil, err
	}
	archive, err := a.open(ctx, found.ArchiveTable, env)
	if err != nil {
		return nil, err
	}
	folder, err := a.Lake.Run(ctx, in.RestoreID)
	if err != nil {
		return nil, err
	}
	opt, err := restoreOptions(in, old, folder)
	if err != nil {
		return nil, err
	}
	if opt.PurgeJournal, err = a.Lake.Run(ctx, in.Request.RunID); err != nil {
		return nil, err
	}
	until, err := time.Parse(time.DateOnly, in.Request.HoldUntil)
	if err != nil {
		return nil, refused("hold_until %q: want a day as yyyy-MM-dd", in.Request.HoldUntil)
	}
	if until.AddDate(0, 0, 1).Before(in.Now) {
		return nil, refused("hold_until %s is past: the next purge would take the rows again; name a day from today on", in.Request.HoldUntil)
	}
	if in.Request.DryRun {
		if len(in.Request.Keys) > 0 { // else it would be refused later
			err = a.sameHoldKeys(ctx, found.Run.Table, in.Request.Keys, env)
		}
	} else {
		// The hold comes before the rows: without it they could be purged again.
		// Where they do not come back, FenceRestore ends it.
		err = a.registerHold(ctx, in, found, until, env)
	}
	if err != nil {
		return nil, err
	}
	r, err := purge.RestoreRows(ctx, table, archive, opt)
	if err != nil {
		return nil, err
	}
	return restoreResult(r, in, until)
}

func restoreOptions(in RestoreRowsInput, old *frozenPlan, folder *evidence.Folder) (purge.RestoreOptions, error) {
	opt := purge.RestoreOptions{
		Run: purge.Run{ID: in.RestoreID, Journal: folder}, PurgeRunID: in.Request.RunID,
		Keys: in.Request.Keys, DryRun: in.Request.DryRun, Context: expr.Context{Now: in.Now, Zone: time.UTC},
	}
	if old.Policy.Mark.On() {
		opt.Column = old.Policy.Mark.Column
	}
	var err error
	if w := in.Request.Where; w != "" {
		opt.Where, err = expr.Parse(w)
	}
	return opt, err
}

func restoreResult(r *purge.RestoreResult, in RestoreRowsInput, until time.Time) (*RestoreRowsResult, error) {
	switch r.Outcome {
	case purge.KeysExist:
		return nil, refused("%d of the archived rows exist in the table; examples lie in the run folder of %s as %s; nothing was restored", r.Existing, in.RestoreID, r.Examples)
	case purge.Fenced:
		return nil, fenced("restore", Run{RunID: in.RestoreID})
	}
	return &RestoreRowsResult{RowsRestored: &r.Rows, RowsRefused: r.Existing, Version: r.Version, HoldUntil: &until, DryRun: in.Request.DryRun, Record: r.Record}, nil
}
