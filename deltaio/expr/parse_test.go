package expr_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/expr"
)

func TestParse_error_points_at_the_place(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text         string
		line, column int
		msg          string
	}{
		{"", 1, 1, "is empty"},
		{"  -- nothing\n", 2, 1, "is empty"},
		{"event_date < < DATE'2024-01-01'", 1, 14, "found < where a value"},
		{"a = 1 AND", 1, 10, "text ends where a value"},
		{"a = 1\n  AND b = ", 2, 11, "text ends"},
		{"a = 'open", 1, 5, "string is not closed"},
		{"a = `open", 1, 5, "name is not closed"},
		{"a = ``", 1, 5, "empty name"},
		{"a /* open", 1, 3, "comment is not closed"},
		{"a = 1 b", 1, 7, "found b where an operator or the end"},
		{"a = 1;", 1, 6, "one expression without ;"},
		{"(a = 1", 1, 7, "text ends where ) is wanted"},
		{"a = 1)", 1, 6, "found )"},
		{"a IN ()", 1, 3, "IN has no values"},
		{"a IN (SELECT 1)", 1, 7, "subqueries"},
		{"a IN (1, 2", 1, 11, "a comma or )"},
		{"EXISTS (SELECT 1)", 1, 1, "subqueries"},
		{"(a, b) IN ((1, 2))", 1, 3, "row values"},
		{"a BETWEEN 1", 1, 12, "AND is wanted"},
		{"a NOT 1", 1, 7, "BETWEEN, IN, LIKE or RLIKE"},
		{"a IS 1", 1, 6, "NULL, TRUE"},
		{"a IS NULL IS NULL", 1, 11, "found IS"},
		{"a LIKE ANY ('x')", 1, 8, "LIKE ANY"},
		{"a LIKE 'x' ESCAPE 'ab'", 1, 19, "one character"},
		{"CASE WHEN a THEN 1", 1, 19, "END is wanted"},
		{"CASE a THEN 1 END", 1, 8, "WHEN is wanted"},
		{"CAST(a)", 1, 7, "AS is wanted"},
		{"CAST(a AS INTEGR)", 1, 11, "a type such as"},
		{"CAST(a AS DECIMAL(39,0))", 1, 11, "out of range"},
		{"CAST(a AS DECIMAL(5,6))", 1, 11, "out of range"},
		{"CAST(a AS INT(5))", 1, 11, "parameters"},
		{"count(*)", 1, 7, "aggregates"},
		{"count(DISTINCT a)", 1, 7, "aggregates"},
		{"DATE'2024-13-01'", 1, 5, "is not a date"},
		{"DATE'today'", 1, 5, "current_date()"},
		{"TIMESTAMP'x'", 1, 10, "is not a timestamp"},
		{"X'0g'", 1, 2, "hexadecimal"},
		{"1e999", 1, 1, "does not fit"},
		{"300Y", 1, 1, "does not fit"},
		{"1234567890123456789012345678901234567890", 1, 1, "more than 38 digits"},
		{"2024abc = 1", 1, 1, "backticks"},
		{"a & b", 1, 3, "not supported"},
		{"a[0] = 1", 1, 2, "not supported"},
		{"end = 1", 1, 1, "`end`"},
		{"d + INTERVAL 1 FORTNIGHT", 1, 16, "a unit"},
		{"d + INTERVAL 1.5 DAY", 1, 14, "whole number"},
		{"d + INTERVAL 1 MONTH 1 DAY", 1, 5, "mixed"},
		{"d + INTERVAL '1-2' YEAR TO MONTH", 1, 14, "whole number"},
		{"a.1", 1, 2, "found .1"},
		{"a. = 1", 1, 4, "a field name"},
		{"'a\xff' = 1", 1, 1, "not UTF-8"},
		{"\xff = 1", 1, 1, "not UTF-8"},
	} {
		_, err := expr.Parse(c.text)
		var se *expr.SyntaxError
		require.ErrorAs(t, err, &se, c.text)
		require.Contains(t, se.Error(), c.msg, c.text)
		require.Equal(t, [2]int{c.line, c.column}, [2]int{se.Line, se.Column}, "%s: %s", c.text, se)
		require.Equal(t, c.text, se.Text)
	}
}

func TestParse_error_shows_the_line_with_a_caret(t *testing.T) {
	t.Parallel()
	_, err := expr.Parse("status = 'é' AND\n\tevent_date << 3\nOR x")
	require.EqualError(t, err, "expression, line 2, column 14: found < where a value, column or function is wanted\n"+
		"  \tevent_date << 3\n"+
		"  \t            ^")
	_, err = expr.Parse(strings.Repeat("a = 1 AND ", 40) + "AND " + strings.Repeat("a = 1 AND ", 40))
	require.Less(t, len(err.Error()), 500)
	require.Contains(t, err.Error(), "…")
}

func TestString_is_canonical(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a = 1 and (b or not c)":      "a = 1 AND (b OR NOT c)",
		"a AND (b AND c) AND d":       "a AND b AND c AND d",
		"(a = b) = (c = d)":           "a = b = (c = d)",
		"a = b is null":               "a = b IS NULL",
		"(a is null) is null":         "(a IS NULL) IS NULL",
		"! a":                         "NOT a",
		"a == 1 and b != 2":           "a = 1 AND b <> 2",
		"-(-5) - -5 + -(5) - - - 6":   "-(-5) - -5 + -(5) - -(-6)",
		"- - a":                       "-(-a)",
		"a - (b - c) - d":             "a - (b - c) - d",
		"(a + b) * c":                 "(a + b) * c",
		"`date` = date and `end`=1":   "`date` = `date` AND `end` = 1",
		"a.`b.c`.`d``e`":              "a.`b.c`.`d``e`",
		"naïve = 1":                   "`naïve` = 1",
		"x like 'a!%' escape '!'":     "x LIKE 'a!%' ESCAPE '!'",
		`x like 'a' escape '\\'`:      "x LIKE 'a'",
		`'it''s' || "it's" || 'a\nb'`: `'it\'s' || 'it\'s' || 'a\nb'`,
		`'\%\_\\'`:                    `'\\%\\_\\'`,
		"trim(leading 'x' from y)":    "ltrim('x', y)",
		"substring(a from 2 for 3)":   "substring(a, 2, 3)",
		"cast(a as numeric(5)) = try_cast(b as long)": "CAST(a AS DECIMAL(5,0)) = TRY_CAST(b AS BIGINT)",
		"date '2024-1-6' + interval 2 weeks":          "DATE'2024-01-06' + INTERVAL '14' DAY",
		"d - interval '1 year 2 months'":              "d - INTERVAL '14' MONTH",
		"d - interval 1 day - 3":                      "d - INTERVAL '1' DAY - 3",
		"ts + interval 1.5 second":                    "ts + INTERVAL '1.500000' SECOND",
		"timestamp'2024-01-01 00:00:00+01:00'":        "TIMESTAMP'2023-12-31 23:00:00Z'",
		"timestamp'2024-01-01'":                       "TIMESTAMP'2024-01-01 00:00:00'",
		"timestamp'2024-01-01 00:00:00 Asia/Tokyo'":   "TIMESTAMP'2024-01-01 00:00:00 Asia/Tokyo'",
		"1.50 + 1e3 + 1.5f + 10bd + 5l + 5s + x'0F'":  "1.50 + 1E+03 + 1.5E+00F + 10BD + 5L + 5S + X'0f'",
		"current_date < Current_Timestamp()":          "CURRENT_DATE < current_timestamp()",
		"case a when 1 then 2 end /* c /* n */ */":    "CASE a WHEN 1 THEN 2 END",
		"a is not distinct from b":                    "a IS NOT DISTINCT FROM b",
		"a not rlike 'x' -- end":                      "a NOT RLIKE 'x'",
	} {
		e, err := expr.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, e.String())
		require.True(t, e.Equal(expr.MustParse(want)), want)
	}
}

func TestParse_limits_refuse_hostile_texts_quickly(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat("(", 1_000_000),
		strings.Repeat("NOT ", 500_000) + "a",
		strings.Repeat("- ", 500_000) + "a",
		strings.Repeat("CASE WHEN ", 200_000),
		strings.Repeat("f(", 500_000),
		"a" + strings.Repeat(" + a", 100_000),
		"a" + strings.Repeat(" = a", 100_000),
		"a" + strings.Repeat(".a", 100_000),
		strings.Repeat("a", 5<<20),
		strings.Repeat("/*", 1_000_000),
	} {
		start := time.Now()
		_, err := expr.Parse(text)
		require.Error(t, err)
		require.Less(t, time.Since(start), 5*time.Second)
		require.Less(t, len(err.Error()), 600)
	}
}

func TestParse_long_lists_and_chains_of_conditions_are_fine(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"a IN (1" + strings.Repeat(", 1", 200_000) + ")",
		"a = 1" + strings.Repeat(" OR a = 1", 50_000),
		strings.Repeat("(", 100) + "a" + strings.Repeat(")", 100),
	} {
		_, err := expr.Parse(text)
		require.NoError(t, err)
	}
}

func TestColumns_are_listed_once_sorted(t *testing.T) {
	t.Parallel()
	e := expr.MustParse("z.a > 1 AND `b.c` IS NULL OR upper(z.b) = A OR z IS NULL")
	require.Equal(t, []string{"A", "b.c", "z"}, e.Columns())
	require.Empty(t, expr.MustParse("1 = 1").Columns())
}

func TestAnd_leaves_out_nil_and_flattens(t *testing.T) {
	t.Parallel()
	a, bc := expr.MustParse("a = 1"), expr.MustParse("b AND c")
	require.Equal(t, "a = 1 AND b AND c", expr.And(nil, a, nil, bc).String())
	require.Equal(t, "a = 1", expr.And(a, nil).String())
	require.Equal(t, "TRUE", expr.And().String())
	require.Equal(t, "FALSE", expr.Or().String())
	require.Equal(t, "a = 1 OR b AND c", expr.Or(a, bc).String())
	require.Equal(t, "NOT (b AND c)", expr.Not(bc).String())
	require.Nil(t, expr.Not(nil))
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"expressions.txt", "predicates.txt"} {
		for _, row := range golden(f, name) {
			f.Add(row[0])
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := expr.Parse(text)
		if err != nil {
			var se *expr.SyntaxError
			require.True(t, errors.As(err, &se))
			require.LessOrEqual(t, se.Pos, len(text))
			require.NotEmpty(t, se.Error())
			return
		}
		again, err := expr.Parse(e.String())
		require.NoError(t, err, e.String())
		require.True(t, e.Equal(again), e.String())
		require.Equal(t, e.String(), again.String())
		// Binding may refuse, but must not panic.
		if b, err := e.Bind(genSchema, expr.Context{}); err == nil {
			b.Prune(func(string) (expr.Range, bool) { return expr.Range{}, false })
		}
	})
}
