package calendar_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/internal/calendar"
	"github.com/lakewarden/lakewarden/spec"
)

func expected(t *testing.T, e spec.Expected) *calendar.Expected {
	t.Helper()
	if e.Every == "" {
		e.Every = "1 day"
	}
	c, err := calendar.NewExpected(e, nil, zone(t, e.Zone()))
	require.NoError(t, err)
	return c
}

func slots(t *testing.T, e spec.Expected, now string, names spec.Unit) []calendar.Slot {
	t.Helper()
	s, err := expected(t, e).Slots(at(t, now), names)
	require.NoError(t, err)
	return s
}

func keys(ss []calendar.Slot) []string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = string(s.Key)
	}
	return out
}

func TestSlots_a_window_holds_the_periods_that_ended_and_the_one_in_progress(t *testing.T) {
	t.Parallel()
	ss := slots(t, spec.Expected{Last: "3 days", Timezone: "Europe/Madrid", Deadline: "09:00"}, "2026-09-11T06:59:00Z", spec.Day)
	require.Equal(t, []string{"2026-09-08", "2026-09-09", "2026-09-10", "2026-09-11"}, keys(ss))
	now := at(t, "2026-09-11T06:59:00Z") // 08:59 in Madrid
	require.True(t, ss[1].Overdue(now))
	require.True(t, ss[2].Ended(now))
	require.False(t, ss[2].Overdue(now))
	require.True(t, ss[2].Overdue(now.Add(time.Minute)))
	require.False(t, ss[3].Ended(now))
	require.Equal(t, at(t, "2026-09-09T22:00:00Z"), ss[2].Start)
}

func TestSlots_days_are_right_when_clocks_change(t *testing.T) {
	t.Parallel()
	ss := slots(t, spec.Expected{Start: "2026-03-28", End: "2026-03-30", Timezone: "Europe/Madrid", Deadline: "02:30"}, "2026-10-01T00:00:00Z", spec.Day)
	require.Equal(t, []string{"2026-03-28", "2026-03-29", "2026-03-30"}, keys(ss))
	require.Equal(t, 23*time.Hour, ss[1].End.Sub(ss[1].Start))
	require.Equal(t, at(t, "2026-03-29T01:00:00Z"), ss[0].Due, "02:30 does not exist that day: the end of the gap counts")
	ss = slots(t, spec.Expected{Start: "2026-10-25", End: "2026-10-25", Timezone: "Europe/Madrid"}, "2026-11-01T00:00:00Z", spec.Day)
	require.Equal(t, 25*time.Hour, ss[0].End.Sub(ss[0].Start))
}

func TestSlots_an_hour_that_is_skipped_is_not_expected_and_one_that_comes_twice_is_one(t *testing.T) {
	t.Parallel()
	spring := slots(t, spec.Expected{Start: "2026-03-29", End: "2026-03-29", Every: "1 hour", Timezone: "Europe/Madrid"}, "2026-04-01T00:00:00Z", spec.Hour)
	require.Len(t, spring, 23)
	require.NotContains(t, keys(spring), "2026-03-29T02")
	autumn := slots(t, spec.Expected{Start: "2026-10-25", End: "2026-10-25", Every: "1 hour", Timezone: "Europe/Madrid"}, "2026-11-01T00:00:00Z", spec.Hour)
	require.Len(t, autumn, 24)
	require.Equal(t, 2*time.Hour, autumn[2].End.Sub(autumn[2].Start))
	pairs := slots(t, spec.Expected{Last: "1 day", Every: "6 hours", Timezone: "Europe/Madrid", Deadline: "00:15"}, "2026-09-11T08:30:00Z", spec.Hour)
	require.Equal(t, []string{"2026-09-10T06", "2026-09-10T12", "2026-09-10T18", "2026-09-11T00", "2026-09-11T06"}, keys(pairs))
	require.Equal(t, at(t, "2026-09-11T04:15:00Z"), pairs[3].Due)
}

func TestSlots_weeks_begin_on_Monday_and_belong_to_ISO_years(t *testing.T) {
	t.Parallel()
	ss := slots(t, spec.Expected{Last: "3 weeks", Every: "1 week"}, "2027-01-06T10:00:00Z", spec.Week)
	require.Equal(t, []string{"2026-W51", "2026-W52", "2026-W53", "2027-W01"}, keys(ss))
	ss = slots(t, spec.Expected{Last: "3 weeks", Every: "1 week"}, "2027-01-06T10:00:00Z", spec.Day)
	require.Equal(t, []string{"2026-12-14", "2026-12-21", "2026-12-28", "2027-01-04"}, keys(ss))
	ss = slots(t, spec.Expected{Start: "2026-01-15", Every: "1 month"}, "2026-04-30T10:00:00Z", spec.Month)
	require.Equal(t, []string{"2026-02", "2026-03", "2026-04"}, keys(ss))
	ss = slots(t, spec.Expected{Start: "2026-02-27", End: "2026-03-06", Every: "2 days"}, "2026-04-30T10:00:00Z", spec.Day)
	require.Equal(t, []string{"2026-02-27", "2026-03-01", "2026-03-03", "2026-03-05"}, keys(ss))
}

func TestSlots_accepted_gaps_are_days_ranges_yearly_days_and_weekdays(t *testing.T) {
	t.Parallel()
	ss := slots(t, spec.Expected{Start: "2026-12-20", End: "2027-01-06", Except: []string{"2026-12-25", "2026-12-28..2026-12-30", "--01-06", "Sunday"}}, "2027-02-01T00:00:00Z", spec.Day)
	accepted := []string{}
	for _, s := range ss {
		if s.Accepted {
			accepted = append(accepted, string(s.Key)[5:])
		}
	}
	require.Equal(t, []string{"12-20", "12-25", "12-27", "12-28", "12-29", "12-30", "01-03", "01-06"}, accepted)
	weeks := slots(t, spec.Expected{Start: "2026-12-07", End: "2027-01-06", Every: "1 week", Except: []string{"2026-12-20..2026-12-27", "2026-12-28", "monday"}}, "2027-02-01T00:00:00Z", spec.Week)
	require.Equal(t, []bool{false, false, true, true, false}, []bool{weeks[0].Accepted, weeks[1].Accepted, weeks[2].Accepted, weeks[3].Accepted, weeks[4].Accepted})
}

func TestParseExceptions_reads_a_line_each_and_names_the_wrong_one(t *testing.T) {
	t.Parallel()
	got, err := calendar.ParseExceptions("es.txt", []byte("# holidays\r\n2026-12-25 # Navidad\n\n--01-06\nsunday\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"2026-12-25", "--01-06", "sunday"}, got)
	_, err = calendar.ParseExceptions("es.txt", []byte("2026-12-25\n25/12/2026\n"))
	require.ErrorContains(t, err, "es.txt: line 2")
}

func TestSlots_a_cadence_that_the_names_cannot_tell_is_refused(t *testing.T) {
	t.Parallel()
	_, err := expected(t, spec.Expected{Last: "2 days", Every: "1 hour"}).Slots(at(t, "2026-09-01T00:00:00Z"), spec.Day)
	require.ErrorContains(t, err, "named by day")
	_, err = expected(t, spec.Expected{Last: "2 days"}).Slots(at(t, "2026-09-01T00:00:00Z"), spec.Hour)
	require.ErrorContains(t, err, "such as 1 hour")
	_, err = expected(t, spec.Expected{Start: "0001-01-01", Every: "1 hour"}).Slots(at(t, "2026-09-01T00:00:00Z"), spec.Hour)
	require.ErrorContains(t, err, "check start")
	_, err = calendar.NewExpected(spec.Expected{Last: "2 days", Every: "1 day"}, nil, time.Local) //nolint:gosmopolitan // refused
	require.Error(t, err)
}

func TestSlots_leave_no_instant_out_and_keys_lead_back(t *testing.T) {
	t.Parallel()
	zones := []string{"Europe/Madrid", "Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Apia", "UTC", "Asia/Kathmandu"}
	units := []spec.Unit{spec.Hour, spec.Day, spec.Week, spec.Month}
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom(zones).Draw(rt, "zone")
		unit := rapid.SampledFrom(units).Draw(rt, "unit")
		loc, err := time.LoadLocation(name)
		require.NoError(rt, err)
		now := time.Unix(rapid.Int64Range(1_230_000_000, 1_800_000_000).Draw(rt, "now"), 0)
		c, err := calendar.NewExpected(spec.Expected{Last: "3 months", Every: spec.Period("1 " + unit), Timezone: name}, nil, loc)
		require.NoError(rt, err)
		ss, err := c.Slots(now, unit)
		require.NoError(rt, err)
		require.NotEmpty(rt, ss)
		for i, s := range ss {
			if i > 0 {
				require.Equal(rt, ss[i-1].End, s.Start)
				require.Less(rt, ss[i-1].Key, s.Key)
			}
			start, end, err := s.Key.Span(unit, loc)
			require.NoError(rt, err)
			require.Equal(rt, []time.Time{s.Start, s.End}, []time.Time{start, end})
		}
		last := ss[len(ss)-1]
		require.False(rt, last.Start.After(now))
		require.True(rt, now.Before(last.End), "the one in progress is the last")
	})
}

func TestKey_what_is_no_period_is_refused(t *testing.T) {
	t.Parallel()
	for k, unit := range map[calendar.Key]spec.Unit{"2026-02-30": spec.Day, "2026-9-1": spec.Day, "2026-W54": spec.Week, "2027-W53": spec.Week, "2026-13": spec.Month, "": spec.Day, "2026-09-01T24": spec.Hour, "x": spec.Week} {
		_, err := k.Wall(unit)
		require.Error(t, err, k)
	}
}
