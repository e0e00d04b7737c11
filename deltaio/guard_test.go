package deltaio_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// A race that is lost to another writer gives the world time to change: the guard
// is asked again before the next try.
func TestCommit_theGuard_is_asked_before_each_try(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	other := create(t, inner, c, deltaio.CreateOptions{})
	fault := storage.NewFault(inner)
	raced := false
	fault.Fail(func(op storage.Op) error {
		if !raced && op.Kind == storage.OpPutIfAbsent && strings.HasPrefix(op.Key, "_delta_log/") {
			raced = true
			appendFake(t, other, fakeFile(t, inner, "theirs.parquet", nil))
		}
		return nil
	})
	table, err := deltaio.Open(t.Context(), fault, env(c))
	require.NoError(t, err)
	asked, changed := 0, errors.New("holds changed")
	_, err = table.Commit(t.Context(), nil, deltaio.CommitOptions{
		Operation: "DELETE", BlindAppend: true,
		Guard: func(context.Context) error {
			asked++
			if asked == 2 {
				return changed
			}
			return nil
		},
	}, adds(fakeFile(t, inner, "ours.parquet", nil)))
	require.ErrorIs(t, err, changed)
	require.True(t, raced)
	require.Equal(t, []string{"theirs.parquet"}, paths(snapshot(t, other)), "nothing of ours was written")
}
