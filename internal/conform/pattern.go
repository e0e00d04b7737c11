package conform

import (
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/spec"
)

// wall is a time as it was written.
type wall struct {
	year, month, day            int
	hour, minute, second, micro int
	offset                      int // seconds east of UTC
	hasOffset                   bool
	pm, hasPM                   bool
	yearDigits                  int
	tooFine                     bool // digits behind the microsecond that are not 0
	hour12                      bool
	_                           struct{}
}

// pattern is a compiled date pattern.
type pattern struct {
	text  string
	parts []spec.PatternPart
	base  int // first year of two digits
}

func compilePattern(text string, base int) (pattern, error) {
	parts, err := spec.ParsePattern(text)
	return pattern{text: text, parts: parts, base: base}, err
}

// parse reads the whole text by the pattern. ok is false where it does not
// match, or names a day or time that no calendar has.
func (p pattern) parse(s string) (w wall, ok bool) {
	w.month, w.day = 1, 1
	for _, part := range p.parts {
		if s, ok = p.part(part, s, &w); !ok {
			return w, false
		}
	}
	return w, s == "" && w.complete(p.base)
}

func (p pattern) part(part spec.PatternPart, s string, w *wall) (rest string, ok bool) {
	switch part.Field {
	case spec.PatternLiteral:
		return strings.CutPrefix(s, part.Text)
	case spec.PatternOffset:
		return w.readOffset(part, s)
	case spec.PatternAMPM:
		if len(s) < 2 {
			return s, false
		}
		switch strings.ToUpper(s[:2]) {
		case "AM":
		case "PM":
			w.pm = true
		default:
			return s, false
		}
		w.hasPM = true
		return s[2:], true
	}
	least, most := part.Width, part.Width
	if part.Width == 1 && part.Field != spec.PatternFraction {
		most = 2
		if part.Field == spec.PatternYear {
			most = 4
		}
	}
	n := 0
	for n < len(s) && n < most && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n < least {
		return s, false
	}
	w.set(part, s[:n])
	return s[n:], true
}

func (w *wall) set(part spec.PatternPart, digits string) {
	v := 0
	for _, d := range []byte(digits) {
		v = 10*v + int(d-'0')
	}
	switch part.Field {
	case spec.PatternYear:
		w.year, w.yearDigits = v, part.Width
	case spec.PatternMonth:
		w.month = v
	case spec.PatternDay:
		w.day = v
	case spec.PatternHour:
		w.hour = v
	case spec.PatternHour12:
		w.hour, w.hour12 = v, true
	case spec.PatternMinute:
		w.minute = v
	case spec.PatternSecond:
		w.second = v
	case spec.PatternFraction:
		w.fraction(digits)
	}
}

// fraction takes the digits behind a second.
func (w *wall) fraction(digits string) {
	w.micro = 0
	for i := range 6 {
		w.micro *= 10
		if i < len(digits) {
			w.micro += int(digits[i] - '0')
		}
	}
	w.tooFine = len(digits) > 6 && strings.Trim(digits[6:], "0") != ""
}

func (w *wall) readOffset(part spec.PatternPart, s string) (rest string, ok bool) {
	if part.Zulu && strings.HasPrefix(s, "Z") {
		w.hasOffset = true
		return s[1:], true
	}
	form := map[int]string{1: "+hh", 2: "+hhmm", 3: "+hh:mm"}[part.Width]
	if len(s) < len(form) {
		return s, false
	}
	sign, digits := 1, strings.ReplaceAll(s[1:len(form)], ":", "")
	switch s[0] {
	case '+':
	case '-':
		sign = -1
	default:
		return s, false
	}
	if part.Width == 3 && s[3] != ':' || strings.Trim(digits, "0123456789") != "" || len(digits) != len(strings.ReplaceAll(form[1:], ":", "")) {
		return s, false
	}
	h, m := int(digits[0]-'0')*10+int(digits[1]-'0'), 0
	if len(digits) == 4 {
		m = int(digits[2]-'0')*10 + int(digits[3]-'0')
	}
	w.offset, w.hasOffset = sign*(h*3600+m*60), true
	return s[len(form):], h <= 18 && m < 60
}

// complete applies what is written apart, and says whether the day and time
// exist in the calendar.
func (w *wall) complete(base int) bool {
	if w.yearDigits == 2 {
		w.year += base - base%100
		if w.year < base {
			w.year += 100
		}
	}
	if w.hour12 {
		if w.hour < 1 || w.hour > 12 {
			return false
		}
		w.hour %= 12
		if w.pm {
			w.hour += 12
		}
	}
	return w.year >= 1 && w.year <= 9999 && w.month >= 1 && w.month <= 12 && w.day >= 1 && w.day <= daysIn(w.year, w.month) &&
		w.hour < 24 && w.minute < 60 && w.second < 60
}

func daysIn(year, month int) int {
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return 29
	}
	return [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
}

// days since 1970-01-01.
func (w wall) days() int64 {
	y, m := int64(w.year), int64(w.month)
	if m <= 2 {
		y--
	}
	era := y / 400 // years are 1 to 9999: y is never negative
	yoe := y - era*400
	doy := (153*((m+9)%12)+2)/5 + int64(w.day) - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}

// seconds since 1970-01-01T00:00:00 of the wall clock.
func (w wall) seconds() int64 {
	return w.days()*86400 + int64(w.hour)*3600 + int64(w.minute)*60 + int64(w.second)
}

// parseISO reads ISO 8601: a day, then where there is one a time of day behind T
// or a space, with up to nine digits behind the second, then where there is one
// an offset.
func parseISO(s string) (w wall, ok bool) {
	date, rest := s, ""
	if len(s) > 10 {
		date, rest = s[:10], s[10:]
	}
	w, ok = isoDay.parse(date)
	if !ok || rest == "" {
		return w, ok
	}
	if rest[0] != 'T' && rest[0] != ' ' {
		return w, false
	}
	rest = rest[1:]
	for _, part := range isoTime {
		if part.Text == ":" && part.Width == 7 && !strings.HasPrefix(rest, ":") {
			break // no seconds
		}
		if rest, ok = isoDay.part(part, rest, &w); !ok {
			return w, false
		}
	}
	if frac, found := strings.CutPrefix(rest, "."); found {
		n := 0
		for n < len(frac) && n < 9 && frac[n] >= '0' && frac[n] <= '9' {
			n++
		}
		if n == 0 {
			return w, false
		}
		w.fraction(frac[:n])
		rest = frac[n:]
	}
	if rest != "" {
		colon := spec.PatternPart{Field: spec.PatternOffset, Width: 3, Zulu: true}
		if !strings.Contains(rest, ":") {
			colon.Width = 2
		}
		if rest, ok = w.readOffset(colon, rest); !ok {
			return w, false
		}
	}
	return w, rest == "" && w.complete(0)
}

var isoDay = pattern{text: "yyyy-MM-dd", parts: mustPattern("yyyy-MM-dd")}

// isoTime is HH:mm:ss; the colon before the seconds is marked by its width.
var isoTime = []spec.PatternPart{
	{Field: spec.PatternHour, Width: 2}, {Text: ":"}, {Field: spec.PatternMinute, Width: 2}, {Text: ":", Width: 7}, {Field: spec.PatternSecond, Width: 2},
}

func mustPattern(text string) []spec.PatternPart {
	parts, err := spec.ParsePattern(text)
	if err != nil {
		panic(err)
	}
	return parts
}

// zoneRead turns wall clocks of one zone into instants.
type zoneRead struct {
	loc    *time.Location
	policy spec.DSTPolicy
}

// twoDays is more than any zone's clock is away from UTC, on both sides.
const twoDays = 36 * 3600

// instant gives the seconds since the epoch of a wall clock; why is not empty
// where the time does not exist, or occurs twice and the policy rejects it.
func (z zoneRead) instant(sec int64) (at int64, why string) {
	if z.loc == time.UTC {
		return sec, ""
	}
	before, after := z.offset(sec-twoDays), z.offset(sec+twoDays)
	a, b := sec-before, sec-after
	okA, okB := z.offset(a) == before, z.offset(b) == after
	switch {
	case okA && okB && a != b:
		if z.policy == spec.DSTEarlier {
			return min(a, b), ""
		}
		if z.policy == spec.DSTLater {
			return max(a, b), ""
		}
		return 0, "this time occurs twice in " + z.loc.String() + ", when clocks go back; say dst: earlier or later"
	case okA:
		return a, ""
	case okB:
		return b, ""
	}
	return 0, "this time does not exist in " + z.loc.String() + ": clocks skip it"
}

func (z zoneRead) offset(at int64) int64 {
	_, off := time.Unix(at, 0).In(z.loc).Zone()
	return int64(off)
}
