package calendar

import (
	"errors"
	"fmt"
	"time"

	"github.com/lakewarden/lakewarden/spec"
)

// Cutoff is the day before which rows are due, frozen for one run. It is
// exclusive: rows of the day itself are kept.
type Cutoff struct {
	// Date is the day in Zone.
	Date Date `json:"date"`
	// Zone is the policy's time zone by its name in the tz database.
	Zone string `json:"zone"`
	// Instant is when the day begins in Zone, in UTC.
	Instant time.Time `json:"instant"`
}

// Of computes the cutoff of an age at the time now in the zone, which is the
// loaded o.Timezone. o has its defaults and passed validation.
func Of(o spec.OlderThan, now time.Time, zone *time.Location) (Cutoff, error) {
	if zone == nil || zone.String() == "Local" {
		return Cutoff{}, errors.New("cutoff: no time zone; load the policy's by its name")
	}
	if now.IsZero() {
		return Cutoff{}, errors.New("cutoff: no time to count from")
	}
	date, err := cutoffDate(o, dateOf(now.In(zone)))
	if err != nil {
		return Cutoff{}, fmt.Errorf("cutoff: %w", err)
	}
	return Cutoff{Date: date, Zone: zone.String(), Instant: StartOf(date, zone)}, nil
}

// cutoffDate subtracts the age from today.
func cutoffDate(o spec.OlderThan, today Date) (Date, error) {
	if o.Until != "" {
		return ParseDate(o.Until)
	}
	var t time.Time
	switch {
	case o.Days != nil && *o.Days > 0:
		t = today.addDays(-*o.Days)
	case o.Months != nil && *o.Months > 0:
		t = today.addMonths(-*o.Months)
	case o.Years != nil && *o.Years > 0:
		t = today.addMonths(-12 * *o.Years)
	default:
		return "", errors.New("no age of at least 1 in days, months or years, and no until")
	}
	if o.From == spec.FromEndOfYear {
		// The age starts at 31 December of the row's year, and that day is before
		// the cutoff exactly for the years before the cutoff's.
		t = time.Date(t.Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	if t.Year() < 1 {
		return "", fmt.Errorf("the age reaches before year 1 (from %s)", today)
	}
	return dateOf(t), nil
}

// String gives the cutoff for people, with its zone:
// "before 2025-02-08 in America/Los_Angeles (2025-02-08T08:00:00Z)".
func (c Cutoff) String() string {
	return fmt.Sprintf("before %s in %s (%s)", c.Date, c.Zone, c.Instant.UTC().Format(time.RFC3339))
}
