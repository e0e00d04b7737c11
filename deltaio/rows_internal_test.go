package deltaio

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
)

// flatTypes are the types of columns that rows are picked from.
var flatTypes = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32,
	arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String,
	&arrow.Decimal128Type{Precision: 20, Scale: 2}, arrow.ListOf(arrow.FixedWidthTypes.Boolean),
}

func drawArray(t *rapid.T, kind arrow.DataType, n int) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, kind)
	defer b.Release()
	for range n {
		v := rapid.IntRange(-1, 1).Draw(t, "value")
		text := map[int]string{0: "0", 1: "1"}[v]
		switch kind.ID() {
		case arrow.BOOL:
			text = map[int]string{0: "false", 1: "true"}[v]
		case arrow.LIST:
			text = map[int]string{0: "[false,null]", 1: "[true]"}[v]
		}
		if v < 0 {
			b.AppendNull()
		} else {
			require.NoError(t, b.AppendValueFromString(text))
		}
	}
	return b.NewArray()
}

func TestFilterRecord_keeps_the_rows_it_is_told_in_every_type(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(flatTypes).Draw(t, "type")
		n := rapid.IntRange(1, 90).Draw(t, "rows")
		skip := rapid.IntRange(0, 9).Draw(t, "offset")
		whole := drawArray(t, kind, n+skip)
		defer whole.Release()
		col := array.NewSlice(whole, int64(skip), int64(skip+n))
		defer col.Release()
		rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "c", Type: kind, Nullable: true}}, nil), []arrow.Array{col}, int64(n))
		defer rec.Release()
		one := rapid.IntRange(1, 12).Draw(t, "one row in")
		keep, want := pq.NewBitmap(n), []string{}
		for i := range n {
			if rapid.IntRange(1, one).Draw(t, "keep") == 1 {
				keep.Set(i)
				want = append(want, col.ValueStr(i))
			}
		}
		out, err := filterRecord(t.Context(), rec, keep, 0)
		require.NoError(t, err)
		defer out.Release()
		got := []string{}
		for i := range int(out.NumRows()) {
			got = append(got, out.Column(0).ValueStr(i))
		}
		require.Equal(t, want, got)
	})
}
