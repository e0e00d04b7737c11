package scan

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/expr"
)

// number takes between least and most digits from the start of s.
func number(s string, least, most int) (v int64, rest string, err error) {
	n := 0
	for n < len(s) && n < most && s[n] >= '0' && s[n] <= '9' {
		v = v*10 + int64(s[n]-'0')
		n++
	}
	if n < least {
		return 0, s, fmt.Errorf("want a number at %q", s)
	}
	return v, s[n:], nil
}

// parseDate takes [sign]year-month-day from the start of s, in days since 1970.
func parseDate(s string) (days int32, rest string, err error) {
	sign := int64(1)
	if s != "" && (s[0] == '-' || s[0] == '+') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	var ymd [3]int64
	for i := range ymd {
		if i > 0 {
			if !strings.HasPrefix(s, "-") {
				return 0, s, errors.New("want year-month-day")
			}
			s = s[1:]
		}
		least, most := 1, 2
		if i == 0 {
			least, most = 4, 7
		}
		if ymd[i], s, err = number(s, least, most); err != nil {
			return 0, s, err
		}
	}
	year, month, day := sign*ymd[0], ymd[1], ymd[2]
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, s, errors.New("no such day in the calendar")
	}
	d := daysFromCivil(year, month, day)
	if d != int64(int32(d)) {
		return 0, s, errors.New("the date is out of range")
	}
	return int32(d), s, nil
}

func daysIn(year, month int64) int64 {
	next, y := month+1, year
	if next == 13 {
		next, y = 1, year+1
	}
	return daysFromCivil(y, next, 1) - daysFromCivil(year, month, 1)
}

// parseTimestamp reads a date, with or without a time of day, and a zone if
// zoned.
func parseTimestamp(s string, zoned bool) (any, error) {
	days, rest, err := parseDate(s)
	if err != nil {
		return nil, err
	}
	micros := int64(0)
	if rest != "" && (rest[0] == ' ' || rest[0] == 'T') {
		if micros, rest, err = parseClock(rest[1:]); err != nil {
			return nil, err
		}
	}
	if rest = strings.TrimLeft(rest, " "); rest != "" {
		if !zoned {
			return nil, fmt.Errorf("%q follows a time that has no zone", rest)
		}
		offset, err := parseOffset(rest)
		if err != nil {
			return nil, err
		}
		micros -= offset
	}
	d := int64(days)
	if d > math.MaxInt64/microsPerDay-2 || d < math.MinInt64/microsPerDay+2 {
		return nil, errors.New("the time is out of range")
	}
	return expr.Timestamp(d*microsPerDay + micros), nil
}

// parseClock takes hour:minute[:second[.fraction]]; digits beyond microseconds
// are cut off.
func parseClock(s string) (micros int64, rest string, err error) {
	var hms [3]int64
	for i := range hms {
		if i == 2 && !strings.HasPrefix(s, ":") {
			break
		}
		if i > 0 {
			if !strings.HasPrefix(s, ":") {
				return 0, s, errors.New("want hour:minute:second")
			}
			s = s[1:]
		}
		if hms[i], s, err = number(s, 1, 2); err != nil {
			return 0, s, err
		}
	}
	if hms[0] > 23 || hms[1] > 59 || hms[2] > 59 {
		return 0, s, errors.New("no such time of day")
	}
	micros = (hms[0]*3600 + hms[1]*60 + hms[2]) * 1000 * 1000
	if strings.HasPrefix(s, ".") {
		s = s[1:]
		for scale := int64(100 * 1000); s != "" && s[0] >= '0' && s[0] <= '9'; scale /= 10 {
			micros += int64(s[0]-'0') * scale
			s = s[1:]
		}
	}
	return micros, s, nil
}

// parseOffset reads Z, UTC or ±hh[:mm[:ss]], in microseconds east of UTC. Names
// of regions are refused: their rules change.
func parseOffset(s string) (int64, error) {
	switch s {
	case "Z", "UTC", "GMT":
		return 0, nil
	}
	bad := fmt.Errorf("zone %q, want Z or an offset such as +02:00", s)
	sign := int64(1)
	switch s[0] {
	case '+':
	case '-':
		sign = -1
	default:
		return 0, bad
	}
	s = s[1:]
	var total int64
	for _, unit := range []int64{3600, 60, 1} {
		n, rest, err := number(s, 2, 2)
		if err != nil || n > 59 {
			return 0, bad
		}
		total += n * unit
		s = strings.TrimPrefix(rest, ":")
		if s == "" {
			break
		}
	}
	if s != "" || total > 18*3600 {
		return 0, bad
	}
	return sign * total * 1000 * 1000, nil
}
