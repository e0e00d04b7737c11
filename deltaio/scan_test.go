package deltaio_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func where(text string) deltaio.ScanOptions {
	return deltaio.ScanOptions{Where: expr.MustParse(text), Context: expr.Context{Now: start}}
}

func TestScan_filters_rows_and_reads_no_file_that_cannot_match(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	table := create(t, inner, c, deltaio.CreateOptions{PartitionBy: []string{"event_date"}})
	var rows []row
	for d := 1; d <= 5; d++ {
		for i := range 10 {
			rows = append(rows, row{int64(d*100 + i), date(fmt.Sprintf("2025-01-%02d", d)), float64(i)})
		}
	}
	rows = append(rows, row{999, nil, 1})
	appendRows(t, table, deltaio.AppendOptions{}, rows...)
	var opened atomic.Int64
	counting, err := deltaio.Open(t.Context(), storage.Trace(inner, func(op storage.Op) {
		if op.Kind == storage.OpOpen && len(op.Key) > 12 && op.Key[:12] == "event_date=2" {
			opened.Add(1)
		}
	}), env(c))
	require.NoError(t, err)
	snap := snapshot(t, counting)
	for text, tc := range map[string]struct {
		keep   func(row) bool
		opened int64
	}{
		"event_date = DATE'2025-01-03'":             {func(r row) bool { return r.date != nil && *r.date == "2025-01-03" }, 1},
		"event_date < '2025-01-03' AND amount >= 5": {func(r row) bool { return r.date != nil && *r.date < "2025-01-03" && r.amount >= 5 }, 2},
		"event_date IS NULL":                        {func(r row) bool { return r.date == nil }, 0},
		"id >= 400":                                 {func(r row) bool { return r.id >= 400 }, 2},
		"id > 10000":                                {func(row) bool { return false }, 0},
		"NOT (event_date < '2025-01-03')":           {func(r row) bool { return r.date != nil && *r.date >= "2025-01-03" }, 3},
		"TRUE":                                      {func(row) bool { return true }, 5},
		"amount = 3 OR event_date = '2025-01-05'":   {func(r row) bool { return r.amount == 3 || r.date != nil && *r.date == "2025-01-05" }, 5},
	} {
		opened.Store(0)
		var want []row
		for _, r := range rows {
			if tc.keep(r) {
				want = append(want, r)
			}
		}
		require.Equal(t, sortedTexts(t, want), texts(t, snap, where(text)), text)
		require.Equal(t, tc.opened, opened.Load(), text)
	}
	opt := where("amount = 3")
	opt.Columns = []string{"id"}
	require.Len(t, texts(t, snap, opt), 5)
	opt.Columns = []string{"nope"}
	for _, err := range snap.Scan(t.Context(), opt) {
		require.ErrorContains(t, err, "it has id, event_date, amount")
	}
}

func TestScan_null_empty_and_dated_partitions_are_told_apart(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	sc := fields(col("id", schema.Long), col("event_date", schema.String))
	table := create(t, s, c, deltaio.CreateOptions{Schema: sc, PartitionBy: []string{"event_date"}})
	as, err := schema.ArrowSchema(sc)
	require.NoError(t, err)
	_, err = deltaio.Append(t.Context(), table, deltaio.AppendOptions{}, once(recordJSON(t, as,
		`[{"id":1,"event_date":null},{"id":2,"event_date":"2024-01-01"},{"id":3,"event_date":"2025-1-6"},{"id":4,"event_date":"n/a"},{"id":5,"event_date":"2025-02-30"}]`)))
	require.NoError(t, err)
	// Another writer records the empty string: null for every type.
	snap := snapshot(t, table)
	empty := *snap.Files()[0]
	for _, f := range snap.Files() {
		if f.PartitionValues["event_date"] == nil {
			empty = *f
		}
	}
	data, err := storage.ReadAll(t.Context(), s, mustKey(t, &empty), 0)
	require.NoError(t, err)
	require.NoError(t, s.Put(t.Context(), "event_date=/e.parquet", data))
	empty.Path, empty.PartitionValues = "event_date=/e.parquet", map[string]*string{"event_date": text("")}
	appendFake(t, table, &empty)
	snap = snapshot(t, table)
	ids := func(w string) []string {
		opt := where(w)
		opt.Columns = []string{"id"}
		return texts(t, snap, opt)
	}
	require.Equal(t, []string{"(1)", "(1)"}, ids("event_date IS NULL"))
	require.Equal(t, []string{"(2)"}, ids("to_date(event_date, 'yyyy-MM-dd') < DATE'2025-02-08'"))
	require.Equal(t, []string{"(3)", "(4)", "(5)"}, ids("event_date IS NOT NULL AND to_date(event_date, 'yyyy-MM-dd') IS NULL"))
	require.Empty(t, ids("event_date = ''"))
}

func TestScan_failing_reads_are_errors_never_fewer_rows(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	table := create(t, inner, c, deltaio.CreateOptions{})
	var want []row
	for i := range 6 {
		r := row{int64(i), nil, 1}
		want = append(want, r)
		appendRows(t, table, deltaio.AppendOptions{}, r)
	}
	for n := 1; ; n++ {
		var calls atomic.Int64
		s := storage.Hook(inner, storage.Hooks{Before: func(_ context.Context, op storage.Op) error {
			if (op.Kind == storage.OpRead || op.Kind == storage.OpOpen) && op.Key[0] == 'p' && calls.Add(1) == int64(n) {
				return errors.New("reset")
			}
			return nil
		}})
		broken, err := deltaio.Open(t.Context(), s, env(c))
		require.NoError(t, err)
		rows, failed := 0, false
		for rec, err := range snapshot(t, broken).Scan(t.Context(), deltaio.ScanOptions{}) {
			if err != nil {
				require.ErrorContains(t, err, "reset")
				failed = true
				continue
			}
			rows += int(rec.NumRows())
			rec.Release()
		}
		if !failed {
			require.Equal(t, len(want), rows)
			require.Greater(t, n, 6)
			return
		}
	}
}

func TestScan_cancelled_or_left_early_ends_without_leaks(t *testing.T) {
	t.Parallel()
	c := newClock()
	table := create(t, memStore(c), c, deltaio.CreateOptions{})
	for i := range 20 {
		appendRows(t, table, deltaio.AppendOptions{}, row{int64(i), nil, 1})
	}
	snap := snapshot(t, table)
	for rec, err := range snap.Scan(t.Context(), deltaio.ScanOptions{}) {
		require.NoError(t, err)
		rec.Release()
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	rows, failed := 0, false
	for rec, err := range snap.Scan(ctx, deltaio.ScanOptions{}) {
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			failed = true
			continue
		}
		if rows++; rows == 3 {
			cancel()
		}
		rec.Release()
	}
	require.True(t, failed, "a cancelled scan never looks complete")
	cancel()
}

func TestScan_deletion_vector_beyond_the_file_is_an_error(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := flagged(t, s, c, map[string]string{"delta.enableDeletionVectors": "true"})
	appendRows(t, table, deltaio.AppendOptions{}, row{1, nil, 1})
	hide(t, table, c, snapshot(t, table).Files()[0], 7)
	for _, err := range snapshot(t, table).Scan(t.Context(), deltaio.ScanOptions{}) {
		require.ErrorContains(t, err, "drops row 7 of 1")
	}
}

func TestRanges_statistics_never_claim_more_than_they_prove(t *testing.T) {
	t.Parallel()
	c := newClock()
	sc := fields(col("s", schema.String), col("ts", schema.Timestamp), col("d", schema.Decimal{Precision: 10, Scale: 2}), col("f", schema.Double), col("n", schema.Long))
	table := create(t, memStore(c), c, deltaio.CreateOptions{Schema: sc, Properties: map[string]string{"delta.enableDeletionVectors": "true"}})
	snap := snapshot(t, table)
	long := "aaaaaaaaaabbbbbbbbbbccccccccccdd"
	at := func(add *log.Add, column string) (expr.Range, bool) { return snap.Ranges(add)(column) }
	add := &log.Add{Stats: `{"numRecords":10,"minValues":{"s":"a","ts":"2025-01-01T00:00:00.123Z","d":1.5,"f":"NaN","n":-9223372036854775808},` +
		`"maxValues":{"s":"` + long + `","ts":"2025-01-01T00:00:00.123+01:00","d":99999999.99,"f":1.5,"n":9223372036854775807},"nullCount":{"s":3,"n":0}}`}
	r, ok := at(add, "s")
	require.True(t, ok)
	require.True(t, r.HasMin)
	require.False(t, r.HasMax, "a maximum cut and not raised is none")
	require.EqualValues(t, 3, r.NullCount)
	r, _ = at(add, "ts")
	require.Equal(t, expr.Timestamp(1735689600123000), r.Min)
	require.Equal(t, expr.Timestamp(1735686000124000), r.Max, "widened by a millisecond")
	require.False(t, r.HasNullCount)
	r, _ = at(add, "d")
	require.Equal(t, "9999999999", r.Max.(expr.Decimal).V.BigInt().String())
	r, _ = at(add, "f")
	require.False(t, r.HasMin)
	require.Equal(t, 1.5, r.Max)
	r, _ = at(add, "n")
	require.Equal(t, int64(9223372036854775807), r.Max)

	add.DeletionVector = &log.DeletionVector{}
	r, _ = at(add, "s")
	require.False(t, r.HasNullCount, "some nulls may be deleted")
	r, _ = at(add, "n")
	require.True(t, r.HasNullCount, "none at all stays none")
	require.True(t, r.MinInexact)
	for _, broken := range []string{"", "{", `{"numRecords":"x"}`, `{"minValues":{"n":1.5},"maxValues":{"n":"x"}}`} {
		r, _ := at(&log.Add{Stats: broken}, "n")
		require.False(t, r.HasMin || r.HasMax || r.HasNullCount, broken)
	}
}
