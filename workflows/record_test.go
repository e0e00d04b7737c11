package workflows_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/workflows"
)

// histories is the replay corpus: it only grows.
const histories = "testdata/histories"

// scenario is one recorded run: what the steps do, and what people do.
type scenario struct {
	name string // begins with the workflow: purge-, erasure-, restore-, lakehouse-
	fake *fakeSteps
	id   string // "": PurgeID of the policies' table
	kind string // "": PurgeTable
	in   any
	act  func(t *testing.T, cl client.Client, id string)
	// before starts what the scenario meets.
	before func(t *testing.T, cl client.Client, queue string)
}

func scenarios() []scenario {
	return slices.Concat(purgeScenarios(), startScenarios(), erasureScenarios(), restoreScenarios(), lakehouseScenarios())
}

func broken(step string, lost bool) *fakeSteps {
	f := newFake(5)
	f.fail[step], f.lost[step] = permanent("broken"), lost
	return f
}

func decided(update string) func(*testing.T, client.Client, string) {
	return func(t *testing.T, cl client.Client, id string) {
		s := waitStage(t, cl, id, workflows.StageApproval)
		send(t, cl, id, update, workflows.Decision{By: "dpo", Digest: s.Approval.Digest})
	}
}

func cancelled(stage string) func(*testing.T, client.Client, string) {
	return func(t *testing.T, cl client.Client, id string) {
		waitStage(t, cl, id, stage)
		require.NoError(t, cl.CancelWorkflow(t.Context(), id, ""))
	}
}

func purgeScenarios() []scenario {
	changed, empty, refused, incomplete, owing := newFake(5), newFake(0), newFake(5), newFake(5), newFake(0)
	changed.deletes = []string{activities.RowsChanged}
	refused.plan.Refusals = []activities.Refusal{{Code: "limit_share", Message: "Too many.", Do: "Look."}}
	incomplete.fail["VerifyPurge"] = permanent("a flagged row is left")
	owing.plan.Owed = []activities.ErasureOwed{{
		Run: activities.Run{RunID: "r-ended", Table: "bronze.vendas"}, AuditTable: "control.expurgo_audit", Due: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
	}}
	dry := policy()
	dry.DryRun = true
	return []scenario{
		{name: "purge-completed", fake: newFake(5), in: policy()},
		{name: "purge-approved", fake: newFake(5), in: askedPolicy(), act: decided(workflows.UpdateApprove)},
		{name: "purge-rejected", fake: newFake(5), in: askedPolicy(), act: decided(workflows.UpdateReject)},
		{name: "purge-cancelled", fake: newFake(5), in: askedPolicy(), act: cancelled(workflows.StageApproval)},
		{name: "purge-held-and-retried", fake: incomplete, in: policy(), act: func(t *testing.T, cl client.Client, id string) {
			waitStage(t, cl, id, workflows.StageHeld)
			incomplete.mu.Lock()
			delete(incomplete.fail, "VerifyPurge")
			incomplete.mu.Unlock()
			send(t, cl, id, workflows.UpdateRetry, workflows.RetryRequest{By: "ana"})
		}},
		{name: "purge-archived-anew", fake: changed, in: policy()},
		{name: "purge-mark-failed", fake: broken("MarkRows", false), in: policy()},
		{name: "purge-archive-failed", fake: broken("ArchiveRows", true), in: policy()},
		{name: "purge-delete-answer-lost", fake: broken("MergeDelete", true), in: policy()},
		{name: "purge-delete-failed", fake: broken("MergeDelete", false), in: policy()},
		{name: "purge-vacuum-failed", fake: broken("VacuumTable", false), in: policy()},
		{name: "purge-undo-failed", fake: func() *fakeSteps {
			f := broken("ArchiveRows", true)
			f.fail["RemoveArchived"] = permanent("the archive is damaged")
			return f
		}(), in: policy()},
		{name: "purge-refused", fake: refused, in: policy()},
		{name: "purge-nothing-due", fake: empty, in: policy()},
		{name: "purge-dry-run", fake: newFake(5), in: dry},
		{name: "purge-owed-erasure", fake: owing, in: policy()},
		{name: "purge-owed-erasure-that-was-stopped", fake: owing, in: policy()}, // by the scenario before
	}
}

// startScenarios are starts under another ID.
func startScenarios() []scenario {
	const nightly = "nightly-2026-01-01T03:00:00Z"
	return []scenario{
		{name: "purge-delegated", id: nightly, fake: newFake(5), in: policy()},
		{name: "purge-delegated-failed", id: nightly, fake: broken("MarkRows", false), in: policy()},
		{name: "purge-skipped", id: nightly, fake: newFake(5), in: policy(), before: func(t *testing.T, cl client.Client, queue string) {
			id := workflows.PurgeID("bronze.vendas")
			_, err := cl.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: queue}, workflows.TypePurgeTable, askedPolicy())
			require.NoError(t, err)
			waitStage(t, cl, id, workflows.StageApproval)
			t.Cleanup(func() { _ = cl.TerminateWorkflow(context.Background(), id, "", "recorded") })
		}},
	}
}

func erasureScenarios() []scenario {
	id, past, later := workflows.ErasureID("r"), time.Now().Add(-2*time.Hour), time.Now().Add(72*time.Hour)
	return []scenario{
		{name: "erasure-erased", id: id, kind: workflows.TypeProveErasure, fake: newFake(5), in: erasureInput(past)},
		{name: "erasure-halted", id: id, kind: workflows.TypeProveErasure, fake: broken("ProveErased", false), in: erasureInput(past)},
		{name: "erasure-vacuum-halted", id: id, kind: workflows.TypeProveErasure, fake: broken("VacuumTable", false), in: erasureInput(past)},
		{name: "erasure-cancelled", id: id, kind: workflows.TypeProveErasure, fake: newFake(5), in: erasureInput(later), act: func(t *testing.T, cl client.Client, id string) {
			waitTimer(t, cl, id)
			require.NoError(t, cl.CancelWorkflow(t.Context(), id, ""))
		}},
	}
}

func restoreScenarios() []scenario {
	dry, proving := restoreRequest(), broken("RestoreRows", false)
	dry.DryRun = true
	due := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	proving.owed = &activities.ErasureOwed{Run: activities.Run{RunID: restoreRequest().RunID, Table: "bronze.vendas"}, AuditTable: "control.expurgo_audit", Due: due}
	waits := func(t *testing.T, cl client.Client, queue string) {
		id := workflows.ErasureID(restoreRequest().RunID)
		in := erasureInput(due)
		in.Run.RunID = restoreRequest().RunID
		_, err := cl.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: queue}, workflows.TypeProveErasure, in)
		require.NoError(t, err)
		t.Cleanup(func() { _ = cl.TerminateWorkflow(context.Background(), id, "", "recorded") })
	}
	kind := workflows.TypeRestorePurge
	return []scenario{
		{name: "restore-restored", kind: kind, fake: newFake(5), in: restoreRequest()},
		{name: "restore-proof-stopped", kind: kind, fake: newFake(5), in: restoreRequest(), before: waits},
		{name: "restore-dry-run", kind: kind, fake: newFake(5), in: dry},
		{name: "restore-refused", kind: kind, fake: broken("RestoreRows:look", false), in: restoreRequest()},
		{name: "restore-failed", kind: kind, fake: broken("RestoreRows", false), in: restoreRequest()},
		{name: "restore-failed-proof-resumed", kind: kind, fake: proving, in: restoreRequest(), before: waits},
		{name: "restore-answer-lost", kind: kind, fake: broken("RestoreRows", true), in: restoreRequest()},
		{name: "restore-delegated", kind: kind, id: workflows.RestoreID("r"), fake: newFake(5), in: restoreRequest()},
	}
}

func lakehouseScenarios() []scenario {
	asking, first := lakehouse(2, 1), lakehouse(3, 1)
	for i := range asking.Policies {
		asking.Policies[i].Approval = askedPolicy().Approval
	}
	first.ContinueOnFailure = new(bool)
	kind := workflows.TypePurgeLakehouse
	return []scenario{
		{name: "lakehouse-completed", id: "list", kind: kind, fake: newFake(5), in: lakehouse(3, 2)},
		{name: "lakehouse-failed", id: "list", kind: kind, fake: broken("MarkRows", false), in: lakehouse(2, 2)},
		{name: "lakehouse-stopped", id: "list", kind: kind, fake: broken("MarkRows", false), in: first},
		{name: "lakehouse-cancelled-while-two-wait", id: "list", kind: kind, fake: newFake(5), in: asking, act: func(t *testing.T, cl client.Client, id string) {
			waitStage(t, cl, workflows.PurgeID("bronze.t0"), workflows.StageApproval)
			waitStage(t, cl, workflows.PurgeID("bronze.t1"), workflows.StageApproval)
			require.NoError(t, cl.CancelWorkflow(t.Context(), id, ""))
		}},
	}
}

func waitStage(t *testing.T, cl client.Client, id, stage string) (s workflows.Status) {
	t.Helper()
	require.Eventually(t, func() bool {
		v, err := cl.QueryWorkflow(t.Context(), id, "", workflows.QueryStatus)
		return err == nil && v.Get(&s) == nil && s.Stage == stage
	}, time.Minute, 50*time.Millisecond)
	return s
}

// waitTimer waits until the workflow waits for a timer.
func waitTimer(t *testing.T, cl client.Client, id string) {
	t.Helper()
	require.Eventually(t, func() bool {
		it := cl.GetWorkflowHistory(t.Context(), id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for it.HasNext() {
			if e, err := it.Next(); err != nil || e.GetEventType() == enumspb.EVENT_TYPE_TIMER_STARTED {
				return err == nil
			}
		}
		return false
	}, time.Minute, 50*time.Millisecond)
}

func send(t *testing.T, cl client.Client, id, update string, arg any) {
	t.Helper()
	h, err := cl.UpdateWorkflow(t.Context(), client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: update, WaitForStage: client.WorkflowUpdateStageCompleted, Args: []any{arg},
	})
	require.NoError(t, err)
	require.NoError(t, h.Get(t.Context(), nil))
}

// TestRecord writes the corpus anew from runs on a real server with steps that
// are played. Run it when a release changes what histories look like, under a new
// prefix, and keep the old files.
func TestRecord_histories_for_the_replay_corpus(t *testing.T) {
	prefix := os.Getenv("LAKEWARDEN_RECORD")
	if prefix == "" {
		t.Skip("records only when LAKEWARDEN_RECORD names a prefix (such as v0.1) and TEMPORAL_ADDRESS a server")
	}
	cl, err := client.DialContext(t.Context(), client.Options{HostPort: os.Getenv("TEMPORAL_ADDRESS"), Identity: "recorder"})
	require.NoError(t, err)
	defer cl.Close()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) { record(t, cl, prefix, s) })
	}
}

func record(t *testing.T, cl client.Client, prefix string, s scenario) {
	queue := "record-" + s.name
	w := worker.New(cl, queue, worker.Options{Identity: "recorder"})
	workflows.Register(w)
	w.RegisterActivity(s.fake)
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	if s.before != nil {
		s.before(t, cl, queue)
	}
	id, kind := s.id, s.kind
	if id == "" {
		id = workflows.PurgeID("bronze.vendas")
	}
	if kind == "" {
		kind = workflows.TypePurgeTable
	}
	run, err := cl.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: queue}, kind, s.in)
	require.NoError(t, err)
	if s.act != nil {
		s.act(t, cl, id)
	}
	_ = run.Get(t.Context(), nil) // some scenarios fail: that is what they record
	save(t, cl, id, run.GetRunID(), prefix+"-"+s.name)
	stopProofs(t, cl, queue)
}

// stopProofs ends the proofs of erasure that a scenario left waiting.
func stopProofs(t *testing.T, cl client.Client, queue string) {
	t.Helper()
	open, err := cl.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
		Query: "ExecutionStatus = 'Running' AND TaskQueue = '" + queue + "' AND WorkflowType = '" + workflows.TypeProveErasure + "'",
	})
	require.NoError(t, err)
	for _, e := range open.GetExecutions() {
		_ = cl.TerminateWorkflow(t.Context(), e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId(), "recorded")
	}
}

func save(t *testing.T, cl client.Client, id, runID, name string) {
	t.Helper()
	h := &historypb.History{}
	it := cl.GetWorkflowHistory(context.WithoutCancel(t.Context()), id, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		e, err := it.Next()
		require.NoError(t, err)
		h.Events = append(h.Events, e)
	}
	data, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(h)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(histories, name+".json"), data, 0o644))
}
