package pq

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	pgo "github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

func long(name string) schema.Field {
	return schema.Field{Name: name, Type: schema.Long, Nullable: true}
}

// longsOfFile reads a file of long columns by another library; nil is null.
func longsOfFile(t *testing.T, data []byte) (out [][]any) {
	t.Helper()
	f, err := pgo.OpenFile(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	for _, rg := range f.RowGroups() {
		rows := rg.Rows()
		buf := make([]pgo.Row, rg.NumRows())
		n, _ := rows.ReadRows(buf) // io.EOF with the last rows
		require.EqualValues(t, rg.NumRows(), n)
		for _, r := range buf {
			var vals []any
			for _, v := range r {
				if v.IsNull() {
					vals = append(vals, nil)
				} else {
					vals = append(vals, v.Int64())
				}
			}
			out = append(out, vals)
		}
		require.NoError(t, rows.Close())
	}
	return out
}

func TestRewrite_fills_gaps_by_the_position_of_rows_over_row_groups(t *testing.T) {
	t.Parallel()
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues([]int64{0, 1, 2, 3, 4, 5, 6}, nil)
	ids := b.NewArray()
	b.AppendValues([]int64{0, 71, 0, 0, 74, 75, 0}, []bool{false, true, false, false, true, true, false})
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "old", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil),
		[]arrow.Array{ids, b.NewArray()}, 7)
	src, _ := write(t, []Column{{Field: long("id")}, {Field: long("old")}}, WriterOptions{Options: Options{RowGroupRows: 3}}, rec)

	some, null := NewBitmap(7), NewBitmap(7)
	for _, i := range []int{0, 1, 3, 4, 6} {
		some.Set(i)
	}
	null.Set(4)
	null.Set(6)
	cols := func(n *Bitmap) []Column {
		return []Column{
			{Field: long("id"), Source: "id"},
			{Field: long("old"), Source: "old", Fill: &Fill{Base: 100, Step: 1}},
			{Field: long("new"), Source: "new", Fill: &Fill{Base: 9, Null: n}},
		}
	}
	out, res := rewriteAll(t, src, Options{}, Output{Columns: cols(nil)}, Output{Columns: cols(null), Rows: some})
	n := func(vs ...int64) (out []any) {
		for _, v := range vs {
			out = append(out, v)
		}
		return out
	}
	require.Equal(t, [][]any{n(0, 100, 9), n(1, 71, 9), n(2, 102, 9), n(3, 103, 9), n(4, 74, 9), n(5, 75, 9), n(6, 106, 9)}, longsOfFile(t, out[0]))
	require.Equal(t, [][]any{n(0, 100, 9), n(1, 71, 9), n(3, 103, 9), {int64(4), int64(74), nil}, {int64(6), int64(106), nil}}, longsOfFile(t, out[1]))
	require.EqualValues(t, 2, res[1].Stats.Column("new").NullCount)

	_, _, err := tryRewrite(src, Options{}, Output{Columns: []Column{{Field: schema.Field{Name: "id", Type: schema.String, Nullable: true}, Source: "id", Fill: &Fill{}}}})
	require.ErrorContains(t, err, "only nullable columns of type long")
}
