package calendar

import (
	"fmt"
	"time"

	"github.com/lakewarden/lakewarden/spec"
)

// Key names a period by its unit's usual form: 2026-09-01T05 (hour), 2026-09-01
// (day), 2026-W36 (ISO week), 2026-09 (month). Keys of one unit sort by time.
type Key string

// layouts of the units but weeks.
var layouts = map[spec.Unit]string{spec.Hour: "2006-01-02T15", spec.Day: time.DateOnly, spec.Month: "2006-01"}

// KeyOf is the key of the period of a unit that holds the time that wall's own
// clock shows.
func KeyOf(unit spec.Unit, wall time.Time) Key {
	if unit == spec.Week {
		y, w := wall.ISOWeek()
		return Key(fmt.Sprintf("%04d-W%02d", y, w))
	}
	return Key(wall.Format(layouts[unit]))
}

// Wall is the time at which the period begins, as clocks show it, in UTC.
func (k Key) Wall(unit spec.Unit) (time.Time, error) {
	var t time.Time
	var err error
	if unit == spec.Week {
		t, err = k.monday()
	} else {
		t, err = time.Parse(layouts[unit], string(k))
	}
	if err != nil || KeyOf(unit, t) != k {
		return time.Time{}, fmt.Errorf("%q is not a %s", string(k), unit)
	}
	return t, nil
}

// monday is the first day of an ISO week.
func (k Key) monday() (time.Time, error) {
	var y, w int
	if n, err := fmt.Sscanf(string(k), "%04d-W%02d", &y, &w); n != 2 {
		return time.Time{}, err
	}
	return WeekStart(y, w), nil
}

// WeekStart is the Monday of an ISO week; of a week that the year does not have,
// that of another year's.
func WeekStart(year, week int) time.Time {
	jan4 := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC) // always in week 1
	return mondayOf(jan4).AddDate(0, 0, 7*(week-1))
}

// mondayOf is the Monday on or before a day.
func mondayOf(t time.Time) time.Time {
	return t.AddDate(0, 0, -(int(t.Weekday())+6)%7)
}

// Span gives the period's instants in a zone: it begins at start and ends before
// end. Where the zone skips the whole period, both are the same.
func (k Key) Span(unit spec.Unit, zone *time.Location) (start, end time.Time, err error) {
	wall, err := k.Wall(unit)
	if err != nil {
		return start, end, err
	}
	return startOfWall(wall, zone), startOfWall(step(wall, unit, 1), zone), nil
}

// step moves a wall time by n units.
func step(wall time.Time, unit spec.Unit, n int) time.Time {
	switch unit {
	case spec.Hour:
		return wall.Add(time.Duration(n) * time.Hour)
	case spec.Week:
		return wall.AddDate(0, 0, 7*n)
	case spec.Month:
		return wall.AddDate(0, n, 0) // callers begin at the first of a month
	}
	return wall.AddDate(0, 0, n)
}

// floor is the wall time at which the unit's period that holds wall begins.
func floor(wall time.Time, unit spec.Unit) time.Time {
	y, m, d := wall.Date()
	switch unit {
	case spec.Hour:
		return time.Date(y, m, d, wall.Hour(), 0, 0, 0, time.UTC)
	case spec.Week:
		return mondayOf(time.Date(y, m, d, 0, 0, 0, 0, time.UTC))
	case spec.Month:
		return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}
