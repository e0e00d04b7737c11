package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
)

// notify tells people; it never fails or delays a run by more than minutes.
func (p *purge) notify(ctx workflow.Context, event spec.Event, summary string) {
	if p.policy.Notify == nil {
		return
	}
	p.told++
	r := p.status.result("")
	in := activities.NotifyInput{
		Run: p.runRef(), Notify: *p.policy.Notify, ID: fmt.Sprintf("%s-%d", p.status.RunID, p.told), Event: event, At: workflow.Now(ctx),
		Policy: p.policy.Name, Owner: p.policy.Owner, Status: p.status.Outcome, Summary: summary, Next: p.status.Next,
		WorkflowID: p.caller.WorkflowID, AuditHead: r.AuditHead, RowsGone: r.RowsDeleted, Error: p.status.Error,
	}
	if in.Status == "" {
		in.Status = p.status.Stage
	}
	if p.status.Plan != nil {
		in.RowsDue = p.status.Plan.RowsDue
	}
	if a := p.status.Approval; a != nil && a.State == ApprovalWaiting {
		in.Deadline = &a.Deadline
	}
	tell(ctx, in)
}

func tell(ctx workflow.Context, in activities.NotifyInput) {
	var r activities.NotifyResult
	if err := workflow.ExecuteActivity(courtesy(ctx, "Notify: "+string(in.Event)), steps.Notify, in).Get(ctx, &r); err != nil {
		workflow.GetLogger(ctx).Warn("notification not sent", "event", in.Event, "error", err)
	}
}

// park tells a PurgeLakehouse that this run waits for people, or goes on.
func (p *purge) park(ctx workflow.Context, waiting bool) {
	parent := workflow.GetInfo(ctx).ParentWorkflowExecution
	if parent == nil || !inLakehouse(ctx) {
		return
	}
	if err := workflow.SignalExternalWorkflow(ctx, parent.ID, parent.RunID, signalParked,
		parked{Table: p.policy.Table, Waiting: waiting}).Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Warn("the lakehouse run was not told that this one waits", "error", err)
	}
}

func inLakehouse(ctx workflow.Context) bool {
	memo := workflow.GetInfo(ctx).Memo
	return memo != nil && memo.GetFields()[memoParent] != nil
}
