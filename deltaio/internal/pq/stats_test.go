package pq

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	pgo "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// statsModel works out a flat column's statistics from its values.
func statsModel(a arrow.Array, t schema.Type, rows *Bitmap) ColumnStats {
	c := ColumnStats{Type: t, HasNullCount: true}
	b := bounds{}
	for i := range a.Len() {
		if rows != nil && !rows.Get(i) {
			continue
		}
		if a.IsNull(i) {
			c.NullCount++
			continue
		}
		switch x := a.(type) {
		case *array.Int64:
			b.order = orderInt64
			b.addInt(x.Value(i))
		case *array.Int32:
			b.order = orderInt32
			b.addInt(int64(x.Value(i)))
		case *array.Date32:
			b.order = orderInt32
			b.addInt(int64(x.Value(i)))
		case *array.Timestamp:
			b.order = orderInt64
			b.addInt(int64(x.Value(i)))
		case *array.Float64:
			b.order = orderDouble
			b.addFloat(x.Value(i))
		case *array.String:
			b.order = orderBytes
			b.addBytes([]byte(x.Value(i)))
		case *array.Decimal128:
			v := bigEndianOf(x.Value(i))
			b.order = orderDecimal
			b.addBytes(v)
		}
	}
	c.setBounds(&outLeaf{delta: t}, &b, false)
	return c
}

func bigEndianOf(n decimal128.Num) []byte {
	var w [16]byte
	for i := range 8 {
		w[i], w[8+i] = byte(uint64(n.HighBits())>>(56-8*i)), byte(n.LowBits()>>(56-8*i))
	}
	return w[:]
}

func TestRewrite_file_statistics_equal_those_of_the_values(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{Fields: []schema.Field{
		nullable("long", schema.Long), nullable("int", schema.Integer), nullable("date", schema.Date), nullable("at", schema.Timestamp),
		nullable("real", schema.Double), nullable("text", schema.String), nullable("small", schema.Decimal{Precision: 18, Scale: 2}),
		nullable("big", schema.Decimal{Precision: 30, Scale: 2}),
	}}
	eachSeed(t, 15, func(t *testing.T, r *rand.Rand) {
		rec := randomRecord(r, s, 800)
		data := arrowFile(t, rec, 300, arrowProps(r)...)
		rows := randomRows(r, 800)
		_, res := rewriteAll(t, data, Options{}, Output{Columns: columnsOf(s), Rows: rows})
		for i, f := range s.Fields {
			want := statsModel(rec.Column(i), f.Type, rows)
			want.Path = []string{f.Name}
			require.Equal(t, want, res[0].Stats.Columns[i], f.Name)
		}
		_, res = rewriteAll(t, data, Options{Stats: func([]string) bool { return false }}, Output{Columns: columnsOf(s), Rows: rows})
		for i, f := range s.Fields { // fewer bounds, never false ones
			want, got := statsModel(rec.Column(i), f.Type, rows), res[0].Stats.Columns[i]
			if got.HasMin {
				require.Equal(t, want.Min, got.Min, f.Name)
				require.Equal(t, want.Max, got.Max, f.Name)
			}
		}
	})
}

func TestFileStats_json_follows_the_protocol(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 40)
	leaf := func(typ schema.Type, lo, hi any, path ...string) ColumnStats {
		return ColumnStats{Path: path, Type: typ, Min: lo, Max: hi, HasMin: lo != nil, HasMax: hi != nil, NullCount: 1, HasNullCount: true}
	}
	var text ColumnStats
	text.setText(&bounds{b0: []byte(long), b1: []byte(long)})
	s := FileStats{NumRecords: 3, Columns: []ColumnStats{
		leaf(schema.Long, int64(-5), int64(math.MaxInt64), "a"),
		leaf(schema.Date, int64(0), int64(19_000), "s", "d"),
		leaf(schema.Timestamp, int64(1_234_567), int64(1_234_567), "s", "t"),
		leaf(schema.TimestampNTZ, int64(-1), int64(-1), "n<&>\"q\""),
		leaf(schema.Double, math.Copysign(0, -1), 0.0, "z"),
		leaf(schema.Float, float64(float32(0.1)), 1e300, "f"),
		leaf(schema.Decimal{Precision: 5, Scale: 3}, decimal128.FromI64(-5), decimal128.FromI64(12_345), "m"),
		leaf(schema.Timestamp, int64(math.MinInt64), int64(math.MaxInt64), "far"),
		leaf(schema.String, text.Min, text.Max, "u"),
		leaf(schema.Binary, nil, nil, "b"),
		leaf(schema.Long, int64(1), int64(1), "unindexed"),
	}}
	got := s.JSON(func(path []string) bool { return path[0] != "unindexed" })
	cut := strings.Repeat("é", 31)
	require.Equal(t, `{"numRecords":3`+
		`,"minValues":{"a":-5,"s":{"d":"1970-01-01","t":"1970-01-01T00:00:01.234Z"},"n<&>\"q\"":"1969-12-31T23:59:59.999","z":-0.0,"f":0.10000000149011612,"m":-0.005,"u":"`+cut+`é"}`+
		`,"maxValues":{"a":9223372036854775807,"s":{"d":"2022-01-08","t":"1970-01-01T00:00:01.235Z"},"n<&>\"q\"":"1970-01-01T00:00:00.000","z":0.0,"f":1e+300,"m":12.345,"u":"`+cut+`ê"}`+
		`,"nullCount":{"a":1,"s":{"d":1,"t":1},"n<&>\"q\"":1,"z":1,"f":1,"m":1,"far":1,"u":1,"b":1}}`, got)
}

func TestBounds_cut_text_stays_a_bound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(
			rapid.Map(rapid.StringOfN(rapid.RuneFrom([]rune{'a', 'é', '\uD7FF', '\uE000', '\U0010FFFF', '日', 0}), 0, 60, -1), func(s string) []byte { return []byte(s) }),
			rapid.SliceOfN(rapid.SampledFrom([]byte{0, 'x', 0x80, 0xFF}), 0, 60),
		).Draw(t, "value")
		n := rapid.IntRange(utf8.UTFMax, 40).Draw(t, "limit")
		lo := cutLow(v, n)
		require.LessOrEqual(t, bytes.Compare(lo, v), 0)
		require.LessOrEqual(t, len(lo), max(n, len(v)))
		hi, ok := cutHigh(v, n)
		if !ok {
			return
		}
		require.GreaterOrEqual(t, bytes.Compare(hi, v), 0)
		require.LessOrEqual(t, len(hi), n+utf8.UTFMax)
		if utf8.Valid(v) {
			require.True(t, utf8.Valid(hi))
			require.True(t, utf8.Valid(lo))
		}
		var c ColumnStats
		c.setText(&bounds{b0: v, b1: v})
		if c.HasMin {
			require.LessOrEqual(t, c.Min.(string), string(v))
			require.LessOrEqual(t, utf8.RuneCountInString(c.Min.(string)), 32)
		}
		if c.HasMax {
			require.GreaterOrEqual(t, c.Max.(string), string(v))
			require.LessOrEqual(t, utf8.RuneCountInString(c.Max.(string)), 32)
		}
	})
}

func TestCompareDecimal_agrees_with_numbers_of_any_width(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		wide := func(v int64, label string) []byte {
			return append(bytes.Repeat([]byte{byte(v >> 63)}, rapid.IntRange(0, 5).Draw(t, label)), bigEndianOf(decimal128.FromI64(v))[8:]...)
		}
		got := compareDecimal(wide(a, "pad a"), wide(b, "pad b"))
		require.Equal(t, a < b, got < 0)
		require.Equal(t, a == b, got == 0)
	})
}

// TestRewrite_wrong_footer_statistics_are_not_believed uses parquet-go, which
// orders decimals in fixed-length bytes as unsigned.
func TestRewrite_wrong_footer_statistics_are_not_believed(t *testing.T) {
	t.Parallel()
	sch := pgo.NewSchema("t", pgo.Group{"d": pgo.Decimal(2, 30, pgo.FixedLenByteArrayType(13))})
	var buf bytes.Buffer
	w := pgo.NewWriter(&buf, sch)
	for _, v := range []int64{-7, 5, 3} {
		_, err := w.WriteRows([]pgo.Row{{pgo.FixedLenByteArrayValue(bigEndianOf(decimal128.FromI64(v))[3:]).Level(0, 0, 0)}})
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	cols := []Column{{Field: nullable("d", schema.Decimal{Precision: 30, Scale: 2}), Source: "d"}}
	files, res := rewriteAll(t, buf.Bytes(), Options{}, Output{Columns: cols})
	require.Equal(t, 1, res[0].RawCopied)
	require.Equal(t, decimal128.FromI64(-7), res[0].Stats.Columns[0].Min)
	require.Equal(t, decimal128.FromI64(5), res[0].Stats.Columns[0].Max)
	src, err := openSource(inMemory(files[0]))
	require.NoError(t, err)
	require.False(t, src.meta.RowGroups[0].Columns[0].Meta.V.Statistics.V.MinValue.Valid)
	require.False(t, src.meta.RowGroups[0].Columns[0].ColumnIndexOffset.Valid)
}

func TestSource_trust_in_footer_bounds_depends_on_writer_and_type(t *testing.T) {
	t.Parallel()
	data, _, _ := smallFile(t)
	src, err := openSource(inMemory(data))
	require.NoError(t, err)
	name := src.leaves[1]
	st := src.meta.RowGroups[0].Columns[1].Meta.V.Statistics.V
	_, _, ok := src.boundsOf(name, &st)
	require.True(t, ok)

	swapped := st
	swapped.MinValue, swapped.MaxValue = st.MaxValue, st.MinValue
	_, _, ok = src.boundsOf(name, &swapped)
	require.False(t, ok, "inverted")

	deprecated := st // signed bytes, as old parquet-mr compared them
	deprecated.Min, deprecated.Max = st.MinValue, st.MaxValue
	deprecated.MinValue.Valid, deprecated.MaxValue.Valid = false, false
	_, _, ok = src.boundsOf(name, &deprecated)
	require.False(t, ok, "deprecated fields")

	name.ordered = false
	_, _, ok = src.boundsOf(name, &st)
	require.False(t, ok, "no column order")
	name.ordered, src.writer.name = true, ""
	_, _, ok = src.boundsOf(name, &st)
	require.False(t, ok, "nobody vouches")

	id, ist := src.leaves[0], src.meta.RowGroups[0].Columns[0].Meta.V.Statistics.V
	ist.Min, ist.Max = ist.MinValue, ist.MaxValue
	ist.MinValue.Valid = false
	_, _, ok = src.boundsOf(id, &ist)
	require.True(t, ok, "signed order is right for integers")
	for text, want := range map[string]writerID{
		"parquet-mr version 1.10.1 (build abc)": {"parquet-mr", 1, 10, 1}, "parquet-cpp-arrow version 17.0.0": {"parquet-cpp-arrow", 17, 0, 0},
		"Polars": {name: "Polars"}, "": {}, "github.com/parquet-go/parquet-go version (devel)(build )": {name: "github.com/parquet-go/parquet-go version (devel)(build )"},
	} {
		require.Equal(t, want, parseWriter(text))
	}
}

func TestRewrite_dates_of_the_legacy_calendar_have_no_bounds(t *testing.T) {
	t.Parallel()
	type row struct {
		Old int32 `parquet:"old,date"`
		New int32 `parquet:"new,date"`
	}
	for _, kv := range [][2]string{{keySparkVersion, "2.4.3"}, {keyLegacyDates, ""}} {
		var buf bytes.Buffer
		w := pgo.NewGenericWriter[row](&buf, pgo.KeyValueMetadata(keySparkVersion, "3.2.0"), pgo.KeyValueMetadata(kv[0], kv[1]))
		_, err := w.Write([]row{{-700_000, 10}, {5, 11}})
		require.NoError(t, err)
		require.NoError(t, w.Close())
		s := &schema.Struct{Fields: []schema.Field{{Name: "old", Type: schema.Date}, {Name: "new", Type: schema.Date}}}
		one := NewBitmap(2)
		one.Set(0)
		for _, rows := range []*Bitmap{nil, one} {
			files, res := rewriteAll(t, buf.Bytes(), Options{}, Output{Columns: columnsOf(s), Rows: rows})
			require.False(t, res[0].Stats.Column("old").HasMin)
			require.False(t, res[0].Stats.Column("old").HasMax)
			require.True(t, res[0].Stats.Column("new").HasMin)
			src, err := openSource(inMemory(files[0]))
			require.NoError(t, err)
			require.True(t, src.legacyDates(), fmt.Sprint(kv))
		}
		_, _, err = tryRewrite(buf.Bytes(), Options{}, Output{Columns: []Column{{Field: nullable("d", schema.Date), Const: int32(-700_000), IsConst: true}}})
		require.ErrorContains(t, err, "legacy calendar")
	}
}

func TestRewrite_null_count_that_is_absent_stays_absent(t *testing.T) {
	t.Parallel()
	data, s, _ := smallFile(t)
	src, err := openSource(inMemory(data))
	require.NoError(t, err)
	m := src.meta.RowGroups[0].Columns[0].Meta.V
	m.Statistics.V.NullCount.Valid = false
	leaf := &outLeaf{src: src.leaves[0], order: orderInt64, maxDef: 1, delta: s.Fields[0].Type}
	st, _ := src.carryStatistics(leaf, &m)
	require.False(t, st.V.NullCount.Valid)
	require.True(t, src.answer(leaf, &m, &leafStats{}), "nobody needs it")
	leaf.needed = true
	require.False(t, src.answer(leaf, &m, &leafStats{}), "decode the column")
}

func TestBounds_numbers_agree_with_a_plain_scan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ints := rapid.SliceOfN(rapid.Int64(), 1, 50).Draw(t, "ints")
		cut := rapid.IntRange(0, len(ints)).Draw(t, "cut")
		for _, o := range []order{orderInt32, orderInt64} {
			a, b := bounds{order: o}, bounds{order: o}
			for i, v := range ints {
				part := &a
				if i >= cut {
					part = &b
				}
				if o == orderInt32 {
					ints[i] = int64(int32(v))
				}
				part.addFixed(o.putInt(ints[i]), o.size())
			}
			a.merge(&b)
			require.Equal(t, slices.Min(ints), a.i0)
			require.Equal(t, slices.Max(ints), a.i1)
		}
		texts := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 12), 1, 20).Draw(t, "texts")
		b := bounds{order: orderBytes}
		for _, v := range texts {
			b.addBytes(v)
		}
		require.Equal(t, string(slices.MinFunc(texts, bytes.Compare)), string(b.b0))
		require.Equal(t, string(slices.MaxFunc(texts, bytes.Compare)), string(b.b1))
	})
}

func TestBounds_nan_and_zeros_of_floats(t *testing.T) {
	t.Parallel()
	b := bounds{order: orderDouble}
	b.addFixed(append(orderDouble.putFloat(0), orderDouble.putFloat(0)...), 8)
	lo, hi, ok := b.plain()
	require.True(t, ok)
	require.Equal(t, orderDouble.putFloat(math.Copysign(0, -1)), lo, "-0.0 may be among the values")
	require.Equal(t, orderDouble.putFloat(0), hi)
	b.addFloat(math.NaN())
	_, _, ok = b.plain()
	require.False(t, ok)
	var c ColumnStats
	c.setBounds(&outLeaf{delta: schema.Double}, &b, false)
	require.False(t, c.HasMin || c.HasMax)
	b = bounds{order: orderDouble}
	b.addFloat(math.Inf(-1))
	b.addFloat(4)
	c.setBounds(&outLeaf{delta: schema.Double}, &b, false)
	require.False(t, c.HasMin)
	require.True(t, c.HasMax)
}

func TestMeaningOf_converted_types_of_old_writers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ  format.Type
		conv deprecated.ConvertedType
		want kind
	}{
		{format.ByteArray, deprecated.UTF8, kindText}, {format.ByteArray, deprecated.Enum, kindText}, {format.ByteArray, deprecated.Json, kindText},
		{format.Int32, deprecated.Date, kindDate}, {format.Int64, deprecated.TimestampMillis, kindMillis}, {format.Int64, deprecated.TimestampMicros, kindMicros},
		{format.Int32, deprecated.Int8, kindInt}, {format.Int32, deprecated.Uint16, kindInt}, {format.Int32, deprecated.Uint32, kindUint32},
		{format.Int64, deprecated.Int64, kindLong}, {format.Int64, deprecated.Uint64, kindUint64}, {format.Int32, deprecated.TimeMillis, kindUnknown},
		{format.Int32, deprecated.UTF8, kindUnknown}, {format.Int64, deprecated.Date, kindUnknown}, {format.FixedLenByteArray, deprecated.Interval, kindUnknown},
	} {
		l := &leaf{typ: c.typ}
		l.el.ConvertedType.Set(c.conv)
		require.Equal(t, c.want, meaningOf(l).kind, "%s %d", c.typ, c.conv)
	}
	l := &leaf{typ: format.FixedLenByteArray}
	l.el.ConvertedType.Set(deprecated.Decimal)
	require.Equal(t, meaning{}, meaningOf(l), "no precision")
	l.el.Precision.Set(20)
	l.el.Scale.Set(3)
	require.Equal(t, meaning{kindDecimal, 20, 3}, meaningOf(l))
}
