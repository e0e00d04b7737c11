package purge_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// keysTable is a Delta table of keys: a column k of the given type.
func keysTable(t *testing.T, w *world, list ...int64) *deltaio.Snapshot {
	t.Helper()
	m := storage.NewMemory()
	k, err := deltaio.Create(w.ctx, m, w.env(), deltaio.CreateOptions{Schema: columns(nullable("id", schema.Long), nullable("name", schema.String))})
	require.NoError(t, err)
	rows := make([]row, len(list))
	for i, id := range list {
		rows[i] = row{id: id, name: sample(int(id), 1)[0].name}
	}
	rec := w.record(columns(nullable("id", schema.Long), nullable("name", schema.String)), rows)
	defer rec.Release()
	_, err = deltaio.Append(w.ctx, k, deltaio.AppendOptions{}, one(rec))
	require.NoError(t, err)
	s, err := k.Snapshot(w.ctx)
	require.NoError(t, err)
	return s
}

func TestKeys_hold_keys_release_and_match_keys_select(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	all := sample(0, 60)
	w.append(all[:30], all[30:])
	match, err := purge.LoadKeys(w.ctx, keysTable(t, w, 3, 4, 40, 41, 41), []string{"id", "name"}, []string{"ID", "name"})
	require.NoError(t, err)
	require.Equal(t, 4, match.Len())
	hold, err := purge.LoadKeys(w.ctx, keysTable(t, w, 40, 7), []string{"id"}, []string{"id"})
	require.NoError(t, err)
	r := w.run("run-1")
	r.Criteria = purge.Criteria{MatchKeys: match, HoldKeys: hold, Context: expr.Context{Now: start}}
	p := w.purge(r)
	require.EqualValues(t, 1, p.plan.RowsHeld)
	goes := idSet(3, 4, 41)
	stay, gone := split(all, func(r row) bool { return goes[r.id] })
	settled(t, w, r, stay, gone)
}

func TestKeys_of_another_kind_are_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	keys, err := purge.LoadKeys(w.ctx, keysTable(t, w, 1), []string{"id"}, []string{"name"})
	require.NoError(t, err)
	r := w.run("run-1")
	r.Criteria.HoldKeys = keys
	_, err = purge.PlanPurge(w.ctx, w.table, purge.PlanOptions{Run: r})
	var bad *purge.CriteriaError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "hold keys", bad.Part)
}

func TestDelete_by_keys_refuses_when_a_key_also_hits_unflagged_rows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	all := sample(0, 60)
	all = append(all, row{id: 45, date: "2025-03-09", name: "same key, not due"})
	w.append(all)
	r := w.run("run-1")
	plan := w.plan(r)
	w.mark(r, plan)
	archive := w.archiveRows(r, plan, 1)
	version := w.snapshot().Version()
	opt := purge.DeleteOptions{Run: r, Archive: archive.Record, ArchiveStore: w.archive, MatchKeys: []string{"id"}}
	del, err := purge.DeleteMarked(w.ctx, w.table, opt)
	require.NoError(t, err)
	require.Equal(t, purge.KeysHitUnflagged, del.Outcome)
	require.EqualValues(t, 1, del.RowsUnflagged)
	require.Equal(t, version, w.snapshot().Version())
	data, err := r.Journal.Get(w.ctx, del.Examples)
	require.NoError(t, err)
	var shown struct{ Examples []map[string]string }
	require.NoError(t, json.Unmarshal(data, &shown))
	require.Equal(t, []map[string]string{{"id": "45"}}, shown.Examples)

	w.update(func(r *row) {
		if r.name == "same key, not due" {
			r.id = 1045
		}
	}, 45)
	for i := range all {
		if all[i].name == "same key, not due" {
			all[i].id = 1045
		}
	}
	del, err = purge.DeleteMarked(w.ctx, w.table, opt)
	require.NoError(t, err)
	require.Equal(t, purge.Done, del.Outcome)
	stay, gone := split(all, due)
	settled(t, w, r, stay, gone)
}

func TestDelete_without_archive_needs_a_bound_and_keeps_to_it(t *testing.T) {
	t.Parallel()
	w, r, plan, all := marked(t, setup{})
	_, err := purge.DeleteMarked(w.ctx, w.table, purge.DeleteOptions{Run: r})
	require.Error(t, err)
	_, err = purge.DeleteMarked(w.ctx, w.table, purge.DeleteOptions{Run: r, NoArchive: true})
	require.ErrorContains(t, err, "MaxRows")
	del, err := purge.DeleteMarked(w.ctx, w.table, purge.DeleteOptions{Run: r, NoArchive: true, MaxRows: &plan.RowsDue})
	require.NoError(t, err)
	require.Equal(t, purge.Done, del.Outcome)
	stay, gone := split(all, due)
	require.EqualValues(t, len(gone), del.RowsDeleted)
	require.Equal(t, texts(stay), texts(w.rows()))
}

func TestLoadKeys_a_column_that_the_keys_table_lacks_refuses_and_names_those_it_has(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	snap := keysTable(t, w, 1)
	for _, given := range [][]string{{"idd"}, {"id", "name"}, nil} {
		_, err := purge.LoadKeys(w.ctx, snap, given, []string{"id"})
		var criteria *purge.CriteriaError
		require.ErrorAs(t, err, &criteria, "%v", given)
	}
	_, err := purge.LoadKeys(w.ctx, snap, []string{"idd"}, []string{"id"})
	require.ErrorContains(t, err, `no column "idd"; the keys table has id, `)
}
