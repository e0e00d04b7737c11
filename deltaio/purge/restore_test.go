package purge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

func (w *world) restore(opt purge.RestoreOptions) (*purge.RestoreResult, error) {
	a, err := deltaio.Open(w.ctx, w.archive, w.env())
	require.NoError(w.t, err)
	return purge.RestoreRows(w.ctx, w.table, a, opt)
}

func TestRestore_rows_come_back_once_with_the_flag_cleared(t *testing.T) {
	t.Parallel()
	for name, s := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s)
			all := sample(0, 60)
			w.append(all)
			w.purge(w.run("run-1"))
			opt := purge.RestoreOptions{Run: w.run("restore-1"), PurgeRunID: "run-1", Keys: []string{"id"}, DryRun: true}
			version := w.snapshot().Version()
			res, err := w.restore(opt)
			require.NoError(t, err)
			_, gone := split(all, due)
			require.EqualValues(t, len(gone), res.Rows)
			require.Equal(t, version, w.snapshot().Version())

			opt.DryRun = false
			res, err = w.restore(opt)
			require.NoError(t, err)
			require.Equal(t, purge.Done, res.Outcome)
			require.Equal(t, texts(all), texts(w.rows()))
			require.Zero(t, w.flagged())
			again, err := w.restore(opt)
			require.NoError(t, err)
			require.Equal(t, purge.AlreadyDone, again.Outcome)
			require.Equal(t, res.Rows, again.Rows)

			opt.Run = w.run("restore-2")
			res, err = w.restore(opt)
			require.NoError(t, err)
			require.Equal(t, purge.KeysExist, res.Outcome)
			require.EqualValues(t, len(gone), res.Existing)
			require.NotEmpty(t, res.Examples)
			require.Equal(t, texts(all), texts(w.rows()))
		})
	}
}

func TestRestore_part_of_the_rows_and_whole_row_comparison(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	all := sample(0, 60)
	w.append(all)
	w.purge(w.run("run-1"))
	res, err := w.restore(purge.RestoreOptions{Run: w.run("restore-1"), PurgeRunID: "run-1", Where: expr.MustParse("id = 45")})
	require.NoError(t, err)
	require.EqualValues(t, 1, res.Rows)
	stay, _ := split(all, func(r row) bool { return due(r) && r.id != 45 })
	require.Equal(t, texts(stay), texts(w.rows()))

	res, err = w.restore(purge.RestoreOptions{Run: w.run("restore-2"), PurgeRunID: "run-1"})
	require.NoError(t, err)
	require.Equal(t, purge.KeysExist, res.Outcome, "row 45 is there already")
}

func TestRestore_columns_gained_are_null_and_columns_lost_refuse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	all := sample(0, 60)
	w.append(all)
	w.purge(w.run("run-1"))
	_, err := deltaio.AddColumn(w.ctx, w.table, deltaio.AddColumnOptions{Name: "extra", Type: schema.String})
	require.NoError(t, err)
	res, err := w.restore(purge.RestoreOptions{Run: w.run("restore-1"), PurgeRunID: "run-1", Keys: []string{"id"}})
	require.NoError(t, err)
	require.Equal(t, purge.Done, res.Outcome)
	require.Equal(t, texts(all), texts(w.rows()))
}
