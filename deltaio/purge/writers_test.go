package purge_test

import (
	"context"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

// append commits each list of rows as files of its own.
func (w *world) append(files ...[]row) {
	w.t.Helper()
	for _, rows := range files {
		rec := w.record(w.snapshot().Schema(), rows)
		_, err := deltaio.Append(w.ctx, w.table, deltaio.AppendOptions{}, one(rec))
		rec.Release()
		require.NoError(w.t, err)
	}
}

// rewrite is another program's change: the rows of the chosen files are replaced
// by what change makes of them, in one commit.
func (w *world) rewrite(op string, dataChange bool, choose func(i int, rows []row) bool, change func([]row) []row) {
	w.t.Helper()
	s := w.snapshot()
	var actions []log.Action
	var rows []row
	for i, add := range s.Files() {
		have, err := rowsOf(w.ctx, s, deltaio.ScanOptions{Files: []*log.Add{add}})
		require.NoError(w.t, err)
		if !choose(i, have) {
			continue
		}
		actions = append(actions, log.Action{Remove: add.Remove(w.clock.now().UnixMilli(), dataChange)})
		rows = append(rows, have...)
	}
	if len(actions) == 0 {
		return
	}
	if rows = change(rows); len(rows) > 0 {
		rec := w.record(s.Schema(), rows)
		defer rec.Release()
		files, err := s.Stage(w.ctx, deltaio.StageOptions{}, one(rec))
		require.NoError(w.t, err)
		for _, f := range files {
			f.Add.DataChange = dataChange
			actions = append(actions, log.Action{Add: f.Add})
		}
	}
	_, err := w.table.Commit(w.ctx, s, deltaio.CommitOptions{Operation: op}, func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) { return actions, nil })
	require.NoError(w.t, err)
}

func hasAny(rows []row, want map[int64]bool) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return want[r.id] })
}

func idSet(list ...int64) map[int64]bool {
	out := map[int64]bool{}
	for _, id := range list {
		out[id] = true
	}
	return out
}

// update changes the rows with the ids.
func (w *world) update(change func(*row), list ...int64) {
	w.t.Helper()
	want := idSet(list...)
	w.rewrite("UPDATE", true, func(_ int, rows []row) bool { return hasAny(rows, want) }, func(rows []row) []row {
		for i := range rows {
			if want[rows[i].id] {
				change(&rows[i])
			}
		}
		return rows
	})
}

// remove deletes the rows with the ids.
func (w *world) remove(list ...int64) {
	w.t.Helper()
	want := idSet(list...)
	w.rewrite("DELETE", true, func(_ int, rows []row) bool { return hasAny(rows, want) }, func(rows []row) []row {
		return slices.DeleteFunc(rows, func(r row) bool { return want[r.id] })
	})
}

// optimize puts the rows of all files together.
func (w *world) optimize() {
	w.t.Helper()
	w.rewrite("OPTIMIZE", false, func(int, []row) bool { return true }, func(rows []row) []row { return rows })
}
