package matrix

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

const (
	// visit is how often the operator looks at a run, by the workflow's clock.
	visit     = time.Hour
	maxVisits = 24 * 60
)

// operator is who looks at a run every hour. It is given the state and may act.
type operator func(env *testsuite.TestWorkflowEnvironment, s workflows.Status)

// closedRuns: every workflow run that left something behind is over.
type closedRuns struct{}

func (closedRuns) Closed(context.Context, string, string) (bool, error) { return true, nil }

func (w *world) newEnv(id string) *testsuite.TestWorkflowEnvironment {
	var s testsuite.WorkflowTestSuite
	s.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := s.NewTestWorkflowEnvironment()
	env.SetStartTime(w.clock.Now())
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: id, TaskQueue: workflows.TaskQueue})
	env.SetTestTimeout(time.Minute)
	env.SetWorkerOptions(sdkworker.Options{
		DeadlockDetectionTimeout: time.Minute, // the machine may be busy
		Interceptors:             []interceptor.WorkerInterceptor{w.worker.intercept()},
	})
	workflows.Register(env)
	env.RegisterActivity(&activities.Activities{
		Lake: w.lake, Now: w.clock.Now, Engine: "lakewarden/test", Parallel: 1, Runs: closedRuns{},
	})
	return env
}

// execute runs a workflow to its end; prepare may set the environment up.
func (w *world) execute(id, kind string, input any, op operator, prepare ...func(*testsuite.TestWorkflowEnvironment)) *testsuite.TestWorkflowEnvironment {
	w.t.Helper()
	env := w.newEnv(id)
	for _, p := range prepare {
		p(env)
	}
	w.worker.reset()
	w.worker.cancelWorkflow = env.CancelWorkflow
	w.clock.follow(env.Now)
	if op != nil {
		visits := 0
		var look func()
		look = func() {
			if visits++; visits > maxVisits {
				return
			}
			if s, err := statusOf(env); err == nil {
				op(env, s)
			}
			env.RegisterDelayedCallback(look, visit)
		}
		env.RegisterDelayedCallback(look, visit)
	}
	env.ExecuteWorkflow(kind, input)
	w.clock.set(env.Now())
	require.True(w.t, env.IsWorkflowCompleted())
	return env
}

func statusOf(env *testsuite.TestWorkflowEnvironment) (s workflows.Status, err error) {
	v, err := env.QueryWorkflow(workflows.QueryStatus)
	if err != nil {
		return s, err
	}
	return s, v.Get(&s)
}

// ending is how a purge ended.
type ending struct {
	workflows.PurgeResult
	err   error
	state workflows.Status
	env   *testsuite.TestWorkflowEnvironment
}

// purge runs PurgeTable.
func (w *world) purge(p spec.RetentionPolicy, op operator, prepare ...func(*testsuite.TestWorkflowEnvironment)) ending {
	w.t.Helper()
	env := w.execute(workflows.PurgeID(p.Table), workflows.TypePurgeTable, p, op, prepare...)
	return endingOf(w.t, env)
}

func endingOf(t tb, env *testsuite.TestWorkflowEnvironment) ending {
	t.Helper()
	e := ending{err: env.GetWorkflowError(), env: env}
	e.state, _ = statusOf(env) // a run that never began has none
	if e.err == nil {
		require.NoError(t, env.GetWorkflowResult(&e.PurgeResult))
		return e
	}
	var app *temporal.ApplicationError
	var cancelled *temporal.CanceledError
	switch {
	case errors.As(e.err, &app) && app.HasDetails():
		require.NoError(t, app.Details(&e.PurgeResult))
	case errors.As(e.err, &cancelled) && cancelled.HasDetails():
		require.NoError(t, cancelled.Details(&e.PurgeResult))
	}
	return e
}

// decide answers when a run waits for approval.
func decide(update string) operator {
	asked := 0
	return func(env *testsuite.TestWorkflowEnvironment, s workflows.Status) {
		if s.Stage != workflows.StageApproval || s.Approval.Attempt == asked {
			return
		}
		asked = s.Approval.Attempt
		send(env, update, workflows.Decision{By: "dpo", Digest: s.Approval.Digest, Reason: "looked at"})
	}
}

// send sends an update and gives what becomes of it.
func send(env *testsuite.TestWorkflowEnvironment, name string, arg any) *reply {
	r := &reply{}
	env.UpdateWorkflow(name, "", r, arg)
	return r
}

// reply is the answer to an update.
type reply struct {
	accepted, completed bool
	rejected, err       error
}

// Accept is the validator's yes.
func (r *reply) Accept() { r.accepted = true }

// Reject is its no.
func (r *reply) Reject(err error) { r.rejected = err }

// Complete is the handler's answer.
func (r *reply) Complete(_ any, err error) { r.completed, r.err = true, err }

// errorType is the type of the application error that closed a workflow.
func errorType(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Type()
	}
	return ""
}
