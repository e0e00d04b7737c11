package deltaio_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// model is the table as a list of versions, each a sorted list of rows.
type model struct {
	t     *rapid.T
	c     *clock
	s     *storage.Memory
	table *deltaio.Table
	// rows and times by version.
	rows  [][]string
	times []time.Time
	next  int64
}

const modelPartition = "event_date"

func newModel(t *rapid.T) *model {
	c := newClock()
	m := &model{t: t, c: c, s: memStore(c)}
	props := map[string]string{"delta.enableDeletionVectors": "true", "delta.checkpointInterval": fmt.Sprint(rapid.IntRange(1, 4).Draw(t, "checkpoint every"))}
	for key, p := range map[string]string{
		"mapping": "delta.columnMapping.mode", "row tracking": "delta.enableRowTracking", "ict": "delta.enableInCommitTimestamps", "v2": "delta.feature.v2Checkpoint",
	} {
		if rapid.Bool().Draw(t, key) {
			props[p] = map[string]string{"mapping": "name", "row tracking": "true", "ict": "true", "v2": "supported"}[key]
		}
	}
	opt := deltaio.CreateOptions{
		Schema: fields(append(append([]schema.Field{}, sales.Fields...), col("flag", schema.Boolean))...), Properties: props,
	}
	if rapid.Bool().Draw(t, "partitioned") {
		opt.PartitionBy = []string{modelPartition}
	}
	table, err := deltaio.Create(context.Background(), m.s, env(c), opt)
	require.NoError(t, err)
	m.table = table
	m.record(nil)
	return m
}

// record notes what the newest version must hold.
func (m *model) record(rows []string) {
	rows = slices.Clone(rows)
	slices.Sort(rows)
	if rows == nil {
		rows = []string{}
	}
	m.rows = append(m.rows, rows)
	m.times = append(m.times, m.c.Now())
}

func (m *model) now() []string { return m.rows[len(m.rows)-1] }

func (m *model) snap() *deltaio.Snapshot {
	s, err := m.table.Snapshot(context.Background())
	require.NoError(m.t, err)
	require.EqualValues(m.t, len(m.rows)-1, s.Version())
	sum, err := log.ReadChecksum(context.Background(), m.s, s.Version())
	require.NoError(m.t, err)
	require.Empty(m.t, sum.Differs(s.State()))
	return s
}

func (m *model) append() {
	var rows []row
	var want []string
	for range rapid.IntRange(1, 6).Draw(m.t, "rows") {
		r := row{m.next, nil, float64(m.next)}
		if d := rapid.IntRange(0, 3).Draw(m.t, "day"); d > 0 {
			r.date = date(fmt.Sprintf("2025-01-%02d", d))
		}
		m.next++
		rows = append(rows, r)
		want = append(want, textOf(m.t, r, "null"))
	}
	opt := deltaio.AppendOptions{}
	if rapid.Bool().Draw(m.t, "on an old base") && len(m.rows) > 1 {
		base, err := m.table.SnapshotAt(context.Background(), int64(len(m.rows)-1))
		require.NoError(m.t, err)
		m.flag() // somebody else commits meanwhile
		opt.Base = base
	}
	res, err := deltaio.Append(context.Background(), m.table, opt, once(batch(m.t, rows...)))
	require.NoError(m.t, err)
	require.NoError(m.t, res.Warning)
	m.record(append(want, m.now()...))
}

// pickFile chooses a live file.
func (m *model) pickFile(s *deltaio.Snapshot) *log.Add {
	if len(s.Files()) == 0 {
		return nil
	}
	return s.Files()[rapid.IntRange(0, len(s.Files())-1).Draw(m.t, "file")]
}

func (m *model) commit(s *deltaio.Snapshot, op string, actions ...log.Action) {
	res, err := m.table.Commit(context.Background(), s, deltaio.CommitOptions{Operation: op},
		func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) { return actions, nil })
	require.NoError(m.t, err)
	require.NoError(m.t, res.Warning)
}

// rowsOf are the live rows of a file in the model's text.
func (m *model) rowsOf(s *deltaio.Snapshot, a *log.Add) []string {
	return texts(m.t, s, deltaio.ScanOptions{Files: []*log.Add{a}})
}

// flag rewrites a file: some rows get the flag, the others lose it.
func (m *model) flag() {
	s := m.snap()
	a := m.pickFile(s)
	if a == nil {
		return
	}
	f, err := s.OpenFile(context.Background(), a)
	require.NoError(m.t, err)
	defer f.Close()
	n := int(f.NumRows())
	due, rest := pq.NewBitmap(n), pq.NewBitmap(n)
	for i := range n {
		if f.Live() != nil && !f.Live().Get(i) {
			continue
		}
		if rapid.Bool().Draw(m.t, "due") {
			due.Set(i)
		} else {
			rest.Set(i)
		}
	}
	before := m.rowsOf(s, a)
	m.next++
	staged, err := f.Rewrite(context.Background(), []deltaio.RewriteOutput{
		{Key: s.DataKey(a.PartitionValues, fmt.Sprintf("due-%d.parquet", m.next)), Rows: due, Set: map[string]any{"flag": true}},
		{Key: s.DataKey(a.PartitionValues, fmt.Sprintf("rest-%d.parquet", m.next)), Rows: rest, Omit: []string{"flag"}},
	})
	require.NoError(m.t, err)
	actions := []log.Action{{Remove: deltaio.RemoveOf(a, m.c.Now().UnixMilli(), true)}}
	for _, st := range staged {
		if st != nil {
			actions = append(actions, log.Action{Add: st.Add})
		}
	}
	m.commit(s, "UPDATE", actions...)
	// The model knows what was in the file, not which way the bits went: read the
	// new files' rows and hold that ids and values are the same.
	after := m.snapUnchecked()
	var got []string
	for _, st := range staged {
		if st != nil {
			got = append(got, m.rowsOf(after, st.Add)...)
		}
	}
	require.ElementsMatch(m.t, stripFlags(before), stripFlags(got))
	m.record(append(without(m.t, m.now(), before), got...))
}

func (m *model) snapUnchecked() *deltaio.Snapshot {
	s, err := m.table.Snapshot(context.Background())
	require.NoError(m.t, err)
	return s
}

func stripFlags(rows []string) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r[:len(r)-len(",null)")] // ",true)" is as long
	}
	return out
}

// without takes rows away, each once.
func without(t *rapid.T, rows, gone []string) []string {
	out := slices.Clone(rows)
	for _, g := range gone {
		i := slices.Index(out, g)
		require.GreaterOrEqual(t, i, 0, "the table gave a row the model does not know: %s", g)
		out = slices.Delete(out, i, i+1)
	}
	return out
}

func (m *model) drop() {
	s := m.snap()
	if a := m.pickFile(s); a != nil {
		gone := m.rowsOf(s, a)
		m.commit(s, "DELETE", log.Action{Remove: deltaio.RemoveOf(a, m.c.Now().UnixMilli(), true)})
		m.record(without(m.t, m.now(), gone))
	}
}

func (m *model) hideRow() {
	s := m.snap()
	a := m.pickFile(s)
	if a == nil {
		return
	}
	n, _ := a.NumRecords()
	before := m.rowsOf(s, a)
	hide(m.t, m.table, m.c, a, uint64(rapid.Int64Range(0, n-1).Draw(m.t, "row")))
	after := m.snapUnchecked()
	var left []string
	for _, f := range after.Files() {
		if f.Path == a.Path {
			left = m.rowsOf(after, f)
		}
	}
	require.LessOrEqual(m.t, len(before)-len(left), 1)
	m.record(append(without(m.t, m.now(), before), left...))
}

func (m *model) restore() {
	v := rapid.IntRange(0, len(m.rows)-1).Draw(m.t, "version")
	res, err := deltaio.Restore(context.Background(), m.table, deltaio.RestoreOptions{Version: int64(v)})
	var gone *deltaio.MissingFilesError
	if errors.As(err, &gone) {
		require.True(m.t, m.times[v].Before(m.c.Now().Add(-7*day)), "version %d is young and its files are gone", v)
		return
	}
	require.NoError(m.t, err)
	if res.Outcome == deltaio.Committed {
		m.record(m.rows[v])
	}
}

func (m *model) vacuum() {
	before := len(m.rows)
	res, err := deltaio.Vacuum(context.Background(), m.table, deltaio.VacuumOptions{})
	require.NoError(m.t, err)
	require.Zero(m.t, res.Pending)
	for range m.snapUnchecked().Version() - int64(before) + 1 { // START and END
		m.record(m.now())
	}
}

func (m *model) reopen() {
	table, err := deltaio.Open(context.Background(), m.s, env(m.c))
	require.NoError(m.t, err)
	m.table = table
}

// check compares the newest version, and one older, with the model.
func (m *model) check() {
	require.Equal(m.t, m.now(), texts(m.t, m.snap(), deltaio.ScanOptions{}))
	k := rapid.Int64Range(0, m.next+1).Draw(m.t, "k")
	n := 0
	for _, r := range m.now() {
		var id int64
		_, err := fmt.Sscanf(r, "(%d,", &id)
		require.NoError(m.t, err)
		if id >= k {
			n++
		}
	}
	require.Len(m.t, texts(m.t, m.snap(), where(fmt.Sprintf("id >= %d", k))), n)

	v := rapid.IntRange(0, len(m.rows)-1).Draw(m.t, "old version")
	old, err := m.table.SnapshotAt(context.Background(), int64(v))
	require.NoError(m.t, err)
	missing, err := old.Missing(context.Background(), old.Files())
	require.NoError(m.t, err)
	if len(missing) > 0 {
		// A version is readable for as long as the retention after it was replaced.
		require.Less(m.t, v+1, len(m.rows))
		require.True(m.t, m.times[v+1].Before(m.c.Now().Add(-7*day)), "version %d lost files too early", v)
		return
	}
	require.Equal(m.t, m.rows[v], texts(m.t, old, deltaio.ScanOptions{}), "version %d", v)
}

func TestTable_random_histories_agree_with_a_list_of_rows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		t.Repeat(map[string]func(*rapid.T){
			"append":  func(t *rapid.T) { m.t = t; m.append() },
			"flag":    func(t *rapid.T) { m.t = t; m.flag() },
			"drop":    func(t *rapid.T) { m.t = t; m.drop() },
			"hide":    func(t *rapid.T) { m.t = t; m.hideRow() },
			"restore": func(t *rapid.T) { m.t = t; m.restore() },
			"vacuum":  func(t *rapid.T) { m.t = t; m.vacuum() },
			"reopen":  func(t *rapid.T) { m.t = t; m.reopen() },
			"wait":    func(t *rapid.T) { m.c.Add(time.Duration(rapid.IntRange(1, 100).Draw(t, "hours")) * time.Hour) },
			"":        func(t *rapid.T) { m.t = t; m.check() },
		})
	})
}
