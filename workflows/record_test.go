package workflows_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

// histories is the replay corpus: it only grows.
const histories = "testdata/histories"

// scenario is one recorded run: what the steps do, and what people do.
type scenario struct {
	name   string
	fake   *fakeSteps
	policy spec.RetentionPolicy
	act    func(t *testing.T, cl client.Client, id string)
}

func scenarios() []scenario {
	broken := func(step string, lost bool) *fakeSteps {
		f := newFake(5)
		f.fail[step], f.lost[step] = permanent("broken"), lost
		return f
	}
	changed, empty, refused, incomplete := newFake(5), newFake(0), newFake(5), newFake(5)
	changed.deletes = []string{activities.RowsChanged}
	refused.plan.Refusals = []activities.Refusal{{Code: "limit_share", Message: "Too many.", Do: "Look."}}
	incomplete.fail["VerifyPurge"] = permanent("a flagged row is left")
	dry := policy()
	dry.DryRun = true
	decided := func(update string) func(*testing.T, client.Client, string) {
		return func(t *testing.T, cl client.Client, id string) {
			s := waitStage(t, cl, id, workflows.StageApproval)
			send(t, cl, id, update, workflows.Decision{By: "dpo", Digest: s.Approval.Digest})
		}
	}
	return []scenario{
		{name: "completed", fake: newFake(5), policy: policy()},
		{name: "approved", fake: newFake(5), policy: askedPolicy(), act: decided(workflows.UpdateApprove)},
		{name: "rejected", fake: newFake(5), policy: askedPolicy(), act: decided(workflows.UpdateReject)},
		{name: "cancelled", fake: newFake(5), policy: askedPolicy(), act: func(t *testing.T, cl client.Client, id string) {
			waitStage(t, cl, id, workflows.StageApproval)
			require.NoError(t, cl.CancelWorkflow(t.Context(), id, ""))
		}},
		{name: "held-and-retried", fake: incomplete, policy: policy(), act: func(t *testing.T, cl client.Client, id string) {
			waitStage(t, cl, id, workflows.StageHeld)
			incomplete.mu.Lock()
			delete(incomplete.fail, "VerifyPurge")
			incomplete.mu.Unlock()
			send(t, cl, id, workflows.UpdateRetry, workflows.RetryRequest{By: "ana"})
		}},
		{name: "archived-anew", fake: changed, policy: policy()},
		{name: "mark-failed", fake: broken("MarkRows", false), policy: policy()},
		{name: "archive-failed", fake: broken("ArchiveRows", true), policy: policy()},
		{name: "delete-answer-lost", fake: broken("MergeDelete", true), policy: policy()},
		{name: "delete-failed", fake: broken("MergeDelete", false), policy: policy()},
		{name: "refused", fake: refused, policy: policy()},
		{name: "nothing-due", fake: empty, policy: policy()},
		{name: "dry-run", fake: newFake(5), policy: dry},
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
	defer w.Stop()
	id := workflows.PurgeID(s.policy.Table)
	run, err := cl.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: queue}, workflows.TypePurgeTable, s.policy)
	require.NoError(t, err)
	if s.act != nil {
		s.act(t, cl, id)
	}
	_ = run.Get(t.Context(), nil) // some scenarios fail: that is what they record
	save(t, cl, id, run.GetRunID(), prefix+"-purge-"+s.name)
	var r workflows.PurgeResult
	if run.Get(t.Context(), &r) == nil && r.ErasureID != "" {
		require.NoError(t, cl.TerminateWorkflow(t.Context(), r.ErasureID, "", "recorded"))
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
