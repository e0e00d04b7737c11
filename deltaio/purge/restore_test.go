package purge_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func (w *world) restore(opt purge.RestoreOptions) (*purge.RestoreResult, error) {
	a, err := deltaio.Open(w.ctx, w.archive, w.env())
	require.NoError(w.t, err)
	if opt.PurgeJournal == nil {
		opt.PurgeJournal = w.folderOf(opt.PurgeRunID)
	}
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

// falsify puts a copy of another row of the archive in the place of one: the
// count and the stamps stay.
func (w *world) falsify(t *testing.T, id, by int64) {
	t.Helper()
	a, err := deltaio.Open(w.ctx, w.archive, w.env())
	require.NoError(t, err)
	s, err := a.Snapshot(w.ctx)
	require.NoError(t, err)
	rows := func(yield func(arrow.Record, error) bool) {
		for _, where := range []string{fmt.Sprintf("id <> %d", id), fmt.Sprintf("id = %d", by)} {
			for rec, err := range s.Scan(w.ctx, deltaio.ScanOptions{Where: expr.MustParse(where)}) {
				if !yield(rec, err) {
					return
				}
			}
		}
	}
	files, err := s.Stage(w.ctx, deltaio.StageOptions{}, rows)
	require.NoError(t, err)
	commitReplace(t, w, a, s, files)
}

func TestRestore_falsified_archive_rows_refuse_it_whatever_part_is_asked_for(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	w.append(sample(0, 60))
	r := w.run("run-1")
	p := w.purge(r)
	rows := w.archived("run-1")
	w.falsify(t, rows[0].id, rows[1].id)
	require.Len(t, w.archived("run-1"), len(rows))
	before, stored := texts(w.rows()), objects(t, w.data)

	for _, where := range []*expr.Expr{nil, expr.MustParse(fmt.Sprintf("id = %d", rows[2].id))} {
		for _, dry := range []bool{true, false} {
			_, err := w.restore(purge.RestoreOptions{Run: w.run("restore-1"), PurgeRunID: "run-1", Keys: []string{"id"}, Where: where, DryRun: dry})
			var changed *purge.ArchiveChangedError
			require.ErrorAs(t, err, &changed)
			require.Equal(t, p.archive.Sum, changed.Want)
			require.ErrorContains(t, err, changed.Got.String())
			require.ErrorContains(t, err, changed.Want.String())
		}
	}
	require.Equal(t, before, texts(w.rows()))
	require.Equal(t, stored, objects(t, w.data), "nothing was staged")
}

func TestRestore_without_the_record_of_what_was_archived_is_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	w.append(sample(0, 60))
	p := w.purge(w.run("run-1"))
	opt := purge.RestoreOptions{Run: w.run("restore-1"), PurgeRunID: "run-1", Keys: []string{"id"}}
	require.NoError(t, w.folders.Delete(w.ctx, "run-1/"+p.archive.Record))
	_, err := w.restore(opt)
	var lost *purge.LostRecordError
	require.ErrorAs(t, err, &lost)
}

func TestArchiveRecord_is_that_of_the_log_else_the_one_that_the_delete_rests_on(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	w.append(sample(0, 60))
	r := w.run("run-1")
	plan := w.plan(r)
	w.mark(r, plan)
	w.archiveRows(r, plan, 1)
	second := w.archiveRows(r, plan, 2)
	w.delete(r, plan, second)
	a, err := deltaio.Open(w.ctx, w.archive, w.env())
	require.NoError(t, err)
	name, err := purge.ArchiveRecord(w.ctx, a, r)
	require.NoError(t, err)
	require.Equal(t, second.Record, name)

	// An archive whose log knows nothing of the run.
	w.archive = storage.NewMemory()
	empty := w.createArchive(columns(nullable("id", schema.Long)), nil)
	name, err = purge.ArchiveRecord(w.ctx, empty, r)
	require.NoError(t, err)
	require.Equal(t, second.Record, name)

	require.NoError(t, w.folders.Delete(w.ctx, "run-1/"+second.Record))
	other := w.folderOf("run-1")
	require.NoError(t, other.Put(w.ctx, "archive-other.json", []byte(`{"result": {"attempt": 3}}`)))
	first, err := purge.ArchiveRecord(w.ctx, empty, r)
	require.NoError(t, err)
	require.NotEqual(t, "archive-other.json", first, "the delete rests on other rows")
}
