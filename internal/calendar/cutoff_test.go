package calendar_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/internal/calendar"
	"github.com/lakewarden/lakewarden/spec"
)

func zone(t require.TestingT, name string) *time.Location {
	z, err := time.LoadLocation(name)
	require.NoError(t, err)
	return z
}

func at(t require.TestingT, s string) time.Time {
	v, err := time.Parse(time.RFC3339, s)
	require.NoError(t, err)
	return v
}

func days(n int) spec.OlderThan   { return spec.OlderThan{Column: "d", Days: &n} }
func months(n int) spec.OlderThan { return spec.OlderThan{Column: "d", Months: &n} }
func years(n int) spec.OlderThan  { return spec.OlderThan{Column: "d", Years: &n} }

func fromEndOfYear(o spec.OlderThan) spec.OlderThan {
	o.From = spec.FromEndOfYear
	return o
}

func TestOf_an_age_gives_the_day_before_which_rows_are_due(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		age       spec.OlderThan
		now, zone string
		date      calendar.Date
		instant   string
	}{
		"thirty days in UTC":                      {days(30), "2025-03-10T12:00:00Z", "UTC", "2025-02-08", "2025-02-08T00:00:00Z"},
		"one day on the evening of a 23-hour day": {days(1), "2025-03-10T03:00:00Z", "America/Los_Angeles", "2025-03-08", "2025-03-08T08:00:00Z"},
		"a minute before local midnight":          {days(1), "2025-03-10T06:59:59Z", "America/Los_Angeles", "2025-03-08", "2025-03-08T08:00:00Z"},
		"at local midnight after a 23-hour day":   {days(1), "2025-03-10T07:00:00Z", "America/Los_Angeles", "2025-03-09", "2025-03-09T08:00:00Z"},
		"a 25-hour day counts as one":             {days(1), "2025-10-26T23:30:00Z", "Europe/Lisbon", "2025-10-25", "2025-10-24T23:00:00Z"},
		"ahead of UTC it is already tomorrow":     {days(1), "2025-01-01T10:30:00Z", "Pacific/Kiritimati", "2025-01-01", "2024-12-31T10:00:00Z"},
		"a short month ends early":                {months(1), "2025-03-31T00:00:00Z", "UTC", "2025-02-28", "2025-02-28T00:00:00Z"},
		"a short month in a leap year":            {months(1), "2024-03-31T00:00:00Z", "UTC", "2024-02-29", "2024-02-29T00:00:00Z"},
		"months across a year":                    {months(14), "2025-01-15T00:00:00Z", "UTC", "2023-11-15", "2023-11-15T00:00:00Z"},
		"twelve months back from 29 February":     {months(12), "2024-02-29T00:00:00Z", "UTC", "2023-02-28", "2023-02-28T00:00:00Z"},
		"a year back from 29 February":            {years(1), "2024-02-29T00:00:00Z", "UTC", "2023-02-28", "2023-02-28T00:00:00Z"},
		"four years back from 29 February":        {years(4), "2024-02-29T00:00:00Z", "UTC", "2020-02-29", "2020-02-29T00:00:00Z"},
		"a fixed day":                             {spec.OlderThan{Until: "2024-01-01"}, "2025-03-10T12:00:00Z", "Asia/Tokyo", "2024-01-01", "2023-12-31T15:00:00Z"},
		"end of year, last day of the age":        {fromEndOfYear(years(10)), "2024-12-31T23:59:59Z", "UTC", "2014-01-01", "2014-01-01T00:00:00Z"},
		"end of year, the day after":              {fromEndOfYear(years(10)), "2025-01-01T00:00:00Z", "UTC", "2015-01-01", "2015-01-01T00:00:00Z"},
		"end of year, in days":                    {fromEndOfYear(days(30)), "2025-01-30T00:00:00Z", "UTC", "2024-01-01", "2024-01-01T00:00:00Z"},
		"end of year, in days, the day after":     {fromEndOfYear(days(30)), "2025-01-31T00:00:00Z", "UTC", "2025-01-01", "2025-01-01T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := calendar.Of(c.age, at(t, c.now), zone(t, c.zone))
			require.NoError(t, err)
			require.Equal(t, c.date, got.Date)
			require.Equal(t, c.zone, got.Zone)
			require.Equal(t, at(t, c.instant), got.Instant)
		})
	}
}

func TestOf_what_cannot_be_computed_is_an_error(t *testing.T) {
	t.Parallel()
	now := at(t, "2025-03-10T12:00:00Z")
	for name, c := range map[string]struct {
		age  spec.OlderThan
		now  time.Time
		zone *time.Location
		want string
	}{
		"no age":          {spec.OlderThan{Column: "d"}, now, time.UTC, "no age"},
		"age of nothing":  {days(0), now, time.UTC, "no age"},
		"before year one": {years(2025), now, time.UTC, "before year 1"},
		"not a day":       {spec.OlderThan{Until: "2025-02-30"}, now, time.UTC, "not a day"},
		"no zone":         {days(1), now, nil, "no time zone"},
		"host zone":       {days(1), now, zone(t, "Local"), "no time zone"},
		"no clock":        {days(1), time.Time{}, time.UTC, "no time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := calendar.Of(c.age, c.now, c.zone)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestStartOf_a_day_begins_at_the_first_instant_that_shows_it(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		day        calendar.Date
		zone, want string
	}{
		"midnight is skipped":                 {"2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00:00Z"}, // 00:00 became 01:00
		"midnight comes twice":                {"2024-11-03", "America/Havana", "2024-11-03T04:00:00Z"},    // 01:00 became 00:00
		"the clock goes back over midnight":   {"2018-02-18", "America/Sao_Paulo", "2018-02-18T03:00:00Z"}, // 24:00 became 23:00
		"back over midnight a minute past it": {"2010-11-07", "America/St_Johns", "2010-11-07T02:30:00Z"},  // 00:01 became 23:01
		"the whole day was skipped":           {"2011-12-30", "Pacific/Apia", "2011-12-30T10:00:00Z"},      // 30 December never was
		"a quarter of an hour off":            {"2025-06-01", "Asia/Kathmandu", "2025-05-31T18:15:00Z"},
		"no zone transitions at all":          {"2025-06-01", "Etc/GMT+5", "2025-06-01T05:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, at(t, c.want), calendar.StartOf(c.day, zone(t, c.zone)))
		})
	}
}

func TestCutoff_is_shown_with_its_zone(t *testing.T) {
	t.Parallel()
	now := at(t, "2025-03-10T03:00:00Z")
	la := zone(t, "America/Los_Angeles")
	c, err := calendar.Of(days(1), now, la)
	require.NoError(t, err)
	require.Equal(t, "before 2025-03-08 in America/Los_Angeles (2025-03-08T08:00:00Z)", c.String())
}

var zones = []string{"UTC", "America/Los_Angeles", "America/Sao_Paulo", "America/Havana", "America/St_Johns", "Europe/Lisbon", "Pacific/Apia", "Asia/Kathmandu", "Australia/Lord_Howe"}

func anyAge(t *rapid.T) spec.OlderThan {
	n := rapid.IntRange(1, 400).Draw(t, "n")
	age := []spec.OlderThan{days(n), months(n), years(n)}[rapid.IntRange(0, 2).Draw(t, "unit")]
	age.From = rapid.SampledFrom([]spec.From{spec.FromDate, spec.FromEndOfYear}).Draw(t, "from")
	return age
}

func anyTime(t *rapid.T, name string) time.Time {
	return time.Unix(rapid.Int64Range(0, 2_000_000_000).Draw(t, name), 0).UTC()
}

func TestOf_a_later_clock_never_gives_an_earlier_cutoff(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		z := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		age := anyAge(t)
		early := anyTime(t, "early")
		late := early.Add(time.Duration(rapid.Int64Range(26*3600, 100*86400).Draw(t, "later")) * time.Second)
		a, err := calendar.Of(age, early, z)
		require.NoError(t, err)
		b, err := calendar.Of(age, late, z)
		require.NoError(t, err)
		require.LessOrEqual(t, a.Date, b.Date)
		require.False(t, b.Instant.Before(a.Instant))
	})
}

func TestOf_a_longer_age_never_gives_a_later_cutoff(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		z := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		now := anyTime(t, "now")
		n, more := rapid.IntRange(1, 400).Draw(t, "n"), rapid.IntRange(0, 400).Draw(t, "more")
		from := rapid.SampledFrom([]spec.From{spec.FromDate, spec.FromEndOfYear}).Draw(t, "from")
		for _, unit := range []func(int) spec.OlderThan{days, months, years} {
			short, long := unit(n), unit(n+more)
			short.From, long.From = from, from
			a, err := calendar.Of(short, now, z)
			require.NoError(t, err)
			b, err := calendar.Of(long, now, z)
			require.NoError(t, err)
			require.LessOrEqual(t, b.Date, a.Date)
		}
	})
}

func TestOf_end_of_year_never_purges_more_than_the_rows_own_date(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		z := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		age, now := anyAge(t), anyTime(t, "now")
		age.From = spec.FromDate
		own, err := calendar.Of(age, now, z)
		require.NoError(t, err)
		year, err := calendar.Of(fromEndOfYear(age), now, z)
		require.NoError(t, err)
		require.LessOrEqual(t, year.Date, own.Date)
		require.Regexp(t, `-01-01$`, string(year.Date))
	})
}

func TestStartOf_the_instant_shows_the_day_and_the_one_before_does_not(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		z := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		day := anyTime(t, "day").Format(time.DateOnly)
		start := calendar.StartOf(calendar.Date(day), z)
		require.GreaterOrEqual(t, start.In(z).Format(time.DateOnly), day)
		require.Less(t, start.Add(-time.Nanosecond).In(z).Format(time.DateOnly), day)
	})
}
