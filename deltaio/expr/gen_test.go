package expr_test

import (
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// genSchema has two columns of most types.
var genSchema = &schema.Struct{Fields: []schema.Field{
	{Name: "b", Type: schema.Boolean}, {Name: "i", Type: schema.Integer}, {Name: "j", Type: schema.Integer},
	{Name: "y", Type: schema.Byte}, {Name: "l", Type: schema.Long}, {Name: "d", Type: schema.Double}, {Name: "f", Type: schema.Float},
	{Name: "n", Type: schema.Decimal{Precision: 10, Scale: 2}}, {Name: "m", Type: schema.Decimal{Precision: 38, Scale: 10}},
	{Name: "s", Type: schema.String}, {Name: "t", Type: schema.String}, {Name: "dt", Type: schema.Date},
	{Name: "ts", Type: schema.Timestamp}, {Name: "tz", Type: schema.TimestampNTZ}, {Name: "bin", Type: schema.Binary},
}}

// Values are few and at the edges, so that equal ones meet.
var (
	genInts    = []int64{0, 1, -1, 2, 3, 100, math.MaxInt8, math.MinInt8, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64}
	genDoubles = []float64{0, math.Copysign(0, -1), 1, 1.5, -2.5, 0.1, 1e20, math.NaN(), math.Inf(1), math.Inf(-1), 100}
	genStrings = []string{"", "a", "ab", "abc", "b", "1", "1.0", "2024-01-31", "2024-1-31", "é", "😀", "a_c", "a%", "NaN", "true", "x?"}
	genDays    = []int64{0, 19753, 19754, 19782, -719162, 2932896, 20000}
	genMicros  = []int64{0, 1, -1, 1_706_659_200_000_000, 1_706_659_200_000_001, 1_710_063_000_000_000, 253_402_300_799_999_999, -62_135_596_800_000_000}
	genDecs    = []int64{0, 1, -1, 100, 150, 9_999_999_999, -9_999_999_999, 200}
)

// genCell draws a value of a type in its Arrow form; nil is NULL.
func genCell(t *rapid.T, typ schema.Type) any {
	if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		return nil
	}
	switch typ {
	case schema.Boolean:
		return rapid.Bool().Draw(t, "b")
	case schema.String, schema.Binary:
		return rapid.SampledFrom(genStrings).Draw(t, "s")
	case schema.Double, schema.Float:
		return rapid.SampledFrom(genDoubles).Draw(t, "d")
	case schema.Date:
		return rapid.SampledFrom(genDays).Draw(t, "day")
	case schema.Timestamp, schema.TimestampNTZ:
		return rapid.SampledFrom(genMicros).Draw(t, "us")
	}
	if _, ok := typ.(schema.Decimal); ok {
		return rapid.SampledFrom(genDecs).Draw(t, "dec")
	}
	return rapid.SampledFrom(genInts).Draw(t, "int")
}

func appendCell(b array.Builder, v any) {
	if v == nil {
		b.AppendNull()
		return
	}
	switch x := b.(type) {
	case *array.BooleanBuilder:
		x.Append(v.(bool))
	case *array.Int8Builder:
		x.Append(int8(v.(int64)))
	case *array.Int32Builder:
		x.Append(int32(v.(int64)))
	case *array.Int64Builder:
		x.Append(v.(int64))
	case *array.Float32Builder:
		x.Append(float32(v.(float64)))
	case *array.Float64Builder:
		x.Append(v.(float64))
	case *array.Decimal128Builder:
		x.Append(decimal128.FromI64(v.(int64)))
	case *array.StringBuilder:
		x.Append(v.(string))
	case *array.BinaryBuilder:
		x.Append([]byte(v.(string)))
	case *array.Date32Builder:
		x.Append(arrow.Date32(v.(int64)))
	case *array.TimestampBuilder:
		x.Append(arrow.Timestamp(v.(int64)))
	default:
		panic(fmt.Sprintf("%T", b))
	}
}

// genRecord draws a batch of genSchema, cut out of a longer one so that offsets
// are not zero.
func genRecord(t *rapid.T, rows int) arrow.Record {
	as, err := schema.ArrowSchema(genSchema)
	require.NoError(t, err)
	skip := rapid.IntRange(0, 9).Draw(t, "skip")
	rb := array.NewRecordBuilder(memory.DefaultAllocator, as)
	for i, f := range genSchema.Fields {
		for range rows + skip {
			appendCell(rb.Field(i), genCell(t, f.Type))
		}
	}
	return rb.NewRecord().NewSlice(int64(skip), int64(rows+skip))
}

// kinds of values that genExpr makes.
var genKinds = []string{"bool", "int", "long", "double", "dec", "string", "date", "ts"}

var genColumns = map[string][]string{
	"bool": {"b"}, "int": {"i", "j", "y"}, "long": {"l"}, "double": {"d", "f"}, "dec": {"n", "m"},
	"string": {"s", "t"}, "date": {"dt"}, "ts": {"ts", "tz"},
}

var genLiterals = map[string][]string{
	"bool": {"TRUE", "FALSE", "NULL"}, "int": {"0", "1", "-1", "100", "2147483647", "CAST(NULL AS INT)"},
	"long": {"0L", "1L", "-9223372036854775808", "9223372036854775807"}, "double": {"0D", "1.5D", "1e20", "CAST('NaN' AS DOUBLE)"},
	"dec": {"0.0", "1.00", "1.5", "99999999.99", "1BD"}, "string": {"''", "'a'", "'ab'", "'1'", "'2024-01-31'", "'é'", "NULL"},
	"date": {"DATE'2024-01-31'", "DATE'1970-01-01'", "DATE'2024-01-30'"},
	"ts":   {"TIMESTAMP'2024-01-31 00:00:00Z'", "TIMESTAMP_NTZ'2024-01-31 00:00:00'", "TIMESTAMP'1970-01-01 00:00:00'"},
}

// genForms are the ways to make a value of a kind from others.
var genForms = map[string][]string{
	"bool": {
		"({bool} AND {bool})", "({bool} OR {bool})", "(NOT {bool})", "({bool} AND {bool} AND {bool})",
		"({int} < {int})", "({int} = {long})", "({long} >= {double})", "({dec} > {int})", "({dec} <= {dec})", "({double} <> {double})",
		"({string} = {string})", "({string} < {string})", "({date} < {date})", "({ts} >= {ts})", "({date} = {ts})",
		"({date} > {string})", "({int} = {string})", "({string} = {dec})", "({bool} = {bool})", "({bool} < {bool})",
		"({int} <=> {int})", "({string} IS DISTINCT FROM {string})", "({double} IS NOT DISTINCT FROM {double})",
		"({int} IS NULL)", "({string} IS NOT NULL)", "({bool} IS TRUE)", "({bool} IS NOT FALSE)", "({bool} IS UNKNOWN)",
		"({int} IN (1, 2, 100))", "({int} IN ({int}, NULL))", "({string} NOT IN ('a', '1', 'ab'))", "({date} IN (DATE'2024-01-31', {date}))",
		"({long} IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, NULL))", "({double} IN (0.0D, CAST('NaN' AS DOUBLE), 1D))", "({string} IN ('', 'a', 'ab', 'abc', 'b', '1', '2', '3', '4', 'é'))",
		"({int} BETWEEN {int} AND {int})", "({date} NOT BETWEEN {date} AND {date})",
		"({string} LIKE 'a%')", "({string} LIKE '%b%')", "({string} LIKE 'a_c')", "({string} LIKE '%')", "({string} NOT LIKE {string} || '%' ESCAPE '!')", "({string} ILIKE 'A%')",
		"({string} RLIKE '^[a-z]+$')", "isnan({double})", "startswith({string}, {string})",
		"CASE WHEN {bool} THEN {bool} WHEN {bool} THEN {bool} ELSE {bool} END", "coalesce({bool}, {bool})", "if({bool}, {bool}, {bool})",
		"CAST({string} AS BOOLEAN)", "({bool} = {int})",
	},
	"int":    {"({int} + {int})", "({int} - 1)", "({int} * {int})", "({int} % {int})", "-({int})", "abs({int})", "length({string})", "year({date})", "month({date})", "datediff({date}, {date})", "CAST({long} AS INT)", "CAST({double} AS INT)", "TRY_CAST({string} AS INT)", "CASE {int} WHEN 1 THEN {int} END", "coalesce({int}, {int})", "nullif({int}, {int})"},
	"long":   {"({long} + {int})", "({long} + 1)", "({long} DIV {int})", "CAST({int} AS BIGINT)", "CAST({string} AS BIGINT)", "floor({double})", "CAST({dec} AS BIGINT)", "CAST(CAST({ts} AS TIMESTAMP) AS BIGINT)", "if({bool}, {long}, {long})"},
	"double": {"({double} + {double})", "({int} / {int})", "({double} % {double})", "CAST({string} AS DOUBLE)", "CAST({dec} AS DOUBLE)", "CAST({int} AS FLOAT)", "round({double}, 1)", "abs({double})"},
	"dec":    {"({dec} + {dec})", "({dec} - {int})", "({dec} * 2)", "({dec} / 3)", "({dec} % 7)", "CAST({int} AS DECIMAL(12,2))", "CAST({dec} AS DECIMAL(38,12))", "CAST({double} AS DECIMAL(20,4))", "CAST({string} AS DECIMAL(10,2))", "round({dec}, 1)", "-({dec})", "ceil({dec})"},
	"string": {"lower({string})", "upper({string})", "trim({string})", "substring({string}, {int}, 2)", "concat({string}, {string})", "({string} || {int})", "CAST({int} AS STRING)", "CAST({double} AS STRING)", "CAST({dec} AS STRING)", "CAST({date} AS STRING)", "CAST({ts} AS STRING)", "coalesce({string}, {string})", "CASE WHEN {bool} THEN {string} ELSE {string} END"},
	"date":   {"date_add({date}, {int})", "date_sub({date}, 30)", "add_months({date}, 1)", "({date} - INTERVAL 1 YEAR)", "({date} + INTERVAL 3 DAY)", "last_day({date})", "to_date({string})", "to_date({string}, 'yyyy-M-d')", "CAST({ts} AS DATE)", "CAST({string} AS DATE)", "coalesce({date}, {date})"},
	"ts":     {"CAST({date} AS TIMESTAMP)", "CAST({date} AS TIMESTAMP_NTZ)", "({ts} + INTERVAL 1 DAY)", "({ts} - INTERVAL 1 MONTH)", "({ts} + INTERVAL 90 MINUTE)", "CAST({string} AS TIMESTAMP)", "to_timestamp({string})", "CAST({ts} AS TIMESTAMP_NTZ)"},
}

// genExpr draws an expression of a kind as text.
func genExpr(t *rapid.T, kind string, depth int) string {
	what := rapid.IntRange(0, 5).Draw(t, "what")
	switch {
	case depth == 0 && what < 4 || what == 0:
		return rapid.SampledFrom(genColumns[kind]).Draw(t, "column")
	case depth == 0 || what == 1:
		return rapid.SampledFrom(genLiterals[kind]).Draw(t, "literal")
	}
	form := rapid.SampledFrom(genForms[kind]).Draw(t, "form")
	var b strings.Builder
	for form != "" {
		before, rest, found := strings.Cut(form, "{")
		b.WriteString(before)
		if !found {
			break
		}
		inner, after, _ := strings.Cut(rest, "}")
		b.WriteString(genExpr(t, inner, depth-1))
		form = after
	}
	return b.String()
}
