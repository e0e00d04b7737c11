package scan_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// writeRows writes rows of one column each with parquet-go; groups of two.
func writeRows(t testing.TB, g parquet.Group, rows ...parquet.Row) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[any](&out, parquet.NewSchema("root", g), parquet.MaxRowsPerRowGroup(2), parquet.KeyValueMetadata("a", "b"))
	_, err := w.WriteRows(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func longs(values ...int64) (rows []parquet.Row) {
	for _, v := range values {
		rows = append(rows, parquet.Row{parquet.Int64Value(v).Level(0, 1, 0)})
	}
	return rows
}

func optional(n parquet.Node) parquet.Node { return parquet.Optional(n) }

func columns(fields ...schema.Field) *schema.Struct { return &schema.Struct{Fields: fields} }

func col(name string, t schema.Type) schema.Field {
	return schema.Field{Name: name, Type: t, Nullable: true}
}

func mapped(name, physical string, id int, t schema.Type) schema.Field {
	f := col(name, t)
	f.Metadata = map[string]json.RawMessage{
		schema.KeyPhysicalName: json.RawMessage(`"` + physical + `"`),
		schema.KeyColumnID:     json.RawMessage(fmt.Sprint(id)),
	}
	return f
}

func ptr(s string) *string { return &s }

var everyType = []schema.Type{
	schema.Boolean, schema.Byte, schema.Short, schema.Integer, schema.Long, schema.Float, schema.Double, schema.String,
	schema.Binary, schema.Date, schema.Timestamp, schema.TimestampNTZ, schema.Decimal{Precision: 20, Scale: 3}, schema.Void, schema.Variant,
	&schema.Array{Element: schema.Long}, &schema.Map{Key: schema.String, Value: schema.Long},
	columns(col("x", schema.String), col("y", &schema.Array{Element: schema.Date})),
}

func TestBatches_columns_the_file_lacks_are_null_whatever_their_type(t *testing.T) {
	t.Parallel()
	file := writeRows(t, parquet.Group{"a": optional(parquet.Int(64))}, longs(1, 2, 3)...)
	for _, typ := range everyType {
		got, err := readTexts(t, file, scan.Options{Schema: columns(col("new", typ), col("a", schema.Long))})
		require.NoError(t, err)
		require.Equal(t, []string{"(null,1)", "(null,2)", "(null,3)"}, got, typ)
	}
}

func TestBatches_no_columns_at_all_still_count_rows(t *testing.T) {
	t.Parallel()
	file := writeRows(t, parquet.Group{"a": optional(parquet.Int(64))}, longs(1, 2, 3)...)
	got, err := readTexts(t, file, scan.Options{Schema: columns()})
	require.NoError(t, err)
	require.Equal(t, []string{"()", "()", "()"}, got)
}

func TestBatches_chosen_row_groups_only(t *testing.T) {
	t.Parallel()
	file := writeRows(t, parquet.Group{"a": optional(parquet.Int(64))}, longs(1, 2, 3, 4, 5)...)
	got, err := readTexts(t, file, scan.Options{Schema: columns(col("a", schema.Long)), RowGroups: []int{0, 2}})
	require.NoError(t, err)
	require.Equal(t, []string{"(1)", "(2)", "(5)"}, got)
	got, err = readTexts(t, file, scan.Options{Schema: columns(col("a", schema.Long)), RowGroups: []int{}})
	require.NoError(t, err)
	require.Empty(t, got)
	_, err = readTexts(t, file, scan.Options{Schema: columns(col("a", schema.Long)), RowGroups: []int{3}})
	require.ErrorContains(t, err, "has 3 row groups")
}

func TestBatches_names_ignore_case_where_one_column_matches(t *testing.T) {
	t.Parallel()
	one := writeRows(t, parquet.Group{"Amount": optional(parquet.Int(64))}, longs(1)...)
	got, err := readTexts(t, one, scan.Options{Schema: columns(col("AMOUNT", schema.Long))})
	require.NoError(t, err)
	require.Equal(t, []string{"(1)"}, got)

	row := parquet.Row{parquet.Int64Value(1).Level(0, 1, 0), parquet.Int64Value(2).Level(0, 1, 1)}
	two := writeRows(t, parquet.Group{"Amount": optional(parquet.Int(64)), "amount": optional(parquet.Int(64))}, row)
	got, err = readTexts(t, two, scan.Options{Schema: columns(col("amount", schema.Long))})
	require.NoError(t, err)
	require.Equal(t, []string{"(2)"}, got, "an exact match wins")
	_, err = readTexts(t, two, scan.Options{Schema: columns(col("AMOUNT", schema.Long))})
	require.ErrorContains(t, err, "two columns for AMOUNT: Amount and amount")

	got, err = readTexts(t, one, scan.Options{Schema: columns(mapped("x", "amount", 1, schema.Long)), Mapped: true})
	require.NoError(t, err)
	require.Equal(t, []string{"(null)"}, got, "physical names are exact")
}

func TestBatches_mapped_columns_are_found_by_physical_name_or_by_id(t *testing.T) {
	t.Parallel()
	g := parquet.Group{"p1": parquet.FieldID(optional(parquet.Int(64)), 7), "p2": parquet.FieldID(optional(parquet.Int(64)), 8)}
	file := writeRows(t, g, parquet.Row{parquet.Int64Value(1).Level(0, 1, 0), parquet.Int64Value(2).Level(0, 1, 1)})
	s := columns(mapped("a", "p2", 7, schema.Long), mapped("b", "p3", 8, schema.Long), mapped("c", "p1", 9, schema.Long))
	got, err := readTexts(t, file, scan.Options{Schema: s, Mapped: true})
	require.NoError(t, err)
	require.Equal(t, []string{"(2,null,1)"}, got)
	got, err = readTexts(t, file, scan.Options{Schema: s, Mapped: true, ByFieldID: true})
	require.NoError(t, err)
	require.Equal(t, []string{"(1,2,null)"}, got)

	bare := writeRows(t, parquet.Group{"p1": optional(parquet.Int(64))}, longs(1)...)
	_, err = readTexts(t, bare, scan.Options{Schema: s, ByFieldID: true})
	require.ErrorContains(t, err, "no field ids")
}

func TestBatches_partition_values_fill_every_row(t *testing.T) {
	t.Parallel()
	// The file has a column of the partition's name: the log's value counts.
	file := writeRows(t, parquet.Group{"day": optional(parquet.Int(64)), "p": optional(parquet.Int(64))},
		parquet.Row{parquet.Int64Value(1).Level(0, 1, 0), parquet.NullValue().Level(0, 0, 1)},
		parquet.Row{parquet.Int64Value(2).Level(0, 1, 0), parquet.NullValue().Level(0, 0, 1)},
		parquet.Row{parquet.Int64Value(3).Level(0, 1, 0), parquet.NullValue().Level(0, 0, 1)})
	s := columns(mapped("Day", "day", 1, schema.Date), mapped("n", "p", 2, schema.Long), col("c", schema.String), col("e", schema.Byte))
	got, err := readTexts(t, file, scan.Options{
		Schema: s, Mapped: true, BatchRows: 2,
		Partition: map[string]*string{"day": ptr("1970-01-03"), "e": ptr("")},
		Const:     map[string]any{"c": "ü"},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"(D2,null,s2:ü,null)", "(D2,null,s2:ü,null)", "(D2,null,s2:ü,null)"}, got)
	_, err = readTexts(t, file, scan.Options{Schema: s, Mapped: true, Partition: map[string]*string{"day": ptr("soon")}})
	require.ErrorContains(t, err, "part-1.parquet")
	require.ErrorContains(t, err, "partition column Day")
	_, err = readTexts(t, file, scan.Options{Schema: s, Mapped: true, Partition: map[string]*string{"day": nil}, Const: map[string]any{"e": int64(1000)}})
	require.ErrorContains(t, err, "column e")
}

func TestBatches_conversions_outside_of_widening_are_refused_with_the_column(t *testing.T) {
	t.Parallel()
	int64s, int32s := parquet.Int(64), parquet.Int(32)
	for _, c := range []struct {
		node parquet.Node
		t    schema.Type
	}{
		{int64s, schema.Integer}, {int64s, schema.Double}, {int64s, schema.String}, {int64s, schema.Timestamp}, {int32s, schema.Date}, {int32s, schema.Float},
		{int64s, &schema.Array{Element: schema.Long}}, {int64s, columns(col("x", schema.Long))}, {parquet.Uint(64), schema.Long}, {parquet.Uint(32), schema.Integer},
		{parquet.Leaf(parquet.DoubleType), schema.Float}, {parquet.Date(), schema.Timestamp}, {parquet.Date(), schema.Integer},
		{parquet.Timestamp(parquet.Microsecond), schema.TimestampNTZ}, {parquet.Timestamp(parquet.Microsecond), schema.Long}, {parquet.Time(parquet.Microsecond), schema.Timestamp},
		{parquet.Leaf(parquet.Int96Type), schema.TimestampNTZ}, {parquet.Decimal(4, 10, parquet.Int64Type), schema.Decimal{Precision: 10, Scale: 2}},
		{parquet.Decimal(2, 10, parquet.Int64Type), schema.Long}, {parquet.String(), schema.Long}, {parquet.Leaf(parquet.FixedLenByteArrayType(4)), schema.String},
		{parquet.Group{"x": optional(int64s)}, schema.Long}, {parquet.Group{"value": optional(parquet.Leaf(parquet.ByteArrayType))}, schema.Variant},
	} {
		file := writeRows(t, parquet.Group{"wrong": optional(c.node)})
		_, err := readTexts(t, file, scan.Options{Schema: columns(col("wrong", c.t))})
		require.ErrorIs(t, err, scan.ErrUnsupported, "%s as %s", c.node, c.t)
		require.ErrorContains(t, err, "wrong")
		require.ErrorContains(t, err, "part-1.parquet")
	}
}

func TestBatches_values_that_do_not_fit_are_errors_not_other_values(t *testing.T) {
	t.Parallel()
	i32 := func(v int32) parquet.Row { return parquet.Row{parquet.Int32Value(v).Level(0, 1, 0)} }
	i64 := func(v int64) parquet.Row { return parquet.Row{parquet.Int64Value(v).Level(0, 1, 0)} }
	for name, c := range map[string]struct {
		node parquet.Node
		row  parquet.Row
		t    schema.Type
	}{
		"byte":               {parquet.Int(32), i32(128), schema.Byte},
		"short":              {parquet.Int(32), i32(-32769), schema.Short},
		"millis":             {parquet.Timestamp(parquet.Millisecond), i64(1 << 62), schema.Timestamp},
		"days":               {parquet.Date(), i32(1 << 30), schema.TimestampNTZ},
		"decimal of int32":   {parquet.Decimal(2, 4, parquet.Int32Type), i32(10000), schema.Decimal{Precision: 4, Scale: 2}},
		"decimal of int64":   {parquet.Decimal(2, 10, parquet.Int64Type), i64(-10000000000), schema.Decimal{Precision: 10, Scale: 2}},
		"raised decimal":     {parquet.Decimal(0, 10, parquet.Int64Type), i64(100000000), schema.Decimal{Precision: 10, Scale: 2}},
		"integer as decimal": {parquet.Int(64), i64(1 << 60), schema.Decimal{Precision: 10, Scale: 0}},
		"empty decimal":      {parquet.Decimal(2, 10, parquet.ByteArrayType), parquet.Row{parquet.ByteArrayValue(nil).Level(0, 1, 0)}, schema.Decimal{Precision: 10, Scale: 2}},
		"long decimal": {parquet.Decimal(2, 38, parquet.ByteArrayType), parquet.Row{parquet.ByteArrayValue(append([]byte{1}, make([]byte, 16)...)).Level(0, 1, 0)},
			schema.Decimal{Precision: 38, Scale: 2}},
	} {
		file := writeRows(t, parquet.Group{"v": optional(c.node)}, c.row)
		_, err := readTexts(t, file, scan.Options{Schema: columns(col("v", c.t))})
		require.ErrorIs(t, err, scan.ErrCorrupt, name)
		require.ErrorContains(t, err, "row group 0, column v", name)
	}
}

func TestBatches_columns_too_wide_for_a_batch_come_in_smaller_batches(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	d := &drawer{gen: newGen(3)}
	var rows []parquet.Row
	var want []string
	for i := range 200 {
		s := fmt.Sprint(long[:d.IntN(300)], i%5)
		rows = append(rows, parquet.Row{
			parquet.Int64Value(int64(i)).Level(0, 1, 0), parquet.Int64Value(int64(i)).Level(0, 1, 1),
			parquet.Int64Value(int64(-i)).Level(1, 1, 1), parquet.ByteArrayValue([]byte(s)).Level(0, 1, 2),
		})
		want = append(want, fmt.Sprintf("(%d,[%d,%d],s%d:%s)", i, i, -i, len(s), s))
	}
	var out bytes.Buffer
	g := parquet.Group{"a": optional(parquet.Int(64)), "l": parquet.Repeated(parquet.Int(64)), "s": optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary))}
	w := parquet.NewGenericWriter[any](&out, parquet.NewSchema("root", g), parquet.PageBufferSize(300))
	_, err := w.WriteRows(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	s := columns(col("a", schema.Long), col("l", &schema.Array{Element: schema.Long}), col("s", schema.String))
	opt := scan.Options{Schema: s}
	scan.LimitLeafBytes(&opt, 2000)
	got, err := readTexts(t, out.Bytes(), opt)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestBatches_a_cancelled_read_stops(t *testing.T) {
	t.Parallel()
	f, err := scan.Open(inMemory(writeRows(t, parquet.Group{"a": optional(parquet.Int(64))}, longs(1, 2, 3)...)))
	require.NoError(t, err)
	v, ok := f.KeyValue("a")
	require.True(t, ok)
	require.Equal(t, "b", v)
	require.EqualValues(t, 3, f.NumRows())
	require.Equal(t, []int64{2, 1}, f.RowGroupRows())
	require.Equal(t, []string{"a"}, f.ColumnNames())
	require.True(t, f.HasColumn("a"))
	require.False(t, f.HasColumn("A"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for rec, err := range f.Batches(ctx, scan.Options{Schema: columns(col("a", schema.Long)), BatchRows: 1}) {
		if n++; n == 1 {
			require.NoError(t, err)
			rec.Release()
			cancel()
			continue
		}
		require.ErrorIs(t, err, ctx.Err())
	}
	require.Equal(t, 2, n)
}

func TestParsePartitionValue_every_type(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		t    schema.Type
		text string
		want any
	}{
		{schema.String, " x", " x"}, {schema.Binary, "\x01é", []byte("\x01é")}, {schema.Boolean, "true", true}, {schema.Boolean, "False", false},
		{schema.Byte, "-128", int64(-128)}, {schema.Short, "32767", int64(32767)}, {schema.Integer, "5", int64(5)}, {schema.Long, "-9223372036854775808", int64(-1 << 63)},
		{schema.Float, "1.5", 1.5}, {schema.Double, "1.0E10", 1e10}, {schema.Date, "2024-02-29", expr.Date(19782)}, {schema.Date, "1-1-1", nil}, {schema.Date, "0001-1-1", expr.Date(-719162)},
		{schema.Timestamp, "1970-01-01 00:00:00", expr.Timestamp(0)}, {schema.Timestamp, "1970-01-01T00:00:00.000001Z", expr.Timestamp(1)},
		{schema.Timestamp, "1970-01-01 01:00:00.5+01:00", expr.Timestamp(500000)}, {schema.Timestamp, "1970-01-01T00:00:00-0130", expr.Timestamp(5400000000)},
		{schema.Timestamp, "1970-01-02", expr.Timestamp(86400000000)}, {schema.Timestamp, "1969-12-31 23:59:59.9999999", expr.Timestamp(-1)},
		{schema.TimestampNTZ, "1970-01-01 00:00:01", expr.Timestamp(1000000)}, {schema.TimestampNTZ, "1970-01-01T00:00:01Z", nil},
		{schema.Timestamp, "1970-01-01 00:00:00 Europe/Berlin", nil}, {schema.Timestamp, "1970-01-01 25:00:00", nil}, {schema.Timestamp, "1970-01-01 00:00:00x", nil},
		{schema.Boolean, "yes", nil}, {schema.Byte, "128", nil}, {schema.Long, "1.0", nil}, {schema.Double, "0x1p3", nil}, {schema.Date, "2023-02-29", nil}, {schema.Date, "2023-02-03x", nil},
		{schema.Integer, " 1", nil}, {&schema.Array{Element: schema.Long}, "[]", nil}, {schema.Date, "9999999-01-01", nil},
	} {
		got, err := scan.ParsePartitionValue(c.t, &c.text)
		if c.want == nil {
			require.ErrorContains(t, err, fmt.Sprintf("%q", c.text), "%s", c.t)
			continue
		}
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, got, c.text)
	}
	for _, typ := range everyType {
		for _, v := range []*string{nil, ptr("")} {
			got, err := scan.ParsePartitionValue(typ, v)
			require.NoError(t, err)
			require.Nil(t, got, typ)
		}
	}
}

func TestParsePartitionValue_decimals_in_every_notation(t *testing.T) {
	t.Parallel()
	d := schema.Decimal{Precision: 10, Scale: 4}
	for text, want := range map[string]string{
		"1.5": "1.5000", "-0.0001": "-0.0001", "123456": "123456.0000", "1E+2": "100.0000", "1.5e-3": "0.0015", "0E-18": "0.0000", "+7": "7.0000", "1.50000000": "1.5000",
		"1.00001": "", "1234567": "", "x": "", ".": "", "1e999999999": "", "--1": "", "1.2.3": "", "1-2": "",
	} {
		got, err := scan.ParsePartitionValue(d, &text)
		if want == "" {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, got.(expr.Decimal).V.ToString(int32(got.(expr.Decimal).Scale)), text)
	}
}

func TestJulianToGregorian_dates_of_old_Spark_keep_year_month_and_day(t *testing.T) {
	t.Parallel()
	for julian, gregorian := range map[int64]int64{
		-719164: -719162, // 0001-01-01
		-141428: -141438, // 1582-10-04
		-141427: -141427, // 1582-10-15
		0:       0,
	} {
		require.Equal(t, gregorian, scan.JulianToGregorian(julian))
	}
}
