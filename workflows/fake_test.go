package workflows_test

import (
	"context"
	"errors"
	"sync"

	"go.temporal.io/sdk/temporal"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
)

// fakeSteps stands in for the activities: it keeps a model of what the table,
// the archive and the audit hold, and fails where a test says so.
type fakeSteps struct {
	mu    sync.Mutex
	calls []string
	audit []activities.RecordAuditInput
	// The model: where the due rows are.
	marked, archived, deleted bool

	rows    int64
	plan    activities.PlanPurgeResult
	deletes []string // outcomes of MergeDelete, in order; then Deleted
	// fail makes a step fail for good; after says whether its effect happened.
	fail map[string]error
	// lost steps take effect and fail all the same.
	lost map[string]bool
	// hook runs inside a step.
	hook   map[string]func()
	erased []bool
	owed   *activities.ErasureOwed // what FindErasure finds
}

func newFake(rows int64) *fakeSteps {
	share, undated := 0.25, int64(0)
	return &fakeSteps{
		rows: rows, fail: map[string]error{}, lost: map[string]bool{}, hook: map[string]func(){},
		plan: activities.PlanPurgeResult{
			PlanDigest: "sha256:0123456789abcdef0123456789abcdef", RunFolder: "file:///lake/_lakewarden/runs/x", TableID: "id", Version: 7,
			Criteria: "`event_date` < DATE'2025-02-08'", Cutoff: "before 2025-02-08 in UTC (2025-02-08T00:00:00Z)",
			RowsTotal: new(int64), RowsDue: &rows, RowsHeld: new(int64), RowsUndated: &undated, Share: &share,
			TableRetention: "168h", VacuumRetention: "168h",
		},
	}
}

func permanent(msg string) error {
	return temporal.NewApplicationErrorWithOptions(msg, activities.ErrorHalt, temporal.ApplicationErrorOptions{NonRetryable: true})
}

// step notes the call and says whether it fails.
func (f *fakeSteps) step(name string, effect func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, name)
	if h := f.hook[name]; h != nil {
		h()
	}
	err := f.fail[name]
	if err == nil || f.lost[name] {
		effect()
	}
	return err
}

func (f *fakeSteps) ProbeNamespace(context.Context) (*activities.ProbeNamespaceResult, error) {
	return &activities.ProbeNamespaceResult{}, nil
}

func (f *fakeSteps) PlanPurge(context.Context, activities.PlanPurgeInput) (*activities.PlanPurgeResult, error) {
	return &f.plan, f.step("PlanPurge", func() {})
}

func (f *fakeSteps) MarkRows(context.Context, activities.MarkRowsInput) (*activities.MarkRowsResult, error) {
	err := f.step("MarkRows", func() { f.marked = true })
	return &activities.MarkRowsResult{RowsMarked: f.rows, VersionBefore: 7, VersionMarked: 9, Content: "aa"}, err
}

func (f *fakeSteps) ArchiveRows(_ context.Context, in activities.ArchiveRowsInput) (*activities.ArchiveRowsResult, error) {
	err := f.step("ArchiveRows", func() { f.archived = true })
	return &activities.ArchiveRowsResult{Attempt: in.Attempt, ArchiveTable: "archive.vendas_expurgo", Rows: f.rows, Content: "aa"}, err
}

func (f *fakeSteps) VerifyArchive(context.Context, activities.VerifyArchiveInput) (*activities.VerifyArchiveResult, error) {
	return &activities.VerifyArchiveResult{Rows: f.rows, Content: "aa", Record: "r"}, f.step("VerifyArchive", func() {})
}

func (f *fakeSteps) MergeDelete(_ context.Context, in activities.MergeDeleteInput) (*activities.MergeDeleteResult, error) {
	outcome := activities.Deleted
	if len(f.deletes) > 0 {
		outcome, f.deletes = f.deletes[0], f.deletes[1:]
	}
	err := f.step("MergeDelete", func() {
		if outcome == activities.Deleted {
			f.deleted, f.marked = true, false
		}
	})
	return f.deleteResult(outcome), err
}

func (f *fakeSteps) deleteResult(outcome string) *activities.MergeDeleteResult {
	r := &activities.MergeDeleteResult{Outcome: outcome, RowsDue: f.rows + 1, Version: 10, Detail: "detail"}
	if outcome == activities.Deleted {
		r.RowsDeleted, r.RowsReleased = &f.rows, new(int64)
	}
	return r
}

func (f *fakeSteps) VerifyPurge(context.Context, activities.VerifyPurgeInput) (*activities.VerifyPurgeResult, error) {
	return &activities.VerifyPurgeResult{Checks: []activities.Check{{Name: "all", OK: true}}}, f.step("VerifyPurge", func() {})
}

func (f *fakeSteps) VacuumTable(context.Context, activities.VacuumTableInput) (*activities.VacuumTableResult, error) {
	return &activities.VacuumTableResult{FilesDeleted: 3, BytesDeleted: 30}, f.step("VacuumTable", func() {})
}

func (f *fakeSteps) ProveErased(context.Context, activities.ProveErasedInput) (*activities.ProveErasedResult, error) {
	erased := true
	if len(f.erased) > 0 {
		erased, f.erased = f.erased[0], f.erased[1:]
	}
	return &activities.ProveErasedResult{Erased: erased, Certificate: "certificate.json", CertDigest: "sha256:00"}, f.step("ProveErased", func() {})
}

func (f *fakeSteps) RecordAudit(_ context.Context, in activities.RecordAuditInput) (*activities.RecordAuditResult, error) {
	err := f.step("RecordAudit:"+in.Status, func() { f.audit = append(f.audit, in) })
	return &activities.RecordAuditResult{AuditTable: in.AuditTable, Head: "head-" + in.Status}, err
}

func (f *fakeSteps) FenceDelete(context.Context, activities.UndoInput) (*activities.FenceDeleteResult, error) {
	err := f.step("FenceDelete", func() {})
	if f.deleted {
		return &activities.FenceDeleteResult{Deleted: true, Delete: f.deleteResult(activities.Deleted)}, err
	}
	return &activities.FenceDeleteResult{}, err
}

func (f *fakeSteps) FenceRestore(context.Context, activities.RestoreRowsInput) (*activities.FenceRestoreResult, error) {
	r := &activities.FenceRestoreResult{HoldEnded: true}
	if f.lost["RestoreRows"] {
		r.Restored, r.HoldEnded = &activities.RestoreRowsResult{RowsRestored: &f.rows}, false
	}
	return r, f.step("FenceRestore", func() {})
}

func (f *fakeSteps) FindErasure(context.Context, activities.FindRunInput) (*activities.FindErasureResult, error) {
	return &activities.FindErasureResult{Owed: f.owed}, f.step("FindErasure", func() {})
}

func (f *fakeSteps) UnmarkRows(context.Context, activities.UndoInput) (*activities.UnmarkRowsResult, error) {
	if f.deleted {
		return nil, permanent("unmark after the delete")
	}
	return &activities.UnmarkRowsResult{RowsUnmarked: f.rows}, f.step("UnmarkRows", func() { f.marked = false })
}

func (f *fakeSteps) RemoveArchived(context.Context, activities.UndoInput) (*activities.RemoveArchivedResult, error) {
	if f.deleted {
		return nil, permanent("archive emptied after the delete")
	}
	return &activities.RemoveArchivedResult{Rows: f.rows}, f.step("RemoveArchived", func() { f.archived = false })
}

func (f *fakeSteps) Notify(_ context.Context, in activities.NotifyInput) (*activities.NotifyResult, error) {
	return &activities.NotifyResult{Sent: true}, f.step("Notify:"+string(in.Event), func() {})
}

func (f *fakeSteps) FindRun(context.Context, activities.FindRunInput) (*activities.FindRunResult, error) {
	return &activities.FindRunResult{Run: activities.Run{RunID: "r", Table: "bronze.vendas"}, AuditTable: "control.expurgo_audit", Completed: true},
		f.step("FindRun", func() {})
}

func (f *fakeSteps) RestoreRows(_ context.Context, in activities.RestoreRowsInput) (*activities.RestoreRowsResult, error) {
	name := "RestoreRows"
	if in.Request.DryRun {
		name = "RestoreRows:look"
	}
	return &activities.RestoreRowsResult{RowsRestored: &f.rows, DryRun: in.Request.DryRun}, f.step(name, func() {})
}

func (f *fakeSteps) statuses() []string {
	var out []string
	for _, a := range f.audit {
		out = append(out, a.Status)
	}
	return out
}

func policy() spec.RetentionPolicy {
	p, err := spec.Parse([]byte(spec.Example()))
	if err != nil {
		panic(errors.Join(errors.New("the example does not parse"), err))
	}
	p.Approval.On = spec.ApprovalNone
	return p
}
