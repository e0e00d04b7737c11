package scan_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// footed is a file of one row group and one column whose footer is given.
func footed(meta footer.Meta, leaf footer.Element, stats *footer.Statistics, rows int64) *scan.File {
	meta.Elements = []footer.Element{{Name: "root", NumChildren: 1}, leaf}
	meta.NumRows = rows
	meta.RowGroups = []footer.RowGroup{{NumRows: rows, Chunks: []footer.Chunk{{Type: leaf.Type, NumValues: rows, Stats: stats}}}}
	return scan.FromMeta(&meta)
}

func element(t footer.Type, l footer.Logical) footer.Element {
	return footer.Element{Name: "c", Type: t, HasType: true, Repetition: footer.Optional, Logical: l, TypeLength: 2}
}

var ordered = footer.Meta{TypeOrdered: []bool{true}, CreatedBy: "parquet-mr version 1.12.3 (build x)"}

func TestRange_bounds_become_values_of_the_delta_type(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		e         footer.Element
		t         schema.Type
		low, high []byte
		min, max  any
		inexact   bool
	}{
		"long":      {element(footer.Int64, footer.Logical{}), schema.Long, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, []byte{1, 0, 0, 0, 0, 0, 0, 0}, int64(-1), int64(1), false},
		"widened":   {element(footer.Int32, footer.Logical{}), schema.Long, []byte{0xff, 0xff, 0xff, 0xff}, []byte{1, 0, 0, 0}, int64(-1), int64(1), false},
		"date":      {element(footer.Int32, footer.Logical{Kind: footer.KindDate}), schema.Date, []byte{1, 0, 0, 0}, []byte{2, 0, 0, 0}, expr.Date(1), expr.Date(2), false},
		"millis":    {element(footer.Int64, footer.Logical{Kind: footer.KindTimestamp, UTC: true}), schema.Timestamp, []byte{1, 0, 0, 0, 0, 0, 0, 0}, []byte{2, 0, 0, 0, 0, 0, 0, 0}, expr.Timestamp(1000), expr.Timestamp(2000), false},
		"boolean":   {element(footer.Boolean, footer.Logical{}), schema.Boolean, []byte{0}, []byte{1}, false, true, false},
		"string":    {element(footer.ByteArray, footer.Logical{Kind: footer.KindString}), schema.String, []byte("a"), []byte("b\xff"), "a", "b\xff", true},
		"empty min": {element(footer.ByteArray, footer.Logical{Kind: footer.KindString}), schema.String, []byte{}, []byte("b"), "", "b", true},
		"decimal":   {element(footer.FixedLenByteArray, footer.Logical{Kind: footer.KindDecimal, Precision: 4, Scale: 1}), schema.Decimal{Precision: 6, Scale: 2}, []byte{0xff, 0xff}, []byte{0, 7}, expr.Decimal{V: decimal128.FromI64(-10), Scale: 2}, expr.Decimal{V: decimal128.FromI64(70), Scale: 2}, false},
	} {
		f := footed(ordered, c.e, &footer.Statistics{MinValue: c.low, MaxValue: c.high, NullCount: 3, HasNullCount: true}, 10)
		r, ok := f.Range(&schema.Field{Name: "c", Type: c.t}, 0)
		require.True(t, ok, name)
		require.Equal(t, expr.Range{Min: c.min, Max: c.max, HasMin: true, HasMax: true, NullCount: 3, HasNullCount: true, NumRows: 10, MinInexact: c.inexact, MaxInexact: c.inexact}, r, name)
	}
}

func TestRange_statistics_that_prove_nothing_give_no_bounds(t *testing.T) {
	t.Parallel()
	bounds := func(low, high []byte) *footer.Statistics {
		return &footer.Statistics{MinValue: low, MaxValue: high, NullCount: 0, HasNullCount: true}
	}
	one, two, nan := []byte{1, 0, 0, 0, 0, 0, 0, 0}, []byte{2, 0, 0, 0, 0, 0, 0, 0}, []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x7f}
	long, str := element(footer.Int64, footer.Logical{}), element(footer.ByteArray, footer.Logical{Kind: footer.KindString})
	date, dec := element(footer.Int32, footer.Logical{Kind: footer.KindDate}), element(footer.FixedLenByteArray, footer.Logical{Kind: footer.KindDecimal, Precision: 4, Scale: 2})
	legacy := ordered
	legacy.KeyValue = map[string]string{"org.apache.spark.version": "2.4.5"}
	goWriter := ordered
	goWriter.CreatedBy = "github.com/parquet-go/parquet-go version 0.32.0(build )"
	for name, c := range map[string]struct {
		meta footer.Meta
		e    footer.Element
		t    schema.Type
		s    *footer.Statistics
	}{
		"no column order":                   {footer.Meta{}, str, schema.String, bounds([]byte("a"), []byte("b"))},
		"another order":                     {footer.Meta{TypeOrdered: []bool{false}}, long, schema.Long, bounds(one, two)},
		"old bounds of strings":             {ordered, str, schema.String, &footer.Statistics{Min: []byte("a"), Max: []byte("b"), HasNullCount: true}},
		"old bounds of unsigned":            {ordered, element(footer.Int32, footer.Logical{Kind: footer.KindInt, Bits: 32}), schema.Long, &footer.Statistics{Min: one[:4], Max: two[:4], HasNullCount: true}},
		"old bounds of doubles":             {ordered, element(footer.Double, footer.Logical{}), schema.Double, &footer.Statistics{Min: one, Max: two, HasNullCount: true}},
		"min above max":                     {ordered, long, schema.Long, bounds(two, one)},
		"wrong width":                       {ordered, long, schema.Long, bounds(one[:4], two[:4])},
		"INT96":                             {ordered, element(footer.Int96, footer.Logical{}), schema.Timestamp, bounds(append(one, 0, 0, 0, 0), append(two, 0, 0, 0, 0))},
		"legacy calendar":                   {legacy, date, schema.Date, bounds(one[:4], two[:4])},
		"decimal bytes of parquet-go":       {goWriter, dec, schema.Decimal{Precision: 4, Scale: 2}, bounds([]byte{0, 1}, []byte{0, 2})},
		"decimal bounds of unsigned writer": {ordered, dec, schema.Decimal{Precision: 4, Scale: 2}, bounds([]byte{0, 1}, []byte{0xff, 2})},
		"doubles of parquet-go":             {goWriter, element(footer.Double, footer.Logical{}), schema.Double, bounds(one, two)},
		"NaN":                               {ordered, element(footer.Double, footer.Logical{}), schema.Double, bounds(nan, nan)},
		"all null":                          {ordered, str, schema.String, &footer.Statistics{MinValue: []byte{}, MaxValue: []byte{}, NullCount: 10, HasNullCount: true}},
		"unreadable as the type":            {ordered, long, schema.String, bounds(one, two)},
	} {
		r, ok := footed(c.meta, c.e, c.s, 10).Range(&schema.Field{Name: "c", Type: c.t}, 0)
		require.True(t, ok, name)
		require.False(t, r.HasMin || r.HasMax, name)
		require.True(t, r.HasNullCount, name)
	}
}

func TestRange_null_counts_left_out_or_impossible_are_unknown(t *testing.T) {
	t.Parallel()
	long := element(footer.Int64, footer.Logical{})
	field := &schema.Field{Name: "c", Type: schema.Long}
	for _, s := range []*footer.Statistics{nil, {}, {NullCount: 11, HasNullCount: true}, {NullCount: -1, HasNullCount: true}} {
		_, ok := footed(ordered, long, s, 10).Range(field, 0)
		require.False(t, ok)
	}
	required := long
	required.Repetition = footer.Required
	r, ok := footed(ordered, required, nil, 10).Range(field, 0)
	require.True(t, ok)
	require.Equal(t, expr.Range{NumRows: 10, HasNullCount: true}, r)
	r, ok = footed(ordered, long, nil, 10).Range(&schema.Field{Name: "absent", Type: schema.Long}, 0)
	require.True(t, ok)
	require.Equal(t, expr.Range{NumRows: 10, NullCount: 10, HasNullCount: true}, r)
}

func TestRange_old_bounds_of_signed_numbers_and_exactness_flags_count(t *testing.T) {
	t.Parallel()
	long, str := element(footer.Int64, footer.Logical{}), element(footer.ByteArray, footer.Logical{Kind: footer.KindString})
	r, _ := footed(footer.Meta{}, long, &footer.Statistics{Min: []byte{1, 0, 0, 0, 0, 0, 0, 0}, Max: []byte{2, 0, 0, 0, 0, 0, 0, 0}}, 10).Range(&schema.Field{Name: "c", Type: schema.Long}, 0)
	require.Equal(t, expr.Range{Min: int64(1), Max: int64(2), HasMin: true, HasMax: true, NumRows: 10}, r)
	r, _ = footed(ordered, str, &footer.Statistics{MinValue: []byte("a"), MaxValue: []byte("b"), HasMinExact: true, MinExact: true, HasMaxExact: true}, 10).Range(&schema.Field{Name: "c", Type: schema.String}, 0)
	require.Equal(t, expr.Range{Min: "a", Max: "b", HasMin: true, HasMax: true, NumRows: 10, MaxInexact: true}, r)
}

func TestRanges_partition_values_are_exact(t *testing.T) {
	t.Parallel()
	f := footed(ordered, element(footer.Int64, footer.Logical{}), nil, 10)
	s := columns(mapped("Day", "p-1", 1, schema.Date), mapped("N", "p-2", 2, schema.Date), mapped("Bad", "p-3", 3, schema.Date))
	ranges := f.Ranges(scan.Options{Schema: s, Mapped: true, Partition: map[string]*string{"p-1": ptr("1970-01-03"), "p-2": nil, "p-3": ptr("?")}}, 0)
	r, ok := ranges("day")
	require.True(t, ok)
	require.Equal(t, expr.Range{Min: expr.Date(2), Max: expr.Date(2), HasMin: true, HasMax: true, HasNullCount: true, NumRows: 10, Exact: true}, r)
	r, ok = ranges("N")
	require.True(t, ok)
	require.Equal(t, expr.Range{NullCount: 10, HasNullCount: true, NumRows: 10}, r)
	_, ok = ranges("Bad")
	require.False(t, ok)
	_, ok = ranges("unknown")
	require.False(t, ok)
}

// Whatever parquet-go writes, a range must hold for the rows that are read.
func TestRange_bounds_hold_for_the_rows_of_random_files(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		file, s, _ := randomFile(rt, rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(1, 60).Draw(rt, "rows"))
		f, err := scan.Open(inMemory(file))
		require.NoError(rt, err)
		for g := range f.RowGroupRows() {
			for i := range s.Fields {
				r, ok := f.Range(&s.Fields[i], g)
				if !ok {
					continue
				}
				requireHolds(rt, f, &s.Fields[i], g, r)
			}
		}
	})
}

func requireHolds(rt *rapid.T, f *scan.File, field *schema.Field, group int, r expr.Range) {
	nulls, rows := int64(0), int64(0)
	for rec, err := range f.Batches(rt.Context(), scan.Options{Schema: columns(*field), RowGroups: []int{group}}) {
		require.NoError(rt, err)
		rows += rec.NumRows()
		nulls += int64(rec.Column(0).NullN())
		for i := range int(rec.NumRows()) {
			if rec.Column(0).IsNull(i) || !(r.HasMin || r.HasMax) {
				continue
			}
			v := scan.ValueAt(field.Type, rec.Column(0), i)
			if d, ok := v.(float64); ok && math.IsNaN(d) {
				continue
			}
			require.False(rt, r.HasMin && scan.Less(v, r.Min), "%v below %v", v, r.Min)
			require.False(rt, r.HasMax && scan.Less(r.Max, v), "%v above %v", v, r.Max)
		}
	}
	require.Equal(rt, rows, r.NumRows)
	if r.HasNullCount {
		require.Equal(rt, nulls, r.NullCount)
	}
}

func TestBatches_legacy_calendar_of_old_Spark(t *testing.T) {
	t.Parallel()
	write := func(kv ...string) []byte {
		var out bytes.Buffer
		opts := []parquet.WriterOption{parquet.NewSchema("root", parquet.Group{"d": optional(parquet.Date()), "t": optional(parquet.Timestamp(parquet.Microsecond))})}
		for i := 0; i < len(kv); i += 2 {
			opts = append(opts, parquet.KeyValueMetadata(kv[i], kv[i+1]))
		}
		w := parquet.NewGenericWriter[any](&out, opts...)
		_, err := w.WriteRows([]parquet.Row{
			{parquet.Int32Value(-719164).Level(0, 1, 0), parquet.Int64Value(-719164*86400e6+1).Level(0, 1, 1)},
			{parquet.Int32Value(7).Level(0, 1, 0), parquet.Int64Value(8).Level(0, 1, 1)},
		})
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return out.Bytes()
	}
	s := columns(col("d", schema.Date), col("t", schema.Timestamp))
	modern, old := []string{"(D-719164,T-62135769599999999)", "(D7,T8)"}, []string{"(D-719162,T-62135596799999999)", "(D7,T8)"}
	for _, c := range []struct {
		kv   []string
		want []string
	}{
		{nil, modern},
		{[]string{"org.apache.spark.version", "3.5.0"}, modern},
		{[]string{"org.apache.spark.version", "2.4.8", "org.apache.spark.timeZone", "UTC"}, old},
		{[]string{"org.apache.spark.version", "3.2.0", "org.apache.spark.legacyDateTime", "", "org.apache.spark.timeZone", "Etc/UTC"}, old},
	} {
		got, err := readTexts(t, write(c.kv...), scan.Options{Schema: s})
		require.NoError(t, err)
		require.Equal(t, c.want, got, c.kv)
	}
	_, err := readTexts(t, write("org.apache.spark.version", "2.4.8", "org.apache.spark.timeZone", "Europe/Paris"), scan.Options{Schema: s})
	require.ErrorIs(t, err, scan.ErrUnsupported)
	require.ErrorContains(t, err, "Europe/Paris")
}
