package purge_test

import (
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// changeFeedAddsUp replays the change feed as a reader does: of a commit with cdc
// actions only those, of any other the files it added and removed. Each version's
// rows, flags included, must follow from the version before.
func changeFeedAddsUp(t tb, w *world) {
	t.Helper()
	var before []string
	for v := int64(1); v <= w.snapshot().Version(); v++ {
		s, err := w.table.SnapshotAt(w.ctx, v)
		require.NoError(t, err)
		rows, err := rowsOf(w.ctx, s, deltaio.ScanOptions{})
		require.NoError(t, err)
		now := flagTexts(rows)
		if s.ChangeFeed() {
			want := count(before, 1)
			for text, n := range w.changes(s, v) {
				want[text] += n
			}
			require.Equal(t, nonZero(count(now, 1)), nonZero(want), "version %d", v)
		}
		before = now
	}
}

func flagTexts(rows []row) (out []string) {
	for _, r := range rows {
		out = append(out, r.text(true))
	}
	sort.Strings(out)
	return out
}

func count(texts []string, n int) map[string]int {
	out := map[string]int{}
	for _, s := range texts {
		out[s] += n
	}
	return out
}

func nonZero(m map[string]int) map[string]int {
	for k, n := range m {
		if n == 0 {
			delete(m, k)
		}
	}
	return m
}

// changes are the rows that version v brought (positive) and took (negative).
func (w *world) changes(s *deltaio.Snapshot, v int64) map[string]int {
	w.t.Helper()
	actions, err := log.ReadCommit(w.ctx, w.data, v)
	require.NoError(w.t, err)
	out := map[string]int{}
	cdc := false
	for _, a := range actions {
		if a.CDC != nil {
			cdc = true
			w.changeFile(s, a.CDC, out)
		}
	}
	if cdc {
		return out
	}
	before, err := w.table.SnapshotAt(w.ctx, v-1)
	require.NoError(w.t, err)
	for _, a := range actions {
		switch {
		case a.Add != nil && a.Add.DataChange:
			w.fileRows(s, a.Add, 1, out)
		case a.Remove != nil && a.Remove.DataChange:
			for _, f := range before.Files() {
				if f.Key() == a.Remove.Key() {
					w.fileRows(before, f, -1, out)
				}
			}
		}
	}
	return out
}

func (w *world) fileRows(s *deltaio.Snapshot, add *log.Add, sign int, out map[string]int) {
	rows, err := rowsOf(w.ctx, s, deltaio.ScanOptions{Files: []*log.Add{add}})
	require.NoError(w.t, err)
	for _, text := range flagTexts(rows) {
		out[text] += sign
	}
}

func (w *world) changeFile(s *deltaio.Snapshot, c *log.AddCDCFile, out map[string]int) {
	w.t.Helper()
	key, err := log.DecodePath(c.Path)
	require.NoError(w.t, err)
	r, err := w.data.Open(w.ctx, key)
	require.NoError(w.t, err)
	defer r.Close()
	f, err := scan.Open(r)
	require.NoError(w.t, err)
	sc := &schema.Struct{Fields: append([]schema.Field{}, s.Schema().Fields...)}
	sc.Fields = append(sc.Fields, schema.Field{Name: "_change_type", Type: schema.String, Nullable: true})
	for rec, err := range f.Batches(w.ctx, scan.Options{Schema: sc, Mapped: s.Mapping() != "none", Partition: c.PartitionValues}) {
		require.NoError(w.t, err)
		kind := rec.Column(int(rec.NumCols()) - 1)
		for i, row := range rowsOfRecord(rec) {
			sign := map[string]int{"insert": 1, "update_postimage": 1, "delete": -1, "update_preimage": -1}[kind.ValueStr(i)]
			require.NotZero(w.t, sign)
			out[row.text(true)] += sign
		}
		rec.Release()
	}
}

func TestChangeFeed_tells_every_flag_and_every_delete_exactly(t *testing.T) {
	t.Parallel()
	feed := map[string]string{"delta.enableChangeDataFeed": "true"}
	for _, partitioned := range []bool{false, true} {
		for name, meddle := range map[string]func(t *testing.T, w *world, r *purge.Run){
			"nothing moved": func(*testing.T, *world, *purge.Run) {},
			"optimize":      func(_ *testing.T, w *world, _ *purge.Run) { w.optimize() },
			"hold":          func(_ *testing.T, _ *world, r *purge.Run) { r.Criteria.Hold = expr.MustParse("id IN (31, 32, 55)") },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w, r, plan, _ := marked(t, setup{properties: feed, partitioned: partitioned})
				meddle(t, w, &r)
				archive := w.archiveRows(r, plan, 1)
				require.Equal(t, purge.Done, w.delete(r, plan, archive).Outcome)
				changeFeedAddsUp(t, w)
			})
			t.Run(name+", unmarked", func(t *testing.T) {
				t.Parallel()
				w, r, _, _ := marked(t, setup{properties: feed, partitioned: partitioned})
				meddle(t, w, &r)
				w.unmark(r)
				changeFeedAddsUp(t, w)
			})
			t.Run(name+", no marker", func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, setup{properties: feed, partitioned: partitioned})
				w.append(sample(0, 30), sample(30, 30))
				r := w.run("run-1")
				r.Column = ""
				plan := w.plan(r)
				meddle(t, w, &r)
				archive := w.archiveRows(r, plan, 1)
				require.Equal(t, purge.Done, w.delete(r, plan, archive).Outcome)
				changeFeedAddsUp(t, w)
			})
		}
	}
}

func TestChangeFeed_delete_of_whole_files_writes_no_change_files(t *testing.T) {
	t.Parallel()
	w, r, plan, _ := marked(t, setup{properties: map[string]string{"delta.enableChangeDataFeed": "true"}})
	archive := w.archiveRows(r, plan, 1)
	del := w.delete(r, plan, archive)
	require.Zero(t, del.FilesAdded)
	actions, err := log.ReadCommit(w.ctx, w.data, del.Version)
	require.NoError(t, err)
	for _, a := range actions {
		require.Nil(t, a.CDC)
		require.Nil(t, a.Add)
	}
}
