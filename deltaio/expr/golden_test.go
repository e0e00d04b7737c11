package expr_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // tests must not depend on the host's database

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// The golden files hold answers of Spark 3.5 (testdata/README.md).

// differs lists expressions whose answer differs from Spark's on purpose; each
// is explained in differences.go.
var differs = map[string]string{
	"cast('10:11:12' as timestamp) is null":    "a time without a date is not a timestamp",
	"to_date('2025-01-06T','yyyy-MM-dd''T''')": "a doubled quote is a quote",
	"case null when null then 1 else 2 end":    "NULL is a condition",
	"'abc' rlike '[[:alpha:]]+'":               "refused",
	`'a' rlike '[\\w&&[^b]]'`:                  "refused",
}

func losAngeles(t testing.TB) expr.Context {
	loc, err := time.LoadLocation("America/Los_Angeles")
	require.NoError(t, err)
	return expr.Context{Now: time.Date(2025, 3, 10, 12, 0, 0, 0, time.UTC), Zone: loc}
}

func golden(t testing.TB, name string) [][]string {
	f, err := os.Open(filepath.Join("testdata", name))
	require.NoError(t, err)
	defer f.Close()
	var out [][]string
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := s.Text(); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, strings.Split(line, "\t"))
		}
	}
	require.NotEmpty(t, out)
	return out
}

// sparkName is a type as Spark prints it.
func sparkName(t schema.Type) string {
	switch t {
	case schema.Byte:
		return "tinyint"
	case schema.Short:
		return "smallint"
	case schema.Integer:
		return "int"
	case schema.Long:
		return "bigint"
	}
	return t.String()
}

func typeOfName(t testing.TB, name string) schema.Type {
	for _, p := range []schema.Type{schema.Byte, schema.Short, schema.Integer, schema.Long} {
		if sparkName(p) == name {
			return p
		}
	}
	s, err := schema.Parse(fmt.Sprintf(`{"type":"struct","fields":[{"name":"x","type":%q,"nullable":true,"metadata":{}}]}`, name))
	require.NoError(t, err)
	return s.Fields[0].Type
}

// oneRow is a batch of one row without columns.
func oneRow() arrow.Record { return array.NewRecord(arrow.NewSchema(nil, nil), nil, 1) }

// textOf evaluates an expression without columns as its type and text.
func textOf(t testing.TB, text string, c expr.Context) (typ, value string) {
	e, err := expr.Parse(text)
	if err != nil {
		return "ERROR", ""
	}
	b, err := e.Bind(&schema.Struct{}, c)
	if err != nil {
		return "ERROR", ""
	}
	typ = sparkName(b.Type())
	if b.Type() != schema.Binary {
		b, err = expr.MustParse("CAST(("+text+") AS STRING)").Bind(&schema.Struct{}, c)
		require.NoError(t, err, text)
	}
	a, err := b.Eval(oneRow())
	require.NoError(t, err, text)
	defer a.Release()
	switch x := a.(type) {
	case *array.String:
		value = x.Value(0)
	case *array.Binary:
		value = strings.ToUpper(fmt.Sprintf("%x", x.Value(0)))
	}
	if a.IsNull(0) {
		return typ, "NULL"
	}
	return typ, "=" + value
}

func TestEval_constant_expressions_give_sparks_type_and_value(t *testing.T) {
	t.Parallel()
	c := losAngeles(t)
	unescape := strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r", `\0`, "\x00")
	for _, row := range golden(t, "golden.tsv") {
		if _, ok := differs[row[0]]; ok {
			continue
		}
		typ, value := textOf(t, row[0], c)
		assert.Equal(t, row[1]+" "+unescape.Replace(row[2]), typ+" "+value, row[0])
	}
}

func TestBind_type_pairs_coerce_as_in_spark(t *testing.T) {
	t.Parallel()
	rows := golden(t, "types.tsv")
	ops := []string{"{a} = {b}", "{a} < {b}", "{a} in ({b})", "coalesce({a},{b})", "{a} + {b}", "{a} - {b}",
		"{a} * {b}", "{a} / {b}", "{a} % {b}", "cast({a} as {t})", "try_cast({a} as {t})"}
	s, names := &schema.Struct{}, []string{}
	column := map[string]string{}
	for _, row := range rows {
		if _, ok := column[row[0]]; !ok && row[0] != "single" {
			name := fmt.Sprintf("c%d", len(column))
			column[row[0]] = name
			names = append(names, row[0])
			s.Fields = append(s.Fields, schema.Field{Name: name, Type: typeOfName(t, row[0]), Nullable: true})
		}
	}
	check := func(want, text string) {
		got := "ERROR"
		e, err := expr.Parse(text)
		require.NoError(t, err)
		if b, err := e.Bind(s, losAngeles(t)); err == nil {
			got = sparkName(b.Type())
		}
		if strings.HasPrefix(want, "interval") || strings.Contains(text, "interval") && want == "string" {
			want = "ERROR" // intervals are not values here
		}
		assert.Equal(t, want, got, text)
	}
	for _, row := range rows {
		if row[0] == "single" {
			for i, name := range names {
				check(row[2+i], strings.NewReplacer("{a}", column[name]).Replace(row[1]))
			}
			continue
		}
		for i, op := range ops {
			if strings.Contains(op, "{t}") && row[1] == "void" {
				continue
			}
			check(row[2+i], strings.NewReplacer("{a}", column[row[0]], "{b}", column[row[1]], "{t}", row[1]).Replace(op))
		}
	}
}

// goldenRows builds the batch of testdata/rows.tsv, whose cells are SQL.
func goldenRows(t testing.TB, c expr.Context) (*schema.Struct, arrow.Record) {
	lines := golden(t, "rows.tsv")
	s := &schema.Struct{}
	var columns []arrow.Array
	for i, head := range lines[0] {
		name, typ, _ := strings.Cut(head, " ")
		s.Fields = append(s.Fields, schema.Field{Name: name, Type: typeOfName(t, typ), Nullable: true})
		var cells []arrow.Array
		for _, row := range lines[1:] {
			b, err := expr.MustParse("CAST("+row[i]+" AS "+typ+")").Bind(&schema.Struct{}, c)
			require.NoError(t, err)
			a, err := b.Eval(oneRow())
			require.NoError(t, err)
			cells = append(cells, a)
		}
		a, err := array.Concatenate(cells, memory.DefaultAllocator)
		require.NoError(t, err)
		columns = append(columns, a)
	}
	as, err := schema.ArrowSchema(s)
	require.NoError(t, err)
	return s, array.NewRecord(as, columns, int64(len(lines)-1))
}

func TestTruth_conditions_on_columns_give_sparks_answer_for_each_row(t *testing.T) {
	t.Parallel()
	c := losAngeles(t)
	s, rec := goldenRows(t, c)
	for _, row := range golden(t, "predicates.tsv") {
		got := "ERROR"
		if b, err := expr.MustParse(row[0]).Bind(s, c); err == nil {
			truth, err := b.Truth(rec)
			require.NoError(t, err, row[0])
			got = truthText(truth)
		}
		assert.Equal(t, row[1], got, row[0])
	}
}

func truthText(t *expr.Truth) string {
	var b strings.Builder
	for i := range t.N {
		switch {
		case t.IsTrue(i):
			b.WriteByte('T')
		case t.IsNull(i):
			b.WriteByte('N')
		default:
			b.WriteByte('F')
		}
	}
	return b.String()
}
