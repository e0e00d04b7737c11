package workflows

import (
	"errors"
	"slices"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
)

// compensation undoes one step; what names it for people.
type compensation struct {
	what string
	undo func(ctx workflow.Context, reason string) (string, error)
}

// onFailure registers a compensation, before its step starts.
func (p *purge) onFailure(what string, undo func(workflow.Context, string) (string, error)) {
	p.cleanup = append(p.cleanup, compensation{what, undo})
}

// finish ends a run that did not reach the delete, or does not know whether it
// did: it undoes what was done, records the outcome and fails the workflow.
func (p *purge) finish(ctx workflow.Context, cause error) (PurgeResult, error) {
	safe, _ := workflow.NewDisconnectedContext(ctx)
	if p.deleteStarted {
		deleted, err := p.fenceDelete(safe, rootMessage(cause))
		if err != nil {
			return p.finishHeld(safe, err)
		}
		if deleted { // the answer was lost, not the commit
			return p.conclude(ctx)
		}
	}
	undone, err := p.compensate(safe, rootMessage(cause))
	if err != nil {
		return p.finishHeld(safe, err)
	}
	status, message := outcomeOf(cause, undone)
	p.recordOutcome(safe, status, message)
	p.notify(safe, spec.EventFailed, "Purge of "+p.policy.Table+": "+status)
	return p.end(safe, cause)
}

// recordOutcome writes the audit row of a run that failed, and only then shows the
// outcome: what is shown as an outcome stands in the audit, or the error says why
// it does not.
func (p *purge) recordOutcome(ctx workflow.Context, status, message string) {
	p.status.Error = message
	p.enter(ctx, StageRecording)
	if err := p.record(ctx, status, message); err != nil {
		p.status.Error += "; the audit row could not be written: " + rootMessage(err)
	}
	p.status.Outcome = status
}

// fenceDelete makes sure that no attempt deletes any more, and says whether one had.
func (p *purge) fenceDelete(ctx workflow.Context, reason string) (bool, error) {
	p.enter(ctx, StageUndoing)
	var f activities.FenceDeleteResult
	if err := workflow.ExecuteActivity(undo(ctx, "Make sure that nothing deletes any more"), steps.FenceDelete,
		activities.UndoInput{Run: p.runRef(), Reason: reason}).Get(ctx, &f); err != nil {
		return false, err
	}
	if f.Deleted {
		p.status.Delete, p.deletedAt = f.Delete, workflow.Now(ctx)
	}
	return f.Deleted, nil
}

// compensate undoes the started steps, last first.
func (p *purge) compensate(ctx workflow.Context, reason string) (undone bool, err error) {
	slices.Reverse(p.cleanup)
	for _, c := range p.cleanup {
		p.enter(ctx, StageUndoing)
		note, err := c.undo(ctx, reason)
		if err != nil {
			return undone, failure(TypeHalt, "could not "+c.what+": "+rootMessage(err), nil)
		}
		p.status.Undone = append(p.status.Undone, c.what+": "+note)
		undone = true
	}
	return undone, nil
}

func (p *purge) unmark(ctx workflow.Context, reason string) (string, error) {
	var r activities.UnmarkRowsResult
	err := workflow.ExecuteActivity(undo(ctx, "Take the flags back"), steps.UnmarkRows,
		activities.UndoInput{Run: p.runRef(), Reason: reason}).Get(ctx, &r)
	return unmarkNote(r), err
}

func (p *purge) unarchive(ctx workflow.Context, reason string) (string, error) {
	var r activities.RemoveArchivedResult
	err := workflow.ExecuteActivity(undo(ctx, "Remove this run's rows from the archive"), steps.RemoveArchived,
		activities.UndoInput{Run: p.runRef(), Reason: reason}).Get(ctx, &r)
	return removeNote(r), err
}

// outcomeOf names how a run ended that deleted nothing, and why.
func outcomeOf(cause error, undone bool) (status, message string) {
	var o outcomeError
	switch {
	case errors.As(cause, &o):
		return o.status, o.message
	case temporal.IsCanceledError(cause):
		return activities.StatusCancelled, "cancelled"
	case (isType(cause, TypeRefused) || isType(cause, activities.ErrorUnsupported)) && !undone:
		return activities.StatusRefused, rootMessage(cause)
	case undone:
		return activities.StatusRolledBack, rootMessage(cause)
	default:
		return activities.StatusFailed, rootMessage(cause)
	}
}

// finishHeld ends a run whose table needs a person: nothing more is done to it.
func (p *purge) finishHeld(ctx workflow.Context, cause error) (PurgeResult, error) {
	p.status.Next = "lakewarden verify " + p.status.RunID
	p.recordOutcome(ctx, activities.StatusFailed, rootMessage(cause))
	p.notify(ctx, spec.EventFailed, "Purge of "+p.policy.Table+" needs attention")
	return p.end(ctx, failure(TypeHalt, p.status.Error, nil))
}

// finishDryRun records a plan that was asked for alone. One that cannot be
// recorded is no dry run that is done.
func (p *purge) finishDryRun(ctx workflow.Context) (PurgeResult, error) {
	safe, _ := workflow.NewDisconnectedContext(ctx)
	p.enter(safe, StageRecording)
	if err := p.record(safe, activities.StatusDryRun, ""); err != nil {
		p.status.Outcome, p.status.Error = activities.StatusFailed, "the plan is made, but could not be recorded: "+rootMessage(err)
		return p.end(safe, err)
	}
	p.status.Outcome = activities.StatusDryRun
	return p.end(safe, nil)
}

// finishNothingDue ends a run that found no row to purge: all counts are known to
// be 0, nothing is flagged, and only the vacuum has something to do.
func (p *purge) finishNothingDue(ctx workflow.Context) (PurgeResult, error) {
	plan := p.status.Plan
	zero := int64(0)
	p.status.Mark = &activities.MarkRowsResult{VersionBefore: plan.Version, VersionMarked: plan.Version}
	p.status.Delete = &activities.MergeDeleteResult{Outcome: activities.Deleted, RowsDeleted: &zero, RowsReleased: &zero, Version: plan.Version}
	p.status.Archive = &activities.ArchiveRowsResult{ArchiveTable: plan.ArchiveTable, SourceVersion: plan.Version}
	return p.recordAndVacuum(ctx)
}

// end shows the last state, lets handlers finish, and closes the workflow as the
// outcome asks.
func (p *purge) end(ctx workflow.Context, cause error) (PurgeResult, error) {
	safe, _ := workflow.NewDisconnectedContext(ctx)
	p.enter(safe, StageDone)
	if err := workflow.Await(safe, func() bool { return workflow.AllHandlersFinished(safe) }); err != nil {
		return PurgeResult{}, err
	}
	result := p.status.result(p.policy.Audit.Table)
	if cause == nil {
		return result, nil
	}
	if p.status.Outcome == activities.StatusCancelled {
		return result, temporal.NewCanceledError(result)
	}
	return result, failure(typeOf(p.status.Outcome, cause), summary(p.status.Outcome, p.status.Error), result)
}
