package deltaio_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

func TestAppend_partition_values_of_every_type_survive(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		t      schema.Type
		append func(array.Builder)
		want   []string // canonical text
	}{
		{schema.String, func(b array.Builder) {
			for _, v := range []string{"a b", "R&D", "A/A", "é", "50%", "a=b", "__HIVE_DEFAULT_PARTITION__x", "ü%20", "🎉", "a\\b", "\"q\"", "x\ty"} {
				b.(*array.StringBuilder).Append(v)
			}
		}, nil},
		{schema.Integer, func(b array.Builder) { b.(*array.Int32Builder).AppendValues([]int32{-1, 0, math.MaxInt32}, nil) }, nil},
		{schema.Boolean, func(b array.Builder) { b.(*array.BooleanBuilder).AppendValues([]bool{true, false}, nil) }, nil},
		{schema.Double, func(b array.Builder) {
			b.(*array.Float64Builder).AppendValues([]float64{1e300, -0.5, math.NaN(), math.Inf(-1), 5, math.Copysign(0, -1)}, nil)
		}, nil},
		{schema.Float, func(b array.Builder) { b.(*array.Float32Builder).AppendValues([]float32{0.1, 3e-40, 16777217}, nil) }, nil},
		{schema.Decimal{Precision: 20, Scale: 3}, func(b array.Builder) {
			for _, v := range []int64{-5, 0, 123456789012345, -1000} {
				b.(*array.Decimal128Builder).Append(decimal128.FromI64(v))
			}
		}, nil},
		{schema.Date, func(b array.Builder) {
			b.(*array.Date32Builder).AppendValues([]arrow.Date32{-719162, -1, 0, 20000}, nil)
		}, nil},
		{schema.Timestamp, func(b array.Builder) {
			b.(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{-1, 0, 1700000000123456}, nil)
		}, nil},
		{schema.TimestampNTZ, func(b array.Builder) {
			b.(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{-1, 0, 1700000000123456}, nil)
		}, nil},
	} {
		t.Run(tc.t.String(), func(t *testing.T) {
			t.Parallel()
			c := newClock()
			sc := fields(col("p", tc.t), col("id", schema.Long))
			table := create(t, memStore(c), c, deltaio.CreateOptions{Schema: sc, PartitionBy: []string{"p"}})
			plain := create(t, memStore(c), c, deltaio.CreateOptions{Schema: sc})
			build := func() arrow.Record {
				as, err := schema.ArrowSchema(sc)
				require.NoError(t, err)
				b := array.NewRecordBuilder(memory.DefaultAllocator, as)
				defer b.Release()
				tc.append(b.Field(0))
				b.Field(0).AppendNull()
				for i := range b.Field(0).Len() {
					b.Field(1).(*array.Int64Builder).Append(int64(i))
				}
				return b.NewRecord()
			}
			_, err := deltaio.Append(t.Context(), table, deltaio.AppendOptions{}, once(build()))
			require.NoError(t, err)
			_, err = deltaio.Append(t.Context(), plain, deltaio.AppendOptions{}, once(build()))
			require.NoError(t, err)
			require.Equal(t, texts(t, snapshot(t, plain), deltaio.ScanOptions{}), texts(t, snapshot(t, table), deltaio.ScanOptions{}))
		})
	}
}

func TestAppend_empty_string_as_partition_value_is_refused(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := regions(t, s, c, nil)
	sc, err := schema.ArrowSchema(snapshot(t, table).Schema())
	require.NoError(t, err)
	b := array.NewRecordBuilder(memory.DefaultAllocator, sc)
	b.Field(0).(*array.Int64Builder).Append(1)
	b.Field(1).(*array.StringBuilder).Append("")
	_, err = deltaio.Append(t.Context(), table, deltaio.AppendOptions{}, once(b.NewRecord()))
	require.ErrorContains(t, err, "empty string")
	require.EqualValues(t, 0, snapshot(t, table).Version())
}

func TestAppend_statistics_cover_the_columns_the_table_names(t *testing.T) {
	t.Parallel()
	sc := fields(col("a", schema.Long), col("s", fields(col("b", schema.Long), col("c", schema.Long))), col("d", schema.Long))
	for props, want := range map[string]string{
		"delta.dataSkippingNumIndexedCols=0":   "",
		"delta.dataSkippingNumIndexedCols=2":   "a s.b",
		"delta.dataSkippingNumIndexedCols=-1":  "a s.b s.c d",
		"delta.dataSkippingStatsColumns=d,s.c": "s.c d",
		"delta.dataSkippingStatsColumns=`s`":   "s.b s.c",
		"delta.columnMapping.mode=none":        "a s.b s.c d",
	} {
		key, value, _ := strings.Cut(props, "=")
		c := newClock()
		table := create(t, memStore(c), c, deltaio.CreateOptions{Schema: sc, Properties: map[string]string{key: value}})
		as, err := schema.ArrowSchema(sc)
		require.NoError(t, err)
		b := array.NewRecordBuilder(memory.DefaultAllocator, as)
		require.NoError(t, b.UnmarshalJSON([]byte(`{"a":1,"s":{"b":2,"c":3},"d":4}`)))
		_, err = deltaio.Append(t.Context(), table, deltaio.AppendOptions{}, once(b.NewRecord()))
		require.NoError(t, err)
		var stats struct {
			NumRecords int64          `json:"numRecords"`
			MinValues  map[string]any `json:"minValues"`
		}
		require.NoError(t, json.Unmarshal([]byte(snapshot(t, table).Files()[0].Stats), &stats))
		require.EqualValues(t, 1, stats.NumRecords)
		var got []string
		for _, name := range []string{"a", "s.b", "s.c", "d"} {
			at := stats.MinValues
			parent, leaf, nested := strings.Cut(name, ".")
			if !nested {
				leaf = parent
			} else {
				at, _ = at[parent].(map[string]any)
			}
			if _, ok := at[leaf]; ok {
				got = append(got, name)
			}
		}
		require.Equal(t, want, strings.Join(got, " "), props)
	}
}

func TestAppend_files_are_cut_at_the_target_and_codecs_are_the_tables(t *testing.T) {
	t.Parallel()
	for _, codec := range []string{"", "snappy", "GZIP", "none", "lz4", "zstd"} {
		c := newClock()
		props := map[string]string{"delta.targetFileSize": "1kb"}
		if codec != "" {
			props["delta.parquet.compression.codec"] = codec
		}
		s := memStore(c)
		table := create(t, s, c, deltaio.CreateOptions{Properties: props})
		var recs []arrow.Record
		var all []row
		for i := range 20 {
			var rows []row
			for j := range 100 {
				rows = append(rows, row{int64(i*100 + j), date("2025-01-01"), float64(i*j) * 1.37})
			}
			all = append(all, rows...)
			recs = append(recs, batch(t, rows...))
		}
		res, err := deltaio.Append(t.Context(), table, deltaio.AppendOptions{}, once(recs...))
		require.NoError(t, err)
		require.Greater(t, res.Files, 3)
		require.Equal(t, sortedTexts(t, all), texts(t, snapshot(t, table), deltaio.ScanOptions{}))
	}
	c := newClock()
	table := create(t, memStore(c), c, deltaio.CreateOptions{Properties: map[string]string{"delta.parquet.compression.codec": "lzo"}})
	_, err := deltaio.Append(t.Context(), table, deltaio.AppendOptions{}, once(batch(t, row{1, nil, 1})))
	require.ErrorContains(t, err, "lzo")
}
