package purge_test

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/dv"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// edit changes live add actions in a commit of its own, as another writer might
// have written them in the first place.
func (w *world) edit(change func(i int, add *log.Add)) {
	w.t.Helper()
	s := w.snapshot()
	var actions []log.Action
	for i, f := range s.Files() {
		a := *f
		change(i, &a)
		if a.Key() != f.Key() || a.Stats != f.Stats {
			// A file is removed and added again under another name: the same pair may
			// not occur twice in a commit.
			raw, err := storage.ReadAll(w.ctx, w.data, f.Key().Path, 0)
			require.NoError(w.t, err)
			key := a.Key().Path
			if key == f.Key().Path {
				key = key[:len(key)-len(".parquet")] + "-x.parquet"
				a.Path = log.EncodePath(key)
			}
			if err := w.data.PutIfAbsent(w.ctx, key, raw); err != nil {
				require.ErrorIs(w.t, err, storage.ErrExist)
			}
			actions = append(actions, log.Action{Remove: f.Remove(w.clock.now().UnixMilli(), false)}, log.Action{Add: &a})
		}
	}
	_, err := w.table.Commit(w.ctx, s, deltaio.CommitOptions{Operation: "MANUAL"}, func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) { return actions, nil })
	require.NoError(w.t, err)
}

// H3: a delete by partition alone counts its rows, with and without statistics.
func TestCase_H3_rows_are_counted_where_statistics_are_missing(t *testing.T) {
	t.Parallel()
	for _, column := range []string{flagColumn, ""} {
		w := newWorld(t, setup{partitioned: true})
		day := func(id int64, date string) row { return row{id: id, date: date, name: "n" + date} }
		w.append([]row{day(1, "2025-01-01"), day(2, "2025-01-01"), day(3, "2025-01-01")},
			[]row{day(4, "2025-01-02"), day(5, "2025-01-02"), day(6, "2025-01-02")}, []row{day(7, "2025-03-01")})
		w.edit(func(_ int, a *log.Add) {
			if bytes.Contains([]byte(a.Path), []byte("2025-01-02")) {
				a.Stats = ""
			}
		})
		r := w.run("run-1")
		r.Column = column
		p := w.purge(r)
		require.EqualValues(t, 7, p.plan.Rows)
		require.EqualValues(t, 6, p.plan.RowsDue)
		require.EqualValues(t, 6, p.del.RowsDeleted)
		require.EqualValues(t, 6, *p.checked.RowsDeleted)
		require.Len(t, w.rows(), 1)
	}
}

// H4: files without rows in a partition that is due go with it.
func TestCase_H4_zero_row_files_of_a_due_partition_are_removed(t *testing.T) {
	t.Parallel()
	for _, column := range []string{flagColumn, ""} {
		w := newWorld(t, setup{partitioned: true})
		rows := make([]row, 5)
		for i := range rows {
			rows[i] = row{id: int64(i), date: "2025-01-01", name: "old"}
		}
		w.append(rows, []row{{id: 9, date: "2025-03-09", name: "young"}})
		w.addEmptyFile("2025-01-01")
		w.addEmptyFile("2025-03-09")
		require.Len(t, w.snapshot().Files(), 4)
		r := w.run("run-1")
		r.Column = column
		p := w.purge(r)
		require.Equal(t, 2, p.plan.FilesWhole)
		require.EqualValues(t, 5, p.del.RowsDeleted)
		if column == "" {
			require.Equal(t, 2, p.del.FilesRemoved)
		}
		for _, a := range w.snapshot().Files() {
			require.NotEqual(t, "2025-01-01", *a.PartitionValues["event_date"], "no live file satisfies the predicate")
		}
		require.Len(t, w.snapshot().Files(), 2)
	}
}

func TestCase_H4_zero_row_files_come_back_when_the_purge_is_undone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{partitioned: true})
	w.append([]row{{id: 1, date: "2025-01-01", name: "old"}})
	w.addEmptyFile("2025-01-01")
	before := paths(w.snapshot())
	r := w.run("run-1")
	w.mark(r, w.plan(r))
	w.unmark(r)
	require.Equal(t, before, paths(w.snapshot()))
}

// addEmptyFile commits a data file that holds no rows, as some writers leave.
func (w *world) addEmptyFile(date string) {
	w.t.Helper()
	s := w.snapshot()
	var file *log.Add
	for _, a := range s.Files() {
		if *a.PartitionValues["event_date"] == date {
			file = a
		}
	}
	require.NotNil(w.t, file)
	raw := emptyParquet(w.t)
	key := "event_date=" + date + "/empty-" + newID() + ".parquet"
	require.NoError(w.t, w.data.PutIfAbsent(w.ctx, key, raw))
	a := &log.Add{Path: log.EncodePath(key), PartitionValues: file.PartitionValues, Size: int64(len(raw)), DataChange: true, Stats: `{"numRecords":0}`}
	_, err := w.table.Commit(w.ctx, s, deltaio.CommitOptions{Operation: "WRITE", BlindAppend: true}, func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
		return []log.Action{{Add: a}}, nil
	})
	require.NoError(w.t, err)
}

// hideRows drops rows of a file by a deletion vector.
func (w *world) hideRows(list ...int64) {
	w.t.Helper()
	s := w.snapshot()
	var actions []log.Action
	for _, f := range s.Files() {
		rows, err := rowsOf(w.ctx, s, deltaio.ScanOptions{Files: []*log.Add{f}})
		require.NoError(w.t, err)
		set := roaring64.New()
		for i, r := range rows {
			if slices.Contains(list, r.id) {
				set.Add(uint64(i))
			}
		}
		if set.IsEmpty() {
			continue
		}
		require.Nil(w.t, f.DeletionVector, "the helper counts physical rows")
		d, err := dv.WriteFile(w.ctx, w.data, dv.FileKey("", uuid.New()), []*roaring64.Bitmap{set})
		require.NoError(w.t, err)
		a := *f
		a.DeletionVector = d[0]
		actions = append(actions, log.Action{Remove: f.Remove(w.clock.now().UnixMilli(), true)}, log.Action{Add: &a})
	}
	_, err := w.table.Commit(w.ctx, s, deltaio.CommitOptions{Operation: "DELETE"}, func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) { return actions, nil })
	require.NoError(w.t, err)
}

var vectors = map[string]string{"delta.enableDeletionVectors": "true"}

// H5: rows that were only hidden are erased with the others.
func TestCase_H5_rows_behind_deletion_vectors_are_rewritten_away(t *testing.T) {
	t.Parallel()
	for _, column := range []string{flagColumn, ""} {
		w := newWorld(t, setup{properties: vectors})
		var rows []row
		for i := range 10 {
			rows = append(rows, row{id: int64(i), date: "2025-03-01", name: "young-" + newID()})
		}
		rows[3].date, rows[3].name = "2024-01-01", "secret-of-row-3"
		w.append(rows)
		w.hideRows(3)
		r := w.run("run-1")
		r.Column = column
		p := w.purge(r)
		require.EqualValues(t, 9, p.plan.Rows)
		require.Zero(t, p.plan.RowsDue)
		require.EqualValues(t, 1, p.plan.RowsHidden)
		require.Zero(t, p.del.RowsDeleted)
		require.Len(t, w.rows(), 9)
		noLeak(t, w, rows[3:4])

		w.clock.advance(8 * 24 * time.Hour)
		_, err := deltaio.Vacuum(w.ctx, w.table, deltaio.VacuumOptions{})
		require.NoError(t, err)
		for _, key := range objects(t, w.data) {
			raw, err := storage.ReadAll(w.ctx, w.data, key, 0)
			require.NoError(t, err)
			if bytes.HasSuffix([]byte(key), []byte(".parquet")) && !bytes.Contains([]byte(key), []byte("_delta_log")) {
				raw = append(raw, pages(t, raw)...)
				require.NotContains(t, string(raw), "secret-of-row-3", key)
			}
		}
	}
}

func TestCase_H5_deletion_vectors_set_during_approval_are_honoured(t *testing.T) {
	t.Parallel()
	w, r, plan, all := marked(t, setup{properties: vectors})
	w.hideRows(33, 34, 5)
	all, _ = split(all, func(r row) bool { return r.id == 33 || r.id == 34 || r.id == 5 })
	stay, gone := split(all, due)
	finish(t, w, r, plan, stay, gone)
}

func TestCase_H5_unmark_after_deletion_vectors_keeps_them(t *testing.T) {
	t.Parallel()
	w, r, _, all := marked(t, setup{properties: vectors})
	w.hideRows(33, 5)
	all, _ = split(all, func(r row) bool { return r.id == 33 || r.id == 5 })
	w.unmark(r)
	require.Equal(t, texts(all), texts(w.rows()))
	require.Zero(t, w.flagged())
}

// H6: a null partition, written as null or as the empty string, is never due.
func TestCase_H6_null_partitions_are_undated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{partitioned: true})
	w.append([]row{{id: 1, name: "null"}}, []row{{id: 2, name: "empty"}}, []row{{id: 3, date: "2024-01-01", name: "old"}})
	empty := ""
	first := true
	w.edit(func(_ int, a *log.Add) {
		if a.PartitionValues["event_date"] == nil && first {
			first = false
			a.PartitionValues = map[string]*string{"event_date": &empty}
			a.Path = log.EncodePath("event_date=__HIVE_DEFAULT_PARTITION__/other.parquet")
		}
	})
	p := w.purge(w.run("run-1"))
	require.EqualValues(t, 2, p.plan.RowsUndated)
	require.EqualValues(t, 1, p.del.RowsDeleted)
	require.Len(t, w.rows(), 2)
}

// H7: strings are dates by a declared format; what does not parse is counted and
// never due.
func TestCase_H7_unparsable_string_partitions_are_reported_never_due(t *testing.T) {
	t.Parallel()
	for _, partitioned := range []bool{true, false} {
		s := columns(nullable("id", schema.Long), nullable("event_date", schema.String), nullable("name", schema.String))
		w := newWorld(t, setup{schema: s, partitioned: partitioned})
		for i, d := range []string{"2025-01-05", "2025-1-6", "20250107", "n/a", "2025-02-30", "2025-03-09"} {
			w.append([]row{{id: int64(i), date: d, name: "d" + d}})
		}
		r := w.run("run-1")
		parsed := "to_date(event_date, 'yyyy-MM-dd')"
		r.Criteria.Match = expr.MustParse(parsed + " < DATE'2025-02-08'")
		r.Criteria.Undated = expr.MustParse(parsed + " IS NULL")
		p := w.purge(r)
		require.EqualValues(t, 1, p.plan.RowsDue)
		require.EqualValues(t, 4, p.plan.RowsUndated)
		require.EqualValues(t, 1, p.del.RowsDeleted)
		require.Len(t, w.rows(), 5)
	}
}

// H8: the day is the policy's, not UTC's.
func TestCase_H8_today_is_today_in_the_zone_of_the_policy(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/Los_Angeles")
	require.NoError(t, err)
	w := newWorld(t, setup{partitioned: true})
	w.append([]row{{id: 7, date: "2025-03-07", name: "a"}}, []row{{id: 8, date: "2025-03-08", name: "b"}}, []row{{id: 9, date: "2025-03-09", name: "c"}})
	r := w.run("run-1")
	r.Criteria.Match = expr.MustParse("event_date < date_sub(current_date(), 1)")
	r.Criteria.Context = expr.Context{Now: time.Date(2025, 3, 10, 3, 0, 0, 0, time.UTC), Zone: zone}
	w.purge(r)
	require.Equal(t, []string{"8|2025-03-08|b|0", "9|2025-03-09|c|0"}, texts(w.rows()))
}

// Rows are due by the frozen clock however long the approval takes.
func TestCriteria_the_clock_is_frozen_while_approval_takes_days(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	all := sample(0, 60)
	w.append(all)
	r := w.run("run-1")
	r.Criteria.Match = expr.MustParse("event_date < date_sub(current_date(), 30)")
	plan := w.plan(r)
	w.mark(r, plan)
	w.clock.advance(72 * time.Hour)
	stay, gone := split(all, due)
	finish(t, w, r, plan, stay, gone)
}

var _ = purge.Done

// A row that counts as undated is not due, whatever the criteria say of it.
func TestCriteria_undated_rows_are_never_due(t *testing.T) {
	t.Parallel()
	for _, undated := range []string{"id BETWEEN 40 AND 45", "true"} {
		w := newWorld(t, setup{})
		all := sample(0, 60)
		w.append(all)
		r := w.run("run-1")
		r.Criteria.Undated = expr.MustParse(undated)
		p := w.purge(r)
		stay, gone := split(all, func(r row) bool { return due(r) && undated != "true" && (r.id < 40 || r.id > 45) })
		require.EqualValues(t, len(gone), p.plan.RowsDue)
		require.Equal(t, texts(stay), texts(w.rows()))
		require.Equal(t, texts(gone), texts(w.archived("")))
	}
}
