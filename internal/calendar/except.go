package calendar

import (
	"fmt"
	"strings"
	"time"
)

// exceptions are the days that may be missing: yyyy-MM-dd, --MM-dd, weekdays.
type exceptions map[string]bool

// maxRange bounds a range of accepted days: longer ones are typing errors.
const maxRange = 100_000

func (x exceptions) add(entry string) error {
	from, to, ranged := strings.Cut(entry, "..")
	if !ranged {
		return x.addOne(entry)
	}
	first, err := ParseDate(from)
	if err != nil {
		return fmt.Errorf("accepted gaps: %s: %w", entry, err)
	}
	last, err := ParseDate(to)
	if err != nil {
		return fmt.Errorf("accepted gaps: %s: %w", entry, err)
	}
	end := last.addDays(0)
	for i := range maxRange {
		day := first.addDays(i)
		if day.After(end) {
			return nil
		}
		x[day.Format(time.DateOnly)] = true
	}
	return fmt.Errorf("accepted gaps: %s is longer than %d days", entry, maxRange)
}

func (x exceptions) addOne(entry string) error {
	entry = strings.ToLower(entry)
	_, err := ParseDate(entry)
	if day, yearly := strings.CutPrefix(entry, "--"); yearly {
		_, err = ParseDate("2024-" + day)
	}
	for d := range 7 {
		if strings.EqualFold(time.Weekday(d).String(), entry) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("accepted gaps: %q is not a day (2026-12-25), a range (2026-08-01..2026-08-15), a day of every year (--12-25) or a weekday", entry)
	}
	x[entry] = true
	return nil
}

// accepts says whether the period from wall to next may be missing: its first day
// is listed by its date, or all of its days are accepted.
func (x exceptions) accepts(wall, next time.Time) bool {
	if len(x) == 0 {
		return false
	}
	if x[wall.Format(time.DateOnly)] {
		return true
	}
	for day := floor(wall, "day"); day.Before(next); day = day.AddDate(0, 0, 1) {
		if !x[day.Format(time.DateOnly)] && !x[day.Format("--01-02")] && !x[strings.ToLower(day.Weekday().String())] {
			return false
		}
	}
	return true
}

// ParseExceptions reads a file of accepted gaps: an entry a line, what follows #
// is a comment. name is the file's, for errors.
func ParseExceptions(name string, text []byte) ([]string, error) {
	var out []string
	for i, line := range strings.Split(string(text), "\n") {
		entry, _, _ := strings.Cut(line, "#")
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		if err := (exceptions{}).add(entry); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, i+1, err)
		}
		out = append(out, entry)
	}
	return out, nil
}
