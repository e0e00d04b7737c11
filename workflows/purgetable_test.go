package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

const runLength = 10 * time.Minute

func newEnv(t *testing.T, f *fakeSteps, table string) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	var s testsuite.WorkflowTestSuite
	env := s.NewTestWorkflowEnvironment()
	workflows.Register(env)
	env.RegisterActivity(f)
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: workflows.PurgeID(table), TaskQueue: workflows.TaskQueue})
	env.SetTestTimeout(time.Minute)
	return env
}

func appError(t *testing.T, err error) *temporal.ApplicationError {
	t.Helper()
	var app *temporal.ApplicationError
	require.True(t, errors.As(err, &app), "%v", err)
	return app
}

func status(t *testing.T, env *testsuite.TestWorkflowEnvironment) workflows.Status {
	t.Helper()
	v, err := env.QueryWorkflow(workflows.QueryStatus)
	require.NoError(t, err)
	var s workflows.Status
	require.NoError(t, v.Get(&s))
	return s
}

func TestPurgeTable_everything_works_completes_in_the_order_of_the_runbook(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	env := newEnv(t, f, "bronze.vendas")
	p := policy()
	p.Erasure.Prove = new(bool)
	env.ExecuteWorkflow(workflows.PurgeTable, p)
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []string{
		"PlanPurge", "MarkRows", "ArchiveRows", "VerifyArchive", "MergeDelete", "VerifyPurge", "RecordAudit:completed", "VacuumTable", "RecordAudit:vacuumed",
	}, f.calls)
	var r workflows.PurgeResult
	require.NoError(t, env.GetWorkflowResult(&r))
	require.Equal(t, activities.StatusCompleted, r.Outcome)
	row := f.audit[0]
	require.EqualValues(t, 5, *row.RowsMarked)
	require.EqualValues(t, 5, *row.RowsArchived)
	require.EqualValues(t, 5, *row.RowsDeleted)
	require.Nil(t, f.audit[1].RowsDeleted, "later rows repeat no counts")
}

func TestPurgeTable_a_step_fails_for_good_undoes_what_was_done(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		step   string
		lost   bool // the step took effect, its answer was lost
		status string
		undone []string
	}{
		{"PlanPurge", false, activities.StatusFailed, nil},
		{"MarkRows", false, activities.StatusRolledBack, []string{"UnmarkRows"}},
		{"MarkRows", true, activities.StatusRolledBack, []string{"UnmarkRows"}},
		{"ArchiveRows", false, activities.StatusRolledBack, []string{"RemoveArchived", "UnmarkRows"}},
		{"ArchiveRows", true, activities.StatusRolledBack, []string{"RemoveArchived", "UnmarkRows"}},
		{"VerifyArchive", false, activities.StatusRolledBack, []string{"RemoveArchived", "UnmarkRows"}},
		{"MergeDelete", false, activities.StatusRolledBack, []string{"FenceDelete", "RemoveArchived", "UnmarkRows"}},
	} {
		name := c.step
		if c.lost {
			name += " after its effect"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(5)
			f.fail[c.step], f.lost[c.step] = permanent("broken"), c.lost
			env := newEnv(t, f, "bronze.vendas")
			env.ExecuteWorkflow(workflows.PurgeTable, policy())
			app := appError(t, env.GetWorkflowError())
			require.Contains(t, app.Message(), "broken")
			require.Equal(t, []string{c.status}, f.statuses())
			require.False(t, f.marked)
			require.False(t, f.archived)
			require.False(t, f.deleted)
			tail := f.calls[len(f.calls)-1-len(c.undone) : len(f.calls)-1]
			require.Equal(t, c.undone, append([]string(nil), tail...))
			var details workflows.PurgeResult
			require.NoError(t, app.Details(&details))
			require.Equal(t, c.status, details.Outcome)
		})
	}
}

func TestPurgeTable_the_answer_of_the_delete_is_lost_concludes_as_deleted(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	f.fail["MergeDelete"], f.lost["MergeDelete"] = permanent("no answer"), true
	env := newEnv(t, f, "bronze.vendas")
	env.ExecuteWorkflow(workflows.PurgeTable, policy())
	require.NoError(t, env.GetWorkflowError())
	require.True(t, f.archived, "the archive stays")
	require.Equal(t, []string{activities.StatusCompleted, activities.StatusVacuumed}, f.statuses()[:2])
	require.NotContains(t, f.calls, "UnmarkRows")
}

func TestPurgeTable_cancelled_during_a_step_undoes_and_ends_as_cancelled(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"PlanPurge", "MarkRows", "ArchiveRows", "VerifyArchive"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			f := newFake(5)
			env := newEnv(t, f, "bronze.vendas")
			f.hook[step] = func() { env.CancelWorkflow() }
			env.ExecuteWorkflow(workflows.PurgeTable, policy())
			require.True(t, temporal.IsCanceledError(env.GetWorkflowError()), "%v", env.GetWorkflowError())
			require.Equal(t, []string{activities.StatusCancelled}, f.statuses())
			require.False(t, f.marked)
			require.False(t, f.archived)
		})
	}
}

func TestPurgeTable_cancelled_after_the_delete_undoes_nothing(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	env := newEnv(t, f, "bronze.vendas")
	f.hook["MergeDelete"] = func() { env.CancelWorkflow() }
	env.ExecuteWorkflow(workflows.PurgeTable, policy())
	require.True(t, f.deleted)
	require.True(t, f.archived)
	require.Equal(t, activities.StatusCompleted, f.statuses()[0])
	require.NotContains(t, f.calls, "UnmarkRows")
}

func TestPurgeTable_verification_fails_holds_until_retry(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	f.fail["VerifyPurge"] = permanent("a flagged row is left")
	env := newEnv(t, f, "bronze.vendas")
	env.RegisterDelayedCallback(func() {
		s := status(t, env)
		require.Equal(t, workflows.StageHeld, s.Stage)
		require.Contains(t, s.Next, "--name retry")
		require.Contains(t, s.Error, "a flagged row is left")
		require.NotContains(t, f.calls, "VacuumTable")
		f.mu.Lock()
		delete(f.fail, "VerifyPurge")
		f.mu.Unlock()
		env.UpdateWorkflowNoRejection(workflows.UpdateRetry, "u1", t, workflows.RetryRequest{By: "ana"})
	}, runLength)
	env.ExecuteWorkflow(workflows.PurgeTable, policy())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, activities.StatusCompleted, f.statuses()[0])
}

func TestPurgeTable_is_not_completed_before_that_is_recorded(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	f.fail["RecordAudit:completed"] = permanent("no such table")
	env := newEnv(t, f, "bronze.vendas")
	env.RegisterDelayedCallback(func() {
		s := status(t, env)
		require.Equal(t, workflows.StageHeld, s.Stage)
		require.Empty(t, s.Outcome)
		f.mu.Lock()
		delete(f.fail, "RecordAudit:completed")
		f.mu.Unlock()
		env.UpdateWorkflowNoRejection(workflows.UpdateRetry, "u1", t, workflows.RetryRequest{By: "ana"})
	}, runLength)
	env.ExecuteWorkflow(workflows.PurgeTable, policy())
	require.NoError(t, env.GetWorkflowError())
	var r workflows.PurgeResult
	require.NoError(t, env.GetWorkflowResult(&r))
	require.Equal(t, activities.StatusCompleted, r.Outcome)
}

func TestPurgeTable_refused_plan_touches_nothing_and_is_recorded(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	f.plan.Refusals = []activities.Refusal{{Code: "retention_below_floor", Message: "1h is below the floor of 168h.", Do: "Set 168h."}}
	env := newEnv(t, f, "bronze.vendas")
	env.ExecuteWorkflow(workflows.PurgeTable, policy())
	app := appError(t, env.GetWorkflowError())
	require.Equal(t, activities.ErrorRefused, app.Type())
	require.Contains(t, app.Message(), "below the floor")
	require.Equal(t, []string{"PlanPurge", "RecordAudit:refused"}, f.calls)
	require.Nil(t, f.audit[0].RowsDeleted, "unknown is null, not 0")
}

func TestPurgeTable_a_feature_that_is_not_handled_ends_as_refused_when_nothing_was_touched(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	f.fail["PlanPurge"] = temporal.NewApplicationErrorWithOptions("icebergCompatV2", activities.ErrorUnsupported, temporal.ApplicationErrorOptions{NonRetryable: true})
	env := newEnv(t, f, "bronze.vendas")
	env.ExecuteWorkflow(workflows.PurgeTable, policy())
	require.Equal(t, activities.ErrorUnsupported, appError(t, env.GetWorkflowError()).Type())
	require.Equal(t, []string{activities.StatusRefused}, f.statuses())
}

func TestPurgeTable_empty_input_fails_with_an_example(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	env := newEnv(t, f, "bronze.vendas")
	env.ExecuteWorkflow(workflows.PurgeTable, spec.RetentionPolicy{})
	app := appError(t, env.GetWorkflowError())
	require.Contains(t, app.Message(), "for example: criteria: {older_than:")
	require.Empty(t, f.calls)
}

func TestPurgeTable_nothing_due_completes_with_zero_rows(t *testing.T) {
	t.Parallel()
	f := newFake(0)
	env := newEnv(t, f, "bronze.vendas")
	env.ExecuteWorkflow(workflows.PurgeTable, policy())
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []string{"PlanPurge", "RecordAudit:completed", "VacuumTable", "RecordAudit:vacuumed"}, f.calls)
	require.Zero(t, *f.audit[0].RowsDeleted)
	require.Zero(t, *f.audit[0].RowsMarked)
}

func TestPurgeTable_dry_run_only_plans(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	env := newEnv(t, f, "bronze.vendas")
	p := policy()
	p.DryRun = true
	env.ExecuteWorkflow(workflows.PurgeTable, p)
	require.NoError(t, env.GetWorkflowError())
	require.Equal(t, []string{"PlanPurge", "RecordAudit:dry_run"}, f.calls)
}

func TestPurgeTable_rows_keep_changing_gives_up_and_undoes(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	for range 10 {
		f.deletes = append(f.deletes, activities.RowsChanged)
	}
	env := newEnv(t, f, "bronze.vendas")
	env.ExecuteWorkflow(workflows.PurgeTable, policy())
	require.Equal(t, workflows.TypeRolledBack, appError(t, env.GetWorkflowError()).Type())
	require.Equal(t, []string{activities.StatusRolledBack}, f.statuses())
	require.False(t, f.deleted)
}

func TestPurgeTable_rows_changed_once_archives_anew_and_deletes(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	f.deletes = []string{activities.RowsChanged}
	env := newEnv(t, f, "bronze.vendas")
	env.ExecuteWorkflow(workflows.PurgeTable, policy())
	require.NoError(t, env.GetWorkflowError())
	n := 0
	for _, c := range f.calls {
		if c == "ArchiveRows" {
			n++
		}
	}
	require.Equal(t, 2, n)
}

// An outcome that is shown stands in the audit.
func TestPurgeTable_shows_no_outcome_before_it_is_recorded(t *testing.T) {
	t.Parallel()
	dry := policy()
	dry.DryRun = true
	for _, c := range []struct {
		status, broken string
		policy         spec.RetentionPolicy
	}{
		{activities.StatusDryRun, "", dry},
		{activities.StatusRolledBack, "ArchiveRows", policy()},
		{activities.StatusFailed, "PlanPurge", policy()},
		{activities.StatusCompleted, "", policy()},
	} {
		t.Run(c.status, func(t *testing.T) {
			t.Parallel()
			f := newFake(5)
			if c.broken != "" {
				f.fail[c.broken] = permanent("broken")
			}
			env := newEnv(t, f, "bronze.vendas")
			var shown workflows.Status
			f.hook["RecordAudit:"+c.status] = func() { shown = status(t, env) }
			env.ExecuteWorkflow(workflows.PurgeTable, c.policy)
			require.NotEmpty(t, shown.RunID)
			require.Empty(t, shown.Outcome)
			require.Equal(t, c.status, status(t, env).Outcome)
		})
	}
}

func TestPurgeTable_dry_run_that_cannot_be_recorded_fails(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	f.fail["RecordAudit:dry_run"] = permanent("no such table")
	env := newEnv(t, f, "bronze.vendas")
	p := policy()
	p.DryRun = true
	env.ExecuteWorkflow(workflows.PurgeTable, p)
	app := appError(t, env.GetWorkflowError())
	require.Contains(t, app.Message(), "could not be recorded: no such table")
	var details workflows.PurgeResult
	require.NoError(t, app.Details(&details))
	require.Equal(t, activities.StatusFailed, details.Outcome)
}

func TestPurgeTable_starts_the_proof_that_a_terminated_run_owes_once(t *testing.T) {
	t.Parallel()
	f := newFake(0)
	owed := activities.ErasureOwed{
		Run: activities.Run{RunID: "r-ended", Table: "bronze.vendas", PlanDigest: "sha256:00"}, AuditTable: "control.expurgo_audit",
		Due: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	f.plan.Owed = []activities.ErasureOwed{owed, owed} // as the next purge would name it again
	env := newEnv(t, f, "bronze.vendas")
	env.ExecuteWorkflow(workflows.PurgeTable, policy())
	require.NoError(t, env.GetWorkflowError())
	s := status(t, env)
	require.Equal(t, []string{workflows.ErasureID("r-ended")}, s.Proofs)
	require.Contains(t, s.Markdown(), workflows.ErasureID("r-ended"))
}
