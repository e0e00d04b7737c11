package deltaio_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func localTable(t *testing.T) (*deltaio.Table, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := storage.OpenLocal(dir)
	require.NoError(t, err)
	table, err := deltaio.Create(t.Context(), storage.Sub(s, "t"), deltaio.Env{Now: time.Now},
		deltaio.CreateOptions{Schema: fields(col("id", schema.Long))})
	require.NoError(t, err)
	return table, filepath.Join(dir, "t")
}

func confined(t *testing.T, table *deltaio.Table) error {
	t.Helper()
	snap, err := table.Snapshot(t.Context())
	require.NoError(t, err)
	return snap.CheckConfined(t.Context())
}

func TestCheckConfined_links_out_of_the_root_and_to_directories_are_named(t *testing.T) {
	t.Parallel()
	table, dir := localTable(t)
	require.NoError(t, confined(t, table))
	inside := filepath.Join(dir, "real")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "p=1"), 0o755))
	require.NoError(t, os.WriteFile(inside, []byte("x"), 0o600))
	require.NoError(t, os.Symlink("../real", filepath.Join(dir, "p=1", "alias")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "p=1", "dangling")))
	require.NoError(t, confined(t, table), "a link inside the root is an object of its own")

	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(dir, "p=1", "out")))
	require.NoError(t, os.Symlink("p=1", filepath.Join(dir, "p=2")))
	err := confined(t, table)
	var out *deltaio.OutsideError
	require.ErrorAs(t, err, &out)
	require.Equal(t, 2, out.Count)
	require.ErrorContains(t, err, "p=1/out: it is a symbolic link that is absolute or leads outside the root")
	require.ErrorContains(t, err, "p=2: it is a symbolic link to a directory")
}

func TestCheckConfined_absolute_paths_elsewhere_are_named(t *testing.T) {
	t.Parallel()
	table, _ := localTable(t)
	data, err := log.EncodeCommit([]log.Action{{Add: &log.Add{ // as another engine's shallow clone has it
		Path: "file:/elsewhere/part-1.parquet", Size: 10, ModificationTime: 1, DataChange: true, Stats: `{"numRecords":1}`,
	}}})
	require.NoError(t, err)
	require.NoError(t, table.Store().PutIfAbsent(t.Context(), log.CommitKey(1), data))
	err = confined(t, table)
	var out *deltaio.OutsideError
	require.ErrorAs(t, err, &out)
	require.Equal(t, 1, out.Count)
	require.ErrorContains(t, err, "file:/elsewhere/part-1.parquet")
}
