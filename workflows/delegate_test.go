package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

func statusBy(t *testing.T, env *testsuite.TestWorkflowEnvironment, id string) (s workflows.Status) {
	t.Helper()
	v, err := env.QueryWorkflowByID(id, workflows.QueryStatus)
	require.NoError(t, err)
	require.NoError(t, v.Get(&s))
	return s
}

func TestDelegate_the_child_did_it_and_its_answer_is_this_ones(t *testing.T) {
	t.Parallel()
	for _, broken := range []bool{false, true} {
		f := newFake(5)
		if broken {
			f.fail["ArchiveRows"] = permanent("broken")
		}
		env := newEnv(t, f, "x")
		env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: "nightly-2026-01-01T03:00:00Z", TaskQueue: workflows.TaskQueue})
		var during workflows.Status
		f.hook["MarkRows"] = func() { during = status(t, env) }
		env.ExecuteWorkflow(workflows.PurgeTable, policy())
		require.Equal(t, workflows.StageDelegating, during.Stage)
		require.Equal(t, workflows.PurgeID("bronze.vendas"), during.DelegatedTo)
		require.Contains(t, during.Next, workflows.PurgeID("bronze.vendas"))
		s := status(t, env)
		require.Equal(t, workflows.StageDone, s.Stage)
		require.Empty(t, s.Next)
		require.NotEmpty(t, s.RunID, "of the run that did it")
		if broken {
			require.Equal(t, workflows.TypeRolledBack, appError(t, env.GetWorkflowError()).Type())
			require.Equal(t, activities.StatusRolledBack, s.Outcome)
			require.Contains(t, s.Error, "broken")
			continue
		}
		var r workflows.PurgeResult
		require.NoError(t, env.GetWorkflowResult(&r))
		require.Equal(t, activities.StatusCompleted, r.Outcome)
		require.Equal(t, workflows.PurgeID("bronze.vendas"), r.DelegatedTo)
		require.Equal(t, activities.StatusCompleted, s.Outcome)
	}
}

// A schedule's start, and a list's, while the purge runs: one purge, and both say
// the same of it.
func TestDelegate_a_second_start_is_skipped_in_result_status_and_summary(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	env := newEnv(t, f, "x")
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: "both", TaskQueue: workflows.TaskQueue})
	env.RegisterWorkflow(threeStarts)
	env.ExecuteWorkflow(threeStarts, askedPolicy())
	require.NoError(t, env.GetWorkflowError())
	var out started
	require.NoError(t, env.GetWorkflowResult(&out))
	require.Equal(t, workflows.OutcomeSkipped, out.Second.Outcome)
	require.Equal(t, workflows.PurgeID("bronze.vendas"), out.Second.DelegatedTo)
	require.Contains(t, out.Second.Message, "this start did nothing")
	require.Nil(t, out.Second.RowsDeleted)
	s := statusBy(t, env, "nightly")
	require.Equal(t, workflows.StageDone, s.Stage)
	require.Equal(t, workflows.OutcomeSkipped, s.Outcome)
	require.Contains(t, s.Next, workflows.PurgeID("bronze.vendas"), "where the answer is")

	require.Equal(t, 1, out.List.Skipped)
	require.Zero(t, out.List.Failed, "what another purge does is no failure of the list")
	require.Equal(t, workflows.OutcomeSkipped, out.List.Tables[0].Outcome)
	require.Contains(t, out.List.Tables[0].Error, workflows.PurgeID("bronze.vendas"))
	require.Equal(t, []string{activities.StatusCancelled}, f.statuses(), "one run, one audit row")
}

type started struct {
	Second workflows.PurgeResult
	List   workflows.LakehouseResult
}

// threeStarts starts a purge, which waits for approval, and while that is so a
// schedule's and a list's; then it cancels the first.
func threeStarts(ctx workflow.Context, p spec.RetentionPolicy) (out started, err error) {
	under := func(ctx workflow.Context, id string) workflow.Context {
		return workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: id, WaitForCancellation: true})
	}
	first, cancel := workflow.WithCancel(ctx)
	one := workflow.ExecuteChildWorkflow(under(first, workflows.PurgeID(p.Table)), workflows.TypePurgeTable, p)
	if err := one.GetChildWorkflowExecution().Get(ctx, nil); err != nil {
		return out, err
	}
	if err := workflow.Sleep(ctx, time.Hour); err != nil {
		return out, err
	}
	if err := workflow.ExecuteChildWorkflow(under(ctx, "nightly"), workflows.TypePurgeTable, p).Get(ctx, &out.Second); err != nil {
		return out, err
	}
	l := spec.PurgeLakehouse{APIVersion: spec.APIVersion, Kind: spec.KindPurgeLakehouse, Name: "all", Policies: []spec.RetentionPolicy{p}}
	if err := workflow.ExecuteChildWorkflow(under(ctx, "list"), workflows.TypePurgeLakehouse, l).Get(ctx, &out.List); err != nil {
		return out, err
	}
	cancel()
	_ = one.Get(ctx, nil) // cancelled
	return out, nil
}
