package deltaio_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// lostAnswers plays a store that loses the answer of the nth put of a commit.
func lostAnswers(s storage.Store, lose func(n int, op storage.Op) (before, after bool)) storage.Store {
	var mu sync.Mutex
	n := 0
	lost := errors.New("connection reset")
	return storage.Hook(s, storage.Hooks{
		Before: func(_ context.Context, op storage.Op) error {
			if op.Kind != storage.OpPutIfAbsent {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			n++
			if b, _ := lose(n, op); b {
				return lost
			}
			return nil
		},
		After: func(_ context.Context, op storage.Op) error {
			if op.Kind != storage.OpPutIfAbsent {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			if _, a := lose(n, op); a {
				return lost
			}
			return nil
		},
	})
}

func TestCommit_answer_lost_after_success_is_recognised_as_our_own(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	create(t, inner, c, deltaio.CreateOptions{})
	f := fakeFile(t, inner, "a.parquet", nil)
	s := lostAnswers(inner, func(n int, _ storage.Op) (bool, bool) { return false, n == 1 })
	table, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	res, err := table.Commit(t.Context(), nil, deltaio.CommitOptions{BlindAppend: true}, adds(f))
	require.NoError(t, err)
	require.Equal(t, deltaio.Committed, res.Outcome)
	require.EqualValues(t, 1, res.Version)
	require.EqualValues(t, 1, snapshot(t, table).Version(), "exactly one commit")
}

func TestCommit_answer_lost_before_the_write_is_tried_again(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	create(t, inner, c, deltaio.CreateOptions{})
	f := fakeFile(t, inner, "a.parquet", nil)
	s := lostAnswers(inner, func(n int, _ storage.Op) (bool, bool) { return n <= 2, false })
	table, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	res, err := table.Commit(t.Context(), nil, deltaio.CommitOptions{BlindAppend: true}, adds(f))
	require.NoError(t, err)
	require.EqualValues(t, 1, res.Version)
}

func TestCommit_store_that_never_answers_is_uncertain_and_the_retry_finds_out(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	create(t, inner, c, deltaio.CreateOptions{})
	f := fakeFile(t, inner, "a.parquet", nil)
	step := &deltaio.Step{AppID: "lakewarden/r/x", Version: 1}
	for _, written := range []bool{false, true} {
		// Reads fail as well: the log cannot tell.
		broken := storage.Hook(inner, storage.Hooks{
			Before: func(_ context.Context, op storage.Op) error {
				if op.Kind == storage.OpPutIfAbsent && !written {
					return errors.New("timeout")
				}
				if op.Kind == storage.OpOpen && op.Key == log.CommitKey(1) {
					return errors.New("timeout")
				}
				return nil
			},
			After: func(_ context.Context, op storage.Op) error {
				if op.Kind == storage.OpPutIfAbsent {
					return errors.New("timeout")
				}
				return nil
			},
		})
		table, err := deltaio.Open(t.Context(), broken, env(c))
		require.NoError(t, err)
		_, err = table.Commit(t.Context(), nil, deltaio.CommitOptions{BlindAppend: true, Step: step}, adds(f))
		var uncertain *deltaio.UncertainError
		require.ErrorAs(t, err, &uncertain)
		require.EqualValues(t, 1, uncertain.Version)
	}
	table, err := deltaio.Open(t.Context(), inner, env(c))
	require.NoError(t, err)
	res, err := table.Commit(t.Context(), nil, deltaio.CommitOptions{BlindAppend: true, Step: step}, adds(f))
	require.NoError(t, err)
	require.Equal(t, deltaio.AlreadyDone, res.Outcome)
	require.EqualValues(t, 1, res.Version)
	require.EqualValues(t, 1, snapshot(t, table).Version())
}

func TestCommit_cancelled_after_the_write_is_still_told_as_committed(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	create(t, inner, c, deltaio.CreateOptions{})
	f := fakeFile(t, inner, "a.parquet", nil)
	ctx, cancel := context.WithCancel(t.Context())
	s := storage.Hook(inner, storage.Hooks{After: func(ctx context.Context, op storage.Op) error {
		if op.Kind == storage.OpPutIfAbsent {
			cancel()
			return ctx.Err()
		}
		return nil
	}})
	table, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	res, err := table.Commit(ctx, nil, deltaio.CommitOptions{BlindAppend: true}, adds(f))
	require.NoError(t, err)
	require.Equal(t, deltaio.Committed, res.Outcome)
}

func TestCommit_definite_refusals_of_the_store_are_not_retried(t *testing.T) {
	t.Parallel()
	for _, sentinel := range []error{storage.ErrPermission, storage.ErrNoSpace} {
		c := newClock()
		inner := memStore(c)
		create(t, inner, c, deltaio.CreateOptions{})
		puts := 0
		s := storage.Hook(inner, storage.Hooks{Before: func(_ context.Context, op storage.Op) error {
			if op.Kind == storage.OpPutIfAbsent {
				puts++
				return fmt.Errorf("put: %w", sentinel)
			}
			return nil
		}})
		table, err := deltaio.Open(t.Context(), s, env(c))
		require.NoError(t, err)
		_, err = table.Commit(t.Context(), nil, deltaio.CommitOptions{BlindAppend: true}, adds(fakeFile(t, inner, "a.parquet", nil)))
		require.ErrorIs(t, err, sentinel)
		require.Equal(t, 1, puts)
	}
}

func TestFence_a_worker_that_wakes_late_cannot_commit(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{})
	f := fakeFile(t, s, "a.parquet", nil)
	step := deltaio.Step{AppID: "lakewarden/r/mark", Version: 1}

	// The zombie has planned on version 0 and pauses.
	zombie := snapshot(t, table)
	res, err := deltaio.Fence(t.Context(), table, deltaio.Step{AppID: step.AppID, Version: 2}, nil)
	require.NoError(t, err)
	require.Equal(t, deltaio.Committed, res.Outcome)

	res, err = table.Commit(t.Context(), zombie, deltaio.CommitOptions{BlindAppend: true, Step: &step}, adds(f))
	require.NoError(t, err)
	require.Equal(t, deltaio.Fenced, res.Outcome)
	res, err = table.Commit(t.Context(), nil, deltaio.CommitOptions{BlindAppend: true, Step: &step}, adds(f))
	require.NoError(t, err)
	require.Equal(t, deltaio.Fenced, res.Outcome)
	require.Empty(t, snapshot(t, table).Files())

	res, err = deltaio.Fence(t.Context(), table, deltaio.Step{AppID: step.AppID, Version: 2}, nil)
	require.NoError(t, err)
	require.Equal(t, deltaio.AlreadyDone, res.Outcome)
	_, err = deltaio.Fence(t.Context(), table, deltaio.Step{AppID: step.AppID, Version: 3}, nil)
	require.ErrorContains(t, err, "odd")

	// The next attempt of the step goes on above the fence.
	next := deltaio.Step{AppID: step.AppID, Version: 3}
	res, err = table.Commit(t.Context(), nil, deltaio.CommitOptions{BlindAppend: true, Step: &next}, adds(f))
	require.NoError(t, err)
	require.Equal(t, deltaio.Committed, res.Outcome)
}

func TestFence_steps_behind_schema_changes(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	table := create(t, inner, c, deltaio.CreateOptions{})
	raced := false
	s := storage.Hook(inner, storage.Hooks{Before: func(_ context.Context, op storage.Op) error {
		if op.Kind == storage.OpPutIfAbsent && !raced {
			raced = true
			_, err := deltaio.AddColumn(t.Context(), table, deltaio.AddColumnOptions{Name: "x", Type: schema.Long})
			require.NoError(t, err)
		}
		return nil
	}})
	fenced, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	res, err := deltaio.Fence(t.Context(), fenced, deltaio.Step{AppID: "a", Version: 2}, nil)
	require.NoError(t, err)
	require.EqualValues(t, 2, res.Version)
}
