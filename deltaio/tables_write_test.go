package deltaio_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/rowtext"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// copyTree copies a table, so that others' data stays as it is.
func copyTree(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	require.NoError(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o644)
	}))
	return to
}

// rewriteAll splits every live file in two by row position and commits that.
func rewriteAll(t *testing.T, table *deltaio.Table, now time.Time) {
	t.Helper()
	snap := snapshot(t, table)
	var actions []log.Action
	for i, add := range snap.Files() {
		f, err := snap.OpenFile(t.Context(), add)
		require.NoError(t, err)
		n := int(f.NumRows())
		even, odd := pq.NewBitmap(n), pq.NewBitmap(n)
		for r := range n {
			if r%2 == 0 {
				even.Set(r)
			} else {
				odd.Set(r)
			}
		}
		if f.Live() != nil {
			even.And(f.Live())
			odd.And(f.Live())
		}
		staged, err := f.Rewrite(t.Context(), []deltaio.RewriteOutput{
			{Key: snap.DataKey(add.PartitionValues, fmt.Sprintf("even-%d.parquet", i)), Rows: even},
			{Key: snap.DataKey(add.PartitionValues, fmt.Sprintf("odd-%d.parquet", i)), Rows: odd},
		})
		require.NoError(t, err)
		require.NoError(t, f.Close())
		actions = append(actions, log.Action{Remove: deltaio.RemoveOf(add, now.UnixMilli(), true)})
		for _, st := range staged {
			if st != nil {
				actions = append(actions, log.Action{Add: st.Add})
			}
		}
	}
	_, err := table.Commit(t.Context(), snap, deltaio.CommitOptions{Operation: "UPDATE"},
		func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) { return actions, nil })
	require.NoError(t, err)
}

func TestTables_what_is_written_to_copies_keeps_every_row(t *testing.T) {
	t.Parallel()
	dir, tables := realTables(t)
	for _, tab := range tables {
		if tab.mustFail() {
			continue
		}
		t.Run(tab.Name, func(t *testing.T) {
			t.Parallel()
			root := copyTree(t, filepath.Join(dir, tab.Path))
			c := newClock()
			c.at = time.Now().UTC() // the copies' files are as old as this test
			s, err := storage.OpenLocal(root)
			require.NoError(t, err)
			defer s.Close()
			table, err := deltaio.Open(t.Context(), s, env(c))
			require.NoError(t, err)
			snap := snapshot(t, table)
			first := snap.Version()
			rows, sum := digest(t, snap, deltaio.ScanOptions{})

			// A column generated as now() accepts no row of another day.
			if snap.Check(deltaio.WantAppend) == nil && tab.Name != "delta-dat/generated_columns" {
				appendOnce(t, table, snap, rows)
				if snap.Check(deltaio.WantRewrite) == nil {
					_, err = deltaio.Restore(t.Context(), table, deltaio.RestoreOptions{Version: first})
					require.NoError(t, err)
					requireDigest(t, table, rows, sum)
				}
			}
			if snap.Check(deltaio.WantRewrite) == nil {
				rewriteAll(t, table, c.Now())
				requireDigest(t, table, rows, sum)
			}
			if snap.Check(deltaio.WantCheckpoint) == nil {
				_, err = deltaio.Checkpoint(t.Context(), table)
				require.NoError(t, err)
				table, err = deltaio.Open(t.Context(), s, env(c))
				require.NoError(t, err)
				newest := snapshot(t, table)
				n, got := digest(t, newest, deltaio.ScanOptions{})
				if snap.Check(deltaio.WantRewrite) == nil {
					require.Equal(t, rows, n)
					require.Equal(t, sum, got)
				}
			}
			if snap.Check(deltaio.WantVacuum) == nil {
				n, got := digest(t, snapshot(t, table), deltaio.ScanOptions{})
				_, err := deltaio.Vacuum(t.Context(), table, deltaio.VacuumOptions{Override: "a test", Retention: 1})
				require.NoError(t, err)
				requireDigest(t, table, n, got)
			}
		})
	}
}

func requireDigest(t *testing.T, table *deltaio.Table, rows int64, sum string) {
	t.Helper()
	n, got := digest(t, snapshot(t, table), deltaio.ScanOptions{})
	require.Equal(t, rows, n)
	require.Equal(t, sum, got)
}

// appendOnce appends the table's own rows to it: each row is there twice then.
func appendOnce(t *testing.T, table *deltaio.Table, snap *deltaio.Snapshot, rows int64) {
	t.Helper()
	res, err := deltaio.Append(t.Context(), table, deltaio.AppendOptions{}, func(yield func(arrow.Record, error) bool) {
		for rec, err := range snap.Scan(t.Context(), deltaio.ScanOptions{}) {
			if !yield(rec, err) {
				return
			}
			if rec != nil {
				rec.Release()
			}
		}
	})
	require.NoError(t, err)
	require.Equal(t, rows, res.Rows)
	twice := rowtext.NewDigest(snap.Schema())
	for range 2 {
		for rec, err := range snap.Scan(t.Context(), deltaio.ScanOptions{}) {
			require.NoError(t, err)
			require.NoError(t, twice.Add(rec, nil))
			rec.Release()
		}
	}
	n, got := digest(t, snapshot(t, table), deltaio.ScanOptions{})
	require.Equal(t, 2*rows, n)
	require.Equal(t, twice.Sum(), got)
}
