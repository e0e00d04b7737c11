package e2e_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

// asked is a policy that waits for approval once rows are marked.
func (x *site) asked() spec.RetentionPolicy {
	p := x.policy()
	p.Approval = spec.Approval{On: spec.ApprovalMarked, Approvers: []string{"dpo"}, Deadline: "24h"}
	return p
}

func (x *site) update(id, name string, d workflows.Decision) error {
	h, err := x.server.client.UpdateWorkflow(x.t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: name, WaitForStage: client.WorkflowUpdateStageCompleted, Args: []any{d},
	})
	if err != nil {
		return err
	}
	return h.Get(x.t.Context(), nil)
}

func TestPurge_cancelled_while_it_waits_for_approval_leaves_the_table_as_it_was(t *testing.T) {
	t.Parallel()
	x := newSite(t, sharedServer(t))
	x.worker()
	w := x.start(x.asked())
	s := x.until(w.GetID(), workflows.StageApproval)
	require.NoError(t, x.server.client.CancelWorkflow(t.Context(), w.GetID(), ""))
	require.True(t, temporal.IsCanceledError(w.Get(t.Context(), nil)))
	x.untouched(s.RunID)
}

func TestPurge_rejected_leaves_the_table_as_it_was_and_says_who_rejected(t *testing.T) {
	t.Parallel()
	x := newSite(t, sharedServer(t))
	x.worker()
	w := x.start(x.asked())
	s := x.until(w.GetID(), workflows.StageApproval)
	require.ErrorContains(t, x.update(w.GetID(), workflows.UpdateApprove, workflows.Decision{By: "eve", Digest: s.Approval.Digest}), "not an approver")
	require.NoError(t, x.update(w.GetID(), workflows.UpdateReject, workflows.Decision{By: "dpo", Digest: s.Approval.Digest, Reason: "not now"}))
	require.ErrorContains(t, w.Get(t.Context(), nil), "rejected by dpo: not now")
	x.untouched(s.RunID)
}

func TestPurge_server_restarts_while_it_waits_goes_on_afterwards(t *testing.T) {
	t.Parallel()
	own, err := newServer(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { _ = own.stop() })
	x := newSite(t, own)
	x.worker()
	w := x.start(x.asked())
	digest := x.until(w.GetID(), workflows.StageApproval).Approval.Digest
	require.NoError(t, own.stop())
	require.NoError(t, own.start())
	require.Eventually(t, func() bool {
		return x.update(w.GetID(), workflows.UpdateApprove, workflows.Decision{By: "dpo", Digest: digest}) == nil
	}, 2*time.Minute, time.Second)
	x.completed(x.result(own.client.GetWorkflow(t.Context(), w.GetID(), "")))
}

func TestPurge_two_starts_of_one_table_end_as_one_purge_and_one_clear_answer(t *testing.T) {
	t.Parallel()
	x := newSite(t, sharedServer(t))
	x.worker()
	first := x.start(x.asked())
	s := x.until(first.GetID(), workflows.StageApproval)
	second := x.result(x.startAs("nightly-"+x.table, x.policy()))
	require.Equal(t, workflows.OutcomeSkipped, second.Outcome)
	require.Contains(t, second.Message, first.GetID())
	require.NoError(t, x.update(first.GetID(), workflows.UpdateApprove, workflows.Decision{By: "dpo", Digest: s.Approval.Digest}))
	x.completed(x.result(first))
}

func TestPurge_terminated_with_flags_left_the_next_run_undoes_them_first(t *testing.T) {
	t.Parallel()
	x := newSite(t, sharedServer(t))
	x.worker()
	w := x.start(x.asked())
	x.until(w.GetID(), workflows.StageApproval)
	require.NoError(t, x.server.client.TerminateWorkflow(t.Context(), w.GetID(), "", "by an operator"))
	r := x.result(x.start(x.policy()))
	x.completed(r)
}

// reset goes back to the workflow task before the first activity of a type.
func (x *site) reset(w client.WorkflowRun, activity string) client.WorkflowRun {
	x.t.Helper()
	var task int64
	it := x.server.client.GetWorkflowHistory(x.t.Context(), w.GetID(), w.GetRunID(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		e, err := it.Next()
		require.NoError(x.t, err)
		if a := e.GetActivityTaskScheduledEventAttributes(); a != nil && a.GetActivityType().GetName() == activity {
			task = a.GetWorkflowTaskCompletedEventId()
			break
		}
	}
	require.NotZero(x.t, task, "no %s in the history", activity)
	r, err := x.server.client.ResetWorkflowExecution(x.t.Context(), &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: client.DefaultNamespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: w.GetID(), RunId: w.GetRunID()},
		Reason: "test", WorkflowTaskFinishEventId: task, RequestId: x.queue + activity,
	})
	require.NoError(x.t, err)
	return x.server.client.GetWorkflow(x.t.Context(), w.GetID(), r.GetRunId())
}

func TestPurge_reset_after_it_completed_repeats_nothing(t *testing.T) {
	t.Parallel()
	for _, activity := range []string{"MarkRows", "ArchiveRows", "MergeDelete", "RecordAudit"} {
		t.Run(activity, func(t *testing.T) {
			t.Parallel()
			x := newSite(t, sharedServer(t))
			x.worker()
			w := x.start(x.policy())
			before := x.result(w)
			after := x.result(x.reset(w, activity))
			require.Equal(t, before.RunID, after.RunID)
			require.Equal(t, before.RowsDeleted, after.RowsDeleted)
			x.completed(after)
		})
	}
}

func TestPurge_reset_after_it_was_undone_is_fenced(t *testing.T) {
	t.Parallel()
	x := newSite(t, sharedServer(t))
	x.worker()
	w := x.start(x.asked())
	s := x.until(w.GetID(), workflows.StageApproval)
	require.NoError(t, x.server.client.CancelWorkflow(t.Context(), w.GetID(), ""))
	require.Error(t, w.Get(t.Context(), nil))
	err := x.reset(w, "MarkRows").Get(t.Context(), nil)
	require.ErrorContains(t, err, "was undone")
	x.untouched(s.RunID)
}

func TestSchedule_triggered_runs_the_purge_under_the_id_that_excludes_others(t *testing.T) {
	t.Parallel()
	x := newSite(t, sharedServer(t))
	x.worker()
	h, err := x.server.client.ScheduleClient().Create(t.Context(), client.ScheduleOptions{
		ID: "s-" + x.queue, Spec: client.ScheduleSpec{}, Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		Action: &client.ScheduleWorkflowAction{ID: "scheduled-" + workflows.PurgeID(x.table), Workflow: workflows.TypePurgeTable, Args: []any{x.policy()}, TaskQueue: x.queue},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = h.Delete(t.Context()) })
	require.NoError(t, h.Trigger(t.Context(), client.ScheduleTriggerOptions{}))
	x.until(workflows.PurgeID(x.table), workflows.StageDone)
	x.completed(x.result(x.server.client.GetWorkflow(t.Context(), workflows.PurgeID(x.table), "")))
}

func TestHistory_of_a_small_purge_is_short_and_its_payloads_are_small(t *testing.T) {
	t.Parallel()
	const maxEvents, maxPayload = 120, 64 << 10
	x := newSite(t, sharedServer(t))
	x.worker()
	w := x.start(x.policy())
	x.completed(x.result(w))
	events := 0
	it := x.server.client.GetWorkflowHistory(t.Context(), w.GetID(), w.GetRunID(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		e, err := it.Next()
		require.NoError(t, err)
		events++
		require.Less(t, e.Size(), maxPayload, "event %d", e.GetEventId())
	}
	require.Less(t, events, maxEvents)
}

func TestErasure_after_the_retention_is_proved_and_certified(t *testing.T) {
	t.Parallel()
	x := newSite(t, sharedServer(t))
	x.worker()
	p := x.policy()
	prove := true
	p.Erasure.Prove = &prove
	p.Vacuum = spec.Vacuum{Retention: "1s", AllowBelowFloor: &spec.BelowFloor{Risk: "nobody else reads this table"}}
	w := x.start(p)
	r := x.result(w)
	x.completed(r)
	// The run's own proof waits for its time, which is hours; this one begins when
	// the files are past their second of retention.
	s, err := x.status(r.ErasureID)
	require.NoError(t, err)
	require.Equal(t, workflows.StageWaiting, s.Stage)
	require.NoError(t, x.server.client.CancelWorkflow(t.Context(), r.ErasureID, ""))
	require.Error(t, x.server.client.GetWorkflow(t.Context(), r.ErasureID, "").Get(t.Context(), nil), "it ends as cancelled")
	require.Eventually(t, func() bool { return time.Now().After(r.ErasureDue.Add(time.Second)) }, wait, poll)
	purge, err := x.status(w.GetID())
	require.NoError(t, err)
	in := workflows.ErasureInput{ErasureOwed: activities.ErasureOwed{
		Run: activities.Run{RunID: r.RunID, Table: x.table, PlanDigest: purge.Plan.PlanDigest}, Policy: p.Name, LegalBasis: p.LegalBasis,
		Criteria: purge.Plan.Criteria, AuditTable: r.AuditTable, Due: r.ErasureDue.Add(-2 * time.Hour), DeletedAt: *r.ErasureDue,
		RowsDeleted: r.RowsDeleted, VersionBefore: r.VersionBefore, VersionAfter: r.VersionAfter, AuditHead: r.AuditHead,
	}}
	proof, err := x.server.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: r.ErasureID, TaskQueue: x.queue}, workflows.TypeProveErasure, in)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	var out workflows.ErasureResult
	require.NoError(t, proof.Get(ctx, &out))
	require.Equal(t, activities.StatusErased, out.Outcome)
	require.NotEmpty(t, out.Proof.CertDigest)
	require.Zero(t, out.Proof.PathsLeft)
	x.verify(r.RunID)
}
