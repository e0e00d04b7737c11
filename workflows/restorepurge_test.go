package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

func restoreRequest() spec.RestoreRequest {
	return spec.RestoreRequest{
		APIVersion: spec.APIVersion, Kind: spec.KindRestoreRequest, RunID: "2f1c9d5e-6f0e-4a3b-9a57-1c1d7a2b3c4d", Keys: []string{"id"},
		HoldUntil: "2026-12-31", Reason: "purged by a wrong date",
	}
}

// stopsErasure expects the pending proof of erasure to be cancelled.
func stopsErasure(env *testsuite.TestWorkflowEnvironment) {
	env.OnRequestCancelExternalWorkflow(mock.Anything, workflows.ErasureID(restoreRequest().RunID), "").Return(nil).Once()
}

func TestRestorePurge_delegates_to_the_workflow_that_excludes_purges_of_the_table(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	env := newEnv(t, f, "x")
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: workflows.RestoreID("r"), TaskQueue: workflows.TaskQueue})
	stopsErasure(env)
	env.ExecuteWorkflow(workflows.RestorePurge, restoreRequest())
	require.NoError(t, env.GetWorkflowError())
	var r workflows.RestoreResult
	require.NoError(t, env.GetWorkflowResult(&r))
	require.Equal(t, activities.StatusRestored, r.Outcome)
	require.EqualValues(t, 5, *r.Rows.RowsRestored)
	require.Equal(t, []string{"FindRun", "FindRun", "RestoreRows", "RecordAudit:restored"}, f.calls, "found by the caller and by the child")
}

func TestRestorePurge_refused_restores_and_records_nothing(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	f.fail["RestoreRows"] = permanent("3 of the archived rows exist in the table")
	env := newEnv(t, f, "bronze.vendas")
	stopsErasure(env)
	env.ExecuteWorkflow(workflows.RestorePurge, restoreRequest())
	env.AssertExpectations(t)
	require.Contains(t, appError(t, env.GetWorkflowError()).Message(), "3 of the archived rows exist")
	require.Empty(t, f.audit)
}

func TestRestorePurge_empty_input_fails_with_an_example(t *testing.T) {
	t.Parallel()
	env := newEnv(t, newFake(5), "x")
	env.ExecuteWorkflow(workflows.RestorePurge, spec.RestoreRequest{})
	require.Error(t, env.GetWorkflowError())
}

func TestRestorePurge_fails_after_the_rows_are_back_and_says_so(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	f.fail["RestoreRows"], f.lost["RestoreRows"] = permanent("no answer"), true
	env := newEnv(t, f, "bronze.vendas")
	stopsErasure(env)
	env.ExecuteWorkflow(workflows.RestorePurge, restoreRequest())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []string{activities.StatusRestored}, f.statuses())
	require.Contains(t, f.calls, "FenceRestore")
}

func TestRestorePurge_cancelled_is_fenced(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	env := newEnv(t, f, "bronze.vendas")
	stopsErasure(env)
	f.hook["RestoreRows"] = func() { env.CancelWorkflow() }
	env.ExecuteWorkflow(workflows.RestorePurge, restoreRequest())
	require.True(t, temporal.IsCanceledError(env.GetWorkflowError()), "%v", env.GetWorkflowError())
	require.Contains(t, f.calls, "FenceRestore")
	require.Empty(t, f.audit)
}
