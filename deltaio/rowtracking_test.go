package deltaio_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

const (
	rowIDs      = "delta.rowTracking.materializedRowIdColumnName"
	rowVersions = "delta.rowTracking.materializedRowCommitVersionColumnName"
)

// identity is what row tracking says of a row.
type identity struct{ id, version int64 }

// identities gives the stable row id and commit version of each live row, by its
// column id, as readers must derive them.
func identities(t require.TestingT, table *deltaio.Table) map[int64]identity {
	ctx := context.Background()
	snap, err := table.Snapshot(ctx)
	require.NoError(t, err)
	ids, _ := snap.Property(rowIDs)
	versions, _ := snap.Property(rowVersions)
	out, seen := map[int64]identity{}, map[int64]bool{}
	for _, add := range snap.Files() {
		f, err := snap.OpenFile(ctx, add)
		require.NoError(t, err)
		r, err := table.Store().Open(ctx, f.Key())
		require.NoError(t, err)
		file, err := scan.Open(r)
		require.NoError(t, err)
		at := 0
		for rec, err := range file.Batches(ctx, scan.Options{Schema: fields(col("id", schema.Long), col(ids, schema.Long), col(versions, schema.Long))}) {
			require.NoError(t, err)
			for i := range int(rec.NumRows()) {
				is := identity{*add.BaseRowID + int64(at), *add.DefaultRowCommitVersion}
				if c := rec.Column(1).(*array.Int64); c.IsValid(i) {
					is.id = c.Value(i)
				}
				if c := rec.Column(2).(*array.Int64); c.IsValid(i) {
					is.version = c.Value(i)
				}
				if f.Live() == nil || f.Live().Get(at) {
					require.False(t, seen[is.id], "row id %d twice", is.id)
					seen[is.id] = true
					out[rec.Column(0).(*array.Int64).Value(i)] = is
				}
				at++
			}
			rec.Release()
		}
		require.NoError(t, f.Close())
	}
	return out
}

func preservedTag(t require.TestingT, res deltaio.CommitResult) string {
	tags := map[string]string{}
	require.True(t, res.Actions[0].CommitInfo.Get("tags", &tags))
	return tags["delta.rowTracking.preserved"]
}

func TestRewrite_rows_keep_their_ids_and_those_not_updated_their_commit_versions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		c := newClock()
		s := memStore(c)
		table, err := deltaio.Create(ctx, s, env(c), deltaio.CreateOptions{
			Schema:     fields(append(append([]schema.Field{}, sales.Fields...), col("flag", schema.Boolean))...),
			Properties: map[string]string{"delta.enableRowTracking": "true", "delta.enableDeletionVectors": "true"},
		})
		require.NoError(t, err)
		next := int64(0)
		want := map[int64]identity{}
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			if len(want) == 0 || rapid.Bool().Draw(t, "append") {
				var rows []row
				for range rapid.IntRange(1, 5).Draw(t, "rows") {
					rows = append(rows, row{next, nil, 1})
					next++
				}
				appendRows(t, table, deltaio.AppendOptions{}, rows...)
				for id, is := range identities(t, table) {
					if _, old := want[id]; !old {
						want[id] = is
					}
				}
			} else {
				rewriteSome(t, table, want)
			}
			require.Equal(t, want, identities(t, table))
		}
	})
}

// rewriteSome flags some rows of a file, drops others, and tells want.
func rewriteSome(t *rapid.T, table *deltaio.Table, want map[int64]identity) {
	ctx := context.Background()
	snap, err := table.Snapshot(ctx)
	require.NoError(t, err)
	add := rapid.SampledFrom(snap.Files()).Draw(t, "file")
	f, err := snap.OpenFile(ctx, add)
	require.NoError(t, err)
	defer f.Close()
	flag, keep, cleared := pq.NewBitmap(int(f.NumRows())), pq.NewBitmap(int(f.NumRows())), pq.NewBitmap(int(f.NumRows()))
	version := snap.Version() + 1
	for b, err := range f.Batches(ctx, []string{"id"}, nil) {
		require.NoError(t, err)
		for i := range int(b.Record.NumRows()) {
			id := b.Record.Column(0).(*array.Int64).Value(i)
			at := int(b.First) + i
			switch rapid.SampledFrom([]string{"flag", "keep", "drop", "clear"}).Draw(t, fmt.Sprint("row ", id)) {
			case "flag":
				flag.Set(at)
				want[id] = identity{want[id].id, version}
			case "keep":
				keep.Set(at)
			case "clear":
				keep.Set(at)
				cleared.Set(at)
				want[id] = identity{want[id].id, version}
			default:
				delete(want, id)
			}
		}
		b.Record.Release()
	}
	name := fmt.Sprintf("v%d-", version)
	staged, err := f.Rewrite(ctx, []deltaio.RewriteOutput{
		{Key: name + "a.parquet", Rows: flag, Set: map[string]any{"flag": true}},
		{Key: name + "b.parquet", Rows: keep, Omit: []string{"flag"}, Updated: cleared},
	})
	require.NoError(t, err)
	res, err := table.Commit(ctx, snap, deltaio.CommitOptions{Operation: "UPDATE", Rewritten: true},
		func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
			out := []log.Action{{Remove: deltaio.RemoveOf(add, 1, true)}}
			for _, f := range staged {
				if f != nil {
					require.NotContains(t, f.Add.Stats, "_row-")
					out = append(out, log.Action{Add: f.Add})
				}
			}
			return out, nil
		})
	require.NoError(t, err)
	require.Equal(t, version, res.Version)
	require.Equal(t, "true", preservedTag(t, res))
}
