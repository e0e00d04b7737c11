package deltaio_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/dv"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// flagged is the sales table with a marker column.
func flagged(t tb, s storage.Store, c *clock, props map[string]string) *deltaio.Table {
	table, err := deltaio.Create(context.Background(), s, env(c), deltaio.CreateOptions{
		Schema: fields(append(append([]schema.Field{}, sales.Fields...), col("flag", schema.Boolean))...), Properties: props,
	})
	require.NoError(t, err)
	return table
}

// hide commits a deletion vector over rows of a live file, on top of the one it
// has.
func hide(t tb, table *deltaio.Table, c *clock, a *log.Add, rows ...uint64) {
	t.Helper()
	ctx := context.Background()
	set := roaring64.BitmapOf(rows...)
	if a.DeletionVector != nil {
		old, err := dv.Read(ctx, table.Store(), a.DeletionVector)
		require.NoError(t, err)
		set.Or(old)
	}
	ds, err := dv.WriteFile(ctx, table.Store(), dv.FileKey("", uuid.New()), []*roaring64.Bitmap{set})
	require.NoError(t, err)
	hidden := *a
	hidden.DeletionVector = ds[0]
	_, err = table.Commit(ctx, nil, deltaio.CommitOptions{Operation: "DELETE"},
		func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
			return []log.Action{{Remove: a.Remove(c.Now().UnixMilli(), true)}, {Add: &hidden}}, nil
		})
	require.NoError(t, err)
}

func TestRewrite_splits_a_file_by_rows_and_drops_deleted_ones(t *testing.T) {
	t.Parallel()
	for name, props := range map[string]map[string]string{
		"plain": {}, "mapped by name": {"delta.columnMapping.mode": "name"}, "mapped by id": {"delta.columnMapping.mode": "id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			props["delta.enableDeletionVectors"] = "true"
			c := newClock()
			s := memStore(c)
			table := flagged(t, s, c, props)
			rows := []row{{0, nil, 0}, {1, date("2025-01-01"), 1}, {2, date("2025-01-02"), 2}, {3, nil, 3}, {4, nil, 4}}
			appendRows(t, table, deltaio.AppendOptions{}, rows...)
			hide(t, table, c, snapshot(t, table).Files()[0], 3)
			snap := snapshot(t, table)
			f, err := snap.OpenFile(t.Context(), snap.Files()[0])
			require.NoError(t, err)
			require.EqualValues(t, 5, f.NumRows())
			require.EqualValues(t, 4, f.LiveRows())

			due := pq.NewBitmap(5)
			due.Set(1)
			due.Set(2)
			rest := f.Live().Clone()
			rest.AndNot(due)
			staged, err := f.Rewrite(t.Context(), []deltaio.RewriteOutput{
				{Key: "marked.parquet", Rows: due, Set: map[string]any{"flag": true}},
				{Key: "kept.parquet", Rows: rest, Omit: []string{"flag"}},
				{Key: "none.parquet", Rows: pq.NewBitmap(5)},
			})
			require.NoError(t, err)
			require.NoError(t, f.Close())
			require.Nil(t, staged[2])
			require.False(t, exists(t, s, "none.parquet"))
			require.EqualValues(t, 2, staged[0].Rows)
			_, err = table.Commit(t.Context(), snap, deltaio.CommitOptions{Operation: "UPDATE"},
				func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
					return []log.Action{
						{Remove: deltaio.RemoveOf(snap.Files()[0], 1, true)}, {Add: staged[0].Add}, {Add: staged[1].Add},
					}, nil
				})
			require.NoError(t, err)
			want := append(sortedTexts(t, []row{rows[0], rows[4]}, "null"), sortedTexts(t, rows[1:3], "true")...)
			require.ElementsMatch(t, want, texts(t, snapshot(t, table), deltaio.ScanOptions{}))
		})
	}
}

func TestRewrite_refuses_what_would_bring_rows_back_or_break_rules(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	sc := fields(col("id", schema.Long), schema.Field{Name: "must", Type: schema.Long}, col("p", schema.Long), col("free", schema.Long))
	table := create(t, s, c, deltaio.CreateOptions{Schema: sc, PartitionBy: []string{"p"}, Properties: map[string]string{
		"delta.enableDeletionVectors": "true", "delta.constraints.c": "id > 0",
	}})
	as, err := schema.ArrowSchema(sc)
	require.NoError(t, err)
	rec := recordJSON(t, as, `[{"id":1,"must":1,"p":1,"free":1},{"id":2,"must":1,"p":1,"free":1}]`)
	_, err = deltaio.Append(t.Context(), table, deltaio.AppendOptions{}, once(rec))
	require.NoError(t, err)
	hide(t, table, c, snapshot(t, table).Files()[0], 1)
	snap := snapshot(t, table)
	f, err := snap.OpenFile(t.Context(), snap.Files()[0])
	require.NoError(t, err)
	defer f.Close()
	for want, out := range map[string]deltaio.RewriteOutput{
		"deleted rows":         {Rows: pq.FullBitmap(2)},
		"a selection of":       {Rows: pq.NewBitmap(3)},
		"depends on column id": {Set: map[string]any{"id": int64(5)}},
		"is NOT NULL":          {Omit: []string{"must"}},
		"partitions the table": {Set: map[string]any{"p": int64(5)}},
		"is not in the schema": {Set: map[string]any{"nope": int64(5)}},
	} {
		out.Key = "out.parquet"
		_, err := f.Rewrite(t.Context(), []deltaio.RewriteOutput{out})
		require.ErrorContains(t, err, want)
		require.False(t, exists(t, s, "out.parquet"))
	}
	staged, err := f.Rewrite(t.Context(), []deltaio.RewriteOutput{{Key: "p=1/out.parquet", Set: map[string]any{"free": int64(7)}}})
	require.NoError(t, err)
	require.EqualValues(t, 1, staged[0].Rows, "no selection: the live rows")
	require.Equal(t, "1", *staged[0].Add.PartitionValues["p"])
}

func TestRewrite_failure_halfway_leaves_no_file(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	table := flagged(t, inner, c, nil)
	appendRows(t, table, deltaio.AppendOptions{}, row{1, nil, 1}, row{2, nil, 2})
	fault := storage.NewFault(inner)
	broken, err := deltaio.Open(t.Context(), fault, env(c))
	require.NoError(t, err)
	snap := snapshot(t, broken)
	f, err := snap.OpenFile(t.Context(), snap.Files()[0])
	require.NoError(t, err)
	defer f.Close()
	fault.Fail(func(op storage.Op) error {
		if op.Kind == storage.OpCommit && op.Key == "b.parquet" {
			return storage.ErrNoSpace
		}
		return nil
	})
	one, two := pq.NewBitmap(2), pq.NewBitmap(2)
	one.Set(0)
	two.Set(1)
	_, err = f.Rewrite(t.Context(), []deltaio.RewriteOutput{{Key: "a.parquet", Rows: one}, {Key: "b.parquet", Rows: two}})
	require.ErrorIs(t, err, storage.ErrNoSpace)
	require.False(t, exists(t, inner, "a.parquet"))
	require.False(t, exists(t, inner, "b.parquet"))
}

func TestSelect_finds_live_rows_that_are_true_and_null(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := flagged(t, s, c, map[string]string{"delta.enableDeletionVectors": "true"})
	var rows []row
	for i := range 130 {
		r := row{int64(i), date("2025-01-01"), float64(i)}
		if i%3 == 0 {
			r.date = nil
		}
		rows = append(rows, r)
	}
	appendRows(t, table, deltaio.AppendOptions{}, rows...)
	hide(t, table, c, snapshot(t, table).Files()[0], 63, 64, 100)
	snap := snapshot(t, table)
	b, err := expr.MustParse("event_date < '2025-06-01' AND id >= 60").Bind(snap.Schema(), expr.Context{Now: start})
	require.NoError(t, err)
	f, err := snap.OpenFile(t.Context(), snap.Files()[0])
	require.NoError(t, err)
	defer f.Close()
	sel, err := f.Select(t.Context(), b)
	require.NoError(t, err)
	for i := range 130 {
		gone := i == 63 || i == 64 || i == 100
		require.Equal(t, i >= 60 && i%3 != 0 && !gone, sel.True.Get(i), i)
		require.Equal(t, i >= 60 && i%3 == 0 && !gone, sel.Null.Get(i), i)
	}
}

func TestStageChanges_files_carry_the_type_and_feed_the_commit(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{PartitionBy: []string{"event_date"}, Properties: map[string]string{"delta.enableChangeDataFeed": "true"}})
	r := row{1, date("2025-01-01"), 1}
	appendRows(t, table, deltaio.AppendOptions{}, r)
	snap := snapshot(t, table)
	require.True(t, snap.ChangeFeed())
	cdc, err := snap.StageChanges(t.Context(), deltaio.ChangeDelete, once(batch(t, r)))
	require.NoError(t, err)
	require.Len(t, cdc, 1)
	require.Equal(t, "2025-01-01", *cdc[0].PartitionValues["event_date"])
	key, err := log.DecodePath(cdc[0].Path)
	require.NoError(t, err)
	require.Regexp(t, `^_change_data/event_date=2025-01-01/cdc-.*\.parquet$`, key)
	_, err = table.Commit(t.Context(), snap, deltaio.CommitOptions{Operation: "DELETE"},
		func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
			return []log.Action{{Remove: deltaio.RemoveOf(snap.Files()[0], 1, true)}, {CDC: cdc[0]}}, nil
		})
	require.NoError(t, err)
	data, err := storage.ReadAll(t.Context(), s, key, 0)
	require.NoError(t, err)
	require.True(t, bytes.Contains(data, []byte("_change_type")))
}

func recordJSON(t *testing.T, as *arrow.Schema, text string) arrow.Record {
	t.Helper()
	rec, _, err := arrayRecord(as, text)
	require.NoError(t, err)
	return rec
}
