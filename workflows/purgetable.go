package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
)

// PurgeTable purges one table by one policy. Its workflow ID is PurgeID(table):
// under another ID (a schedule appends a timestamp) it delegates to that one, so
// that one purge runs per table; what a second start sees is told at
// delegatePurge.
//
// It completes with outcome completed, dry_run or skipped, and fails for every
// other outcome, so that the Web UI never says "completed" for what was not done.
func PurgeTable(ctx workflow.Context, policy spec.RetentionPolicy) (PurgeResult, error) {
	policy = policy.Defaults()
	if err := policy.Validate(nil).Err(); err != nil {
		return PurgeResult{}, failure(TypeInvalidPolicy, "the policy is not valid, nothing was touched:\n"+err.Error(), nil)
	}
	if workflow.GetInfo(ctx).WorkflowExecution.ID != PurgeID(policy.Table) {
		return delegatePurge(ctx, policy)
	}
	p, err := newPurge(ctx, policy)
	if err != nil {
		return PurgeResult{}, err
	}
	return p.run(ctx)
}

// run is the runbook.
func (p *purge) run(ctx workflow.Context) (PurgeResult, error) {
	p.probeNamespace(ctx)

	// 1. Plan: count what is due and refuse what must not be touched.
	if err := p.plan(ctx); err != nil {
		return p.finish(ctx, err)
	}
	if p.policy.DryRun {
		return p.finishDryRun(ctx)
	}
	if *p.status.Plan.RowsDue == 0 {
		return p.finishNothingDue(ctx)
	}
	if p.policy.Approval.On == spec.ApprovalPlan {
		if err := p.ask(ctx, *p.status.Plan.RowsDue, ""); err != nil {
			return p.finish(ctx, err)
		}
	}

	// 2. Mark the due rows.
	if err := p.mark(ctx); err != nil {
		return p.finish(ctx, err)
	}

	// 3. Approval of what lies marked.
	if p.policy.Approval.On == spec.ApprovalMarked {
		if err := p.ask(ctx, p.status.Mark.RowsMarked, p.status.Mark.Content); err != nil {
			return p.finish(ctx, err)
		}
	}

	// 4-5. Archive, verify the archive, delete exactly what it holds; anew while
	// others change the marked rows.
	if err := p.archiveAndDelete(ctx); err != nil {
		return p.finish(ctx, err)
	}

	// 6-9. From here nothing is undone.
	return p.conclude(ctx)
}

// purge is one run.
type purge struct {
	policy  spec.RetentionPolicy
	status  Status
	gate    gate
	caller  activities.Caller
	now     time.Time // the run's frozen clock
	retry   int       // operator retries asked for
	told    int       // notifications so far
	attrs   bool      // the namespace has our search attributes
	cleanup []compensation

	deleteStarted bool
	deletedAt     time.Time
	erase         bool // rows were deleted, and their erasure is to be proved
}

// newPurge draws the run's identity and clock and registers the handlers, before
// anything is awaited.
func newPurge(ctx workflow.Context, policy spec.RetentionPolicy) (*purge, error) {
	runID, err := drawID(ctx)
	if err != nil {
		return nil, err
	}
	info := workflow.GetInfo(ctx)
	p := &purge{
		policy: policy,
		now:    workflow.Now(ctx),
		caller: activities.Caller{
			WorkflowID: info.WorkflowExecution.ID, WorkflowRunID: info.WorkflowExecution.RunID, RequestedBy: policy.RequestedBy,
		},
		gate:   gate{policy: policy.Approval, requester: policy.RequestedBy},
		status: Status{RunID: runID, Table: policy.Table, Policy: policy.Name},
	}
	p.enter(ctx, StagePlanning)
	if err := workflow.SetQueryHandler(ctx, QueryStatus, func() (Status, error) { return p.status, nil }); err != nil {
		return nil, err
	}
	if err := p.gate.handle(ctx); err != nil {
		return nil, err
	}
	return p, handleRetry(ctx, &p.status, &p.retry)
}

func (p *purge) runRef() activities.Run {
	r := activities.Run{RunID: p.status.RunID, Table: p.policy.Table}
	if p.status.Plan != nil {
		r.PlanDigest = p.status.Plan.PlanDigest
	}
	return r
}

// enter moves to a stage and shows it.
func (p *purge) enter(ctx workflow.Context, stage string) {
	p.status.Stage, p.status.Since = stage, workflow.Now(ctx)
	p.show(ctx)
}

// probeNamespace finds out whether the run can be searched for. A failure is no
// reason not to purge.
func (p *purge) probeNamespace(ctx workflow.Context) {
	p.attrs = hasSearchAttributes(ctx)
	p.show(ctx)
}

func (p *purge) plan(ctx workflow.Context) error {
	p.enter(ctx, StagePlanning)
	var plan activities.PlanPurgeResult
	in := activities.PlanPurgeInput{RunID: p.status.RunID, Policy: p.policy, Now: p.now, Caller: p.caller}
	if err := workflow.ExecuteActivity(data(ctx, "Count what is due in "+p.policy.Table), steps.PlanPurge, in).Get(ctx, &plan); err != nil {
		return err
	}
	p.status.Plan = &plan
	p.show(ctx)
	p.startOwed(ctx)
	if len(plan.Refusals) > 0 {
		return refusal(plan.Refusals)
	}
	return nil
}

func (p *purge) mark(ctx workflow.Context) error {
	p.enter(ctx, StageMarking)
	p.onFailure("take the flags back", p.unmark)
	var m activities.MarkRowsResult
	if err := workflow.ExecuteActivity(data(ctx, "Flag the due rows"), steps.MarkRows, activities.MarkRowsInput{Run: p.runRef()}).Get(ctx, &m); err != nil {
		return err
	}
	p.status.Mark = &m
	return nil
}

// ask opens the gate for a number of rows and waits for people.
func (p *purge) ask(ctx workflow.Context, rows int64, content string) error {
	// Half of the table's retention, so that the files from before are still
	// there when the answer is no.
	limit := p.status.Plan.TableRetention.Or(7*24*time.Hour) / 2
	deadline := workflow.Now(ctx).Add(min(p.policy.Approval.Deadline.Or(limit), limit))
	p.status.Approval = p.gate.open(p.caller.WorkflowID, p.status.Plan.PlanDigest, content, rows, deadline)
	p.status.Next = p.status.Approval.Approve
	p.enter(ctx, StageApproval)
	p.park(ctx, true)
	p.notify(ctx, spec.EventApprovalDue, "Approval due for the purge of "+p.policy.Table)
	err := p.gate.wait(ctx, func() {
		p.notify(ctx, spec.EventApprovalDue, "Reminder: approval due for the purge of "+p.policy.Table)
	})
	p.status.Next = ""
	p.show(ctx)
	safe, _ := workflow.NewDisconnectedContext(ctx)
	p.park(safe, false) // also when cancelled: the undo takes its slot
	if err != nil {
		return err
	}
	switch p.status.Approval.State {
	case ApprovalRejected:
		return outcomeError{activities.StatusRejected, "rejected by " + p.status.Approval.By + reasonSuffix(p.status.Approval.Reason)}
	case ApprovalExpired:
		return outcomeError{activities.StatusExpired, "nobody decided before " + deadline.UTC().Format(time.RFC3339)}
	}
	return nil
}

// maxArchiveAttempts bounds how often rows are archived anew while others keep
// changing them.
const maxArchiveAttempts = 5

// An undo fences no attempt past the activities' own bound: this does not compile
// when ours exceeds it.
const _ uint = activities.MaxArchiveAttempts - maxArchiveAttempts

func (p *purge) archiveAndDelete(ctx workflow.Context) error {
	for attempt := 1; attempt <= maxArchiveAttempts; attempt++ {
		if p.policy.Archive.On() {
			if err := p.archive(ctx, attempt); err != nil {
				return err
			}
		}
		outcome, err := p.delete(ctx, attempt)
		if err != nil {
			return err
		}
		switch outcome {
		case activities.Deleted:
			return nil
		case activities.NothingLeft:
			return failure(TypeConflict, p.status.Delete.Detail, nil)
		case activities.KeysHitUnflagged:
			return failure(TypeRefused, p.status.Delete.Detail, nil)
		case activities.MoreThanApproved:
			if err := p.ask(ctx, p.status.Delete.RowsDue, p.status.Delete.Record); err != nil {
				return err
			}
		}
	}
	return failure(TypeConflict, "other writers changed the flagged rows during each of the attempts to archive them; pause them and start the purge again", nil)
}

func (p *purge) archive(ctx workflow.Context, attempt int) error {
	p.enter(ctx, StageArchiving)
	if attempt == 1 {
		p.onFailure("remove this run's rows from the archive", p.unarchive)
	}
	in := activities.ArchiveRowsInput{Run: p.runRef(), Attempt: attempt, ArchivedAt: p.now}
	var a activities.ArchiveRowsResult
	if err := workflow.ExecuteActivity(data(ctx, "Copy the flagged rows to "+p.policy.Archive.Table), steps.ArchiveRows, in).Get(ctx, &a); err != nil {
		return err
	}
	p.status.Archive = &a
	if a.AppendOnly {
		return failure(TypeConflict, "flagged rows changed after they were archived, and the archive is append-only: they cannot be replaced there", nil)
	}
	p.show(ctx)
	var v activities.VerifyArchiveResult
	if err := workflow.ExecuteActivity(data(ctx, "Read the archive again and compare"), steps.VerifyArchive,
		activities.VerifyArchiveInput{Run: p.runRef(), Archive: a}).Get(ctx, &v); err != nil {
		return err
	}
	p.status.Verified = &v
	return nil
}

func (p *purge) delete(ctx workflow.Context, attempt int) (outcome string, err error) {
	p.enter(ctx, StageDeleting)
	p.deleteStarted = true
	in := activities.MergeDeleteInput{Run: p.runRef(), Attempt: attempt, Verified: p.status.Verified}
	if p.status.Approval != nil {
		in.RowsApproved = &p.status.Approval.Rows
	}
	var d activities.MergeDeleteResult
	if err := workflow.ExecuteActivity(data(ctx, "Delete exactly the rows that are archived"), steps.MergeDelete, in).Get(ctx, &d); err != nil {
		return "", err
	}
	p.status.Delete = &d
	p.deletedAt = workflow.Now(ctx)
	return d.Outcome, nil
}
