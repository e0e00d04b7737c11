package calendar_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/internal/calendar"
)

func TestSQL_the_criterion_fits_the_column_type(t *testing.T) {
	t.Parallel()
	c, err := calendar.Of(days(1), at(t, "2025-03-10T03:00:00Z"), zone(t, "America/Los_Angeles"))
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		column       string
		typ          schema.Type
		format       string
		due, undated string
	}{
		"date":             {"d", schema.Date, "", "`d` < DATE'2025-03-08'", "`d` IS NULL"},
		"timestamp":        {"at", schema.Timestamp, "", "`at` < TIMESTAMP'2025-03-08 08:00:00Z'", "`at` IS NULL"},
		"timestamp_ntz":    {"at", schema.TimestampNTZ, "", "`at` < DATE'2025-03-08'", "`at` IS NULL"},
		"string":           {"d", schema.String, "yyyy-MM-dd", "to_date(`d`, 'yyyy-MM-dd') < DATE'2025-03-08'", "to_date(`d`, 'yyyy-MM-dd') IS NULL"},
		"integer":          {"d", schema.Integer, "yyyyMMdd", "to_date(CAST(`d` AS STRING), 'yyyyMMdd') < DATE'2025-03-08'", "to_date(CAST(`d` AS STRING), 'yyyyMMdd') IS NULL"},
		"quoted format":    {"d", schema.String, "yyyy-MM-dd'T'HH", `to_date(` + "`d`" + `, 'yyyy-MM-dd\'T\'HH') < DATE'2025-03-08'`, `to_date(` + "`d`" + `, 'yyyy-MM-dd\'T\'HH') IS NULL`},
		"nested field":     {"a.b", schema.Date, "", "`a`.`b` < DATE'2025-03-08'", "`a`.`b` IS NULL"},
		"dots in the name": {"`a.b`", schema.Date, "", "`a.b` < DATE'2025-03-08'", "`a.b` IS NULL"},
		"hostile name":     {"`x`` IS NULL OR ``y`", schema.Date, "", "`x`` IS NULL OR ``y` < DATE'2025-03-08'", "`x`` IS NULL OR ``y` IS NULL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := c.SQL(tc.column, tc.typ, tc.format)
			require.NoError(t, err)
			require.Equal(t, tc.due, p.Due)
			require.Equal(t, tc.undated, p.Undated)
		})
	}
}

func TestSQL_a_column_whose_dates_would_be_guessed_is_refused(t *testing.T) {
	t.Parallel()
	c := calendar.Cutoff{Date: "2025-03-08", Zone: "UTC"}
	for name, tc := range map[string]struct {
		column string
		typ    schema.Type
		format string
		want   string
	}{
		"string without format": {"d", schema.String, "", "criteria.older_than.format: yyyy-MM-dd"},
		"long without format":   {"d", schema.Long, "", "criteria.older_than.format"},
		"date with format":      {"d", schema.Date, "yyyy-MM-dd", "remove criteria.older_than.format"},
		"double":                {"d", schema.Double, "", "has no date"},
		"decimal":               {"d", schema.Decimal{Precision: 8}, "", "has no date"},
		"struct":                {"d", &schema.Struct{}, "", "has no date"},
		"empty name":            {"", schema.Date, "", "want a name"},
		"dot at the end":        {"a.", schema.Date, "", "want a name"},
		"open backtick":         {"`a", schema.Date, "", "want a name"},
		"text after backticks":  {"`a`b", schema.Date, "", "want a name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := c.SQL(tc.column, tc.typ, tc.format)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestSplitColumn_reads_back_what_QuoteColumn_wrote(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.SliceOfN(rapid.StringMatching("[a-z`.' é]{1,6}"), 1, 4).Draw(t, "path")
		got, err := calendar.SplitColumn(calendar.QuoteColumn(path...))
		require.NoError(t, err)
		require.Equal(t, path, got)
	})
}

func TestLookupColumn_finds_the_type_or_names_what_is_there(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{Fields: []schema.Field{
		{Name: "id", Type: schema.Long},
		{Name: "a.b", Type: schema.String},
		{Name: "meta", Type: &schema.Struct{Fields: []schema.Field{{Name: "Day", Type: schema.Date}}}},
	}}
	for column, want := range map[string]schema.Type{"ID": schema.Long, "`a.b`": schema.String, "meta.day": schema.Date} {
		got, err := calendar.LookupColumn(s, column)
		require.NoError(t, err, column)
		require.Equal(t, want, got, column)
	}
	for column, want := range map[string]string{
		"event_date": "it has id, a.b, meta",
		"meta.x":     "it has Day",
		"id.x":       "has no fields",
		"a.b":        "has no `a`",
	} {
		_, err := calendar.LookupColumn(s, column)
		require.ErrorContains(t, err, want, column)
	}
}
