package purge_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/rowtext"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/rowhash"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// realTable is an entry of tables.json: a table that another engine wrote.
type realTable struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Expected struct {
		Rows     *int64 `json:"rows"`
		Checksum string `json:"checksum"`
	} `json:"expected"`
}

// wrongChecksum: tables.json took the year 0000 of a partition for 1900.
const wrongChecksum = "trino/databricks131__timestamp_ntz_partition"

func realTables(t *testing.T) (string, []realTable) {
	t.Helper()
	dir := tablesDir(t)
	data, err := os.ReadFile(filepath.Join(dir, "tables.json"))
	require.NoError(t, err)
	var tables []realTable
	require.NoError(t, json.Unmarshal(data, &tables))
	return dir, tables
}

// foreign is a copy of a table of another engine as a world of ours.
func foreign(t *testing.T, from string) (*world, error) {
	t.Helper()
	to := t.TempDir()
	require.NoError(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o644)
	}))
	s, err := storage.OpenLocal(to)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	w := &world{t: t, ctx: t.Context(), clock: &clock{at: time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)},
		archive: storage.NewMemory(), folders: storage.NewMemory(), parallel: 2}
	w.table, err = deltaio.Open(w.ctx, s, w.env())
	return w, err
}

// median is a condition that is TRUE for about half of the rows, and for how
// many, counted here.
type median struct {
	column, sql string
	rows        int64
}

// cell is a value that compares, and its SQL literal.
type cell struct {
	n    float64 // numbers, days, microseconds
	s    string
	text bool
	sql  string
}

func compareCells(a, b cell) int {
	if a.text {
		return strings.Compare(a.s, b.s)
	}
	switch {
	case a.n < b.n:
		return -1
	case a.n > b.n:
		return 1
	}
	return 0
}

// anyDecimal stands for decimals of every precision.
const anyDecimal = schema.Primitive("decimal")

func medianOf(t *testing.T, s *deltaio.Snapshot) (median, bool) {
	t.Helper()
	order := []schema.Primitive{schema.Date, schema.Timestamp, schema.TimestampNTZ, schema.Long, schema.Integer, schema.Short, schema.Byte, schema.Double, schema.String, anyDecimal}
	best, found := median{}, false
	most := 0
	for _, p := range order {
		for _, f := range s.Schema().Fields {
			if _, decimal := f.Type.(schema.Decimal); f.Type != p && !(decimal && p == anyDecimal) {
				continue
			}
			cells := cellsOf(t, s, f)
			if len(cells) == 0 {
				continue
			}
			slices.SortFunc(cells, compareCells)
			distinct := 1
			for i := 1; i < len(cells); i++ {
				if compareCells(cells[i-1], cells[i]) != 0 {
					distinct++
				}
			}
			at := cells[(len(cells)-1)/2]
			if distinct <= most || distinct < 2 && most > 0 {
				continue
			}
			rows := int64(0)
			for _, c := range cells {
				if compareCells(c, at) <= 0 {
					rows++
				}
			}
			if found && min(distinct, 2) <= min(most, 2) { // an earlier type splits as well
				continue
			}
			most, found = distinct, true
			best = median{f.Name, fmt.Sprintf("`%s` <= %s", strings.ReplaceAll(f.Name, "`", "``"), at.sql), rows}
		}
	}
	return best, found
}

// cellsOf reads a column; nil when one of its values has no plain literal.
func cellsOf(t *testing.T, s *deltaio.Snapshot, f schema.Field) (out []cell) {
	t.Helper()
	for rec, err := range s.Scan(t.Context(), deltaio.ScanOptions{Columns: []string{f.Name}}) {
		require.NoError(t, err)
		for i := range int(rec.NumRows()) {
			if rec.Column(0).IsNull(i) {
				continue
			}
			c, ok := cellOf(rec.Column(0), i)
			if !ok {
				rec.Release()
				return nil
			}
			out = append(out, c)
		}
		rec.Release()
	}
	return out
}

func cellOf(a arrow.Array, i int) (cell, bool) {
	number := func(n float64) (cell, bool) { return cell{n: n, sql: a.ValueStr(i)}, n > -1e15 && n < 1e15 }
	at := func(micros int64, prefix string) (cell, bool) {
		v := time.UnixMicro(micros).UTC()
		return cell{n: float64(micros), sql: prefix + "'" + v.Format("2006-01-02 15:04:05.000000") + "'"}, v.Year() >= 1 && v.Year() <= 9999
	}
	switch x := a.(type) {
	case *array.Int64:
		return number(float64(x.Value(i)))
	case *array.Int32:
		return number(float64(x.Value(i)))
	case *array.Int16:
		return number(float64(x.Value(i)))
	case *array.Int8:
		return number(float64(x.Value(i)))
	case *array.Float64:
		c, ok := number(x.Value(i))
		c.sql = "CAST('" + c.sql + "' AS DOUBLE)"
		return c, ok
	case *array.Decimal128:
		d := x.DataType().(*arrow.Decimal128Type)
		v := x.Value(i)
		return cell{n: v.ToFloat64(d.Scale), sql: fmt.Sprintf("CAST('%s' AS DECIMAL(%d,%d))", v.ToString(d.Scale), d.Precision, d.Scale)}, d.Precision <= 15
	case *array.Date32:
		v := x.Value(i).ToTime().UTC()
		return cell{n: float64(x.Value(i)), sql: "DATE'" + v.Format(time.DateOnly) + "'"}, v.Year() >= 1 && v.Year() <= 9999
	case *array.Timestamp:
		if x.DataType().(*arrow.TimestampType).TimeZone == "" {
			return at(int64(x.Value(i)), "TIMESTAMP_NTZ")
		}
		return at(int64(x.Value(i)), "TIMESTAMP")
	case *array.String:
		v := x.Value(i)
		plain := !strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' || r == '\'' || r == '\\' })
		return cell{s: v, text: true, sql: "'" + v + "'"}, plain
	}
	return cell{}, false
}

// contentOf digests a table's rows over the given columns, and as text.
func contentOf(t *testing.T, s *deltaio.Snapshot, over *schema.Struct) (rowhash.Sum, string) {
	t.Helper()
	h, d := rowhash.New(over), rowtext.NewDigest(over)
	var sum rowhash.Sum
	var names []string
	for _, f := range over.Fields {
		names = append(names, f.Name)
	}
	for rec, err := range s.Scan(t.Context(), deltaio.ScanOptions{Columns: names}) {
		require.NoError(t, err)
		one, err := h.Sum(rec)
		require.NoError(t, err)
		require.NoError(t, d.Add(rec, nil))
		rec.Release()
		sum = sum.Add(one)
	}
	return sum, d.Sum()
}

func TestTables_of_other_engines_rows_are_kept_plus_archived(t *testing.T) {
	dir, tables := realTables(t)
	lines := make([]string, len(tables))
	t.Run("all", func(t *testing.T) {
		for i, tab := range tables {
			t.Run(tab.Name, func(t *testing.T) {
				t.Parallel()
				lines[i] = fmt.Sprintf("| %s | %s |", tab.Name, purgeForeign(t, filepath.Join(dir, tab.Path), tab))
			})
		}
	})
	t.Logf("\n| table | rows | condition | purged | kept | files split / whole | outcome |\n|---|---|---|---|---|---|---|\n%s", strings.Join(lines, "\n"))
}

// purgeForeign purges about half of a table on one copy, undoes a purge on
// another, purges without a marker on a third; it gives a line for the docs.
func purgeForeign(t *testing.T, path string, tab realTable) string {
	t.Helper()
	w, err := foreign(t, path)
	if err != nil {
		return refusal(t, err)
	}
	s, err := w.table.Snapshot(w.ctx)
	if err != nil {
		return refusal(t, err)
	}
	if err := s.Check(deltaio.WantRewrite); err != nil {
		return refusal(t, err)
	}
	before, text := contentOf(t, s, s.Schema())
	if tab.Expected.Rows != nil && tab.Name != wrongChecksum {
		require.EqualValues(t, *tab.Expected.Rows, before.Count)
		require.Equal(t, tab.Expected.Checksum, text)
	}
	m, ok := medianOf(t, s)
	if !ok {
		return fmt.Sprintf("%d | – | – | – | – | not tried: no column to split by", before.Count)
	}
	line := fmt.Sprintf("%d | %s | %d | %d", before.Count, strings.ReplaceAll(m.sql, "|", "\\|"), m.rows, int64(before.Count)-m.rows)
	run := func(w *world) purge.Run {
		r := w.run("run-1")
		r.Criteria = purge.Criteria{Match: expr.MustParse(m.sql), Context: expr.Context{Now: w.clock.now()}}
		return r
	}
	if _, err := purge.CheckArchive(w.ctx, s, w.archive, w.env(), flagColumn); err != nil {
		var bad *purge.ArchiveError
		if !errors.As(err, &bad) {
			require.NoError(t, err)
		}
		return line + " | – | refused: " + bad.Reason
	}
	if _, err := purge.PlanPurge(w.ctx, w.table, purge.PlanOptions{Run: run(w)}); err != nil {
		var un *deltaio.UnsupportedError
		require.ErrorAs(t, err, &un)
		w.purgePlain(run(w))
		addsUp(t, w, s, before)
		return line + " | – | marker column refused: " + un.Why + "; purged without marker"
	}
	p := w.purge(run(w))
	require.EqualValues(t, m.rows, p.plan.RowsDue)
	require.EqualValues(t, m.rows, p.del.RowsDeleted)
	addsUp(t, w, s, before)

	undo, err := foreign(t, path)
	require.NoError(t, err)
	plan := undo.plan(run(undo))
	undo.mark(run(undo), plan)
	undo.unmark(run(undo))
	after, err := undo.table.Snapshot(undo.ctx)
	require.NoError(t, err)
	sum, same := contentOf(t, after, s.Schema())
	require.Equal(t, before, sum, "undone")
	require.Equal(t, text, same, "undone")

	plain, err := foreign(t, path)
	require.NoError(t, err)
	plain.purgePlain(run(plain))
	addsUp(t, plain, s, before)
	return line + fmt.Sprintf(" | %d / %d | purged, undone, purged without marker", p.plan.FilesSplit, p.plan.FilesWhole)
}

// purgePlain purges without a marker column.
func (w *world) purgePlain(r purge.Run) {
	w.t.Helper()
	r.Column = ""
	w.purge(r)
}

// addsUp is the arithmetic of the promise: kept + archived = before.
func addsUp(t *testing.T, w *world, s *deltaio.Snapshot, before rowhash.Sum) {
	t.Helper()
	after, err := w.table.Snapshot(w.ctx)
	require.NoError(t, err)
	kept, _ := contentOf(t, after, s.Schema())
	a, err := deltaio.Open(w.ctx, w.archive, w.env())
	require.NoError(t, err)
	as, err := a.Snapshot(w.ctx)
	require.NoError(t, err)
	archived, _ := contentOf(t, as, s.Schema())
	require.Equal(t, before, kept.Add(archived), "rows = kept + archived")
}

func refusal(t *testing.T, err error) string {
	t.Helper()
	var un *deltaio.UnsupportedError
	if errors.As(err, &un) {
		return fmt.Sprintf("– | – | – | – | – | refused: %s: %s", un.Feature, un.Why)
	}
	return "– | – | – | – | – | refused: " + strings.ReplaceAll(err.Error(), "\n", " ")
}
