package workflows_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

// purges stands in for the children: it notes how many run at once.
type purges struct {
	mu           sync.Mutex
	running, top int
	started      []string
	fail         map[string]bool
	takes        time.Duration
}

func (p *purges) PurgeTable(ctx workflow.Context, policy spec.RetentionPolicy) (workflows.PurgeResult, error) {
	p.mu.Lock()
	p.started = append(p.started, policy.Table)
	p.running++
	p.top = max(p.top, p.running)
	p.mu.Unlock()
	err := workflow.Sleep(ctx, p.takes)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
	if err == nil && p.fail[policy.Table] {
		err = permanent("broken " + policy.Table)
	}
	rows := int64(1)
	return workflows.PurgeResult{Table: policy.Table, Outcome: activities.StatusCompleted, RunID: "r", RowsDeleted: &rows}, err
}

func lakehouse(n, parallel int) spec.PurgeLakehouse {
	l := spec.PurgeLakehouse{APIVersion: spec.APIVersion, Kind: spec.KindPurgeLakehouse, Name: "nightly", MaxParallel: &parallel}
	for i := range n {
		p := policy()
		p.Name, p.Table = fmt.Sprintf("p%d", i), fmt.Sprintf("bronze.t%d", i)
		l.Policies = append(l.Policies, p)
	}
	return l
}

func lakehouseEnv(p *purges) *testsuite.TestWorkflowEnvironment {
	var s testsuite.WorkflowTestSuite
	env := s.NewTestWorkflowEnvironment()
	env.RegisterWorkflowWithOptions(workflows.PurgeLakehouse, workflow.RegisterOptions{Name: workflows.TypePurgeLakehouse})
	env.RegisterWorkflowWithOptions(p.PurgeTable, workflow.RegisterOptions{Name: workflows.TypePurgeTable})
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: "nightly", TaskQueue: workflows.TaskQueue})
	return env
}

func TestPurgeLakehouse_one_fails_the_others_are_done_and_the_summary_says_so(t *testing.T) {
	t.Parallel()
	p := &purges{takes: time.Minute, fail: map[string]bool{"bronze.t1": true}}
	env := lakehouseEnv(p)
	env.ExecuteWorkflow(workflows.PurgeLakehouse, lakehouse(5, 2))
	app := appError(t, env.GetWorkflowError())
	require.Contains(t, app.Message(), "1 of 5 purges failed")
	var r workflows.LakehouseResult
	require.NoError(t, app.Details(&r))
	require.Equal(t, 4, r.Completed)
	require.Equal(t, 1, r.Failed)
	for _, line := range r.Tables {
		if line.Table == "bronze.t1" {
			require.Contains(t, line.Error, "broken bronze.t1")
		}
	}
	require.Equal(t, 2, p.top, "never more than max_parallel at once, and no fewer")
}

func TestPurgeLakehouse_stops_at_the_first_failure_where_the_list_says_so(t *testing.T) {
	t.Parallel()
	p := &purges{takes: time.Minute, fail: map[string]bool{"bronze.t0": true}}
	env := lakehouseEnv(p)
	l := lakehouse(4, 1)
	l.ContinueOnFailure = new(bool)
	env.ExecuteWorkflow(workflows.PurgeLakehouse, l)
	var r workflows.LakehouseResult
	require.NoError(t, appError(t, env.GetWorkflowError()).Details(&r))
	require.Equal(t, []string{"bronze.t0"}, p.started)
	require.Equal(t, 3, r.Skipped)
}

func TestPurgeLakehouse_cancelled_names_every_policy(t *testing.T) {
	t.Parallel()
	p := &purges{takes: time.Hour}
	env := lakehouseEnv(p)
	env.RegisterDelayedCallback(env.CancelWorkflow, 30*time.Minute)
	env.ExecuteWorkflow(workflows.PurgeLakehouse, lakehouse(4, 2))
	require.True(t, temporal.IsCanceledError(env.GetWorkflowError()))
	v, err := env.QueryWorkflow(workflows.QueryStatus)
	require.NoError(t, err)
	var r workflows.LakehouseResult
	require.NoError(t, v.Get(&r))
	outcomes := map[string]string{}
	for _, line := range r.Tables {
		outcomes[line.Table] = line.Outcome
	}
	require.Equal(t, map[string]string{
		"bronze.t0": activities.StatusCancelled, "bronze.t1": activities.StatusCancelled,
		"bronze.t2": workflows.OutcomeNotStarted, "bronze.t3": workflows.OutcomeNotStarted,
	}, outcomes)
}
