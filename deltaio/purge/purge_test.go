package purge_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// kinds of table that the main scenarios run on.
var kinds = map[string]setup{
	"plain":       {},
	"partitioned": {partitioned: true},
	"change feed": {properties: map[string]string{"delta.enableChangeDataFeed": "true"}},
	"mapped":      {properties: map[string]string{"delta.columnMapping.mode": "name"}},
	"flag column": {flag: true},
}

func TestPurge_every_step_succeeds_rows_are_kept_plus_archived(t *testing.T) {
	t.Parallel()
	for name, s := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s)
			all := append(sample(0, 40), row{id: 900, name: "no date"})
			w.append(all[:10], all[10:30], all[30:])
			before := w.snapshot()
			stay, gone := split(all, due)

			r := w.run("run-1")
			p := w.purge(r)
			require.EqualValues(t, len(all), p.plan.Rows)
			require.EqualValues(t, len(gone), p.plan.RowsDue)
			require.EqualValues(t, 1, p.plan.RowsUndated)
			require.EqualValues(t, len(gone), p.mark.RowsMarked)
			require.EqualValues(t, len(gone), p.archive.Rows)
			require.EqualValues(t, len(gone), p.del.RowsDeleted)
			require.Zero(t, p.del.RowsReleased)
			require.Equal(t, p.mark.Sum, p.archive.Sum)

			require.Equal(t, texts(stay), texts(w.rows()))
			require.Equal(t, texts(gone), texts(w.archived("run-1")))
			require.Zero(t, w.flagged())
			require.NotNil(t, p.checked.VersionBefore)
			require.GreaterOrEqual(t, *p.checked.VersionBefore, before.Version())

			// Time travel still shows the table as it was.
			old, err := w.table.SnapshotAt(w.ctx, *p.checked.VersionBefore)
			require.NoError(t, err)
			rows, err := rowsOf(w.ctx, old, scanAll)
			require.NoError(t, err)
			require.Equal(t, texts(all), texts(rows))
			noLeak(t, w, gone)
		})
	}
}

func TestPurge_repeated_steps_answer_the_same_and_change_nothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	all := sample(0, 60)
	w.append(all)
	r := w.run("run-1")
	plan := w.plan(r)
	mark := w.mark(r, plan)
	version := w.snapshot().Version()
	again := w.mark(r, plan)
	require.Equal(t, purge.AlreadyDone, again.Outcome)
	again.Outcome = purge.Done
	require.Equal(t, mark, again)
	require.Equal(t, version, w.snapshot().Version())

	archive := w.archiveRows(r, plan, 1)
	archive2 := w.archiveRows(r, plan, 1)
	require.Equal(t, purge.AlreadyDone, archive2.Outcome)
	archive2.Outcome = purge.Done
	require.Equal(t, archive, archive2)

	del := w.delete(r, plan, archive)
	del2 := w.delete(r, plan, archive)
	require.Equal(t, purge.AlreadyDone, del2.Outcome)
	del2.Outcome = purge.Done
	require.Equal(t, del, del2)

	// A plan made again by the same run is that of the version before its mark.
	require.Equal(t, plan.RowsDue, w.plan(r).RowsDue)
}

func TestPurge_without_marker_column_deletes_exactly_the_archived_rows(t *testing.T) {
	t.Parallel()
	for name, s := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s)
			all := sample(0, 50)
			w.append(all[:20], all[20:])
			stay, gone := split(all, due)
			r := w.run("run-1")
			r.Column = ""
			plan := w.plan(r)
			require.False(t, plan.ColumnMissing)
			require.Equal(t, purge.Nothing, w.mark(r, plan).Outcome)
			late := row{id: 999, date: "2024-01-01", name: "late-arrival"}
			w.append([]row{late}) // came after the plan: the next run's
			archive := w.archiveRows(r, plan, 1)
			require.True(t, w.verify(r, archive).Agrees)
			require.Equal(t, purge.Done, w.delete(r, plan, archive).Outcome)
			require.True(t, w.check(r).Agrees)
			require.Equal(t, texts(append(stay, late)), texts(w.rows()))
			require.Equal(t, texts(gone), texts(w.archived("run-1")))
			noLeak(t, w, gone)
		})
	}
}

func TestPurge_nothing_due_commits_the_end_and_no_rows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	w.append([]row{{id: 1, date: "2025-03-01", name: "young"}})
	p := w.purge(w.run("run-1"))
	require.Zero(t, p.del.RowsDeleted)
	require.Len(t, w.rows(), 1)
	require.Empty(t, w.archived("run-1"))
}

func TestPurge_second_run_purges_what_came_due_later(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	all := sample(0, 60)
	w.append(all)
	w.purge(w.run("run-1"))
	r := w.run("run-2")
	r.Criteria.Match = expr.MustParse("event_date < DATE'2025-02-20'")
	w.purge(r)
	stay, gone := split(all, func(r row) bool { return r.date < "2025-02-20" })
	require.Equal(t, texts(stay), texts(w.rows()))
	require.Equal(t, texts(gone), texts(w.archived("")))
}

// noLeak searches the bytes of every live file for the names of purged rows.
// Files are written uncompressed nowhere, so pages are opened as well.
func noLeak(t tb, w *world, gone []row) {
	t.Helper()
	for _, add := range w.snapshot().Files() {
		raw, err := storage.ReadAll(w.ctx, w.data, add.Key().Path, 0)
		require.NoError(t, err)
		raw = append(raw, pages(t, raw)...)
		raw = append(raw, add.Stats...)
		for _, r := range gone {
			require.False(t, bytes.Contains(raw, []byte(r.name)), "%s holds %s", add.Path, r.name)
		}
	}
}

var _ = time.Now
