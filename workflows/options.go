package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Activity profiles. Errors that a retry cannot mend are marked so where they
// are born (activities/errors.go); everything else is tried again.
const (
	quickTimeout = 5 * time.Minute
	dataTimeout  = 24 * time.Hour
	// heartbeat is how long a dead worker goes unnoticed. Activities beat every
	// few seconds while they progress.
	heartbeat = 20 * time.Second
	// stepAttempts bounds a step before its purge is undone: with back-off to a
	// minute about ten minutes of a store that is away.
	stepAttempts = 15
)

func retries(attempts int32) *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: attempts}
}

// quick: looks things up, sends, probes.
func quick(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: quickTimeout, RetryPolicy: retries(stepAttempts), Summary: cut(summary, maxSummary),
	})
}

// data: reads or writes table files. Cancellation is waited for, since a step
// that still writes must not run beside its own compensation.
func data(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: dataTimeout, HeartbeatTimeout: heartbeat, WaitForCancellation: true,
		RetryPolicy: retries(stepAttempts), Summary: cut(summary, maxSummary),
	})
}

// undo: compensation and records that must not be given up.
func undo(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: dataTimeout, HeartbeatTimeout: heartbeat, WaitForCancellation: true,
		RetryPolicy: retries(0), Summary: cut(summary, maxSummary),
	})
}

// courtesy: notifications; a run never waits long for them.
func courtesy(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute, ScheduleToCloseTimeout: 5 * time.Minute, RetryPolicy: retries(3), Summary: cut(summary, maxSummary),
	})
}
