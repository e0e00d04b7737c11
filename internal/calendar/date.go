package calendar

import (
	"fmt"
	"time"
)

// Date is a day of the proleptic Gregorian calendar, as yyyy-MM-dd. It has no
// time zone.
type Date string

// dateOf is the day that t's clock shows.
func dateOf(t time.Time) Date { return Date(t.Format(time.DateOnly)) }

// ParseDate reads yyyy-MM-dd, strictly.
func ParseDate(s string) (Date, error) {
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return "", fmt.Errorf("%q is not a day as yyyy-MM-dd", s)
	}
	return Date(s), nil
}

// parts gives year, month and day; the zero day for a malformed date.
func (d Date) parts() (int, time.Month, int) {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil {
		return 0, 0, 0
	}
	return t.Date()
}

// addDays moves d by whole days.
func (d Date) addDays(n int) time.Time {
	y, m, day := d.parts()
	return time.Date(y, m, day+n, 0, 0, 0, 0, time.UTC)
}

// addMonths moves d by calendar months; where the month is too short, its last
// day counts.
func (d Date) addMonths(n int) time.Time {
	y, m, day := d.parts()
	first := time.Date(y, m+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(day, last)-1)
}

// StartOf is the first instant at which clocks in the zone show the day d or a
// later one. Where midnight is skipped, that is the end of the gap; where it
// comes twice, the first time; where the whole day was skipped, the start of the
// next.
func StartOf(d Date, zone *time.Location) time.Time {
	y, m, day := d.parts()
	return startOfWall(time.Date(y, m, day, 0, 0, 0, 0, time.UTC), zone)
}

// startOfWall is the first instant at which clocks in the zone show what wall
// shows in UTC, or a later time.
func startOfWall(wall time.Time, zone *time.Location) time.Time {
	// No offset exceeds a day: the zone's stretches of one offset around it.
	at, end := wall.Add(-26*time.Hour), wall.Add(26*time.Hour)
	for at.Before(end) {
		local := at.In(zone)
		_, offset := local.Zone()
		_, next := local.ZoneBounds()
		start := wall.Add(-time.Duration(offset) * time.Second)
		if start.Before(at) {
			start = at // the stretch begins past the wall's time
		}
		if next.IsZero() || start.Before(next) {
			return start.UTC()
		}
		at = next
	}
	return end.UTC() // not reached: offsets are less than a day
}
