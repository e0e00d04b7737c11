package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/workflows"
)

func erasureInput(due time.Time) workflows.ErasureInput {
	return workflows.ErasureInput{
		Run: activities.Run{RunID: "r", Table: "bronze.vendas", PlanDigest: "sha256:00"}, AuditTable: "control.expurgo_audit", Due: due,
	}
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
