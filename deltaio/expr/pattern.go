package expr

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Date patterns are those of java.time.format.DateTimeFormatter in strict mode,
// as Spark 3 parses with them (DateTimeFormatterHelper; timeParserPolicy
// CORRECTED): yyyy takes four digits or more with a sign, MM exactly two, M one
// or more, S a fraction of one up to that many digits; letters ignore case.
// Text that does not match, or names no date (2025-02-30), is NULL.

// datePattern is a compiled pattern.
type datePattern struct {
	items []patternItem
	// width is the length of every text that a pattern of fixed widths matches,
	// such as yyyy-MM-dd; 0 where widths vary.
	width int
}

// patternItem is a field, literal text, or an optional section.
type patternItem struct {
	field    byte // pattern letter; 0 is literal text
	text     string
	min, max int
	padded   bool // the year: longer than min only with a sign
	reserve  int  // digits that fixed-width fields right behind need
	section  []patternItem
}

// patternLetters are those understood; years count as proleptic.
const patternLetters = "yMLdDHhKkmsSaXxZ"

// patternWidths is how often each may stand.
var patternWidths = map[byte]int{'y': 6, 'M': 4, 'L': 4, 'd': 2, 'D': 3, 'H': 2, 'h': 2, 'K': 2, 'k': 2, 'm': 2, 's': 2,
	'S': 9, 'a': 1, 'X': 5, 'x': 5, 'Z': 5}

func compileDatePattern(pattern string) (*datePattern, error) {
	items, rest, err := patternItems(pattern, 0)
	if err == nil && rest != "" {
		err = fmt.Errorf("] without [")
	}
	if err != nil {
		return nil, fmt.Errorf("date pattern %q: %w", pattern, err)
	}
	return &datePattern{items, fixedWidth(items)}, nil
}

// fixedWidth is the width of a pattern of yyyy MM dd HH mm ss and ASCII text. A
// year of more digits needs a sign, which makes the text longer.
func fixedWidth(items []patternItem) int {
	total, seen := 0, ""
	for _, it := range items {
		if it.field != 0 && strings.IndexByte(seen, it.field) >= 0 {
			return 0 // a field given twice must agree
		}
		seen += string(rune(it.field))
		switch {
		case it.section == nil && it.field == 0 && len(it.text) == 1:
			total++
		case it.field == 'y' && it.min == 4, strings.IndexByte("MdHms", it.field) >= 0 && it.min == 2:
			total += it.min
		default:
			return 0
		}
	}
	return total
}

func patternItems(p string, depth int) (items []patternItem, rest string, err error) {
	for p != "" {
		c := p[0]
		switch {
		case c == '[' && depth < 10:
			var section []patternItem
			if section, p, err = patternItems(p[1:], depth+1); err != nil {
				return nil, "", err
			}
			if p == "" {
				return nil, "", fmt.Errorf("[ without ]")
			}
			items, p = append(items, patternItem{section: section}), p[1:]
		case c == ']':
			if depth == 0 {
				return nil, "", fmt.Errorf("] without [")
			}
			return reserveDigits(items), p, nil
		case c == '\'':
			var text string
			if text, p, err = quotedText(p); err != nil {
				return nil, "", err
			}
			items = append(items, patternItem{text: text})
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			n := 1
			for n < len(p) && p[n] == c {
				n++
			}
			item, err := fieldItem(c, n)
			if err != nil {
				return nil, "", err
			}
			items, p = append(items, item), p[n:]
		case strings.IndexByte("{}#[", c) >= 0:
			return nil, "", fmt.Errorf("%c is reserved", c)
		default:
			_, size := utf8.DecodeRuneInString(p)
			items, p = append(items, patternItem{text: p[:size]}), p[size:]
		}
	}
	return reserveDigits(items), "", nil
}

// quotedText reads '…' at the start of p; ” is a quote.
func quotedText(p string) (text, rest string, err error) {
	if strings.HasPrefix(p, "''") {
		return "'", p[2:], nil
	}
	var b strings.Builder
	for i := 1; i < len(p); i++ {
		if p[i] != '\'' {
			b.WriteByte(p[i])
			continue
		}
		if i+1 < len(p) && p[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		return b.String(), p[i+1:], nil
	}
	return "", "", fmt.Errorf("quoted text is not closed")
}

func fieldItem(c byte, n int) (patternItem, error) {
	it := patternItem{field: c, min: n, max: n}
	limit, ok := patternWidths[c]
	switch {
	case !ok:
		return it, fmt.Errorf("%s is not supported; letters are %s", strings.Repeat(string(c), n), patternLetters)
	case n > limit || c == 'Z' && n == 4:
		return it, fmt.Errorf("%s is not supported", strings.Repeat(string(c), n))
	}
	switch c {
	case 'y':
		if n == 2 {
			it.field = 'Y' // two digits from 2000
			return it, nil
		}
		it.padded, it.max = n >= 4, 19
	case 'D':
		it.max = map[int]int{1: 19, 2: 3, 3: 3}[n]
	case 'S':
		it.min = 1
	case 'M', 'L':
		it.field = 'M'
		fallthrough
	default:
		if n == 1 {
			it.max = 19
		}
	}
	return it, nil
}

func (it *patternItem) numeric() bool {
	return strings.IndexByte("yYdDHhKkms", it.field) >= 0 || it.field == 'M' && it.min <= 2
}

// reserveDigits tells a field of variable width how many digits belong to the
// fixed-width fields that follow without a gap, as in yyyyMMdd.
func reserveDigits(items []patternItem) []patternItem {
	for i := range items {
		if !items[i].numeric() || items[i].min == items[i].max {
			continue
		}
		for _, next := range items[i+1:] {
			if !next.numeric() || next.min != next.max {
				break
			}
			items[i].reserve += next.max
		}
	}
	return items
}
