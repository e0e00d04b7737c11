package expr

import (
	"strings"
	"sync"
	"time"
)

// trimControl drops white space and ISO control characters at both ends, as
// UTF8String.trimAll does before a cast from string.
func trimControl(s string) string {
	for len(s) > 0 && isSpaceOrControl(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpaceOrControl(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func isSpaceOrControl(c byte) bool { return c <= ' ' || c == 0x7f }

// parseDate reads a date as CAST(string AS DATE) does (DateTimeUtils.stringToDate):
// [+-]yyyy, -[m]m, -[d]d with four to seven digits of year; behind a complete
// date a space or T may introduce anything.
func parseDate(s string) (int32, bool) {
	if day, ok := parseISODate(s); ok {
		return day, true
	}
	s = trimControl(s)
	if s == "" {
		return 0, false
	}
	sign := int64(1)
	if s[0] == '-' || s[0] == '+' {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	parts := [3]int64{1, 1, 1}
	for i := range parts {
		v, n := leadingDigits(s, 7)
		if i == 0 && (n < 4 || n > 7) || n == 0 || i > 0 && n > 2 {
			return 0, false
		}
		parts[i], s = v, s[n:]
		if s == "" {
			return validDay(sign*parts[0], int(parts[1]), int(parts[2]))
		}
		if i < 2 && s[0] != '-' || i == 2 && s[0] != ' ' && s[0] != 'T' {
			return 0, false
		}
		s = s[1:]
	}
	return validDay(sign*parts[0], int(parts[1]), int(parts[2]))
}

// parseISODate is the common form yyyy-MM-dd without any detour.
func parseISODate(s string) (int32, bool) {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	y, m, d := 0, 0, 0
	for i, c := range []byte(s) {
		switch {
		case i == 4 || i == 7:
			continue
		case !isDigit(c):
			return 0, false
		case i < 4:
			y = y*10 + int(c-'0')
		case i < 7:
			m = m*10 + int(c-'0')
		default:
			d = d*10 + int(c-'0')
		}
	}
	return validDay(int64(y), m, d)
}

// leadingDigits reads up to max digits; n of max+1 says there are more.
func leadingDigits(s string, max int) (v int64, n int) {
	for n < len(s) && isDigit(s[n]) {
		if n == max {
			return 0, max + 1
		}
		v = v*10 + int64(s[n]-'0')
		n++
	}
	return v, n
}

// timeText is a timestamp as written: wall-clock microseconds, and its zone if
// one stands there.
type timeText struct {
	wall    int64
	hasZone bool
	offset  int64 // seconds, unless region is set
	region  *time.Location
	name    string // of the region
}

// parseTimestamp reads a timestamp as CAST(string AS TIMESTAMP) does
// (DateTimeUtils.parseTimestampString): a date, then after a space or T
// [h]h, :[m]m, :[s]s, a fraction cut to microseconds, and behind the seconds a
// zone. A time without a date, which Spark puts on the current day, is not a
// timestamp here: data must not depend on the clock (differences.go).
func parseTimestamp(s string) (timeText, bool) {
	var t timeText
	s = trimControl(s)
	if s == "" {
		return t, false
	}
	sign := int64(1)
	if s[0] == '-' || s[0] == '+' {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	seg := [6]int64{1, 1, 1}
	seps := [6]string{"-", "-", " T", ":", ":", ""}
	for i := range seg {
		v, n := leadingDigits(s, 6)
		if i == 0 && (n < 4 || n > 6) || i > 0 && (n == 0 || n > 2) {
			return t, false
		}
		seg[i], s = v, s[n:]
		if s == "" {
			return finishTimestamp(t, sign, seg, 0)
		}
		if i == 5 {
			break
		}
		if strings.IndexByte(seps[i], s[0]) < 0 {
			return t, false
		}
		s = s[1:]
	}
	var micros int64
	if s[0] == '.' {
		micros, s = parseFraction(s[1:])
	}
	if s != "" && !t.parseZone(strings.Trim(s, " ")) {
		return t, false
	}
	return finishTimestamp(t, sign, seg, micros)
}

// parseFraction reads digits as microseconds and drops what is finer.
func parseFraction(s string) (micros int64, rest string) {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		if n < 6 {
			micros = micros*10 + int64(s[n]-'0')
		}
		n++
	}
	for i := n; i < 6; i++ {
		micros *= 10
	}
	return micros, s[n:]
}

func finishTimestamp(t timeText, sign int64, seg [6]int64, micros int64) (timeText, bool) {
	day, ok := validDay(sign*seg[0], int(seg[1]), int(seg[2]))
	if !ok || seg[3] > 23 || seg[4] > 59 || seg[5] > 59 {
		return t, false
	}
	us, ok := mulOK(int64(day), microsPerDay)
	if !ok {
		return t, false
	}
	t.wall, ok = addOK(us, (seg[3]*3600+seg[4]*60+seg[5])*microsPerSecond+micros)
	return t, ok
}

// shortZones are the three-letter ids of java.time.ZoneId.SHORT_IDS.
var shortZones = map[string]string{
	"ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires",
	"ART": "Africa/Cairo", "AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka",
	"CAT": "Africa/Harare", "CNT": "America/St_Johns", "CST": "America/Chicago", "CTT": "Asia/Shanghai",
	"EAT": "Africa/Addis_Ababa", "ECT": "Europe/Paris", "IET": "America/Indiana/Indianapolis",
	"IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "MIT": "Pacific/Apia", "NET": "Asia/Yerevan",
	"NST": "Pacific/Auckland", "PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico",
	"PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh",
	"EST": "-05:00", "MST": "-07:00", "HST": "-10:00",
}

// parseZone reads a zone id: Z, an offset, UTC, GMT or UT with or without an
// offset, a short id, or a region of the time zone database.
func (t *timeText) parseZone(id string) bool {
	t.hasZone = true
	if full, ok := shortZones[id]; ok {
		id = full
	}
	if id == "Z" {
		return true
	}
	rest, prefixed := id, false
	for _, prefix := range []string{"UTC", "GMT", "UT"} {
		if r, ok := strings.CutPrefix(id, prefix); ok && (r == "" || r[0] == '+' || r[0] == '-') {
			rest, prefixed = r, true
			break
		}
	}
	if prefixed && rest == "" {
		return true
	}
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		var ok bool
		t.offset, ok = parseOffset(rest)
		return ok
	}
	t.region, t.name = region(id), id
	return t.region != nil
}

// parseOffset reads ±h, ±hh, ±[h]h:[m]m, ±hhmm and the forms with seconds
// (ZoneOffset.of after Spark's padding of single digits).
func parseOffset(s string) (int64, bool) {
	sign := int64(1)
	if s[0] == '-' {
		sign = -1
	}
	var parts [3]int64
	if body := s[1:]; strings.Contains(body, ":") {
		fields := strings.Split(body, ":")
		if len(fields) > 3 || len(fields) == 3 && (len(fields[1]) != 2 || len(fields[2]) != 2) {
			return 0, false
		}
		for i, f := range fields {
			v, n := leadingDigits(f, 2)
			if n == 0 || n != len(f) {
				return 0, false
			}
			parts[i] = v
		}
	} else {
		if len(body) == 0 || len(body) > 6 || len(body) > 2 && len(body)%2 != 0 {
			return 0, false
		}
		for i := 0; len(body) > 0; i++ {
			v, n := leadingDigits(body[:min(2, len(body))], 2)
			if n == 0 || n < min(2, len(body)) {
				return 0, false
			}
			parts[i], body = v, body[n:]
		}
	}
	off := parts[0]*3600 + parts[1]*60 + parts[2]
	return sign * off, parts[1] < 60 && parts[2] < 60 && off <= maxOffset
}

var (
	regionMu    sync.Mutex
	regionCache = map[string]*time.Location{}
)

// maxRegions bounds the cache against junk in data.
const maxRegions = 4096

// region finds a zone of the time zone database, or nil. Programs embed the
// database (time/tzdata), so that the answer does not depend on the host.
func region(id string) *time.Location {
	if len(id) < 3 || len(id) > 40 || id == "Local" || strings.Trim(id,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/") != "" {
		return nil
	}
	regionMu.Lock()
	defer regionMu.Unlock()
	loc, ok := regionCache[id]
	if !ok {
		loc, _ = time.LoadLocation(id) // nil is the answer for an unknown id
		if len(regionCache) < maxRegions {
			regionCache[id] = loc
		}
	}
	return loc
}

// resolveTime gives the instant of a timestamp text, in the session zone where
// it names none.
func (z *zoneClock) resolveTime(t timeText) (int64, bool) {
	clock := z
	switch {
	case t.region != nil:
		clock = newZoneClock(t.region)
	case t.hasZone:
		return addOKNeg(t.wall, t.offset*microsPerSecond)
	}
	if t.wall > maxWall || t.wall < -maxWall {
		return 0, false
	}
	return clock.instantMicros(t.wall), true
}

// maxWall keeps zone arithmetic at the ends of the range from overflowing.
const maxWall = 1<<63 - 1 - 2*microsPerDay

func addOKNeg(a, b int64) (int64, bool) { return addOK(a, -b) }
