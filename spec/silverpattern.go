package spec

import (
	"fmt"
	"slices"
	"strings"
)

// PatternField is what one part of a date pattern reads.
type PatternField byte

// Fields of a pattern; Literal is text that stands as it is.
const (
	PatternLiteral  PatternField = iota
	PatternYear                  // y or u: yyyy four digits, yy two
	PatternMonth                 // M
	PatternDay                   // d
	PatternHour                  // H, 0 to 23
	PatternHour12                // h, 1 to 12, with a
	PatternMinute                // m
	PatternSecond                // s
	PatternFraction              // S, exactly as many digits
	PatternAMPM                  // a
	PatternOffset                // X: Z or +02, +0200 (XX), +02:00 (XXX); x without Z; Z as xx
)

// PatternPart is one part of a pattern.
type PatternPart struct {
	Field PatternField
	// Width is the number of letters. One letter of a number means as many digits
	// as there are, at most two (the year: at most four).
	Width int
	// Text of a literal.
	Text string
	// Zulu allows the letter Z for an offset of nothing.
	Zulu bool
}

var patternLetters = map[byte]struct {
	field PatternField
	most  int
}{
	'y': {PatternYear, 4}, 'u': {PatternYear, 4}, 'M': {PatternMonth, 2}, 'd': {PatternDay, 2}, 'H': {PatternHour, 2}, 'h': {PatternHour12, 2},
	'm': {PatternMinute, 2}, 's': {PatternSecond, 2}, 'S': {PatternFraction, 9}, 'a': {PatternAMPM, 1}, 'X': {PatternOffset, 3}, 'x': {PatternOffset, 3}, 'Z': {PatternOffset, 1},
}

// ParsePattern takes a pattern such as dd/MM/yyyy apart. Letters mean what they
// mean in Spark and Java; names of months and days are refused, since they
// differ by language, and so is what could be read in two ways.
func ParsePattern(text string) ([]PatternPart, error) {
	var parts []PatternPart
	for i := 0; i < len(text); {
		switch b := text[i]; {
		case b == '\'':
			lit, n := quotedLiteral(text[i:])
			if n == 0 {
				return nil, fmt.Errorf("%q: a quote is not closed", text)
			}
			parts, i = append(parts, PatternPart{Text: lit}), i+n
		case b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z':
			n := 1
			for i+n < len(text) && text[i+n] == b {
				n++
			}
			part, err := patternPart(text, b, n)
			if err != nil {
				return nil, err
			}
			parts, i = append(parts, part), i+n
		case strings.IndexByte("[]{}#", b) >= 0:
			return nil, fmt.Errorf("%q: %c is not handled; write each form as a pattern of its own", text, b)
		default:
			parts, i = append(parts, PatternPart{Text: text[i : i+1]}), i+1
		}
	}
	return parts, unambiguous(text, parts)
}

func quotedLiteral(text string) (lit string, n int) {
	if strings.HasPrefix(text, "''") {
		return "'", 2
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] != '\'':
			b.WriteByte(text[i])
		case i+1 < len(text) && text[i+1] == '\'':
			b.WriteByte('\'')
			i++
		default:
			return b.String(), i + 1
		}
	}
	return "", 0
}

func patternPart(text string, letter byte, n int) (PatternPart, error) {
	known, ok := patternLetters[letter]
	switch {
	case !ok:
		return PatternPart{}, fmt.Errorf("%q: the letter %c is not handled; y, M, d, H, h, m, s, S, a, X, x and Z are, other text stands in single quotes", text, letter)
	case letter == 'M' && n > 2:
		return PatternPart{}, fmt.Errorf("%q: names of months differ by language and are not handled; MM reads a number", text)
	case known.field == PatternYear && n == 3, n > known.most:
		return PatternPart{}, fmt.Errorf("%q: %s is not handled", text, strings.Repeat(string(letter), n))
	}
	p := PatternPart{Field: known.field, Width: n, Zulu: letter == 'X'}
	if letter == 'Z' {
		p.Width = 2
	}
	return p, nil
}

func (p PatternPart) number() bool { return p.Field >= PatternYear && p.Field <= PatternFraction }

func unambiguous(text string, parts []PatternPart) error {
	var seen []PatternField
	for i, p := range parts {
		if p.Field == PatternLiteral {
			continue
		}
		if slices.Contains(seen, p.Field) {
			return fmt.Errorf("%q: the same field twice", text)
		}
		seen = append(seen, p.Field)
		if i+1 < len(parts) && p.number() && p.Width == 1 && parts[i+1].number() {
			return fmt.Errorf("%q: where one number ends and the next begins cannot be told; use two letters", text)
		}
	}
	has := func(f PatternField) bool { return slices.Contains(seen, f) }
	switch {
	case !has(PatternYear) || !has(PatternMonth) || !has(PatternDay):
		return fmt.Errorf("%q: a date needs year (yyyy), month (MM) and day (dd)", text)
	case has(PatternHour) && has(PatternHour12), has(PatternHour12) != has(PatternAMPM):
		return fmt.Errorf("%q: hours are HH (0 to 23), or hh with a (AM, PM)", text)
	case has(PatternMinute) && !has(PatternHour) && !has(PatternHour12), has(PatternSecond) && !has(PatternMinute), has(PatternFraction) && !has(PatternSecond):
		return fmt.Errorf("%q: a time needs hours for its minutes, minutes for its seconds, seconds for their fraction", text)
	}
	return nil
}

// CheckPattern says whether a pattern reads values of a type: date, timestamp or
// timestamp_ntz.
func CheckPattern(text, typ string) error {
	parts, err := ParsePattern(text)
	if err != nil {
		return err
	}
	for _, p := range parts {
		switch {
		case typ == "date" && p.Field > PatternDay:
			return fmt.Errorf("%q: a date has no time of day, which would be lost; make the column a timestamp", text)
		case typ == "timestamp_ntz" && p.Field == PatternOffset:
			return fmt.Errorf("%q: timestamp_ntz has no zone, the offset would be lost; make the column a timestamp", text)
		case p.Field == PatternFraction && p.Width > 6:
			return fmt.Errorf("%q: timestamps are kept to the microsecond, more digits would be lost", text)
		}
	}
	return nil
}
