package deltaio_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func TestVacuum_unfinished_writes_of_dead_writers_are_removed_and_those_at_work_stay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := storage.OpenLocal(dir)
	require.NoError(t, err)
	table, err := deltaio.Create(t.Context(), storage.Sub(s, "bronze/t"), deltaio.Env{Now: time.Now},
		deltaio.CreateOptions{Schema: fields(col("id", schema.Long))})
	require.NoError(t, err)
	write := func(name string, age time.Duration) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("rows"), 0o644))
		at := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(path, at, at))
		return path
	}
	dead := write("bronze/t/p=1/.lakewarden-tmp-dead", 9*day)
	young := write("bronze/t/p=1/.lakewarden-tmp-young", day)
	other := write("bronze/u/.lakewarden-tmp-dead", 9*day)

	dry := vacuum(t, table, deltaio.VacuumOptions{DryRun: true})
	require.Zero(t, dry.Deleted)
	require.FileExists(t, dead)
	res := vacuum(t, table, deltaio.VacuumOptions{})
	require.EqualValues(t, 1, res.Deleted)
	require.EqualValues(t, 4, res.BytesDeleted)
	require.NoFileExists(t, dead)
	require.FileExists(t, young)
	require.FileExists(t, other, "another table's")
	require.Zero(t, vacuum(t, table, deltaio.VacuumOptions{}).Deleted)
}

func TestVacuum_scratch_objects_of_dead_probes_are_removed(t *testing.T) {
	t.Parallel()
	table, dir := localTable(t)
	old, young := filepath.Join(dir, ".lakewarden-probe-OLD"), filepath.Join(dir, ".lakewarden-probe-YOUNG")
	for path, age := range map[string]time.Duration{old: 9 * day, young: day} {
		require.NoError(t, os.WriteFile(path, []byte("first"), 0o600))
		at := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(path, at, at))
	}
	res := vacuum(t, table, deltaio.VacuumOptions{})
	require.EqualValues(t, 1, res.Deleted)
	require.NoFileExists(t, old)
	require.FileExists(t, young)
}
