package pq

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	pgo "github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// write makes a file of records in memory.
func write(t *testing.T, cols []Column, opt WriterOptions, recs ...arrow.Record) ([]byte, Result) {
	var buf bytes.Buffer
	w, err := NewWriter(&buf, cols, opt)
	require.NoError(t, err)
	for _, rec := range recs {
		require.NoError(t, w.Write(rec))
	}
	res, err := w.Close()
	require.NoError(t, err)
	require.EqualValues(t, buf.Len(), res.Bytes)
	return buf.Bytes(), res
}

func TestWriter_random_records_are_read_back_by_arrow_and_parquet_go(t *testing.T) {
	t.Parallel()
	eachSeed(t, 40, func(t *testing.T, r *rand.Rand) {
		s := randomStruct(r, 1+r.IntN(5), 3)
		rows := []int{1, 100, 5000}[r.IntN(3)]
		rec := randomRecord(r, s, rows)
		cut := r.IntN(rows + 1)
		opt := WriterOptions{Options: Options{RowGroupRows: []int{0, 1, 777}[r.IntN(3)], PageBytes: []int{0, 500}[r.IntN(2)]},
			Codec: []string{"", "snappy", "uncompressed"}[r.IntN(3)]}
		if rows > 100 {
			opt.RowGroupRows = max(opt.RowGroupRows, 500)
		}
		data, res := write(t, columnsOf(s), opt, rec.NewSlice(0, int64(cut)), rec.NewSlice(int64(cut), int64(rows)))
		require.EqualValues(t, rows, res.Rows)
		want := recordTable(rec)
		require.Equal(t, want, arrowTable(t, data))
		goTable(t, data)
		for i, f := range s.Fields {
			if isFlat(f.Type) {
				m := statsModel(rec.Column(i), f.Type, nil)
				m.Path = []string{f.Name}
				require.Equal(t, m, *res.Stats.Column(f.Name), f.Name)
			}
		}
		mask := randomRows(r, rows)
		files, _ := rewriteAll(t, data, Options{}, Output{Columns: columnsOf(s), Rows: mask})
		require.Equal(t, keepRows(want, mask), arrowTable(t, files[0]))
	})
}

// isFlat says whether statsModel knows the type.
func isFlat(t schema.Type) bool {
	switch t {
	case schema.Long, schema.Integer, schema.Date, schema.Timestamp, schema.TimestampNTZ, schema.Double, schema.String:
		return true
	}
	_, decimal := t.(schema.Decimal)
	return decimal
}

func TestWriter_page_index_holds_and_dictionaries_are_dropped_where_they_do_not_pay(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{Fields: []schema.Field{nullable("few", schema.String), nullable("unique", schema.Long), nullable("late", schema.String)}}
	as, err := schema.ArrowSchema(s)
	require.NoError(t, err)
	b := array.NewRecordBuilder(memory.DefaultAllocator, as)
	for i := range 60_000 {
		b.Field(0).(*array.StringBuilder).Append("state-" + string(rune('a'+i%26)))
		b.Field(1).(*array.Int64Builder).Append(int64(i) * 7919)
		text := "x"
		if i > 30_000 { // a dictionary that outgrows its limit on the way
			text = strings.Repeat("y", 90) + string(rune(i))
		}
		b.Field(2).(*array.StringBuilder).Append(text)
	}
	data, _ := write(t, columnsOf(s), WriterOptions{}, b.NewRecord())
	src, err := openSource(inMemory(data))
	require.NoError(t, err)
	chunks := src.meta.RowGroups[0].Columns
	require.True(t, chunks[0].Meta.V.DictionaryPageOffset.Valid)
	require.False(t, chunks[1].Meta.V.DictionaryPageOffset.Valid)
	require.Len(t, chunks[2].Meta.V.EncodingStats, 3, "dictionary, coded pages, plain pages")
	f, err := pgo.OpenFile(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	requirePageIndex(t, f.RowGroups()[0])
	require.GreaterOrEqual(t, len(chunkPages(t, src, 0)), 3, "pages end at 20,000 rows")
}

func chunkPages(t *testing.T, s *source, column int) (rows []int) {
	var r pageReader
	r.open(s, &s.meta.RowGroups[0].Columns[column].Meta.V)
	for r.left > 0 {
		p, err := r.next()
		require.NoError(t, err)
		if n := p.entries(); n > 0 {
			require.LessOrEqual(t, n, pageRows)
			rows = append(rows, n)
		}
	}
	return rows
}

func TestWriter_constants_nulls_and_ids_are_filled_in(t *testing.T) {
	t.Parallel()
	_, s, want := smallFile(t)
	rec := randomRecord(rand.New(rand.NewPCG(5, 5)), s, 1000)
	cols := append(columnsOf(s), Column{Field: nullable("run_id", schema.String), Const: "r", IsConst: true},
		Column{Field: nullable("void", schema.Void)}, Column{Field: nullable("gone", schema.Long)})
	data, res := write(t, cols, WriterOptions{Options: Options{Clear: []string{"gone"}, RowGroupRows: 400}}, rec)
	got := arrowTable(t, data)
	require.Equal(t, want["pos"], got["pos"])
	require.Len(t, got, 5)
	require.Equal(t, `"r"`, got["run_id"][999])
	require.Equal(t, "null", got["gone"][0])
	require.EqualValues(t, 1000, res.Stats.Column("gone").NullCount)
}

func TestWriter_records_that_do_not_fit_are_refused_and_the_error_stays(t *testing.T) {
	t.Parallel()
	_, s, _ := smallFile(t)
	rec := randomRecord(rand.New(rand.NewPCG(5, 5)), s, 100)
	for want, f := range map[string]schema.Field{
		"columns named other": nullable("other", schema.Long),
		"want integer":        nullable("id", schema.Integer),
		"want text":           nullable("id", schema.String),
		"not nullable":        {Name: "name", Type: schema.String},
		"want a struct":       nullable("id", &schema.Struct{Fields: []schema.Field{nullable("x", schema.Long)}}),
		"want a list":         nullable("id", &schema.Array{Element: schema.Long}),
		"no member z":         nullable("pos", &schema.Struct{Fields: []schema.Field{nullable("z", schema.Long)}}),
	} {
		w, err := NewWriter(&bytes.Buffer{}, []Column{{Field: f}}, WriterOptions{})
		require.NoError(t, err)
		require.ErrorContains(t, w.Write(rec), want)
		_, err = w.Close()
		require.ErrorContains(t, err, want)
	}
	_, err := NewWriter(&bytes.Buffer{}, []Column{{Field: nullable("v", schema.Variant)}}, WriterOptions{})
	require.ErrorContains(t, err, "variant")
}

func TestWriter_wide_rows_keep_pages_and_row_groups_bounded(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{Fields: []schema.Field{nullable("wide", schema.Binary)}}
	as, err := schema.ArrowSchema(s)
	require.NoError(t, err)
	b := array.NewRecordBuilder(memory.DefaultAllocator, as)
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		v := make([]byte, 10_000)
		for i := range v {
			v[i] = byte(r.Uint32())
		}
		b.Field(0).(*array.BinaryBuilder).Append(v)
	}
	data, _ := write(t, columnsOf(s), WriterOptions{Options: Options{PageBytes: 100_000}}, b.NewRecord())
	src, err := openSource(inMemory(data))
	require.NoError(t, err)
	for _, n := range chunkPages(t, src, 0) {
		require.LessOrEqual(t, n, 21)
	}
}
