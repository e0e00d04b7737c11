package matrix

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/internal/lake"
)

// localWorld is the fixture on a real disk. Its clock is the disk's.
func localWorld(t *testing.T) (*world, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := storage.OpenLocal(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	w := newWorldOn(t, s)
	for info, err := range template().disk.List(w.ctx, "", "") {
		require.NoError(t, err)
		data, err := storage.ReadAll(w.ctx, template().disk, info.Key, 0)
		require.NoError(t, err)
		require.NoError(t, s.Put(w.ctx, info.Key, data))
	}
	return w, dir
}

func TestLocal_a_purge_on_a_disk_completes(t *testing.T) {
	t.Parallel()
	w, _ := localWorld(t)
	e := w.purge(policy(), nil)
	require.Equal(t, evidence.StatusCompleted, e.Outcome, "%v", e.err)
	w.agrees(e, flat(fixture()))
}

func TestLocal_a_table_that_is_a_link_out_of_the_root_is_refused(t *testing.T) {
	t.Parallel()
	w, dir := localWorld(t)
	outside := filepath.Join(t.TempDir(), "sales")
	table := filepath.Join(dir, "bronze", "sales")
	require.NoError(t, os.Rename(table, outside))
	require.NoError(t, os.Symlink(outside, table))
	before := tree(t, outside)
	e := w.purge(policy(), nil)
	require.Error(t, e.err)
	require.ErrorContains(t, e.err, "outside the root")
	require.Equal(t, evidence.StatusRefused, e.Outcome, "%v", e.err)
	require.Equal(t, before, tree(t, outside))
}

func TestLocal_an_archive_that_is_a_link_out_of_the_root_is_refused(t *testing.T) {
	t.Parallel()
	w, dir := localWorld(t)
	outside := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "archive"), 0o700))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "archive", "sales_purged")))
	before := tree(t, filepath.Join(dir, "bronze"))
	e := w.purge(policy(), nil)
	require.ErrorContains(t, e.err, "outside the root")
	require.Equal(t, evidence.StatusRefused, e.Outcome, "%v", e.err)
	require.Empty(t, tree(t, outside))
	require.Equal(t, before, tree(t, filepath.Join(dir, "bronze")))
}

func TestLocal_a_data_file_that_is_a_link_out_of_the_root_is_refused_in_the_plan(t *testing.T) {
	t.Parallel()
	w, dir := localWorld(t)
	file := filepath.Join(dir, "bronze", "sales", filepath.FromSlash(w.fileOf(6)))
	outside := filepath.Join(t.TempDir(), "file.parquet")
	require.NoError(t, os.Rename(file, outside))
	require.NoError(t, os.Symlink(outside, file))
	before := tree(t, filepath.Dir(outside))
	e := w.purge(policy(), nil)
	require.ErrorContains(t, e.err, "outside the root")
	require.ErrorContains(t, e.err, "files_outside_root")
	require.Equal(t, before, tree(t, filepath.Dir(outside)))
	require.Equal(t, evidence.StatusRefused, e.Outcome, "%v", e.err)
}

func TestLocal_a_directory_that_may_not_be_written_is_named(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere: a denying store stands in for this in TestInput_rights_that_are_missing")
	}
	w, dir := localWorld(t)
	table := filepath.Join(dir, "bronze", "sales")
	require.NoError(t, os.Chmod(table, 0o500))
	t.Cleanup(func() { require.NoError(t, os.Chmod(table, 0o700)) })
	before := w.untouched()
	e := w.purge(policy(), nil)
	require.Equal(t, evidence.StatusRefused, e.Outcome, "%v", e.err)
	require.ErrorContains(t, e.err, "rights")
	require.Equal(t, before, w.untouched())
}

func TestLake_a_schema_under_no_root_is_refused(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	l, err := lake.New(lake.Config{Roots: []lake.Root{{URL: lakeURL, Schemas: []string{"archive", "control"}}}}, openAlways(w.worker.hands(w.disk)))
	require.NoError(t, err)
	w.lake = l
	before := w.untouched()
	e := w.purge(policy(), nil)
	require.Equal(t, evidence.StatusRefused, e.Outcome, "%v", e.err)
	require.ErrorContains(t, e.err, "table_outside_roots")
	require.Equal(t, before, w.untouched())
}

// tree lists the files below a directory with their digests.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		out[p] = evidence.Digest(data)
		return err
	}))
	return out
}

// fileOf gives the key of the live file that holds a row.
func (w *world) fileOf(id int64) string {
	w.t.Helper()
	snap := w.snapshot(tableName)
	for i, f := range snap.Files() {
		if slices.ContainsFunc(w.salesIn(snap, deltaio.ScanOptions{Files: snap.Files()[i : i+1]}), hasID(id)) {
			return f.Key().Path
		}
	}
	require.Fail(w.t, "no file holds the row")
	return ""
}
