package purge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
)

// marked is a world in which rows 31 to 59 are flagged: sample counts days
// backwards, so that those ids are due.
func marked(t *testing.T, s setup) (*world, purge.Run, *purge.PlanResult, []row) {
	t.Helper()
	w := newWorld(t, s)
	all := sample(0, 60)
	w.append(all[:20], all[20:40], all[40:])
	r := w.run("run-1")
	plan := w.plan(r)
	require.NotZero(t, w.mark(r, plan).RowsMarked)
	return w, r, plan, all
}

// finish archives, verifies and deletes, and compares with the model.
func finish(t *testing.T, w *world, r purge.Run, plan *purge.PlanResult, stay, gone []row) *purge.DeleteResult {
	t.Helper()
	archive := w.archiveRows(r, plan, 1)
	require.True(t, w.verify(r, archive).Agrees)
	del := w.delete(r, plan, archive)
	require.Equal(t, purge.Done, del.Outcome)
	settled(t, w, r, stay, gone)
	return del
}

func settled(t *testing.T, w *world, r purge.Run, stay, gone []row) {
	t.Helper()
	check := w.check(r)
	require.True(t, check.Agrees, "%v", check.Reasons)
	require.Equal(t, texts(stay), texts(w.rows()))
	require.Equal(t, texts(gone), texts(w.archived(r.ID)))
	require.Zero(t, w.flagged())
	noLeak(t, w, gone)
}

func TestDelete_rows_appended_after_the_mark_are_kept(t *testing.T) {
	t.Parallel()
	w, r, plan, all := marked(t, setup{})
	late := row{id: 999, date: "2024-01-01", name: "late"}
	w.append([]row{late})
	stay, gone := split(all, due)
	finish(t, w, r, plan, append(stay, late), gone)
}

func TestDelete_flagged_row_updated_before_archiving_is_archived_as_it_is(t *testing.T) {
	t.Parallel()
	w, r, plan, all := marked(t, setup{})
	w.update(func(r *row) { r.amount = 12345 }, 45)
	all[45].amount = 12345
	stay, gone := split(all, due)
	finish(t, w, r, plan, stay, gone)
}

func TestDelete_flagged_row_updated_after_archiving_is_archived_anew(t *testing.T) {
	t.Parallel()
	w, r, plan, all := marked(t, setup{})
	archive := w.archiveRows(r, plan, 1)
	w.update(func(r *row) { r.amount = 12345 }, 45)
	all[45].amount = 12345
	before := w.snapshot().Version()
	del := w.delete(r, plan, archive)
	require.Equal(t, purge.Changed, del.Outcome)
	require.Equal(t, before, w.snapshot().Version(), "a changed set deletes nothing")

	again := w.archiveRows(r, plan, 2)
	require.NotZero(t, again.FilesReplaced)
	require.True(t, w.verify(r, again).Agrees)
	require.False(t, w.verify(r, archive).Agrees, "the replaced attempt no longer verifies")
	require.Equal(t, purge.Done, w.delete(r, plan, again).Outcome)
	stay, gone := split(all, due)
	settled(t, w, r, stay, gone)
}

func TestDelete_row_updated_out_of_the_criteria_is_released(t *testing.T) {
	t.Parallel()
	w, r, plan, all := marked(t, setup{})
	w.update(func(r *row) { r.date = "2025-03-09" }, 40, 41)
	all[40].date, all[41].date = "2025-03-09", "2025-03-09"
	stay, gone := split(all, due)
	del := finish(t, w, r, plan, stay, gone)
	require.EqualValues(t, 2, del.RowsReleased)
	require.Zero(t, del.RowsHeld)
}

func TestDelete_flagged_rows_deleted_by_others_are_neither_archived_nor_missed(t *testing.T) {
	t.Parallel()
	w, r, plan, all := marked(t, setup{})
	w.remove(33, 44, 55, 3)
	all, _ = split(all, func(r row) bool { return idSet(33, 44, 55, 3)[r.id] })
	stay, gone := split(all, due)
	finish(t, w, r, plan, stay, gone)
}

func TestDelete_flagged_and_unflagged_rows_mixed_by_optimize_are_told_apart(t *testing.T) {
	t.Parallel()
	for name, s := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r, plan, all := marked(t, s)
			w.optimize()
			stay, gone := split(all, due)
			finish(t, w, r, plan, stay, gone)
		})
	}
}

func TestDelete_optimize_between_archive_and_delete_needs_no_new_archive(t *testing.T) {
	t.Parallel()
	w, r, plan, all := marked(t, setup{})
	archive := w.archiveRows(r, plan, 1)
	w.optimize()
	require.Equal(t, purge.Done, w.delete(r, plan, archive).Outcome, "the rows are the same")
	stay, gone := split(all, due)
	settled(t, w, r, stay, gone)
}

func TestDelete_hold_set_during_approval_releases_the_rows(t *testing.T) {
	t.Parallel()
	for name, s := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r, plan, all := marked(t, s)
			r.Criteria.Hold = expr.MustParse("id BETWEEN 40 AND 44")
			stay, gone := split(all, func(r row) bool { return due(r) && (r.id < 40 || r.id > 44) })
			del := finish(t, w, r, plan, stay, gone)
			require.EqualValues(t, 5, del.RowsReleased)
			require.EqualValues(t, 5, del.RowsHeld)
		})
	}
}

func TestDelete_hold_set_after_archiving_ends_as_changed_then_releases(t *testing.T) {
	t.Parallel()
	w, r, plan, all := marked(t, setup{})
	archive := w.archiveRows(r, plan, 1)
	r.Criteria.Hold = expr.MustParse("id = 50")
	require.Equal(t, purge.Changed, w.delete(r, plan, archive).Outcome)
	again := w.archiveRows(r, plan, 2)
	require.EqualValues(t, 1, again.RowsHeld)
	require.Equal(t, purge.Done, w.delete(r, plan, again).Outcome)
	stay, gone := split(all, func(r row) bool { return due(r) && r.id != 50 })
	settled(t, w, r, stay, gone)
}

func TestDelete_more_rows_than_approved_asks_again(t *testing.T) {
	t.Parallel()
	w, r, plan, _ := marked(t, setup{})
	archive := w.archiveRows(r, plan, 1)
	few := archive.Rows - 1
	version := w.snapshot().Version()
	del, err := purge.DeleteMarked(w.ctx, w.table, purge.DeleteOptions{Run: r, Archive: archive.Record, ArchiveStore: w.archive, MaxRows: &few})
	require.NoError(t, err)
	require.Equal(t, purge.Changed, del.Outcome)
	require.True(t, del.MoreThanMax)
	require.Equal(t, archive.Rows, del.RowsFound)
	require.Equal(t, version, w.snapshot().Version())
}

func TestMark_files_replaced_since_the_plan_are_judged_anew(t *testing.T) {
	t.Parallel()
	for name, meddle := range map[string]func(w *world, all []row) []row{
		"optimize": func(w *world, all []row) []row { w.optimize(); return all },
		"update into the criteria of a planned file": func(w *world, all []row) []row {
			w.update(func(r *row) { r.amount = 7 }, 45)
			all[45].amount = 7
			return all
		},
		"delete": func(w *world, all []row) []row {
			w.remove(45, 46)
			all, _ = split(all, func(r row) bool { return r.id == 45 || r.id == 46 })
			return all
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setup{})
			all := sample(0, 60)
			w.append(all[:20], all[20:40], all[40:])
			r := w.run("run-1")
			plan := w.plan(r)
			all = meddle(w, all)
			late := row{id: 999, date: "2024-01-01", name: "late"}
			w.append([]row{late})
			mark := w.mark(r, plan)
			stay, gone := split(all, due)
			require.True(t, mark.Replanned)
			require.EqualValues(t, len(gone), mark.RowsMarked, "the late row is the next run's")
			finish(t, w, r, plan, append(stay, late), gone)
		})
	}
}

func TestUnmark_untouched_files_come_back_as_they_were(t *testing.T) {
	t.Parallel()
	for name, s := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s)
			all := sample(0, 60)
			w.append(all[:20], all[20:40], all[40:])
			before := paths(w.snapshot())
			r := w.run("run-1")
			plan := w.plan(r)
			mark := w.mark(r, plan)
			res := w.unmark(r)
			require.Equal(t, purge.Done, res.Outcome)
			require.Equal(t, mark.FilesReplaced, res.FilesRestored)
			require.Zero(t, res.FilesRewritten)
			require.EqualValues(t, mark.RowsMarked, res.RowsCleared)
			require.Equal(t, before, paths(w.snapshot()))
			require.Equal(t, texts(all), texts(w.rows()))
			require.Zero(t, w.flagged())
			require.Equal(t, purge.AlreadyDone, w.unmark(r).Outcome)
			require.Equal(t, purge.Fenced, w.mark(r, plan).Outcome)
			left, err := purge.FindLeftovers(w.ctx, w.table)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

func paths(s *deltaio.Snapshot) (out []string) {
	for _, a := range s.Files() {
		out = append(out, a.Path)
	}
	return out
}

func TestUnmark_after_others_moved_the_rows_clears_the_flags_where_they_lie(t *testing.T) {
	t.Parallel()
	for name, meddle := range map[string]func(w *world, all []row) []row{
		"optimize": func(w *world, all []row) []row { w.optimize(); return all },
		"update and append": func(w *world, all []row) []row {
			w.update(func(r *row) { r.amount = -1 }, 35, 5)
			all[35].amount, all[5].amount = -1, -1
			late := row{id: 999, date: "2024-01-01", name: "late"}
			w.append([]row{late})
			return append(all, late)
		},
		"delete": func(w *world, all []row) []row {
			w.remove(35, 5)
			all, _ = split(all, func(r row) bool { return r.id == 35 || r.id == 5 })
			return all
		},
	} {
		for kind, s := range kinds {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				w, r, _, all := marked(t, s)
				all = meddle(w, all)
				flags := w.flagged()
				res := w.unmark(r)
				require.Equal(t, purge.Done, res.Outcome)
				require.EqualValues(t, flags, res.RowsCleared)
				require.Equal(t, texts(all), texts(w.rows()))
				require.Zero(t, w.flagged())
			})
		}
	}
}

func TestUnmark_originals_vacuumed_meanwhile_are_rewritten(t *testing.T) {
	t.Parallel()
	w, r, _, all := marked(t, setup{})
	for _, rm := range w.snapshot().State().Tombstones {
		require.NoError(t, w.data.Delete(w.ctx, rm.Key().Path))
	}
	res := w.unmark(r)
	require.Zero(t, res.FilesRestored)
	require.NotZero(t, res.FilesRewritten)
	require.Equal(t, texts(all), texts(w.rows()))
	require.Zero(t, w.flagged())
}

func TestUnmark_originals_near_the_end_of_retention_are_rewritten(t *testing.T) {
	t.Parallel()
	w, r, _, all := marked(t, setup{})
	w.clock.advance(4 * 24 * time.Hour) // of a week
	res := w.unmark(r)
	require.Zero(t, res.FilesRestored)
	require.NotZero(t, res.FilesRewritten)
	require.Equal(t, texts(all), texts(w.rows()))
}

func TestUnmark_never_marked_run_is_fenced_and_changes_no_rows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	all := sample(0, 60)
	w.append(all)
	r := w.run("run-1")
	plan := w.plan(r)
	require.Equal(t, purge.Done, w.unmark(r).Outcome)
	require.Equal(t, purge.Fenced, w.mark(r, plan).Outcome)
	_, has := w.snapshot().Schema().Field(flagColumn)
	require.False(t, has, "a late worker must not even add the column")
	require.Equal(t, texts(all), texts(w.rows()))
}

func TestUnmark_after_the_delete_is_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	w.append(sample(0, 60))
	r := w.run("run-1")
	w.purge(r)
	version := w.snapshot().Version()
	require.Equal(t, purge.DeletedBefore, w.unmark(r).Outcome)
	require.Equal(t, version, w.snapshot().Version())
	done, err := purge.FenceDelete(w.ctx, w.table, r)
	require.NoError(t, err)
	require.NotNil(t, done)
	require.NotZero(t, done.RowsDeleted)
}

func TestUnmark_lost_run_folder_still_clears_the_flags(t *testing.T) {
	t.Parallel()
	w, r, _, all := marked(t, setup{})
	for _, key := range objects(t, w.folders) {
		require.NoError(t, w.folders.Delete(w.ctx, key))
	}
	res := w.unmark(r)
	require.NotZero(t, res.FilesRewritten)
	require.Equal(t, texts(all), texts(w.rows()))
	require.Zero(t, w.flagged())
}

func TestCompensate_whole_run_leaves_table_and_archive_as_before(t *testing.T) {
	t.Parallel()
	w, r, plan, all := marked(t, setup{})
	archive := w.archiveRows(r, plan, 1)
	done, err := purge.FenceDelete(w.ctx, w.table, r)
	require.NoError(t, err)
	require.Nil(t, done)
	require.Equal(t, archive.Rows, w.removeArchived(r).RowsRemoved)
	w.unmark(r)
	require.Equal(t, texts(all), texts(w.rows()))
	require.Empty(t, w.archived(""))
	late, err := purge.DeleteMarked(w.ctx, w.table, purge.DeleteOptions{Run: r, Archive: archive.Record, ArchiveStore: w.archive})
	require.NoError(t, err)
	require.Equal(t, purge.Fenced, late.Outcome)
	again, err := purge.ArchiveRows(w.ctx, w.table, w.archive, w.env(), purge.ArchiveOptions{Run: r, Attempt: 1, ArchivedAt: start})
	require.NoError(t, err)
	require.Equal(t, purge.Fenced, again.Outcome)
}
