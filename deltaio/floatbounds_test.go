package deltaio_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

var doubleField = schema.Field{Name: "x", Type: schema.Double, Nullable: true}

func doublesRecord(values []float64) arrow.Record {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	return array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}, nil), []arrow.Array{b.NewArray()}, int64(len(values)))
}

func openMemory(t require.TestingT, data []byte) storage.Reader {
	m := storage.NewMemory()
	require.NoError(t, m.Put(context.Background(), "x.parquet", data))
	r, err := m.Open(context.Background(), "x.parquet")
	require.NoError(t, err)
	return r
}

// trueBounds checks that what the footer proves holds for the values.
func trueBounds(t require.TestingT, data []byte, group int, values []float64) (told bool) {
	f, err := scan.Open(openMemory(t, data))
	require.NoError(t, err)
	r, _ := f.Range(&doubleField, group)
	for _, v := range values {
		if r.HasMin && !math.IsNaN(v) {
			require.LessOrEqual(t, r.Min, v)
		}
		if r.HasMax && !math.IsNaN(v) {
			require.GreaterOrEqual(t, r.Max, v)
		}
	}
	return r.HasMin || r.HasMax
}

func TestFloatBounds_of_files_we_write_hold_with_nan_and_both_zeros(t *testing.T) {
	t.Parallel()
	odd := []float64{math.NaN(), math.Copysign(0, -1), 0, math.Inf(1), math.Inf(-1), -1, 1, math.SmallestNonzeroFloat64}
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(odd), rapid.Float64()), 1, 40).Draw(t, "values")
		var out bytes.Buffer
		w, err := pq.NewWriter(&out, []pq.Column{{Field: doubleField}}, pq.WriterOptions{})
		require.NoError(t, err)
		require.NoError(t, w.Write(doublesRecord(values)))
		_, err = w.Close()
		require.NoError(t, err)
		told := trueBounds(t, out.Bytes(), 0, values)
		require.Equal(t, !slices.ContainsFunc(values, math.IsNaN), told, "bounds are told exactly when there is no NaN")

		// Copied as bytes, and split.
		half := pq.NewBitmap(len(values))
		for i := range values {
			if i%2 == 0 {
				half.Set(i)
			}
		}
		var whole, some bytes.Buffer
		_, err = pq.Rewrite(context.Background(), openMemory(t, out.Bytes()), []pq.Output{
			{W: &whole, Columns: []pq.Column{{Field: doubleField, Source: "x"}}},
			{W: &some, Columns: []pq.Column{{Field: doubleField, Source: "x"}}, Rows: half},
		}, pq.Options{})
		require.NoError(t, err)
		require.Equal(t, told, trueBounds(t, whole.Bytes(), 0, values))
		var kept []float64
		for i := 0; i < len(values); i += 2 {
			kept = append(kept, values[i])
		}
		trueBounds(t, some.Bytes(), 0, kept)
	})
}

func TestFloatBounds_of_writers_that_spoil_them_are_neither_read_nor_carried_over(t *testing.T) {
	t.Parallel()
	type row struct {
		X float64 `parquet:"x"`
	}
	// A NaN in front makes parquet-go state bounds that other values break.
	values := []float64{math.NaN(), 3, -7, 5}
	for _, by := range [][3]string{{"lakewarden", "1", "0"}, {"lakewarden", "0", "0"}, {"parquet-go", "1", "0"}, {"parquet-rs", "4.0.0", "0"}} {
		var src, out bytes.Buffer
		w := parquet.NewGenericWriter[row](&src, parquet.CreatedBy(by[0], by[1], by[2]))
		for _, v := range values {
			_, err := w.Write([]row{{v}})
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		require.False(t, trueBounds(t, src.Bytes(), 0, values), by)
		res, err := pq.Rewrite(t.Context(), openMemory(t, src.Bytes()), []pq.Output{{W: &out, Columns: []pq.Column{{Field: doubleField, Source: "x"}}}}, pq.Options{})
		require.NoError(t, err)
		require.Equal(t, 1, res[0].RawCopied)
		f, err := scan.Open(openMemory(t, out.Bytes()))
		require.NoError(t, err)
		require.Equal(t, "lakewarden version 2 (build 0)", f.CreatedBy())
		require.False(t, trueBounds(t, out.Bytes(), 0, values), by)
	}
}
