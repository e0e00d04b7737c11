package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

func erasureInput(due time.Time) workflows.ErasureInput {
	return workflows.ErasureInput{ErasureOwed: activities.ErasureOwed{
		Run: activities.Run{RunID: "r", Table: "bronze.vendas", PlanDigest: "sha256:00"}, AuditTable: "control.expurgo_audit", Due: due,
	}}
}

func TestProveErasure_waits_for_the_retention_then_vacuums_proves_and_records(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	env := newEnv(t, f, "x")
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: workflows.ErasureID("r"), TaskQueue: workflows.TaskQueue})
	due := env.Now().Add(7 * 24 * time.Hour)
	var at time.Time
	f.hook["VacuumTable"] = func() { at = env.Now() }
	env.ExecuteWorkflow(workflows.ProveErasure, erasureInput(due))
	require.NoError(t, env.GetWorkflowError())
	require.False(t, at.Before(due))
	require.Equal(t, []string{"VacuumTable", "ProveErased", "RecordAudit:erased"}, f.calls)
	var r workflows.ErasureResult
	require.NoError(t, env.GetWorkflowResult(&r))
	require.Equal(t, activities.StatusErased, r.Outcome)
	require.Equal(t, "sha256:00", f.audit[0].CertificateDigest)
}

func TestProveErasure_residue_is_recorded_once_and_looked_at_again_until_it_is_gone(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	f.erased = []bool{false, false, true}
	env := newEnv(t, f, "x")
	start := env.Now()
	env.ExecuteWorkflow(workflows.ProveErasure, erasureInput(start))
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []string{activities.StatusErasureIncomplete, activities.StatusErased}, f.statuses())
	require.WithinDuration(t, start.Add(48*time.Hour), env.Now(), time.Hour)
}

func TestProveErasure_residue_that_stays_ends_as_incomplete_and_fails(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	for range 40 {
		f.erased = append(f.erased, false)
	}
	env := newEnv(t, f, "x")
	env.ExecuteWorkflow(workflows.ProveErasure, erasureInput(env.Now()))
	app := appError(t, env.GetWorkflowError())
	require.Equal(t, "ErasureIncomplete", app.Type())
	var r workflows.ErasureResult
	require.NoError(t, app.Details(&r))
	require.Equal(t, activities.StatusErasureIncomplete, r.Outcome)
	require.Equal(t, []string{activities.StatusErasureIncomplete, activities.StatusErasureIncomplete}, f.statuses())
}

func TestProveErasure_empty_input_fails_with_an_example(t *testing.T) {
	t.Parallel()
	env := newEnv(t, newFake(5), "x")
	env.ExecuteWorkflow(workflows.ProveErasure, workflows.ErasureInput{})
	require.Contains(t, appError(t, env.GetWorkflowError()).Message(), `for example {"run":`)
}

// The first look already needs a person: that is recorded, and told, like any
// other end.
func TestProveErasure_halts_at_the_first_look_records_and_tells_that(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	f.fail["ProveErased"] = permanent("the run folder is gone")
	env := newEnv(t, f, "x")
	in := erasureInput(env.Now())
	in.Notify = &spec.Notify{}
	var shown workflows.Status
	f.hook["RecordAudit:erasure_incomplete"] = func() { shown = status(t, env) }
	env.ExecuteWorkflow(workflows.ProveErasure, in)
	require.Equal(t, "ErasureIncomplete", appError(t, env.GetWorkflowError()).Type())
	require.Equal(t, []string{activities.StatusErasureIncomplete}, f.statuses())
	require.Contains(t, f.audit[0].Error, "the run folder is gone")
	require.Contains(t, f.calls, "Notify:failed")
	require.Empty(t, shown.Outcome, "not before it is recorded")
}

func TestProveErasure_cancelled_shows_that_nothing_is_proved(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	env := newEnv(t, f, "x")
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
	env.ExecuteWorkflow(workflows.ProveErasure, erasureInput(env.Now().Add(72*time.Hour)))
	require.True(t, temporal.IsCanceledError(env.GetWorkflowError()))
	s := status(t, env)
	require.Equal(t, workflows.StageDone, s.Stage)
	require.Equal(t, activities.StatusCancelled, s.Outcome)
	require.Contains(t, s.Error, "nothing is proved")
	require.Empty(t, f.calls)
}

func TestProveErasure_cancelled_once_it_is_proved_records_it_all_the_same(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	env := newEnv(t, f, "x")
	f.hook["RecordAudit:erased"] = env.CancelWorkflow
	env.ExecuteWorkflow(workflows.ProveErasure, erasureInput(env.Now()))
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []string{activities.StatusErased}, f.statuses())
	require.Equal(t, activities.StatusErased, status(t, env).Outcome)
}
