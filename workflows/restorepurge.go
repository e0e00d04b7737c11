package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
)

// RestoreResult is the result of RestorePurge.
type RestoreResult struct {
	RunID   string                        `json:"run_id"`
	Table   string                        `json:"table"`
	Outcome string                        `json:"outcome"` // restored | dry_run | skipped
	Rows    *activities.RestoreRowsResult `json:"rows,omitempty"`
	Audit   *activities.RecordAuditResult `json:"audit,omitempty"`
	Message string                        `json:"message,omitempty"`
}

// RestorePurge puts archived rows of a run back. It looks the run up and goes on
// as the child PurgeID(table), which excludes purges of that table.
func RestorePurge(ctx workflow.Context, req spec.RestoreRequest) (RestoreResult, error) {
	req = req.Defaults()
	if err := req.Validate(nil).Err(); err != nil {
		return RestoreResult{}, failure(TypeInvalidPolicy, "the request is not valid, nothing was touched:\n"+err.Error(), nil)
	}
	r := &restore{req: req, status: Status{RunID: req.RunID}}
	if err := workflow.SetQueryHandler(ctx, QueryStatus, func() (Status, error) { return r.status, nil }); err != nil {
		return RestoreResult{}, err
	}
	r.enter(ctx, StagePlanning)
	in := activities.FindRunInput{RunID: req.RunID, AuditTable: req.Audit.Table}
	if err := workflow.ExecuteActivity(quick(ctx, "Look the run up"), steps.FindRun, in).Get(ctx, &r.found); err != nil {
		return RestoreResult{}, err
	}
	r.status.Table = r.found.Run.Table
	if id := PurgeID(r.found.Run.Table); workflow.GetInfo(ctx).WorkflowExecution.ID != id {
		return r.delegate(ctx, id)
	}
	return r.run(ctx)
}

type restore struct {
	req    spec.RestoreRequest
	found  activities.FindRunResult
	status Status
}

func (r *restore) run(ctx workflow.Context) (RestoreResult, error) {
	out := RestoreResult{RunID: r.req.RunID, Table: r.found.Run.Table}
	id, err := drawID(ctx)
	if err != nil {
		return out, err
	}
	info := workflow.GetInfo(ctx)
	caller := activities.Caller{WorkflowID: info.WorkflowExecution.ID, WorkflowRunID: info.WorkflowExecution.RunID, RequestedBy: r.req.RequestedBy}

	// 1. Nothing may be erased while rows come back.
	if !r.req.DryRun {
		r.stopErasure(ctx)
	}

	// 2. Put the rows back and hold them.
	r.enter(ctx, StageRestoring)
	in := activities.RestoreRowsInput{Request: r.req, RestoreID: id, Now: workflow.Now(ctx), Caller: caller}
	var rows activities.RestoreRowsResult
	if err := workflow.ExecuteActivity(data(ctx, "Put archived rows back into "+out.Table), steps.RestoreRows, in).Get(ctx, &rows); err != nil {
		back, err := r.fence(ctx, in, err)
		if err != nil {
			return out, err
		}
		rows = *back // the answer was lost, not the commit
	}
	out.Rows = &rows

	// 3. Record it.
	out.Outcome = activities.StatusRestored
	if r.req.DryRun {
		out.Outcome = activities.StatusDryRun
	}
	safe, _ := workflow.NewDisconnectedContext(ctx)
	row := activities.RecordAuditInput{
		Run: r.found.Run, AuditTable: r.found.AuditTable, Status: out.Outcome, RestoreID: id, ExecTime: workflow.Now(ctx), Caller: caller,
		Criteria: r.req.Where, Policy: r.found.Policy, LegalBasis: r.found.LegalBasis, RowsReleased: rows.RowsRestored,
		ArchiveTable: r.found.ArchiveTable, VersionAfter: &rows.Version, Note: r.req.Reason,
	}
	var audit activities.RecordAuditResult
	if err := workflow.ExecuteActivity(undo(safe, "Write the audit row: "+out.Outcome), steps.RecordAudit, row).Get(safe, &audit); err != nil {
		return out, err
	}
	out.Audit, r.status.Audit, r.status.Outcome = &audit, &audit, out.Outcome
	r.enter(safe, StageDone)
	return out, nil
}

// fence makes sure, after a failure or a cancellation, that no attempt adds rows
// any more. Where one had, it gives its result; else the cause.
func (r *restore) fence(ctx workflow.Context, in activities.RestoreRowsInput, cause error) (*activities.RestoreRowsResult, error) {
	if r.req.DryRun || isType(cause, TypeRefused) {
		return nil, cause
	}
	safe, _ := workflow.NewDisconnectedContext(ctx)
	r.enter(safe, StageUndoing)
	var f activities.FenceRestoreResult
	if err := workflow.ExecuteActivity(undo(safe, "Make sure that nothing comes back any more"), steps.FenceRestore, in).Get(safe, &f); err != nil {
		return nil, failure(TypeHalt, "rows may be back in "+r.found.Run.Table+" that no audit row tells of: "+rootMessage(err)+"; before that: "+rootMessage(cause), nil)
	}
	if f.Restored == nil {
		return nil, cause
	}
	return f.Restored, nil
}

// stopErasure cancels the pending proof of erasure, if one waits.
func (r *restore) stopErasure(ctx workflow.Context) {
	id := ErasureID(r.req.RunID)
	if err := workflow.RequestCancelExternalWorkflow(ctx, id, "").Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Info("no proof of erasure to stop", "workflow", id, "reason", err)
	}
}

func (r *restore) delegate(ctx workflow.Context, id string) (RestoreResult, error) {
	r.enter(ctx, StageDelegating)
	child := workflow.ExecuteChildWorkflow(childOptions(ctx, id, r.found.Run.Table, "restore of "+r.req.RunID), TypeRestorePurge, r.req)
	var out RestoreResult
	err := child.GetChildWorkflowExecution().Get(ctx, nil)
	if temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		return out, failure(TypeConflict, "a purge or restore of "+r.found.Run.Table+" is running as workflow "+id+"; nothing was restored, start this again after it", nil)
	}
	if err != nil {
		return out, err
	}
	return out, child.Get(ctx, &out)
}

func (r *restore) enter(ctx workflow.Context, stage string) {
	r.status.Stage, r.status.Since = stage, workflow.Now(ctx)
	workflow.SetCurrentDetails(ctx, r.status.Markdown())
}
