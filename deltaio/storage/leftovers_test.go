package storage_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func TestLeftovers_oldOnesUnderThePrefixThroughWrappers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lake := openLocal(t, dir)
	ctx := t.Context()
	table := storage.NewFault(storage.Sub(storage.Trace(lake, func(storage.Op) {}), "bronze/a b"))
	unfinished(t, table, "p=1/x")
	unfinished(t, lake, "bronze/other/y")
	require.NoError(t, table.Put(ctx, "p=1/done", nil))
	old, err := storage.Leftovers(ctx, table, time.Now().Add(-time.Hour))
	require.NoError(t, err)
	require.Empty(t, old, "a young one may have a living writer")

	age(t, dir)
	unfinished(t, table, "young")
	hourAgo := time.Now().Add(-time.Hour)
	old, err = storage.Leftovers(ctx, lake, hourAgo)
	require.NoError(t, err)
	require.Len(t, old, 2)
	removed, err := storage.RemoveLeftovers(ctx, table, hourAgo)
	require.NoError(t, err)
	require.Len(t, removed, 1)
	require.Equal(t, "bronze/a b/p=1", filepath.Dir(removed[0].Key))
	require.Equal(t, int64(4), removed[0].Size)
	old, err = storage.Leftovers(ctx, lake, hourAgo)
	require.NoError(t, err)
	require.Len(t, old, 1, "the other table keeps its own")
	keys, err := listKeys(t, table, "")
	require.NoError(t, err)
	require.Equal(t, []string{"p=1/done"}, keys)
}

func TestRemoveLeftovers_writerStillAlive_commitFailsAndPublishesNothing(t *testing.T) {
	t.Parallel()
	l := openLocal(t, t.TempDir())
	w := unfinished(t, l, "d/x")
	removed, err := storage.RemoveLeftovers(t.Context(), l, time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Len(t, removed, 1)
	_, err = w.Commit(t.Context())
	require.ErrorContains(t, err, "removed")
	require.NotErrorIs(t, err, storage.ErrNotExist)
	_, err = l.Stat(t.Context(), "d/x")
	require.ErrorIs(t, err, storage.ErrNotExist)
}

func TestRemoveLeftover_refusesObjects(t *testing.T) {
	t.Parallel()
	l := openLocal(t, t.TempDir())
	require.NoError(t, l.Put(t.Context(), "d/x", nil))
	for _, key := range []string{"d/x", "d", "", "d/.lakewarden-tmp-x/../x", "../.lakewarden-tmp-x"} {
		require.ErrorIs(t, l.RemoveLeftover(t.Context(), key), storage.ErrInvalidKey, key)
	}
	_, err := l.Stat(t.Context(), "d/x")
	require.NoError(t, err)
}

func TestLeftovers_storeWithoutAny_isEmpty(t *testing.T) {
	t.Parallel()
	old, err := storage.RemoveLeftovers(t.Context(), storage.Sub(storage.NewMemory(), "x"), time.Now())
	require.NoError(t, err)
	require.Empty(t, old)
}

func unfinished(t *testing.T, s storage.Store, key string) storage.Writer {
	t.Helper()
	w, err := s.Create(t.Context(), key)
	require.NoError(t, err)
	t.Cleanup(w.Abort)
	_, err = io.WriteString(w, "half")
	require.NoError(t, err)
	return w
}

// age dates every file under dir a day back.
func age(t *testing.T, dir string) {
	t.Helper()
	dayAgo := time.Now().Add(-24 * time.Hour)
	require.NoError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		return os.Chtimes(path, dayAgo, dayAgo)
	}))
}
