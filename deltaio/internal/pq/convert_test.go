package pq

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	pgo "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

func TestRewrite_widened_types_are_converted_in_copied_and_split_groups(t *testing.T) {
	t.Parallel()
	type row struct {
		Int    *int32   `parquet:"int,optional,dict"`
		Long   *int64   `parquet:"long,optional"`
		Float  *float32 `parquet:"float,optional,dict"`
		Date   *int32   `parquet:"date,optional,date"`
		Millis *int64   `parquet:"millis,optional,timestamp(millisecond),dict"`
		Nanos  *int64   `parquet:"nanos,optional,timestamp(nanosecond)"`
		Money  *int32   `parquet:"money,optional,decimal(2:9)"`
		Uint   *uint32  `parquet:"uint,optional"`
		List   []int32  `parquet:"list,list"`
	}
	r := rand.New(rand.NewPCG(8, 8))
	var rows []row
	want := map[string][]string{}
	for range 1200 {
		i := int32(r.IntN(2000) - 1000)
		l, f, u := int64(i)*1001, float32(i)/4, uint32(i)
		x := row{&i, &l, &f, &i, &l, &l, &i, &u, []int32{i, 5}}
		texts := map[string]string{
			"int_long": fmt.Sprint(i), "int_double": fmt.Sprintf("d%016x", math.Float64bits(float64(i))), "int_decimal": fmt.Sprintf("m%d.000", i),
			"long_decimal": fmt.Sprintf("m%d.0", l), "float": fmt.Sprintf("d%016x", math.Float64bits(float64(f))),
			"date": fmt.Sprintf("T%d", int64(i)*microsPerDay), "millis": fmt.Sprintf("T%d", l*1000), "nanos": fmt.Sprintf("T%d", floorDiv(l, 1000)),
			"money": "m" + decimal128.FromI64(int64(i)*100).ToString(4), "uint": fmt.Sprint(u), "list": fmt.Sprintf("[%d,5]", i),
		}
		if r.IntN(9) == 0 {
			x = row{}
			for k := range texts {
				texts[k] = "null"
			}
			texts["list"] = "[]"
		}
		rows = append(rows, x)
		for k, v := range texts {
			want[k] = append(want[k], v)
		}
	}
	var buf bytes.Buffer
	w := pgo.NewGenericWriter[row](&buf, pgo.PageBufferSize(1000), pgo.MaxRowsPerRowGroup(400))
	_, err := w.Write(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())

	col := func(name, source string, t schema.Type) Column {
		return Column{Field: nullable(name, t), Source: source}
	}
	cols := []Column{
		col("int_long", "int", schema.Long), col("int_double", "int", schema.Double), col("int_decimal", "int", schema.Decimal{Precision: 20, Scale: 3}),
		col("long_decimal", "long", schema.Decimal{Precision: 21, Scale: 1}), col("float", "float", schema.Double), col("date", "date", schema.TimestampNTZ),
		col("millis", "millis", schema.Timestamp), col("nanos", "nanos", schema.TimestampNTZ), col("money", "money", schema.Decimal{Precision: 38, Scale: 4}),
		col("uint", "uint", schema.Long), {Field: schema.Field{Name: "list", Type: &schema.Array{Element: schema.Long}}, Source: "list"},
	}
	mask := randomMask(r, 1200)
	mask.SetRange(400, 800)
	files, res := rewriteAll(t, buf.Bytes(), Options{}, Output{Columns: cols, Rows: mask}, Output{Columns: cols})
	require.Equal(t, keepRows(want, mask), arrowTable(t, files[0]))
	require.Equal(t, want, arrowTable(t, files[1]))
	require.Equal(t, 1, res[0].Decoded)
	require.Equal(t, 3, res[1].Decoded)
}

func randomMask(r *rand.Rand, n int) *Bitmap {
	b := NewBitmap(n)
	for i := range n {
		if r.IntN(2) == 0 {
			b.Set(i)
		}
	}
	return b
}

func TestRewrite_int96_becomes_microseconds(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{Fields: []schema.Field{nullable("at", schema.Timestamp)}}
	rec := randomRecord(rand.New(rand.NewPCG(4, 4)), s, 900)
	for _, dict := range []bool{true, false} {
		var buf bytes.Buffer
		w, err := pqarrow.NewFileWriter(rec.Schema(), &buf, parquet.NewWriterProperties(parquet.WithDictionaryDefault(dict)),
			pqarrow.NewArrowWriterProperties(pqarrow.WithDeprecatedInt96Timestamps(true)))
		require.NoError(t, err)
		require.NoError(t, w.Write(rec))
		require.NoError(t, w.Close())
		mask := randomMask(rand.New(rand.NewPCG(4, 5)), 900)
		files, _ := rewriteAll(t, buf.Bytes(), Options{}, Output{Columns: columnsOf(s)}, Output{Columns: columnsOf(s), Rows: mask})
		require.Equal(t, recordTable(rec), arrowTable(t, files[0]))
		require.Equal(t, keepRows(recordTable(rec), mask), arrowTable(t, files[1]))
	}
}

func TestMicrosOfInt96_extremes_are_exact_or_refused(t *testing.T) {
	t.Parallel()
	at := func(ts time.Time) []byte {
		day := floorDiv(ts.Unix(), 86_400)
		nanos := ts.Sub(time.Unix(day*86_400, 0)).Nanoseconds()
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, uint64(nanos)), uint32(day+julianEpoch))
	}
	for _, ts := range []time.Time{
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 1000, time.UTC),
		time.Date(1969, 12, 31, 23, 59, 59, 999_999_000, time.UTC), time.Unix(0, 0).UTC(),
	} {
		got, err := microsOfInt96(at(ts))
		require.NoError(t, err)
		require.Equal(t, ts.UnixMicro(), got, ts)
	}
	for _, day := range []int32{math.MaxInt32, math.MinInt32} {
		_, err := microsOfInt96(binary.LittleEndian.AppendUint32(make([]byte, 8), uint32(day)))
		require.ErrorContains(t, err, "out of range")
	}
	low := julianEpoch + math.MinInt64/microsPerDay
	_, err := microsOfInt96(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, 1<<63), uint32(low)))
	require.ErrorContains(t, err, "out of range")
}

func TestRewrite_values_that_do_not_fit_are_refused_by_column(t *testing.T) {
	t.Parallel()
	type row struct {
		Money  int64 `parquet:"money,decimal(2:18)"`
		Millis int64 `parquet:"millis,timestamp(millisecond)"`
	}
	var buf bytes.Buffer
	w := pgo.NewGenericWriter[row](&buf)
	_, err := w.Write([]row{{1, 1}, {999_999_999, math.MaxInt64 / 10}})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for name, typ := range map[string]schema.Type{"money": schema.Decimal{Precision: 9, Scale: 3}, "millis": schema.Timestamp} {
		_, _, err := tryRewrite(buf.Bytes(), Options{}, Output{Columns: []Column{{Field: nullable(name, typ), Source: name}}})
		require.ErrorContains(t, err, "column "+name)
		require.ErrorContains(t, err, "row group 0")
	}
}

func TestBigEndianDecimal_reads_any_width(t *testing.T) {
	t.Parallel()
	for _, v := range []int64{0, 1, -1, 127, 128, -128, -129, math.MaxInt64, math.MinInt64} {
		n := decimal128.FromI64(v)
		for width := 8; width <= 16; width++ {
			b := appendDecimal(nil, n, format.FixedLenByteArray, width)
			got, err := bigEndianDecimal(b)
			require.NoError(t, err)
			require.Equal(t, n, got)
			long, err := bigEndianDecimal(append(bytes.Repeat([]byte{byte(v >> 63)}, 3), b...))
			require.NoError(t, err)
			require.Equal(t, n, long)
		}
	}
	_, err := bigEndianDecimal(append([]byte{1}, make([]byte, 16)...))
	require.Error(t, err)
}
