package storage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func TestFault_failBefore_leavesTheStoreAlone(t *testing.T) {
	t.Parallel()
	f := storage.NewFault(storage.NewMemory())
	boom := errors.New("boom")
	f.Fail(func(op storage.Op) error {
		if op.Writes() {
			return boom
		}
		return nil
	})
	ctx := t.Context()
	require.ErrorIs(t, f.PutIfAbsent(ctx, "k", nil), boom)
	require.ErrorIs(t, f.Put(ctx, "k", nil), boom)
	require.ErrorIs(t, f.Delete(ctx, "k"), boom)
	w, err := f.Create(ctx, "k")
	require.NoError(t, err)
	_, err = w.Commit(ctx)
	require.ErrorIs(t, err, boom)
	_, err = f.Stat(ctx, "k")
	require.ErrorIs(t, err, storage.ErrNotExist)
}

func TestFault_failAfter_losesTheAnswerOfASuccess(t *testing.T) {
	t.Parallel()
	inner := storage.NewMemory()
	f := storage.NewFault(inner)
	ctx := t.Context()
	f.FailNth(storage.OpPutIfAbsent, 1, storage.AfterCall, nil)
	f.FailNth(storage.OpCommit, 1, storage.AfterCall, nil)
	f.FailNth(storage.OpDelete, 1, storage.AfterCall, context.DeadlineExceeded)

	require.ErrorIs(t, f.PutIfAbsent(ctx, "5.json", []byte("x")), storage.ErrInjected)
	require.ErrorIs(t, f.PutIfAbsent(ctx, "5.json", []byte("y")), storage.ErrExist, "it had happened")
	w, err := f.Create(ctx, "data")
	require.NoError(t, err)
	_, err = w.Commit(ctx)
	require.ErrorIs(t, err, storage.ErrInjected)
	w.Abort()
	require.ErrorIs(t, f.Delete(ctx, "5.json"), context.DeadlineExceeded)
	keys, err := listKeys(t, inner, "")
	require.NoError(t, err)
	require.Equal(t, []string{"data"}, keys)
}

func TestFault_failAfter_keepsTheErrorOfAFailure(t *testing.T) {
	t.Parallel()
	f := storage.NewFault(storage.NewMemory())
	f.FailAfter(func(storage.Op) error { return storage.ErrInjected })
	require.ErrorIs(t, f.Delete(t.Context(), "k"), storage.ErrNotExist)
}

func TestFault_everyKindOnBothSides_failsOnceAndNamesItself(t *testing.T) {
	t.Parallel()
	kinds := []string{
		storage.OpOpen, storage.OpRead, storage.OpStat, storage.OpCreate, storage.OpWrite, storage.OpCommit,
		storage.OpPutIfAbsent, storage.OpPut, storage.OpList, storage.OpDelete, storage.OpEntry,
	}
	for _, kind := range kinds {
		for _, when := range []storage.When{storage.BeforeCall, storage.AfterCall} {
			t.Run(fmt.Sprintf("%s_%d", kind, when), func(t *testing.T) {
				t.Parallel()
				if kind == storage.OpEntry && when == storage.AfterCall {
					t.Skip("an entry has no inner call")
				}
				inner := storage.NewMemory()
				f := storage.NewFault(inner)
				require.NoError(t, callAll(t.Context(), f))
				f.FailNth(kind, 1, when, nil)
				err := callAll(t.Context(), f)
				require.ErrorIs(t, err, storage.ErrInjected)
				require.ErrorContains(t, err, kind)
				f.Reset()
				_ = inner.Delete(t.Context(), "k") // where the failed round left it
				require.NoError(t, callAll(t.Context(), f))
				require.Positive(t, f.Calls(kind))
			})
		}
	}
}

// callAll makes every kind of call at least once and stops at the first error.
func callAll(ctx context.Context, s storage.Store) error {
	if err := s.PutIfAbsent(ctx, "k", []byte("1234")); err != nil {
		return err
	}
	if err := s.Put(ctx, "k", []byte("1234")); err != nil {
		return err
	}
	w, err := s.Create(ctx, "made")
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := io.WriteString(w, "x"); err != nil {
		return err
	}
	if _, err := w.Commit(ctx); err != nil {
		return err
	}
	if _, err := s.Stat(ctx, "k"); err != nil {
		return err
	}
	if _, err := storage.ReadAll(ctx, s, "k", 0); err != nil {
		return err
	}
	for _, err := range s.List(ctx, "", "") {
		if err != nil {
			return err
		}
	}
	return s.Delete(ctx, "k")
}

func TestFault_deny_byKeyAndKind(t *testing.T) {
	t.Parallel()
	f := storage.NewFault(storage.NewMemory())
	ctx := t.Context()
	require.NoError(t, f.Put(ctx, "a", nil))
	require.NoError(t, f.Put(ctx, "b", nil))
	f.Deny(func(key string) bool { return key == "a" }, storage.OpDelete)
	require.ErrorIs(t, f.Delete(ctx, "a"), storage.ErrPermission)
	require.NoError(t, f.Put(ctx, "a", nil))
	require.NoError(t, f.Delete(ctx, "b"))
}

func TestFault_pause_holdsTheCallUntilReleased(t *testing.T) {
	t.Parallel()
	f := storage.NewFault(storage.NewMemory())
	p := f.Pause(storage.BeforeCall, func(op storage.Op) bool { return op.Kind == storage.OpPutIfAbsent })
	ctx := t.Context()
	done := make(chan error, 1)
	go func() { done <- f.PutIfAbsent(ctx, "k", []byte("zombie")) }()
	require.Equal(t, "k", (<-p.Reached).Key)
	require.NoError(t, f.Put(ctx, "k", []byte("meanwhile")))
	p.Release()
	p.Release()
	require.ErrorIs(t, <-done, storage.ErrExist)

	held := f.Pause(storage.BeforeCall, func(op storage.Op) bool { return op.Kind == storage.OpStat })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := f.Stat(ctx, "k")
		done <- err
	}()
	<-held.Reached
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
}

func TestTrace_recordsCallsWithOutcome(t *testing.T) {
	t.Parallel()
	var got []string
	s := storage.Trace(storage.NewMemory(), func(op storage.Op) {
		outcome := "ok"
		switch {
		case errors.Is(op.Err, storage.ErrExist):
			outcome = "exists"
		case errors.Is(op.Err, storage.ErrNotExist):
			outcome = "absent"
		}
		got = append(got, fmt.Sprintf("%s %s %d %s", op.Kind, op.Key, op.Bytes, outcome))
	})
	require.NoError(t, callAll(t.Context(), s))
	require.NoError(t, s.Put(t.Context(), "k", nil))
	require.Error(t, s.PutIfAbsent(t.Context(), "k", []byte("12")))
	require.Error(t, s.Delete(t.Context(), "none"))
	require.Equal(t, []string{
		"put-if-absent k 4 ok",
		"put k 4 ok",
		"create made 0 ok",
		"write made 1 ok",
		"commit made 1 ok",
		"stat k 0 ok",
		"open k 0 ok",
		"read k 4 ok",
		"list  2 ok",
		"delete k 0 ok",
		"put k 0 ok",
		"put-if-absent k 2 exists",
		"delete none 0 absent",
	}, got)
}
