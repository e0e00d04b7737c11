package deltaio_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func appendRows(t tb, table *deltaio.Table, opt deltaio.AppendOptions, rows ...row) *deltaio.AppendResult {
	t.Helper()
	res, err := deltaio.Append(context.Background(), table, opt, once(batch(t, rows...)))
	require.NoError(t, err)
	return res
}

func TestAppend_rows_come_back_by_partition_with_statistics(t *testing.T) {
	t.Parallel()
	for name, props := range map[string]map[string]string{
		"plain": nil, "mapped by name": {"delta.columnMapping.mode": "name"}, "mapped by id": {"delta.columnMapping.mode": "id"},
		"materialized": {"delta.feature.materializePartitionColumns": "supported"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			s := memStore(c)
			table := create(t, s, c, deltaio.CreateOptions{PartitionBy: []string{"event_date"}, Properties: props})
			rows := []row{
				{1, date("2025-01-01"), 1.5}, {2, date("2025-01-02"), math.NaN()}, {3, nil, math.Copysign(0, -1)},
				{4, date("2025-01-01"), math.Inf(1)}, {5, date("2025-01-02"), 5},
			}
			res := appendRows(t, table, deltaio.AppendOptions{}, rows...)
			require.Equal(t, deltaio.Committed, res.Outcome)
			require.Equal(t, 3, res.Files)
			require.EqualValues(t, 5, res.Rows)
			snap := snapshot(t, table)
			require.Equal(t, sortedTexts(t, rows), texts(t, snap, deltaio.ScanOptions{}))
			total := int64(0)
			for _, f := range snap.Files() {
				n, ok := f.NumRecords()
				require.True(t, ok)
				total += n
				info, err := s.Stat(t.Context(), mustKey(t, f))
				require.NoError(t, err)
				require.Equal(t, info.Size, f.Size)
				require.Contains(t, f.PartitionValues, physical(t, snap, "event_date"))
				require.NotContains(t, f.Stats, physical(t, snap, "event_date"), "no statistics for partition columns")
				require.Contains(t, f.Stats, physical(t, snap, "id"))
			}
			require.EqualValues(t, 5, total)
			require.Equal(t, []string{"(1)", "(2)", "(3)", "(4)", "(5)"}, texts(t, snap, deltaio.ScanOptions{Columns: []string{"id"}}))
		})
	}
}

func physical(t *testing.T, s *deltaio.Snapshot, name string) string {
	f, ok := s.Schema().Field(name)
	require.True(t, ok)
	return s.PhysicalName(f)
}

func mustKey(t *testing.T, a *log.Add) string {
	key, err := log.DecodePath(a.Path)
	require.NoError(t, err)
	return key
}

func TestAppend_batches_that_do_not_fit_are_refused_and_leave_nothing(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	notNull := fields(schema.Field{Name: "id", Type: schema.Long}, col("v", schema.String))
	table := create(t, s, c, deltaio.CreateOptions{Schema: notNull})
	record := func(fs []arrow.Field, cols ...arrow.Array) arrow.Record {
		return array.NewRecord(arrow.NewSchema(fs, nil), cols, int64(cols[0].Len()))
	}
	longs := func(null bool) arrow.Array {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.Append(1)
		if null {
			b.AppendNull()
		}
		return b.NewArray()
	}
	long := arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int64}
	other := arrow.Field{Name: "nope", Type: arrow.PrimitiveTypes.Int64}
	v := arrow.Field{Name: "v", Type: arrow.PrimitiveTypes.Int64}
	upper := arrow.Field{Name: "ID", Type: arrow.PrimitiveTypes.Int64}
	for want, rec := range map[string]arrow.Record{
		"NOT NULL id":          record([]arrow.Field{long}, longs(true)),
		"is not in the schema": record([]arrow.Field{long, other}, longs(false), longs(false)),
		"the batch has int64":  record([]arrow.Field{long, v}, longs(false), longs(false)),
		"appears twice":        record([]arrow.Field{long, upper}, longs(false), longs(false)),
		"1 rows break NOT NULL id": record([]arrow.Field{{Name: "v", Type: arrow.BinaryTypes.String}}, func() arrow.Array {
			b := array.NewStringBuilder(memory.DefaultAllocator)
			b.Append("x")
			return b.NewArray()
		}()),
	} {
		// A good batch first: its file must go as well.
		_, err := deltaio.Append(t.Context(), table, deltaio.AppendOptions{TargetBytes: 1}, once(record([]arrow.Field{long}, longs(false)), rec))
		require.ErrorContains(t, err, want)
	}
	require.EqualValues(t, 0, snapshot(t, table).Version())
	for info, err := range s.List(t.Context(), "", "") {
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(info.Key, "_delta_log/"), info.Key)
	}
	// Names match whatever their case; absent nullable columns are null.
	_, err := deltaio.Append(t.Context(), table, deltaio.AppendOptions{}, once(record([]arrow.Field{upper}, longs(false))))
	require.NoError(t, err)
	require.Equal(t, []string{"(1,null)"}, texts(t, snapshot(t, table), deltaio.ScanOptions{}))
}

func TestAppend_constraints_hold_for_every_row(t *testing.T) {
	t.Parallel()
	invariant := withMeta(col("id", schema.Long), "delta.invariants", `"{\"expression\":{\"expression\":\"id > 0\"}}"`)
	for name, tc := range map[string]struct {
		sc    *schema.Struct
		props map[string]string
		bad   row
	}{
		"CHECK false":     {sales, map[string]string{"delta.constraints.positive": "amount >= 0"}, row{1, nil, -1}},
		"CHECK null":      {sales, map[string]string{"delta.constraints.dated": "event_date > '2024-01-01'"}, row{1, nil, 1}},
		"invariant false": {fields(invariant, sales.Fields[1], sales.Fields[2]), nil, row{-1, date("2025-01-01"), 1}},
	} {
		c := newClock()
		table := create(t, memStore(c), c, deltaio.CreateOptions{Schema: tc.sc, Properties: tc.props})
		good := row{1, date("2025-01-01"), 1}
		appendRows(t, table, deltaio.AppendOptions{}, good)
		_, err := deltaio.Append(t.Context(), table, deltaio.AppendOptions{}, once(batch(t, good, tc.bad)))
		var broken *deltaio.ConstraintError
		require.ErrorAs(t, err, &broken, name)
		require.Equal(t, 1, broken.Rows)
		require.EqualValues(t, 1, snapshot(t, table).Version())
	}
}

func TestAppend_generated_and_defaulted_columns_are_filled_or_checked(t *testing.T) {
	t.Parallel()
	c := newClock()
	sc := fields(
		col("id", schema.Long), col("event_date", schema.Date), col("amount", schema.Double),
		withMeta(col("y", schema.Integer), "delta.generationExpression", `"year(event_date)"`),
		withMeta(col("kind", schema.String), "CURRENT_DEFAULT", `"'none'"`),
	)
	table := create(t, memStore(c), c, deltaio.CreateOptions{Schema: sc, PartitionBy: []string{"y"}})
	appendRows(t, table, deltaio.AppendOptions{}, row{1, date("2025-01-01"), 1}, row{2, nil, 2})
	require.Equal(t, []string{
		textOf(t, row{1, date("2025-01-01"), 1}, "2025", "s4:none"), textOf(t, row{2, nil, 2}, "null", "s4:none"),
	}, texts(t, snapshot(t, table), deltaio.ScanOptions{}))

	as, err := schema.ArrowSchema(fields(sc.Fields[1], sc.Fields[3]))
	require.NoError(t, err)
	b := array.NewRecordBuilder(memory.DefaultAllocator, as)
	b.Field(0).(*array.Date32Builder).Append(days(t, "2025-01-01"))
	b.Field(1).(*array.Int32Builder).Append(1999)
	_, err = deltaio.Append(t.Context(), table, deltaio.AppendOptions{}, once(b.NewRecord()))
	var broken *deltaio.ConstraintError
	require.ErrorAs(t, err, &broken)
	require.Equal(t, "generated column y", broken.Constraint)
}

func TestAppend_step_that_is_done_reads_no_rows(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{})
	step := &deltaio.Step{AppID: "a", Version: 1}
	first := appendRows(t, table, deltaio.AppendOptions{Step: step}, row{1, nil, 1}, row{2, nil, 2})
	again, err := deltaio.Append(t.Context(), table, deltaio.AppendOptions{Step: step}, func(func(arrow.Record, error) bool) {
		t.Fatal("not to be read")
	})
	require.NoError(t, err)
	require.Equal(t, deltaio.AlreadyDone, again.Outcome)
	require.Equal(t, first.Version, again.Version)
	require.Equal(t, first.Rows, again.Rows)
	require.Equal(t, first.Bytes, again.Bytes)
	require.Equal(t, first.Files, again.Files)
}

func TestAppend_fenced_while_writing_leaves_no_files(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{})
	step := &deltaio.Step{AppID: "a", Version: 1}
	res, err := deltaio.Append(t.Context(), table, deltaio.AppendOptions{Step: step}, func(yield func(arrow.Record, error) bool) {
		_, err := deltaio.Fence(t.Context(), table, deltaio.Step{AppID: "a", Version: 2}, nil)
		require.NoError(t, err)
		rec := batch(t, row{1, nil, 1})
		yield(rec, nil)
		rec.Release()
	})
	require.NoError(t, err)
	require.Equal(t, deltaio.Fenced, res.Outcome)
	require.Empty(t, dataFiles(t, s))
}

func dataFiles(t *testing.T, s storage.Store) []string {
	var out []string
	for info, err := range s.List(t.Context(), "", "") {
		require.NoError(t, err)
		if !strings.HasPrefix(info.Key, "_delta_log/") {
			out = append(out, info.Key)
		}
	}
	return out
}

func TestAppend_schema_that_changes_meanwhile_is_checked_again(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*testing.T, *deltaio.Table)
		want   string
	}{
		"a new nullable column fits": {func(t *testing.T, table *deltaio.Table) {
			_, err := deltaio.AddColumn(t.Context(), table, deltaio.AddColumnOptions{Name: "x", Type: schema.Long})
			require.NoError(t, err)
		}, ""},
		"a new constraint does not": {func(t *testing.T, table *deltaio.Table) {
			_, err := table.Commit(t.Context(), nil, deltaio.CommitOptions{Operation: "ADD CONSTRAINT"},
				func(_ context.Context, base *deltaio.Snapshot, _ int) ([]log.Action, error) {
					m := *base.State().Metadata
					m.Configuration = map[string]string{"delta.constraints.c": "id > 5"}
					p := *base.Protocol()
					p.MinWriterVersion = 3
					return []log.Action{{Metadata: &m}, {Protocol: &p}}, nil
				})
			require.NoError(t, err)
		}, "constraints changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			s := memStore(c)
			table := create(t, s, c, deltaio.CreateOptions{})
			_, err := deltaio.Append(t.Context(), table, deltaio.AppendOptions{}, func(yield func(arrow.Record, error) bool) {
				rec := batch(t, row{1, nil, 1})
				defer rec.Release()
				if yield(rec, nil) {
					tc.change(t, table)
				}
			})
			if tc.want != "" {
				require.ErrorContains(t, err, tc.want)
				require.Empty(t, snapshot(t, table).Files())
				require.Empty(t, dataFiles(t, s))
				return
			}
			require.NoError(t, err)
			require.Equal(t, []string{textOf(t, row{1, nil, 1}, "null")}, texts(t, snapshot(t, table), deltaio.ScanOptions{}))
		})
	}
}

func TestAppend_every_store_call_that_fails_once_loses_and_doubles_nothing(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "after"} {
		for n := 1; n < 60; n++ {
			c := newClock()
			inner := memStore(c)
			create(t, inner, c, deltaio.CreateOptions{PartitionBy: []string{"event_date"}, Properties: map[string]string{"delta.checkpointInterval": "1"}})
			var mu sync.Mutex
			calls, fired := 0, false
			fail := func(side string) func(context.Context, storage.Op) error {
				return func(_ context.Context, op storage.Op) error {
					if side != when {
						return nil
					}
					mu.Lock()
					defer mu.Unlock()
					if calls++; calls == n {
						fired = true
						return fmt.Errorf("call %d, %s %s: %w", n, op.Kind, op.Key, errors.New("reset"))
					}
					return nil
				}
			}
			s := storage.Hook(inner, storage.Hooks{Before: fail("before"), After: fail("after")})
			step := &deltaio.Step{AppID: "a", Version: 1}
			rows := []row{{1, date("2025-01-01"), 1}, {2, date("2025-01-02"), 2}}
			run := func() (*deltaio.AppendResult, error) {
				table, err := deltaio.Open(t.Context(), s, env(c))
				if err != nil {
					return nil, err
				}
				return deltaio.Append(t.Context(), table, deltaio.AppendOptions{Step: step}, once(batch(t, rows...)))
			}
			if _, err := run(); err != nil {
				_, err = run()
				require.NoError(t, err, "call %d", n)
			}
			table, err := deltaio.Open(t.Context(), inner, env(c))
			require.NoError(t, err)
			snap := snapshot(t, table)
			require.EqualValues(t, 1, snap.Version(), "%s call %d", when, n)
			require.Equal(t, sortedTexts(t, rows), texts(t, snap, deltaio.ScanOptions{}))
			if !fired {
				break
			}
		}
	}
}
