package workflows_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

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
	require.Equal(t, []string{"FindRun", "FindRun", "RestoreRows:look", "RestoreRows", "RecordAudit:restored"}, f.calls, "found by the caller and by the child")
	s := status(t, env)
	require.Equal(t, workflows.StageDone, s.Stage)
	require.Equal(t, activities.StatusRestored, s.Outcome)
	require.Equal(t, workflows.PurgeID("bronze.vendas"), s.DelegatedTo)
	require.Equal(t, "purged by a wrong date", f.audit[0].Reason)
	require.NotEmpty(t, f.audit[0].RestoreID)
}

func TestRestorePurge_refused_touches_stops_and_records_nothing(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	f.fail["RestoreRows:look"] = permanent("3 of the archived rows exist in the table")
	env := newEnv(t, f, "bronze.vendas") // no cancel of a proof is expected
	env.ExecuteWorkflow(workflows.RestorePurge, restoreRequest())
	require.Contains(t, appError(t, env.GetWorkflowError()).Message(), "3 of the archived rows exist")
	require.Equal(t, []string{"FindRun", "RestoreRows:look"}, f.calls)
	s := status(t, env)
	require.Equal(t, workflows.StageDone, s.Stage)
	require.Contains(t, s.Error, "3 of the archived rows exist")
}

// Whatever the failure, a refusal too: the hold may be registered by then.
func TestRestorePurge_fails_ends_its_hold_and_the_proof_of_erasure_waits_again(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{activities.ErrorRefused, activities.ErrorHalt} {
		f := newFake(5)
		f.fail["RestoreRows"] = temporal.NewApplicationErrorWithOptions("broken", kind, temporal.ApplicationErrorOptions{NonRetryable: true})
		env := newEnv(t, f, "bronze.vendas")
		stopsErasure(env)
		due := env.Now().Add(72 * time.Hour)
		f.owed = &activities.ErasureOwed{Run: activities.Run{RunID: restoreRequest().RunID, Table: "bronze.vendas"}, AuditTable: "control.expurgo_audit", Due: due}
		env.ExecuteWorkflow(workflows.RestorePurge, restoreRequest())
		env.AssertExpectations(t)
		require.Equal(t, kind, appError(t, env.GetWorkflowError()).Type())
		require.Equal(t, []string{"FindRun", "RestoreRows:look", "RestoreRows", "FenceRestore", "FindErasure"}, f.calls[:5])
		require.Empty(t, slices.DeleteFunc(f.statuses(), func(s string) bool { return s == activities.StatusErased }))
		s := status(t, env)
		require.Contains(t, strings.Join(s.Undone, "\n"), workflows.ErasureID(restoreRequest().RunID))
		require.Empty(t, s.Outcome)
	}
}

func TestRestorePurge_fails_without_a_proof_that_waited_starts_none(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	f.fail["RestoreRows"] = permanent("broken")
	env := newEnv(t, f, "bronze.vendas")
	env.OnRequestCancelExternalWorkflow(mock.Anything, workflows.ErasureID(restoreRequest().RunID), "").Return(errors.New("not found")).Once()
	env.ExecuteWorkflow(workflows.RestorePurge, restoreRequest())
	require.Error(t, env.GetWorkflowError())
	require.Equal(t, []string{"FindRun", "RestoreRows:look", "RestoreRows", "FenceRestore"}, f.calls)
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
