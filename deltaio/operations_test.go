package deltaio_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

func TestRestore_brings_files_back_and_lowers_no_mark(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{Properties: map[string]string{"delta.enableRowTracking": "true"}})
	a, b := fakeFile(t, s, "a.parquet", nil), fakeFile(t, s, "b.parquet", nil)
	appendFake(t, table, a)
	before := snapshot(t, table)
	appendFake(t, table, b)
	removeFake(t, table, c, a)
	_, err := deltaio.Fence(t.Context(), table, deltaio.Step{AppID: "app", Version: 4}, nil)
	require.NoError(t, err)

	res, err := deltaio.Restore(t.Context(), table, deltaio.RestoreOptions{Version: before.Version()})
	require.NoError(t, err)
	require.Equal(t, 1, res.Restored)
	require.Equal(t, 1, res.Removed)
	after := snapshot(t, table)
	require.Equal(t, []string{"a.parquet"}, paths(after))
	require.Equal(t, *before.Files()[0].BaseRowID, *after.Files()[0].BaseRowID)
	require.Equal(t, *before.Files()[0].DefaultRowCommitVersion, *after.Files()[0].DefaultRowCommitVersion)
	v, _ := after.Txn("app")
	require.EqualValues(t, 4, v)
	require.Equal(t, `{"rowIdHighWaterMark":5}`, after.State().Domains["delta.rowTracking"].Configuration)

	again, err := deltaio.Restore(t.Context(), table, deltaio.RestoreOptions{Version: before.Version()})
	require.NoError(t, err)
	require.Equal(t, deltaio.NothingToDo, again.Outcome)
}

func TestRestore_with_files_missing_is_refused(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{})
	a := fakeFile(t, s, "a.parquet", nil)
	appendFake(t, table, a)
	removeFake(t, table, c, a)
	require.NoError(t, s.Delete(t.Context(), "a.parquet"))
	_, err := deltaio.Restore(t.Context(), table, deltaio.RestoreOptions{Version: 1})
	var missing *deltaio.MissingFilesError
	require.ErrorAs(t, err, &missing)
	require.Equal(t, []string{"a.parquet"}, missing.Missing)
	_, err = deltaio.Restore(t.Context(), table, deltaio.RestoreOptions{Version: 99})
	require.ErrorIs(t, err, deltaio.ErrNoVersion)
}

func TestRestore_across_an_added_column_keeps_the_highest_column_id(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{Properties: map[string]string{"delta.columnMapping.mode": "name"}})
	_, err := deltaio.AddColumn(t.Context(), table, deltaio.AddColumnOptions{Name: "x", Type: schema.Long})
	require.NoError(t, err)
	_, err = deltaio.Restore(t.Context(), table, deltaio.RestoreOptions{Version: 0})
	require.NoError(t, err)
	snap := snapshot(t, table)
	_, ok := snap.Schema().Field("x")
	require.False(t, ok)
	id, _ := snap.Property("delta.columnMapping.maxColumnId")
	require.Equal(t, "4", id)
}

func TestRestore_is_refused_on_append_only_tables(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{Properties: map[string]string{"delta.appendOnly": "true"}})
	appendFake(t, table, fakeFile(t, s, "a.parquet", nil))
	_, err := deltaio.Restore(t.Context(), table, deltaio.RestoreOptions{Version: 0})
	var refused *deltaio.UnsupportedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "appendOnly", refused.Feature)
}

func TestAddColumn_keeps_everything_else_to_the_letter(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	odd := sales
	odd = fields(append([]schema.Field{}, odd.Fields...)...)
	odd.Fields[0].Metadata = map[string]json.RawMessage{"x.y": json.RawMessage(`{"deep":[1,2]}`)}
	table := create(t, s, c, deltaio.CreateOptions{Schema: odd, PartitionBy: []string{"event_date"}, Properties: map[string]string{"my.prop": "1"}})
	before := snapshot(t, table)
	res, err := deltaio.AddColumn(t.Context(), table, deltaio.AddColumnOptions{Name: "flag", Type: schema.Boolean, Comment: "why"})
	require.NoError(t, err)
	require.Equal(t, deltaio.Committed, res.Outcome)
	after := snapshot(t, table)
	require.Equal(t, before.Schema().Fields, after.Schema().Fields[:3])
	require.Equal(t, before.State().Metadata.Configuration, after.State().Metadata.Configuration)
	require.Equal(t, before.TableID(), after.TableID())
	f, ok := after.Schema().Field("flag")
	require.True(t, ok)
	require.True(t, f.Nullable)
	comment, _ := f.MetaString("comment")
	require.Equal(t, "why", comment)

	res, err = deltaio.AddColumn(t.Context(), table, deltaio.AddColumnOptions{Name: "flag", Type: schema.Boolean})
	require.NoError(t, err)
	require.Equal(t, deltaio.NothingToDo, res.Outcome)
	var clash *deltaio.ColumnExistsError
	for _, opt := range []deltaio.AddColumnOptions{
		{Name: "flag", Type: schema.Long}, {Name: "FLAG", Type: schema.Boolean}, {Name: "id", Type: schema.Boolean},
	} {
		_, err = deltaio.AddColumn(t.Context(), table, opt)
		require.ErrorAs(t, err, &clash)
	}
	_, err = deltaio.AddColumn(t.Context(), table, deltaio.AddColumnOptions{Name: "a b", Type: schema.Long})
	require.ErrorContains(t, err, "column mapping")
	_, err = deltaio.AddColumn(t.Context(), table, deltaio.AddColumnOptions{Name: "n", Type: schema.TimestampNTZ})
	require.ErrorContains(t, err, "timestampNtz")
}

func TestAddColumn_under_column_mapping_draws_new_ids_for_nested_fields_too(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"name", "id"} {
		c := newClock()
		table := create(t, memStore(c), c, deltaio.CreateOptions{Properties: map[string]string{"delta.columnMapping.mode": mode}})
		_, err := deltaio.AddColumn(t.Context(), table, deltaio.AddColumnOptions{
			Name: "odd name", Type: fields(col("p", schema.Long), col("q", schema.String)),
		})
		require.NoError(t, err)
		snap := snapshot(t, table)
		require.Equal(t, mode, snap.Mapping())
		f, _ := snap.Schema().Field("odd name")
		seen := map[int32]bool{}
		for _, x := range append(f.Type.(*schema.Struct).Fields, snap.Schema().Fields...) {
			id, ok := x.ColumnID()
			require.True(t, ok, x.Name)
			require.False(t, seen[id])
			seen[id] = true
			require.NotEqual(t, x.Name, x.PhysicalName())
		}
		highest, _ := snap.Property("delta.columnMapping.maxColumnId")
		require.Equal(t, "6", highest)
	}
}

func TestHistory_is_newest_first_and_reads_any_writers_commit_info(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{})
	c.Add(time.Hour)
	appendFake(t, table, fakeFile(t, s, "a.parquet", nil))
	var odd log.CommitInfo
	require.NoError(t, odd.Set("operation", "MERGE"))
	require.NoError(t, odd.Set("operationParameters", map[string]any{"a": 1, "b": []int{1}, "c": "x", "d": nil}))
	data, err := log.EncodeCommit([]log.Action{{CommitInfo: &odd}})
	require.NoError(t, err)
	require.NoError(t, s.PutIfAbsent(t.Context(), log.CommitKey(2), data))
	require.NoError(t, s.PutIfAbsent(t.Context(), log.CommitKey(3), []byte(`{"txn":{"appId":"x","version":1}}`+"\n")))

	h, err := deltaio.History(t.Context(), table, 0)
	require.NoError(t, err)
	var ops []string
	for _, e := range h {
		ops = append(ops, e.Operation)
	}
	require.Equal(t, []string{"", "MERGE", "WRITE", "CREATE TABLE"}, ops)
	require.Nil(t, h[0].Info)
	require.Equal(t, map[string]string{"a": "1", "b": "[1]", "c": "x", "d": "null"}, h[1].Parameters)
	require.True(t, *h[2].BlindAppend)
	require.Equal(t, start.Add(time.Hour), h[2].Time)
	h, err = deltaio.History(t.Context(), table, 2)
	require.NoError(t, err)
	require.Len(t, h, 2)
	require.EqualValues(t, 3, h[0].Version)
}

func TestDetail_unknown_row_counts_are_unknown_not_zero(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{Name: "n", Description: "d"})
	appendFake(t, table, fakeFile(t, s, "a.parquet", nil))
	d, err := deltaio.Detail(t.Context(), table)
	require.NoError(t, err)
	require.Equal(t, int64(3), *d.Rows)
	require.Equal(t, "n", d.Name)
	require.Equal(t, []string{"appendOnly", "invariants"}, d.Features)
	require.Empty(t, d.Refused)
	silent := fakeFile(t, s, "b.parquet", nil)
	silent.Stats = ""
	appendFake(t, table, silent)
	d, err = deltaio.Detail(t.Context(), table)
	require.NoError(t, err)
	require.Nil(t, d.Rows)
	require.Equal(t, 2, d.Files)
}

func TestSnapshot_by_version_and_time(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{})
	c.Add(time.Hour)
	appendFake(t, table, fakeFile(t, s, "a.parquet", nil))
	snap, err := table.SnapshotAsOf(t.Context(), start.Add(30*time.Minute))
	require.NoError(t, err)
	require.EqualValues(t, 0, snap.Version())
	snap, err = table.SnapshotAsOf(t.Context(), start.Add(time.Hour))
	require.NoError(t, err)
	require.EqualValues(t, 1, snap.Version())
	_, err = table.SnapshotAsOf(t.Context(), start.Add(-time.Minute))
	require.ErrorIs(t, err, deltaio.ErrNoVersion)
	for _, v := range []int64{-1, 2} {
		_, err = table.SnapshotAt(t.Context(), v)
		require.ErrorIs(t, err, deltaio.ErrNoVersion)
	}
}

func TestFindStep_gives_the_commit_of_exactly_that_step(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{})
	step := deltaio.Step{AppID: "lakewarden/r/mark", Version: 1}
	_, ok, err := table.FindStep(t.Context(), step)
	require.NoError(t, err)
	require.False(t, ok)
	_, err = table.Commit(t.Context(), nil, deltaio.CommitOptions{BlindAppend: true, Step: &step, Info: map[string]any{"lakewarden": "here"}},
		adds(fakeFile(t, s, "a.parquet", nil)))
	require.NoError(t, err)
	appendFake(t, table, fakeFile(t, s, "b.parquet", nil))
	res, ok, err := table.FindStep(t.Context(), step)
	require.NoError(t, err)
	require.True(t, ok)
	require.EqualValues(t, 1, res.Version)
	var mark string
	require.True(t, res.Actions[0].CommitInfo.Get("lakewarden", &mark))
	// A second commit of the step reads no data and changes nothing.
	res, err = table.Commit(t.Context(), nil, deltaio.CommitOptions{Step: &step},
		func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
			t.Fatal("a step that is done is not planned again")
			return nil, nil
		})
	require.NoError(t, err)
	require.Equal(t, deltaio.AlreadyDone, res.Outcome)
	require.EqualValues(t, 1, res.Version)
}
