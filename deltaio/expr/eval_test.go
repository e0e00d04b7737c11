package expr_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// recordOf builds a batch from the JSON form of its rows.
func recordOf(t testing.TB, s *schema.Struct, json string) arrow.Record {
	as, err := schema.ArrowSchema(s)
	require.NoError(t, err)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, as, strings.NewReader(json))
	require.NoError(t, err)
	return rec
}

func truthOf(t testing.TB, s *schema.Struct, rec arrow.Record, text string, c expr.Context) string {
	b, err := expr.MustParse(text).Bind(s, c)
	require.NoError(t, err, text)
	truth, err := b.Truth(rec)
	require.NoError(t, err, text)
	return truthText(truth)
}

func TestTruth_fields_of_null_structs_are_null(t *testing.T) {
	t.Parallel()
	inner := &schema.Struct{Fields: []schema.Field{{Name: "zip", Type: schema.String, Nullable: true}, {Name: "vip", Type: schema.Boolean, Nullable: true}}}
	s := &schema.Struct{Fields: []schema.Field{{Name: "c", Nullable: true, Type: &schema.Struct{Fields: []schema.Field{
		{Name: "id", Type: schema.Long, Nullable: true}, {Name: "address", Type: inner, Nullable: true}}}}}}
	rec := recordOf(t, s, `[{"c":{"id":0,"address":null}},{"c":null},{"c":{"id":1,"address":{"zip":"8000","vip":true}}},{"c":{"id":null,"address":{"zip":null,"vip":false}}}]`)
	for text, want := range map[string]string{
		"c.id = 0": "TNFN", "c IS NULL": "FTFF", "c.address IS NULL": "TTFF", "c.address.zip = '8000'": "NNTN",
		"c.address.vip": "NNTF", "NOT C.Address.VIP": "NNFT", "c.address.zip IS NULL": "TTFT",
	} {
		require.Equal(t, want, truthOf(t, s, rec, text, expr.Context{}), text)
		require.Equal(t, want[1:3], truthOf(t, s, rec.NewSlice(1, 3), text, expr.Context{}), text)
	}
}

func TestTruth_masks_are_whole_words_without_stray_bits(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{Fields: []schema.Field{{Name: "i", Type: schema.Long, Nullable: true}}}
	for _, n := range []int{0, 1, 63, 64, 65, 200} {
		rows := make([]string, n)
		for i := range rows {
			rows[i] = fmt.Sprintf(`{"i":%d}`, i)
			if i%3 == 0 {
				rows[i] = `{"i":null}`
			}
		}
		rec := recordOf(t, s, "["+strings.Join(rows, ",")+"]")
		for _, text := range []string{"i >= 0", "NOT i < 0", "i IS NULL", "i IS NOT NULL", "TRUE", "NULL", "i <=> NULL", "NOT (i < 0 AND i > 5)", "i NOT IN (1, 2)"} {
			b, err := expr.MustParse(text).Bind(s, expr.Context{})
			require.NoError(t, err)
			truth, err := b.Truth(rec)
			require.NoError(t, err)
			require.Len(t, truth.True(), (n+63)/64)
			require.Len(t, truth.Null(), (n+63)/64)
			count, null := 0, 0
			for i := range n {
				if truth.IsTrue(i) {
					count++
				}
				if truth.IsNull(i) {
					null++
				}
				require.False(t, truth.IsTrue(i) && truth.IsNull(i))
			}
			require.Equal(t, count, truth.CountTrue(), "%s of %d", text, n)
			require.Equal(t, null, truth.CountNull(), "%s of %d", text, n)
		}
	}
}

func TestEval_gives_the_arrow_type_of_the_bound_type(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{Fields: slices.Clone(genSchema.Fields)}
	as, err := schema.ArrowSchema(s)
	require.NoError(t, err)
	rb := array.NewRecordBuilder(memory.DefaultAllocator, as)
	for i := range s.Fields {
		rb.Field(i).AppendNull()
		rb.Field(i).AppendEmptyValue()
	}
	rec := rb.NewRecord()
	for _, text := range []string{"b", "y", "i", "l", "f", "d", "n", "m", "s", "bin", "dt", "ts", "tz", "y + 1Y", "f * 2", "NULL", "'x'", "1", "X'00'", "coalesce(f, 1.5F)", "CAST(i AS SMALLINT)"} {
		b, err := expr.MustParse(text).Bind(s, expr.Context{})
		require.NoError(t, err, text)
		a, err := b.Eval(rec)
		require.NoError(t, err, text)
		want, err := schema.ArrowType(b.Type())
		require.NoError(t, err)
		require.True(t, arrow.TypeEqual(want, a.DataType()), "%s: %s", text, a.DataType())
		require.Equal(t, 2, a.Len())
		a.Release()
	}
}

func TestTruth_batch_of_other_types_is_an_error_that_names_the_column(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{Fields: []schema.Field{{Name: "x y", Type: schema.Date}}}
	b, err := expr.MustParse("`x y` < DATE'2024-01-01'").Bind(s, expr.Context{})
	require.NoError(t, err)
	other := &schema.Struct{Fields: []schema.Field{{Name: "x y", Type: schema.String}}}
	_, err = b.Truth(recordOf(t, other, `[{"x y":"a"}]`))
	require.ErrorContains(t, err, "column `x y`: Arrow type utf8 does not hold date")
	_, err = b.Truth(recordOf(t, &schema.Struct{}, `[{}]`))
	require.ErrorContains(t, err, "column `x y`: the batch has 0 columns of this name")
	b, err = expr.MustParse("1").Bind(s, expr.Context{})
	require.NoError(t, err)
	_, err = b.Truth(oneRow())
	require.ErrorContains(t, err, "not a condition")
}

func TestTruth_other_arrow_forms_of_a_type_are_read(t *testing.T) {
	t.Parallel()
	mem := memory.DefaultAllocator
	dict := array.NewDictionaryBuilder(mem, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
	large := array.NewLargeStringBuilder(mem)
	small := array.NewInt16Builder(mem)
	for i, v := range []string{"a", "b", "a"} {
		require.NoError(t, dict.AppendString(v))
		large.Append(v)
		small.Append(int16(i))
	}
	dict.AppendNull()
	large.AppendNull()
	small.AppendNull()
	s := &schema.Struct{Fields: []schema.Field{{Name: "d", Type: schema.String}, {Name: "g", Type: schema.String}, {Name: "i", Type: schema.Long}}}
	columns := []arrow.Array{dict.NewArray(), large.NewArray(), small.NewArray()}
	fields := make([]arrow.Field, 3)
	for i, f := range s.Fields {
		fields[i] = arrow.Field{Name: f.Name, Type: columns[i].DataType(), Nullable: true}
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), columns, 4)
	require.Equal(t, "TFTN", truthOf(t, s, rec, "d = 'a'", expr.Context{}))
	require.Equal(t, "TFTN", truthOf(t, s, rec, "d = g AND g = 'a'", expr.Context{}))
	require.Equal(t, "FTFN", truthOf(t, s, rec, "i = 1", expr.Context{}))
	require.Equal(t, "TN", truthOf(t, s, rec.NewSlice(2, 4), "d = 'a'", expr.Context{}))
}

func TestBound_is_safe_for_concurrent_use(t *testing.T) {
	t.Parallel()
	s, rec := goldenRows(t, losAngeles(t))
	b, err := expr.MustParse("CAST(ts AS DATE) <= dt OR s RLIKE '^a' OR upper(s) LIKE 'S%' OR to_date(s, 'yyyyMMdd') IS NULL").Bind(s, losAngeles(t))
	require.NoError(t, err)
	want, err := b.Truth(rec)
	require.NoError(t, err)
	done := make(chan string)
	for range 4 {
		go func() {
			for range 50 {
				got, err := b.Truth(rec)
				if err != nil {
					done <- err.Error()
					return
				}
				b.Prune(func(string) (expr.Range, bool) { return expr.Range{}, false })
				if truthText(got) != truthText(want) {
					done <- truthText(got)
					return
				}
			}
			done <- truthText(want)
		}()
	}
	for range 4 {
		require.Equal(t, truthText(want), <-done)
	}
}

// The session zone decides where dates begin: the cases of retention in a zone
// behind UTC, over the 23-hour day of 2025-03-09.
func TestTruth_session_zone_decides_the_day(t *testing.T) {
	t.Parallel()
	la := losAngeles(t)
	la.Now = time.Date(2025, 3, 10, 3, 0, 0, 0, time.UTC) // 20:00 of March 9 there
	s := &schema.Struct{Fields: []schema.Field{{Name: "ts", Type: schema.Timestamp}, {Name: "p", Type: schema.Date}}}
	rec := recordOf(t, s, `[{"ts":"2025-03-08 07:59:59","p":"2025-03-07"},{"ts":"2025-03-08 08:00:00","p":"2025-03-08"},{"ts":"2025-03-10 06:59:59","p":"2025-03-09"}]`)
	require.Equal(t, "TFF", truthOf(t, s, rec, "p < date_sub(current_date(), 1)", la))
	require.Equal(t, "TTF", truthOf(t, s, rec, "p < date_sub(current_date(), 1)", expr.Context{Now: la.Now}))
	require.Equal(t, "TFF", truthOf(t, s, rec, "ts < DATE'2025-03-08'", la))
	require.Equal(t, "FFT", truthOf(t, s, rec, "CAST(ts AS DATE) = DATE'2025-03-09'", la))
	require.Equal(t, "TTF", truthOf(t, s, rec, "ts < current_timestamp() - INTERVAL 1 DAY", la))
}

func TestEval_large_strings_of_a_constant_are_repeated(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{Fields: []schema.Field{{Name: "i", Type: schema.Long}}}
	rec := recordOf(t, s, `[{"i":1},{"i":2}]`)
	b, err := expr.MustParse("concat('a', 'b')").Bind(s, expr.Context{})
	require.NoError(t, err)
	a, err := b.Eval(rec)
	require.NoError(t, err)
	require.Equal(t, `["ab" "ab"]`, fmt.Sprint(a))
}

func TestEval_like_with_a_bad_pattern_in_a_row_is_an_error(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{Fields: []schema.Field{{Name: "s", Type: schema.String}}}
	rec := recordOf(t, s, `[{"s":"a"},{"s":"a\\"}]`)
	b, err := expr.MustParse("'a' LIKE s").Bind(s, expr.Context{})
	require.NoError(t, err)
	_, err = b.Truth(rec)
	require.ErrorContains(t, err, "ends with the escape")
}

func TestTruth_nan_and_zero_in_long_lists(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{Fields: []schema.Field{{Name: "d", Type: schema.Double}}}
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	b.AppendValues([]float64{math.NaN(), math.Copysign(0, -1), 5, 99}, nil)
	a := b.NewArray()
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "d", Type: a.DataType()}}, nil), []arrow.Array{a}, 4)
	require.Equal(t, "TTTF", truthOf(t, s, rec, "d IN (0D, CAST('NaN' AS DOUBLE), 1D, 2D, 3D, 4D, 5D, 6D, 7D, 8D)", expr.Context{}))
}

func TestEval_a_struct_inside_a_null_struct_is_null(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{Fields: []schema.Field{{Name: "c", Nullable: true, Type: &schema.Struct{Fields: []schema.Field{
		{Name: "in", Nullable: true, Type: &schema.Struct{Fields: []schema.Field{{Name: "x", Type: schema.Long, Nullable: true}}}}}}}}}
	rec := recordOf(t, s, `[{"c":{"in":{"x":1}}},{"c":null},{"c":{"in":null}},{"c":{"in":{"x":2}}}]`)
	b, err := expr.MustParse("c.`in`").Bind(s, expr.Context{})
	require.NoError(t, err)
	for from := range int64(3) {
		part := rec.NewSlice(from, 4)
		a, err := b.Eval(part)
		require.NoError(t, err)
		for i := range a.Len() {
			require.Equal(t, from+int64(i) == 1 || from+int64(i) == 2, a.IsNull(i))
		}
		require.Equal(t, int64(2), a.(*array.Struct).Field(0).(*array.Int64).Value(a.Len()-1))
	}
}
