package partitions

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/spec"
)

// token is a piece of a date pattern: a field with its width, or literal text.
type token struct {
	field byte // y M d H m s w; 0: literal
	width int
	text  string
}

// format is a strict date pattern.
type format struct {
	pattern string
	tokens  []token
	unit    spec.Unit // the finest part that it names
}

// fieldWidths lists the widths that a field may have.
var fieldWidths = map[byte]string{'y': "4", 'M': "12", 'd': "12", 'H': "12", 'm': "2", 's': "2", 'w': "12"}

// parseFormat reads a pattern such as yyyy-MM-dd, YYYY-'W'ww or yyyyMMddHH.
func parseFormat(pattern string) (*format, error) {
	f := &format{pattern: pattern}
	has := map[byte]bool{}
	for i := 0; i < len(pattern); {
		c := pattern[i]
		switch {
		case c == '\'':
			end := strings.IndexByte(pattern[i+1:], '\'')
			if end < 0 {
				return nil, fmt.Errorf("partition.format %q: a quote does not end", pattern)
			}
			f.tokens = append(f.tokens, token{text: pattern[i+1 : i+1+end]})
			i += end + 2
		case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
			n := 1
			for i+n < len(pattern) && pattern[i+n] == c {
				n++
			}
			field := c
			if c == 'Y' {
				field = 'y'
			}
			if !strings.Contains(fieldWidths[field], strconv.Itoa(n)) {
				return nil, fmt.Errorf("partition.format %q: %s is not read; yyyy, MM, dd, HH, mm, ss and ww are", pattern, pattern[i:i+n])
			}
			f.tokens = append(f.tokens, token{field: field, width: n})
			has[field] = true
			i += n
		default:
			f.tokens = append(f.tokens, token{text: string(c)})
			i++
		}
	}
	var err error
	f.unit, err = finest(pattern, has)
	return f, err
}

// finest is the unit that a pattern's fields name.
func finest(pattern string, has map[byte]bool) (spec.Unit, error) {
	switch {
	case !has['y']:
		return "", fmt.Errorf("partition.format %q: has no year (yyyy)", pattern)
	case has['w'] && !has['M'] && !has['d'] && !has['H']:
		return spec.Week, nil
	case has['w'], has['d'] && !has['M'], has['H'] && !has['d'], has['m'] && !has['H']:
		return "", fmt.Errorf("partition.format %q: does not name a month, day, hour or week", pattern)
	case has['H']:
		return spec.Hour, nil
	case has['d']:
		return spec.Day, nil
	case has['M']:
		return spec.Month, nil
	}
	return "", fmt.Errorf("partition.format %q: names no month, day, hour or week", pattern)
}

// parse reads text, strictly: as a wall time in UTC.
func (f *format) parse(text string) (time.Time, error) {
	v := map[byte]int{'M': 1, 'd': 1}
	rest := text
	for _, t := range f.tokens {
		if t.field == 0 {
			var ok bool
			if rest, ok = strings.CutPrefix(rest, t.text); !ok {
				return time.Time{}, fmt.Errorf("%q is not written as %s", text, f.pattern)
			}
			continue
		}
		n := digits(rest, t.width)
		if n == 0 || t.width > 1 && n != t.width {
			return time.Time{}, fmt.Errorf("%q is not written as %s", text, f.pattern)
		}
		v[t.field], _ = strconv.Atoi(rest[:n]) // digits only
		rest = rest[n:]
	}
	if rest != "" {
		return time.Time{}, fmt.Errorf("%q is not written as %s", text, f.pattern)
	}
	return wallTime(v['y'], v['M'], v['d'], v['H'], v['m'], v['s'], v['w'], text)
}

// digits counts those at the beginning: as many as width, of a width of 1 up to 2.
func digits(s string, width int) int {
	if width == 1 {
		width = 2
	}
	n := 0
	for n < len(s) && n < width && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// wallTime checks that the parts make a date.
func wallTime(y, m, d, h, minute, s, w int, text string) (time.Time, error) {
	if w > 0 {
		return weekTime(y, w, text)
	}
	t := time.Date(y, time.Month(m), d, h, minute, s, 0, time.UTC)
	if t.Year() != y || int(t.Month()) != m || t.Day() != d || h > 23 || minute > 59 || s > 59 {
		return time.Time{}, fmt.Errorf("%q is no date of the calendar", text)
	}
	return t, nil
}
