package calendar

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/spec"
)

// Slot is a period for which a partition is expected.
type Slot struct {
	Key Key `json:"key"`
	// Start and End are its instants: it ends before End.
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	// Due is until when its partition may come: End, without a deadline.
	Due time.Time `json:"due"`
	// Accepted: the calendar lets it be missing.
	Accepted bool `json:"accepted,omitempty"`
}

// Ended says whether the period is over.
func (s Slot) Ended(now time.Time) bool { return !now.Before(s.End) }

// Overdue says whether its partition should be there.
func (s Slot) Overdue(now time.Time) bool { return s.Ended(now) && !now.Before(s.Due) }

// Expected is a range of expected partitions in a time zone.
type Expected struct {
	zone       *time.Location
	n          int
	unit       spec.Unit
	last       int // window: lastUnit periods before now
	lastUnit   spec.Unit
	start, end time.Time // wall; end exclusive, zero: now
	deadline   time.Duration
	hasLine    bool
	except     exceptions
}

// maxSlots bounds what a range may expect: more is a typing error.
const maxSlots = 500_000

// NewExpected reads a range that has its defaults and passed validation. zone is
// the loaded e.Zone(); more are further entries of except, as a file has them.
func NewExpected(e spec.Expected, more []string, zone *time.Location) (*Expected, error) {
	if zone == nil || zone.String() == "Local" {
		return nil, errors.New("expected partitions: no time zone; load the calendar's by its name")
	}
	c := &Expected{zone: zone, except: exceptions{}}
	var err error
	if c.n, c.unit, err = e.Every.Parts(); err != nil {
		return nil, fmt.Errorf("expected.every: %w", err)
	}
	if e.Last != "" {
		if c.last, c.lastUnit, err = e.Last.Parts(); err != nil {
			return nil, fmt.Errorf("expected.last: %w", err)
		}
	} else if err := c.fixed(e); err != nil {
		return nil, err
	}
	if e.Deadline != "" {
		if c.deadline, err = parseDeadline(e.Deadline); err != nil {
			return nil, err
		}
		c.hasLine = true
	}
	for _, entry := range append(append([]string{}, e.Except...), more...) {
		if err := c.except.add(entry); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *Expected) fixed(e spec.Expected) error {
	start, err := ParseDate(e.Start)
	if err != nil {
		return fmt.Errorf("expected.start: %w", err)
	}
	c.start = start.addDays(0)
	if e.End == "" {
		return nil
	}
	end, err := ParseDate(e.End)
	if err != nil {
		return fmt.Errorf("expected.end: %w", err)
	}
	c.end = end.addDays(1)
	return nil
}

// parseDeadline reads 09:00 or 09:00+2d.
func parseDeadline(s string) (time.Duration, error) {
	clock, offset, _ := strings.Cut(s, "+")
	t, err := time.Parse("15:04", clock)
	days := 0
	if err == nil && offset != "" {
		_, err = fmt.Sscanf(offset, "%dd", &days)
	}
	if err != nil {
		return 0, fmt.Errorf("expected.deadline: %q is not a time of day such as 09:00 or 09:00+1d", s)
	}
	return time.Duration(days)*24*time.Hour + time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, nil
}

// Zone of the calendar.
func (c *Expected) Zone() *time.Location { return c.zone }

// Unit of the cadence.
func (c *Expected) Unit() spec.Unit { return c.unit }

// HasDeadline says whether partitions can be late.
func (c *Expected) HasDeadline() bool { return c.hasLine }

// Slots lists the periods of the range that have begun by now, with keys of the
// unit in which partitions are named, oldest first. A window holds as many
// periods that have ended as it says; the one in progress follows.
func (c *Expected) Slots(now time.Time, names spec.Unit) ([]Slot, error) {
	if err := c.fits(names); err != nil {
		return nil, err
	}
	local := wallOf(now, c.zone)
	wall, end := c.begin(local), local
	if !c.end.IsZero() && c.end.Before(end) {
		end = c.end.Add(-1)
	}
	var out []Slot
	for !wall.After(end) {
		if len(out) == maxSlots {
			return nil, fmt.Errorf("expected partitions: more than %d from %s on; check start and every", maxSlots, wall.Format(time.DateOnly))
		}
		next := step(wall, c.unit, c.n)
		s := Slot{Key: KeyOf(names, wall), Start: startOfWall(wall, c.zone), End: startOfWall(next, c.zone)}
		s.Due = s.End
		if c.hasLine {
			s.Due = startOfWall(next.Add(c.deadline), c.zone)
		}
		s.Accepted = c.except.accepts(wall, next)
		if s.Start.Before(s.End) { // else the zone skips it
			out = append(out, s)
		}
		wall = next
	}
	return out, nil
}

// fits says whether partitions named by a unit can come at the cadence.
func (c *Expected) fits(names spec.Unit) error {
	order := map[spec.Unit]int{spec.Hour: 0, spec.Day: 1, spec.Week: 2, spec.Month: 3}
	switch {
	case names == c.unit, names == spec.Day && order[c.unit] > 1:
		return nil
	case order[names] > order[c.unit]:
		return fmt.Errorf("partitions are named by %s, and one is expected every %s: write expected.every: 1 %s", names, c.unit, names)
	}
	return fmt.Errorf("partitions are named by %s: write expected.every in %ss, such as 1 %s", names, names, names)
}

// begin is the wall time of the first period.
func (c *Expected) begin(local time.Time) time.Time {
	from := c.start
	if c.last > 0 {
		from = floor(local, c.unit)
		if c.unit == spec.Hour {
			from = from.Add(-time.Duration(from.Hour()%c.n) * time.Hour)
		}
		from = step(from, c.lastUnit, -c.last)
	}
	first := floor(from, c.unit)
	if first.Before(from) {
		first = step(first, c.unit, 1)
	}
	if c.unit == spec.Hour && first.Hour()%c.n != 0 {
		first = first.Add(time.Duration(c.n-first.Hour()%c.n) * time.Hour)
	}
	return first
}

// wallOf is what clocks in the zone show at an instant, as a time in UTC.
func wallOf(t time.Time, zone *time.Location) time.Time {
	l := t.In(zone)
	y, m, d := l.Date()
	return time.Date(y, m, d, l.Hour(), l.Minute(), l.Second(), l.Nanosecond(), time.UTC)
}
