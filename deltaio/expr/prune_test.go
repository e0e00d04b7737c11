package expr_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

var pruneSchema = &schema.Struct{Fields: []schema.Field{
	{Name: "dt", Type: schema.Date}, {Name: "p", Type: schema.Date}, {Name: "ps", Type: schema.String}, {Name: "pd", Type: schema.Double},
	{Name: "i", Type: schema.Integer}, {Name: "l", Type: schema.Long}, {Name: "d", Type: schema.Double}, {Name: "f", Type: schema.Float},
	{Name: "n", Type: schema.Decimal{Precision: 10, Scale: 2}}, {Name: "s", Type: schema.String}, {Name: "b", Type: schema.Boolean},
	{Name: "ts", Type: schema.Timestamp}, {Name: "tz", Type: schema.TimestampNTZ},
	{Name: "o", Type: &schema.Struct{Fields: []schema.Field{{Name: "x", Type: schema.Long}}}},
}}

func day(y, m, d int) expr.Date {
	b, err := expr.MustParse("DATE'"+isoDate(y, m, d)+"'").Bind(&schema.Struct{}, expr.Context{})
	if err != nil {
		panic(err)
	}
	a, err := b.Eval(oneRow())
	if err != nil {
		panic(err)
	}
	return expr.Date(a.(*array.Date32).Value(0))
}

func isoDate(y, m, d int) string {
	return fmt.Sprintf("%04d-%02d-%02d", y, m, d)
}

// between is a range with exact bounds and no NULL among ten rows.
func between(lo, hi any) expr.Range {
	return expr.Range{Min: lo, Max: hi, HasMin: true, HasMax: true, HasNullCount: true, NumRows: 10}
}

func partition(v any) expr.Range {
	return expr.Range{Min: v, Max: v, HasMin: true, HasMax: true, HasNullCount: true, NumRows: 10, Exact: true}
}

func withNulls(r expr.Range) expr.Range {
	r.NullCount = 1
	return r
}

func TestPrune_verdicts(t *testing.T) {
	t.Parallel()
	dates := between(day(2024, 1, 1), day(2024, 1, 31))
	allNull := expr.Range{HasNullCount: true, NullCount: 10, NumRows: 10}
	cut := func(lo, hi string) expr.Range {
		r := between(lo, hi)
		r.MinInexact, r.MaxInexact = true, true
		return r
	}
	dec := func(v int64) expr.Decimal { return expr.Decimal{V: decimal128.FromI64(v), Scale: 2} }
	for _, c := range []struct {
		text string
		name string
		r    expr.Range
		want expr.Verdict
	}{
		{"dt < DATE'2024-01-01'", "dt", dates, expr.None},
		{"dt < DATE'2024-01-02'", "dt", dates, expr.Some},
		{"dt <= DATE'2024-01-31'", "dt", dates, expr.All},
		{"dt < DATE'2024-02-01'", "dt", dates, expr.All},
		{"dt < DATE'2024-02-01'", "dt", withNulls(dates), expr.Some},
		{"dt < DATE'2024-02-01' OR dt IS NULL", "dt", withNulls(dates), expr.All},
		{"dt < DATE'2024-02-01'", "dt", expr.Range{Min: day(2024, 1, 1), Max: day(2024, 1, 31), HasMin: true, HasMax: true}, expr.Some},
		{"dt < DATE'2024-01-01'", "dt", expr.Range{Min: day(2024, 1, 1), HasMin: true}, expr.None},
		{"dt > DATE'2024-01-01'", "dt", expr.Range{Min: day(2024, 1, 1), HasMin: true}, expr.Some},
		{"dt IS NULL", "dt", dates, expr.None},
		{"dt IS NOT NULL", "dt", dates, expr.All},
		{"dt IS NULL", "dt", allNull, expr.All},
		{"dt < DATE'2024-01-01'", "dt", allNull, expr.None},
		{"NOT dt < DATE'2024-01-01'", "dt", allNull, expr.None},
		{"dt < DATE'2024-01-01' IS UNKNOWN", "dt", allNull, expr.All},
		{"dt <=> NULL", "dt", allNull, expr.All},
		{"dt BETWEEN DATE'2024-01-01' AND DATE'2024-01-31'", "dt", dates, expr.All},
		{"dt NOT BETWEEN DATE'2024-01-01' AND DATE'2024-01-31'", "dt", dates, expr.None},
		{"dt = DATE'2023-01-01'", "dt", dates, expr.None},
		{"dt IN (DATE'2023-01-01', DATE'2025-01-01')", "dt", dates, expr.None},
		{"dt IN (DATE'2023-01-01', NULL)", "dt", dates, expr.None},
		{"dt NOT IN (DATE'2023-01-01', NULL)", "dt", dates, expr.None},
		{"dt NOT IN (DATE'2023-01-01')", "dt", dates, expr.All},
		{"dt < '2024-01-01'", "dt", dates, expr.None},
		{"dt < TIMESTAMP'2024-01-01 00:00:00'", "dt", dates, expr.None},
		{"dt + INTERVAL 30 DAY < DATE'2024-01-31'", "dt", dates, expr.None},
		{"date_add(dt, 30) >= DATE'2024-01-31'", "dt", dates, expr.All},
		{"add_months(dt, 1) <= DATE'2024-02-29'", "dt", dates, expr.All},
		{"year(dt) = 2024", "dt", dates, expr.All},
		{"year(dt) < 2024", "dt", dates, expr.None},
		{"month(dt) = 1", "dt", dates, expr.Some}, // month falls at the end of a year
		{"datediff(dt, DATE'2024-01-01') < 0", "dt", dates, expr.None},
		{"date_add(dt, 2147483647) < DATE'1970-01-01'", "dt", between(day(2024, 1, 1), day(2024, 1, 31)), expr.Some}, // wraps around
		{"dt > DATE'2024-03-01'", "dt", between(day(2024, 1, 31), day(2024, 1, 1)), expr.Some},                       // min above max

		{"p < DATE'2024-01-02'", "p", partition(day(2024, 1, 1)), expr.All},
		{"month(p) = 1", "p", partition(day(2024, 1, 1)), expr.All},
		{"CAST(p AS STRING) LIKE '2024%'", "p", partition(day(2024, 1, 1)), expr.All},
		{"p < DATE'2024-01-02'", "p", expr.Range{HasNullCount: true, NullCount: 10, NumRows: 10, Exact: true}, expr.None},
		{"p IS NULL", "p", expr.Range{Exact: true, HasNullCount: true}, expr.All}, // a NULL partition without row count
		{"p IS NOT NULL", "p", expr.Range{HasNullCount: true}, expr.Some},         // both counts unknown
		{"p < DATE'2024-01-02'", "p", expr.Range{Min: day(2024, 1, 1), Max: day(2024, 1, 1), HasMin: true, HasMax: true, HasNullCount: true}, expr.All},

		{"to_date(ps, 'yyyy-MM-dd') < DATE'2025-02-08'", "ps", partition("2025-01-05"), expr.All},
		{"to_date(ps, 'yyyy-MM-dd') < DATE'2025-02-08'", "ps", partition("2025-1-6"), expr.None},
		{"to_date(ps, 'yyyy-MM-dd') IS NULL", "ps", partition("n/a"), expr.All},
		{"to_date(ps, 'yyyy-MM-dd') < DATE'2025-02-08'", "ps", between("2025-01-05", "2025-01-06"), expr.Some},
		{"pd > 5", "pd", partition(math.NaN()), expr.All},
		{"pd = 1.5", "pd", partition(1.5), expr.All},
		{"1 / pd IS NULL", "pd", partition(math.Copysign(0, -1)), expr.All},

		{"i > 10", "i", between(int64(1), int64(10)), expr.None},
		{"i + 1 > 10", "i", between(int64(1), int64(8)), expr.None},
		{"i + 1 < 0", "i", between(int64(1), int64(math.MaxInt32)), expr.Some}, // wraps around
		{"i - 1 < 0", "i", between(int64(1), int64(10)), expr.None},
		{"i > 10.5", "i", between(int64(1), int64(10)), expr.None},
		{"i > 10D", "i", between(int64(1), int64(10)), expr.None},
		{"i = 'x'", "i", between(int64(1), int64(10)), expr.None},
		{"-i > 0", "i", between(int64(1), int64(10)), expr.Some},
		{"CAST(i AS STRING) = '5'", "i", between(int64(1), int64(10)), expr.Some},
		{"CAST(l AS INT) > 10", "l", between(int64(1), int64(10)), expr.Some}, // may wrap around elsewhere
		{"coalesce(i, 0) <= 10", "i", withNulls(between(int64(1), int64(10))), expr.All},
		{"if(i > 10, i, -1) = -1", "i", between(int64(1), int64(10)), expr.All},
		{"CASE WHEN i <= 10 THEN TRUE END", "i", between(int64(1), int64(10)), expr.All},
		{"i <=> 5", "i", between(int64(5), int64(5)), expr.All},
		{"i <=> 5", "i", withNulls(between(int64(5), int64(5))), expr.Some},
		{"i > 3", "i", between("1", "2"), expr.Some}, // statistics of another type

		{"d > 10", "d", between(1.0, 5.0), expr.Some}, // NaN is greater
		{"d < 0", "d", between(1.0, 5.0), expr.None},
		{"d >= 1", "d", between(1.0, 5.0), expr.All},
		{"d < 10", "d", between(1.0, 5.0), expr.Some}, // NaN is not
		{"d < 10", "d", between(math.NaN(), math.NaN()), expr.Some},
		{"d = 1", "d", between(1.0, 1.0), expr.Some},
		{"f >= 0.7F", "f", between(0.7, 0.9), expr.All}, // the digits of a float32
		{"n > 9.99", "n", between(dec(1), dec(999)), expr.None},
		{"n <= 9.99", "n", between(dec(1), dec(999)), expr.All},
		{"n > 10", "n", between(expr.Decimal{V: decimal128.FromI64(5), Scale: 1}, expr.Decimal{V: decimal128.FromI64(9), Scale: 0}), expr.None},
		{"n * 2 > 20", "n", between(dec(1), dec(999)), expr.Some},

		{"s > 'c'", "s", between("a", "b"), expr.None},
		{"s > 'bzz'", "s", cut("a", "b"), expr.Some}, // the largest may go on after the cut
		{"s > 'c'", "s", cut("a", "b"), expr.None},
		{"s >= 'a'", "s", cut("a", "b"), expr.All},
		{"s > 'b'", "s", cut("a", "a?"), expr.Some}, // perhaps half a character
		{"s LIKE 'x%'", "s", between("a", "b"), expr.None},
		{"s LIKE 'a%'", "s", between("ab", "az"), expr.All},
		{"s LIKE 'a%'", "s", cut("ab", "ab"), expr.All}, // what goes on after ab begins with a, too
		{"s LIKE 'ab%'", "s", cut("ab", "ab"), expr.Some},
		{"s LIKE 'ab%'", "s", between("a", "az"), expr.Some},
		{"s LIKE 'a_%'", "s", between("b", "c"), expr.None},
		{"s NOT LIKE 'a%'", "s", between("ab", "az"), expr.None},
		{"s LIKE '%'", "s", between("a", "b"), expr.All},
		{"lower(s) = 'a'", "s", between("A", "B"), expr.Some},
		{"lower(s) = 'a'", "s", between("A", "A"), expr.All},
		{"s = dt", "s", between("a", "b"), expr.Some},
		{"CAST(s AS DATE) < DATE'2024-01-01'", "s", between("2024-01-05", "2024-01-09"), expr.Some},

		{"ts < TIMESTAMP'1970-01-01 00:00:00Z'", "ts", between(expr.Timestamp(0), expr.Timestamp(999_000)), expr.None},
		{"ts > TIMESTAMP'1970-01-01 00:00:00.999Z'", "ts", between(expr.Timestamp(0), expr.Timestamp(999_000)), expr.None},
		{"ts > TIMESTAMP'1970-01-01 00:00:00.999Z'", "ts", func() expr.Range {
			r := between(expr.Timestamp(0), expr.Timestamp(999_000))
			r.MaxInexact = true
			return r
		}(), expr.Some},
		{"CAST(ts AS DATE) < DATE'1969-12-29'", "ts", between(expr.Timestamp(0), expr.Timestamp(1)), expr.None},
		{"CAST(ts AS DATE) < DATE'1969-12-30'", "ts", between(expr.Timestamp(0), expr.Timestamp(1)), expr.Some}, // zones shift
		{"CAST(tz AS DATE) < DATE'1970-01-01'", "tz", between(expr.Timestamp(0), expr.Timestamp(1)), expr.None},
		{"b", "b", between(true, true), expr.All},
		{"b", "b", between(false, false), expr.None},
		{"NOT b", "b", between(false, false), expr.All},
		{"b IS TRUE", "b", between(false, true), expr.Some},
		{"o.x > 5", "o", between(int64(1), int64(3)), expr.Some}, // a range of the struct says nothing
		{"TRUE", "b", expr.Range{}, expr.All},
		{"FALSE", "b", expr.Range{}, expr.None},
		{"NULL", "b", expr.Range{}, expr.Some},
		{"CAST(NULL AS BOOLEAN)", "b", expr.Range{}, expr.None},
	} {
		bound, err := expr.MustParse(c.text).Bind(pruneSchema, losAngeles(t))
		require.NoError(t, err, c.text)
		got := bound.Prune(func(name string) (expr.Range, bool) { return c.r, name == c.name })
		require.Equal(t, c.want.String(), got.String(), "%s with %s in %+v", c.text, c.name, c.r)
	}
}

func TestPrunePaths_leaf_of_a_struct_is_asked_by_its_path(t *testing.T) {
	t.Parallel()
	bound, err := expr.MustParse("O.X > 5").Bind(pruneSchema, expr.Context{})
	require.NoError(t, err)
	got := bound.PrunePaths(func(path []string) (expr.Range, bool) {
		require.Equal(t, []string{"o", "x"}, path)
		return between(int64(1), int64(3)), true
	})
	require.Equal(t, expr.None, got)
	bound, err = expr.MustParse("o.x <= 5").Bind(pruneSchema, expr.Context{})
	require.NoError(t, err)
	got = bound.PrunePaths(func([]string) (expr.Range, bool) { return between(int64(1), int64(3)), true })
	require.Equal(t, expr.Some, got) // the struct itself may be NULL
}

// rangeOf makes statistics of a column as a writer might: true, but perhaps
// without some, cut, or with looser bounds.
func rangeOf(t *rapid.T, a arrow.Array, typ schema.Type) (expr.Range, bool) {
	r := expr.Range{NumRows: int64(a.Len()), NullCount: int64(a.NullN()), HasNullCount: rapid.Bool().Draw(t, "nullcount")}
	var vals []any
	for i := range a.Len() {
		if a.IsValid(i) {
			vals = append(vals, goValue(a, i))
		}
	}
	for _, v := range vals {
		if f, ok := v.(float64); ok && math.IsNaN(f) {
			continue
		}
		if !r.HasMin || lessGo(v, r.Min) {
			r.Min, r.HasMin = v, true
		}
		if !r.HasMax || lessGo(r.Max, v) {
			r.Max, r.HasMax = v, true
		}
	}
	if r.HasMin && rapid.Bool().Draw(t, "cut") {
		r.MinInexact, r.MaxInexact = true, true
		r.Min, r.Max = cutDown(r.Min, typ), cutDown(r.Max, typ)
	}
	r.HasMin = r.HasMin && rapid.IntRange(0, 5).Draw(t, "min") > 0
	r.HasMax = r.HasMax && rapid.IntRange(0, 5).Draw(t, "max") > 0
	same := len(vals) > 0
	for _, v := range vals {
		f, isFloat := v.(float64)
		g, _ := vals[0].(float64)
		same = same && (v == vals[0] || isFloat && math.Float64bits(f) == math.Float64bits(g))
	}
	if same && rapid.Bool().Draw(t, "partition") {
		r = expr.Range{Min: vals[0], Max: vals[0], HasMin: true, HasMax: true, Exact: true, NumRows: r.NumRows, NullCount: r.NullCount, HasNullCount: r.HasNullCount}
	}
	return r, rapid.IntRange(0, 7).Draw(t, "known") > 0
}

// cutDown truncates as writers do: strings to a prefix, timestamps to the
// millisecond.
func cutDown(v any, typ schema.Type) any {
	switch x := v.(type) {
	case string:
		r := []rune(x)
		return string(r[:min(1, len(r))])
	case []byte:
		return x[:min(1, len(x))]
	case expr.Timestamp:
		ms := int64(x) / 1000
		if int64(x)%1000 < 0 {
			ms--
		}
		return expr.Timestamp(ms * 1000)
	}
	return v
}

func goValue(a arrow.Array, i int) any {
	switch x := a.(type) {
	case *array.Boolean:
		return x.Value(i)
	case *array.Int8:
		return int64(x.Value(i))
	case *array.Int32:
		return int64(x.Value(i))
	case *array.Int64:
		return x.Value(i)
	case *array.Float32:
		return float64(x.Value(i))
	case *array.Float64:
		return x.Value(i)
	case *array.Decimal128:
		return expr.Decimal{V: x.Value(i), Scale: int(x.DataType().(*arrow.Decimal128Type).Scale)}
	case *array.String:
		return strings.Clone(x.Value(i))
	case *array.Binary:
		return string(x.Value(i))
	case *array.Date32:
		return expr.Date(x.Value(i))
	case *array.Timestamp:
		return expr.Timestamp(x.Value(i))
	}
	panic(a.DataType().String())
}

func lessGo(a, b any) bool {
	switch x := a.(type) {
	case bool:
		return !x && b.(bool)
	case int64:
		return x < b.(int64)
	case float64:
		return x < b.(float64)
	case string:
		return x < b.(string)
	case expr.Date:
		return x < b.(expr.Date)
	case expr.Timestamp:
		return x < b.(expr.Timestamp)
	}
	return a.(expr.Decimal).V.Cmp(b.(expr.Decimal).V) < 0
}

// narrow repeats few rows, so that ranges are small and verdicts frequent.
func narrow(t *rapid.T, rec arrow.Record) arrow.Record {
	var columns []arrow.Array
	for i := range int(rec.NumCols()) {
		k := int64(rapid.IntRange(0, int(rec.NumRows())-1).Draw(t, "row"))
		cell := array.NewSlice(rec.Column(i), k, k+1)
		parts := []arrow.Array{cell, cell}
		if rapid.Bool().Draw(t, "two") {
			k = int64(rapid.IntRange(0, int(rec.NumRows())-1).Draw(t, "row"))
			parts[1] = array.NewSlice(rec.Column(i), k, k+1)
		}
		a, err := array.Concatenate(append(parts, parts...), memory.DefaultAllocator)
		require.NoError(t, err)
		columns = append(columns, a)
	}
	return array.NewRecord(rec.Schema(), columns, 4)
}

func TestPrune_no_verdict_is_contradicted_by_the_rows(t *testing.T) {
	t.Parallel()
	c := losAngeles(t)
	seen := map[expr.Verdict]int{}
	rapid.Check(t, func(r *rapid.T) {
		bound := mustBind(r, genExpr(r, "bool", 3), c)
		rec := narrow(r, genRecord(r, 6))
		ranges := map[string]func() (expr.Range, bool){}
		for i, f := range genSchema.Fields {
			rng, ok := rangeOf(r, rec.Column(i), f.Type)
			ranges[f.Name] = func() (expr.Range, bool) { return rng, ok }
		}
		got := bound.Prune(func(name string) (expr.Range, bool) { return ranges[name]() })
		seen[got]++
		truth, err := bound.Truth(rec)
		require.NoError(r, err)
		switch got {
		case expr.None:
			require.Zero(r, truth.CountTrue())
		case expr.All:
			require.Equal(r, truth.N, truth.CountTrue())
		}
	})
	t.Logf("verdicts: %v", seen)
	require.Positive(t, seen[expr.None])
	require.Positive(t, seen[expr.All])
}
