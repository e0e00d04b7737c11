package expr

import (
	"strings"
)

// fields are what a text gave, by slot of the pattern letter.
type fields struct {
	set    uint16
	val    [12]int64
	micros int64
	zone   bool
	offset int64
}

// slots are the letters that fields keeps; the years are one slot.
const slots = "yMdDHhKkmsaX"

var slotOf = func() (t [128]uint8) {
	for i := range slots {
		t[slots[i]] = uint8(i)
	}
	return t
}()

// put stores a field; one given twice must agree.
func (f *fields) put(letter byte, v int64) bool {
	i := slotOf[letter]
	if f.set>>i&1 != 0 {
		return f.val[i] == v
	}
	f.set |= 1 << i
	f.val[i] = v
	return true
}

func (f *fields) has(letter byte) bool { return f.set>>slotOf[letter]&1 != 0 }

func (f *fields) get(letter byte, other int64) int64 {
	if f.has(letter) {
		return f.val[slotOf[letter]]
	}
	return other
}

// parse reads all of s. It gives wall-clock microseconds, and the offset where
// the pattern has one.
func (p *datePattern) parse(s string) (timeText, bool) {
	if p.width > 0 && len(s) == p.width {
		if t, ok := p.parseFixed(s); ok {
			return t, true
		}
	}
	var f fields
	rest, ok := parseItems(p.items, s, &f)
	if !ok || rest != "" {
		return timeText{}, false
	}
	return f.resolve()
}

// parseFixed is the same for patterns of fixed width; where it fails the general
// way decides.
func (p *datePattern) parseFixed(s string) (timeText, bool) {
	y, m, d := int64(1970), int64(1), int64(1)
	var clock [3]int64
	at := 0
	for i := range p.items {
		it := &p.items[i]
		if it.field == 0 {
			if s[at] != it.text[0] {
				return timeText{}, false
			}
			at++
			continue
		}
		v := int64(0)
		for end := at + it.min; at < end; at++ {
			if !isDigit(s[at]) {
				return timeText{}, false
			}
			v = v*10 + int64(s[at]-'0')
		}
		switch it.field {
		case 'y':
			y = v
		case 'M':
			m = v
		case 'd':
			d = v
		case 'H':
			clock[0] = v
		case 'm':
			clock[1] = v
		default:
			clock[2] = v
		}
	}
	day, ok := validDay(y, int(m), int(d))
	if !ok || clock[0] > 23 || clock[1] > 59 || clock[2] > 59 {
		return timeText{}, false
	}
	return timeText{wall: int64(day)*microsPerDay + (clock[0]*3600+clock[1]*60+clock[2])*microsPerSecond}, true
}

func parseItems(items []patternItem, s string, f *fields) (rest string, ok bool) {
	for i := range items {
		it := &items[i]
		switch {
		case it.section != nil:
			saved := *f
			if after, ok := parseItems(it.section, s, f); ok {
				s = after
			} else {
				*f = saved
			}
			continue
		case it.field == 0:
			if len(s) < len(it.text) || !strings.EqualFold(s[:len(it.text)], it.text) {
				return "", false
			}
			s = s[len(it.text):]
			continue
		}
		if s, ok = it.parse(s, f); !ok {
			return "", false
		}
	}
	return s, true
}

func (it *patternItem) parse(s string, f *fields) (rest string, ok bool) {
	switch {
	case it.field == 'S':
		_, n := leadingDigits(s, it.max)
		n = min(n, it.max)
		if n < it.min {
			return "", false
		}
		f.micros, _ = parseFraction(s[:n])
		return s[n:], true
	case it.field == 'a':
		for v, text := range []string{"AM", "PM"} {
			if len(s) >= 2 && strings.EqualFold(s[:2], text) {
				return s[2:], f.put('a', int64(v))
			}
		}
		return "", false
	case it.field == 'M' && it.min > 2:
		return parseMonthName(s, f, it.min == 4)
	case strings.IndexByte("XxZ", it.field) >= 0:
		return it.parseOffset(s, f)
	}
	return it.parseNumber(s, f)
}

// parseNumber reads digits as NumberPrinterParser does in strict mode.
func (it *patternItem) parseNumber(s string, f *fields) (rest string, ok bool) {
	sign, signed := int64(1), false
	if it.padded && s != "" && (s[0] == '+' || s[0] == '-') {
		signed = true
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	} else if it.field == 'y' && !it.padded && strings.HasPrefix(s, "-") {
		sign, s = -1, s[1:]
	}
	n := 0
	for n < len(s) && n < it.max+it.reserve && isDigit(s[n]) {
		n++
	}
	if it.reserve > 0 {
		n = min(max(it.min, n-it.reserve), n)
	}
	if n < it.min || n > 18 {
		return "", false
	}
	v, _ := leadingDigits(s[:n], n)
	if it.padded && (signed && sign > 0 && n <= it.min || !signed && n > it.min) {
		return "", false
	}
	if it.field == 'Y' {
		return s[n:], f.put('y', 2000+v)
	}
	return s[n:], f.put(it.field, sign*v)
}

var monthNames = []string{"January", "February", "March", "April", "May", "June", "July",
	"August", "September", "October", "November", "December"}

func parseMonthName(s string, f *fields, full bool) (rest string, ok bool) {
	for i, name := range monthNames {
		if !full {
			name = name[:3]
		}
		if len(s) >= len(name) && strings.EqualFold(s[:len(name)], name) {
			return s[len(name):], f.put('M', int64(i+1))
		}
	}
	return "", false
}

// parseOffset reads X (Z for zero), x and Z in their widths: +hh[mm], +hhmm,
// +hh:mm, +hhmm[ss], +hh:mm[:ss].
func (it *patternItem) parseOffset(s string, f *fields) (rest string, ok bool) {
	f.zone = true
	if it.field == 'X' || it.field == 'Z' && it.min == 5 {
		if strings.HasPrefix(s, "Z") || strings.HasPrefix(s, "z") {
			return s[1:], f.put('X', 0)
		}
	}
	if s == "" || s[0] != '+' && s[0] != '-' {
		return "", false
	}
	width := it.min
	if it.field == 'Z' && width < 4 {
		width = 2
	}
	sign := int64(1)
	if s[0] == '-' {
		sign = -1
	}
	s = s[1:]
	total, rest, ok := offsetParts(s, width)
	f.offset = sign * total
	return rest, ok && total <= maxOffset && f.put('X', f.offset)
}

// offsetParts reads hh[mm[ss]] as the width of the pattern letter demands: the
// minutes are optional at width 1, seconds allowed from 4, colons at 3 and 5.
func offsetParts(s string, width int) (total int64, rest string, ok bool) {
	colon := width == 3 || width == 5
	for i, unit := range []int64{3600, 60, 1} {
		if i == 2 && width < 4 {
			break
		}
		must, part, found := i == 0 || i == 1 && width > 1, s, true
		if i > 0 && colon {
			part, found = strings.CutPrefix(s, ":")
		}
		v, n := leadingDigits(part[:min(2, len(part))], 2)
		if !found || n < 2 {
			if must {
				return 0, "", false
			}
			break
		}
		if i > 0 && v > 59 {
			return 0, "", false
		}
		total += v * unit
		s = part[2:]
	}
	return total, s, true
}

// resolve makes a timestamp of the fields: a missing year is 1970, other
// missing fields are their least (DateTimeFormatterHelper.toLocalDate, toLocalTime).
func (f *fields) resolve() (timeText, bool) {
	y := f.get('y', 1970)
	if y > 300_000 || y < -300_000 {
		return timeText{}, false
	}
	m, d := f.get('M', 1), f.get('d', 1)
	if f.has('D') {
		dayNumber := f.get('D', 0)
		leap := int64(daysInMonth(y, 2) - 28)
		if dayNumber < 1 || dayNumber > 365+leap {
			return timeText{}, false
		}
		cy, cm, cd := civil(dayCount(y, 1, 1) + dayNumber - 1)
		if cy != y || f.has('M') && int64(cm) != m || f.has('d') && int64(cd) != d {
			return timeText{}, false
		}
		m, d = int64(cm), int64(cd)
	}
	day, ok := validDay(y, int(min(m, 99)), int(min(d, 99)))
	hour, okHour := f.hour()
	minute, second := f.get('m', 0), f.get('s', 0)
	if !ok || !okHour || minute > 59 || second > 59 {
		return timeText{}, false
	}
	t := timeText{hasZone: f.zone, offset: f.offset}
	t.wall = int64(day)*microsPerDay + (hour*3600+minute*60+second)*microsPerSecond + f.micros
	return t, true
}

// hour joins H, k, and h or K with a; without a the half of the day is the
// first.
func (f *fields) hour() (int64, bool) {
	hour, known := int64(0), false
	put := func(v int64) bool {
		if known && v != hour {
			return false
		}
		hour, known = v, true
		return true
	}
	for _, c := range []struct {
		letter       byte
		lo, hi, base int64
		half         bool
	}{{'H', 0, 23, 24, false}, {'k', 1, 24, 24, false}, {'h', 1, 12, 12, true}, {'K', 0, 11, 12, true}} {
		if !f.has(c.letter) {
			continue
		}
		v := f.get(c.letter, 0)
		if v < c.lo || v > c.hi {
			return 0, false
		}
		v %= c.base
		if c.half && f.has('a') {
			v += 12 * f.get('a', 0)
		}
		if !put(v) {
			return 0, false
		}
	}
	return hour, true
}
