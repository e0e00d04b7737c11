package activities

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"
)

func TestBeat_endsWithTheWork(t *testing.T) {
	t.Parallel()
	a := &Activities{Now: func() time.Time { return time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC) }}
	work := func(ctx context.Context) error {
		_, stop := a.beat(ctx, "work")
		stop()
		return ctx.Err()
	}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(work)
	_, err := env.ExecuteActivity(work)
	require.NoError(t, err)
}

func TestPulse_ofDoneOrCancelledWork_isOver(t *testing.T) {
	t.Parallel()
	p := &pulse{quit: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	require.False(t, p.over(ctx))
	cancel()
	require.True(t, p.over(ctx))
	close(p.quit)
	require.True(t, p.over(t.Context()))
}
