package workflows

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"
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
		return RestoreResult{}, r.failed(ctx, err)
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
	in := activities.RestoreRowsInput{Request: r.req, RestoreID: id, Now: workflow.Now(ctx), Caller: caller}

	// 1. Look: what is refused is refused here, before anything is held, stopped or
	// written.
	r.enter(ctx, StagePlanning)
	rows, err := r.look(ctx, in)
	if err != nil {
		return out, err
	}

	if !r.req.DryRun {
		// 2. Nothing may be called erased while rows come back.
		stopped := r.stopErasure(ctx)

		// 3. Hold the rows, then put them back.
		r.enter(ctx, StageRestoring)
		if rows, err = r.restore(ctx, in, stopped); err != nil {
			return out, err
		}
	}
	out.Rows = rows

	// 4. Record it.
	out.Outcome = activities.StatusRestored
	if r.req.DryRun {
		out.Outcome = activities.StatusDryRun
	}
	safe, _ := workflow.NewDisconnectedContext(ctx)
	row := activities.RecordAuditInput{
		Run: r.found.Run, AuditTable: r.found.AuditTable, Status: out.Outcome, RestoreID: id, ExecTime: workflow.Now(ctx), Caller: caller,
		Criteria: r.req.Where, Policy: r.found.Policy, LegalBasis: r.found.LegalBasis, RowsReleased: rows.RowsRestored,
		ArchiveTable: r.found.ArchiveTable, VersionAfter: &rows.Version, Reason: r.req.Reason,
	}
	r.enter(safe, StageRecording)
	var audit activities.RecordAuditResult
	if err := workflow.ExecuteActivity(undo(safe, "Write the audit row: "+out.Outcome), steps.RecordAudit, row).Get(safe, &audit); err != nil {
		return out, r.failed(safe, failure(TypeHalt, "the rows are back in "+out.Table+", and no audit row tells of it: "+rootMessage(err), nil))
	}
	out.Audit, r.status.Audit, r.status.Outcome = &audit, &audit, out.Outcome
	r.enter(safe, StageDone)
	return out, nil
}

// look is a dry run, which writes nothing.
func (r *restore) look(ctx workflow.Context, in activities.RestoreRowsInput) (*activities.RestoreRowsResult, error) {
	in.Request.DryRun = true
	var rows activities.RestoreRowsResult
	if err := workflow.ExecuteActivity(data(ctx, "See what would come back into "+r.found.Run.Table), steps.RestoreRows, in).Get(ctx, &rows); err != nil {
		return nil, r.failed(ctx, err)
	}
	return &rows, nil
}

// restore holds the rows and puts them back. Where that fails or is cancelled, it
// makes sure that no attempt adds rows any more, ends the hold, and starts the
// proof of erasure again that was stopped: all is as before.
func (r *restore) restore(ctx workflow.Context, in activities.RestoreRowsInput, stopped bool) (*activities.RestoreRowsResult, error) {
	var rows activities.RestoreRowsResult
	cause := workflow.ExecuteActivity(data(ctx, "Put archived rows back into "+r.found.Run.Table), steps.RestoreRows, in).Get(ctx, &rows)
	if cause == nil {
		return &rows, nil
	}
	safe, _ := workflow.NewDisconnectedContext(ctx)
	r.status.Error = rootMessage(cause)
	r.enter(safe, StageUndoing)
	var f activities.FenceRestoreResult
	if err := workflow.ExecuteActivity(undo(safe, "Make sure that nothing comes back any more, and end its hold"), steps.FenceRestore, in).Get(safe, &f); err != nil {
		return nil, r.failed(safe, failure(TypeHalt, "rows may be back in "+r.found.Run.Table+" that no audit row tells of, or held without being back: "+
			rootMessage(err)+"; before that: "+rootMessage(cause), nil))
	}
	if f.Restored != nil { // the answer was lost, not the commit
		r.status.Error = ""
		return f.Restored, nil
	}
	r.status.Undone = append(r.status.Undone, "no row comes back, and nothing is held")
	if stopped {
		if err := r.resumeErasure(safe); err != nil {
			return nil, r.failed(safe, failure(typeOf("", cause), rootMessage(cause)+"; and the proof of erasure that was stopped for it could not be started again: "+rootMessage(err), nil))
		}
		r.status.Undone = append(r.status.Undone, "the proof of erasure waits again, as workflow "+ErasureID(r.req.RunID))
	}
	return nil, r.failed(safe, cause)
}

// failed shows why nothing was restored.
func (r *restore) failed(ctx workflow.Context, err error) error {
	r.status.Error = rootMessage(err)
	r.enter(ctx, StageDone)
	return err
}

// stopErasure cancels the pending proof of erasure and says whether one waits.
func (r *restore) stopErasure(ctx workflow.Context) bool {
	id := ErasureID(r.req.RunID)
	if err := workflow.RequestCancelExternalWorkflow(ctx, id, "").Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Info("no proof of erasure to stop", "workflow", id, "reason", err)
		return false
	}
	return true
}

const (
	resumeAttempts = 60
	resumeEvery    = 10 * time.Second
)

// resumeErasure starts the proof of erasure anew; the one that was cancelled may
// take a while to end.
func (r *restore) resumeErasure(ctx workflow.Context) error {
	in := activities.FindRunInput{RunID: r.req.RunID, AuditTable: r.found.AuditTable}
	var found activities.FindErasureResult
	if err := workflow.ExecuteActivity(undo(ctx, "Find what the proof of erasure needs"), steps.FindErasure, in).Get(ctx, &found); err != nil {
		return err
	}
	if found.Owed == nil {
		return nil
	}
	for attempt := 1; ; attempt++ {
		err := startProof(ctx, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, *found.Owed)
		if !temporal.IsWorkflowExecutionAlreadyStartedError(err) || attempt == resumeAttempts {
			return err
		}
		if err := sleepUntil(ctx, workflow.Now(ctx).Add(resumeEvery), "Wait for the stopped proof of erasure to end"); err != nil {
			return err
		}
	}
}

func (r *restore) delegate(ctx workflow.Context, id string) (RestoreResult, error) {
	r.status.DelegatedTo = id
	r.enter(ctx, StageDelegating)
	details := "Reason: " + cell.Replace(r.req.Reason) + "\n\nHeld until " + r.req.HoldUntil + ". While this runs, no purge of the table does."
	child := workflow.ExecuteChildWorkflow(childOptions(ctx, id, "Restore what run "+r.req.RunID+" purged from "+r.found.Run.Table, details), TypeRestorePurge, r.req)
	var out RestoreResult
	err := child.GetChildWorkflowExecution().Get(ctx, nil)
	if temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		return out, r.failed(ctx, failure(TypeConflict, "a purge or restore of "+r.found.Run.Table+" is running as workflow "+id+"; nothing was restored, start this again after it", nil))
	}
	if err == nil {
		err = child.Get(ctx, &out)
	}
	safe, _ := workflow.NewDisconnectedContext(ctx)
	if err != nil {
		return out, r.failed(safe, unwrapChild(err))
	}
	r.status.Outcome, r.status.Audit = out.Outcome, out.Audit
	r.enter(safe, StageDone)
	return out, nil
}

func (r *restore) enter(ctx workflow.Context, stage string) {
	r.status.Stage, r.status.Since = stage, workflow.Now(ctx)
	workflow.SetCurrentDetails(ctx, r.status.Markdown())
}
