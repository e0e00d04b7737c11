package expr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

var bindSchema = &schema.Struct{Fields: []schema.Field{
	{Name: "event_date", Type: schema.Date}, {Name: "Status", Type: schema.String}, {Name: "amount", Type: schema.Decimal{Precision: 18, Scale: 2}},
	{Name: "id", Type: schema.Long}, {Name: "a.b", Type: schema.Long}, {Name: "dup", Type: schema.Long}, {Name: "DUP", Type: schema.Long},
	{Name: "tags", Type: &schema.Array{Element: schema.String}}, {Name: "ok", Type: schema.Boolean}, {Name: "v", Type: schema.Variant},
	{Name: "customer", Type: &schema.Struct{Fields: []schema.Field{
		{Name: "Name", Type: schema.String}, {Name: "address", Type: &schema.Struct{Fields: []schema.Field{{Name: "zip", Type: schema.String}}}},
	}}},
}}

func TestBind_refusals_name_the_place_and_what_to_do(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, msg  string
		column     int
		candidates []string
	}{
		{"evnt_date < DATE'2024-01-01'", "there is no column evnt_date", 1, []string{"event_date"}},
		{"id = 1 AND stats = 'x'", "there is no column stats", 12, []string{"Status"}},
		{"zzzzzz = 1", "there is no column zzzzzz", 1, nil},
		{"a.b = 1", "there is no column a", 1, []string{"`a.b`"}},
		{"Dup = 1", "ambiguous: dup or DUP", 1, nil},
		{"customer.nmae = 'x'", "there is no field nmae", 1, []string{"Name"}},
		{"id.x = 1", "id is long and has no field x", 1, nil},
		{"id = event_date", "cannot compare long with date; dates are written as", 4, nil},
		{"tags = 'a'", "cannot compare array<string> with string", 6, nil},
		{"id AND ok", "AND wants a condition, and this is long", 1, nil},
		{"NOT Status", "NOT wants a condition", 5, nil},
		{"ok < 1", "cannot compare boolean with integer", 4, nil},
		{"id IN (event_date)", "no common type", 4, nil},
		{"coalesce(id, event_date) = 1", "no common type: long, date", 1, nil},
		{"CASE WHEN id THEN 1 END = 1", "WHEN wants a condition", 11, nil},
		{"CAST(tags AS STRING) = ''", "cannot cast array<string> to string", 1, nil},
		{"CAST(id AS DATE) > event_date", "cannot cast long to date", 1, nil},
		{"lowr(Status) = 'a'", "there is no function lowr", 1, []string{"lower"}},
		{"count(id) > 1", "is an aggregate", 1, nil},
		{"rand() < 0.5", "another value each time", 1, nil},
		{"lower() = ''", "lower takes 1 argument, not 0", 1, nil},
		{"substring(Status) = ''", "substring takes 2 arguments to 3, not 1", 1, nil},
		{"year(id) = 2024", "year wants date here, and this is long", 6, nil},
		{"event_date - event_date > 1", "use datediff", 12, nil},
		{"event_date + id > event_date", "not supported", 12, nil},
		{"date_add(event_date, id) > event_date", "cast it", 22, nil},
		{"Status + INTERVAL 1 DAY > 'x'", "cast the string first", 8, nil},
		{"id + INTERVAL 1 DAY > 1", "cannot add an interval to long", 4, nil},
		{"id > INTERVAL 1 DAY", "beside + or -", 6, nil},
		{"id DIV 1.5D > 1", "DIV wants", 4, nil},
		{"event_date * 2 > 1", "* wants numbers", 1, nil},
		{"Status LIKE 'a#b' ESCAPE '#'", "may not stand before", 13, nil},
		{`Status LIKE 'ab\\'`, "ends with the escape", 13, nil},
		{"Status RLIKE Status", "must be constant", 14, nil},
		{"Status RLIKE '(?=a)'", "look-ahead is not supported by RE2", 14, nil},
		{"to_date(Status, Status) IS NULL", "constant pattern", 17, nil},
		{"to_date(Status, 'YYYY') IS NULL", "YYYY is not supported", 17, nil},
		{"round(amount, id) > 1", "must be constant", 15, nil},
		{"-ok", "a sign wants a number", 1, nil},
		{"v = 1", "cannot compare variant", 3, nil},
		{"current_date() > event_date", "needs a clock", 1, nil},
		{"current_date(1) > event_date", "takes no arguments", 1, nil},
		{"event_date > TIMESTAMP'2024-01-01 00:00:00 Europe/Atlantis'", "", 14, nil},
	} {
		e, err := expr.Parse(c.text)
		if err != nil { // an unknown zone is found at once
			require.ErrorContains(t, err, "is not a timestamp")
			continue
		}
		_, err = e.Bind(bindSchema, expr.Context{})
		var be *expr.BindError
		require.ErrorAs(t, err, &be, c.text)
		require.Contains(t, be.Error(), c.msg, c.text)
		require.Equal(t, c.column, be.Column, "%s: %s", c.text, be)
		require.Equal(t, c.candidates, be.Candidates, c.text)
	}
}

func TestBind_error_of_a_joined_expression_points_into_its_own_text(t *testing.T) {
	t.Parallel()
	e := expr.And(expr.MustParse("id > 1"), expr.MustParse("Status = 'x' AND nothing = 1"))
	_, err := e.Bind(bindSchema, expr.Context{})
	require.EqualError(t, err, "expression, line 1, column 18: there is no column nothing\n"+
		"  Status = 'x' AND nothing = 1\n"+
		"                   ^")
}

func TestBind_names_ignore_case_and_columns_are_the_schemas(t *testing.T) {
	t.Parallel()
	b, err := expr.MustParse("STATUS = 'a' AND Customer.NAME = 'x' AND `A.B` > 1 AND dup = DUP AND customer.address.zip IS NULL").Bind(bindSchema, expr.Context{})
	require.NoError(t, err)
	require.Equal(t, []string{"DUP", "Status", "a.b", "customer", "dup"}, b.Columns())
	require.Equal(t, schema.Boolean, b.Type())
}

func TestBind_nested_and_unknown_types_can_be_asked_for_null(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"tags IS NULL", "customer IS NOT NULL", "v IS NULL", "isnull(tags)"} {
		_, err := expr.MustParse(text).Bind(bindSchema, expr.Context{})
		require.NoError(t, err, text)
	}
}
