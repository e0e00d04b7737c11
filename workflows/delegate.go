package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/spec"
)

// delegatePurge runs the purge as the child that excludes others. A start under
// another ID than PurgeID(table) thus ends in one of two ways:
//
//   - No purge or restore of the table was running: the child did the work. Result,
//     failure and outcome are the child's own, and delegated_to names it.
//   - One was running: nothing was attempted. The start completes with outcome
//     skipped, no counts, no audit row, and a message and delegated_to that name
//     the workflow whose result is the answer. A PurgeLakehouse counts it as
//     skipped, neither as done nor as failed. A restore fails instead (type
//     Conflict), since nobody else does what it was asked for.
//
// A start under PurgeID(table) itself, while that runs, never becomes a workflow:
// the server refuses it as already started. Approval, retry and cancel go to the
// workflow that does the work; the status query of this one names it.
func delegatePurge(ctx workflow.Context, policy spec.RetentionPolicy) (PurgeResult, error) {
	id := PurgeID(policy.Table)
	d := &delegation{
		policy: policy,
		status: Status{
			Table: policy.Table, Policy: policy.Name, Stage: StageDelegating, Since: workflow.Now(ctx), DelegatedTo: id,
			Next: "temporal workflow query --workflow-id '" + id + "' --type " + QueryStatus,
		},
	}
	if err := workflow.SetQueryHandler(ctx, QueryStatus, func() (Status, error) { return d.status, nil }); err != nil {
		return PurgeResult{}, err
	}
	workflow.SetCurrentDetails(ctx, d.status.Markdown())
	child := workflow.ExecuteChildWorkflow(purgeChild(ctx, policy), TypePurgeTable, policy)
	out := PurgeResult{Table: policy.Table}
	err := child.GetChildWorkflowExecution().Get(ctx, nil)
	switch {
	case temporal.IsWorkflowExecutionAlreadyStartedError(err):
		out.Outcome, out.Message = OutcomeSkipped, "another purge or restore of this table is running as workflow "+id+"; this start did nothing, and that workflow's result is the answer"
		err = nil
	case err == nil:
		err = unwrapChild(child.Get(ctx, &out))
		if err != nil {
			out.RunID, out.Outcome = detailsOf(err, "")
		}
	}
	out.DelegatedTo = id
	d.close(ctx, out, err)
	return out, err
}

// delegation is a start that left the work to another workflow.
type delegation struct {
	policy spec.RetentionPolicy
	status Status
}

// close shows the one answer, in status, details and search attributes.
func (d *delegation) close(ctx workflow.Context, out PurgeResult, err error) {
	safe, _ := workflow.NewDisconnectedContext(ctx)
	p := &purge{policy: d.policy, status: d.status, attrs: hasSearchAttributes(safe)}
	p.status.RunID, p.status.Outcome, p.status.Error = out.RunID, out.Outcome, out.Message
	if err != nil {
		p.status.Error = rootMessage(err)
	}
	if out.Outcome != OutcomeSkipped {
		p.status.Next = ""
	}
	p.enter(safe, StageDone)
	d.status = p.status
}
