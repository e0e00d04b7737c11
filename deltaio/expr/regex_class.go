package expr

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Ranges inside an RE2 class for Java's predefined classes; the negated ones
// spelled out, since RE2's \s lacks \v.
var javaClasses = map[rune]string{
	'd': `0-9`, 'D': `\x{0}-/:-\x{10FFFF}`,
	'w': `0-9A-Za-z_`, 'W': "\\x{0}-/:-@\\[-\\^`{-\\x{10FFFF}",
	's': `\x{9}-\x{D} `, 'S': `\x{0}-\x{8}\x{E}-\x{1F}!-\x{10FFFF}`,
	'h': `\x{9} \x{A0}\x{1680}\x{180E}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}`,
	'v': `\x{A}-\x{D}\x{85}\x{2028}\x{2029}`,
}

var javaProperties = map[string]string{
	"Lower": `a-z`, "Upper": `A-Z`, "ASCII": `\x{0}-\x{7F}`, "Alpha": `A-Za-z`, "Digit": `0-9`,
	"Alnum": `0-9A-Za-z`, "Punct": "!-/:-@\\[-`{-~", "Graph": `!-~`, "Print": ` -~`, "Blank": ` \x{9}`,
	"Cntrl": `\x{0}-\x{1F}\x{7F}`, "XDigit": `0-9A-Fa-f`, "Space": `\x{9}-\x{D} `,
}

// escape reads what follows a backslash outside a class.
func (t *regexTranslator) escape() (bool, error) {
	if !t.more() {
		return false, fmt.Errorf("ends with a backslash")
	}
	start := t.pos
	switch r := t.next(); r {
	case 'b', 'B', 'A':
		t.out.WriteString(`\` + string(r))
		return false, nil
	case 'z':
		t.out.WriteString(`\z`)
		t.endOfText = true
		return false, nil
	case 'Z':
		t.out.WriteString(`\z`)
		t.dollar = true
		return false, nil
	case 'Q':
		return t.quoted()
	}
	t.pos = start
	set, r, err := t.escapeItem()
	if err != nil {
		return false, err
	}
	if set != "" {
		t.out.WriteString("[" + set + "]")
	} else {
		t.literal(r)
	}
	return true, nil
}

func (t *regexTranslator) quoted() (bool, error) {
	text, rest, closed := strings.Cut(t.src[t.pos:], `\E`)
	t.pos = len(t.src)
	if closed {
		t.pos -= len(rest)
	}
	for _, r := range text {
		t.literal(r)
	}
	return text != "", nil
}

// escapeItem reads an escape that stands for a character or a set of them,
// inside a class or outside.
func (t *regexTranslator) escapeItem() (set string, r rune, err error) {
	if !t.more() {
		return "", 0, fmt.Errorf("ends with a backslash")
	}
	r = t.next()
	if set, ok := javaClasses[r]; ok {
		return set, 0, nil
	}
	switch r {
	case 't', 'n', 'r', 'f', 'a', 'e':
		return "", rune("\t\n\r\f\a\x1b"[strings.IndexRune("tnrfae", r)]), nil
	case 'x', 'u', '0':
		r, err = t.numericEscape(r)
		return "", r, err
	case 'c':
		if !t.more() {
			return "", 0, fmt.Errorf(`\c wants a character`)
		}
		return "", t.next() ^ 64, nil
	case 'p', 'P':
		set, err = t.property(r == 'P')
		return set, 0, err
	case 'k', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return "", 0, fmt.Errorf("back references are not supported by RE2")
	}
	if isASCIILetter(r) {
		return "", 0, fmt.Errorf(`\%c is not supported`, r)
	}
	return "", r, nil
}

func (t *regexTranslator) numericEscape(kind rune) (rune, error) {
	rest := t.src[t.pos:]
	base, n := 16, map[rune]int{'x': 2, 'u': 4}[kind]
	digits := ""
	switch {
	case kind == '0':
		base = 8
		for len(digits) < 3 && len(digits) < len(rest) && isOctal(rest[len(digits)]) {
			digits = rest[:len(digits)+1]
		}
		if len(digits) == 3 && digits[0] > '3' {
			digits = digits[:2]
		}
		n = len(digits)
	case kind == 'x' && strings.HasPrefix(rest, "{"):
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			return 0, fmt.Errorf(`\x{ is not closed`)
		}
		digits, n = rest[1:end], end+1
	case len(rest) >= n:
		digits = rest[:n]
	}
	v, err := strconv.ParseUint(digits, base, 32)
	if err != nil || v > utf8.MaxRune || !utf8.ValidRune(rune(v)) {
		return 0, fmt.Errorf(`\%c is not followed by the number of a character`, kind)
	}
	t.pos += n
	return rune(v), nil
}

// property reads the name after \p. POSIX names are ASCII; others are Unicode
// categories and, after Is or script=, scripts.
func (t *regexTranslator) property(negated bool) (string, error) {
	name := ""
	if t.accept("{") {
		end := strings.IndexByte(t.src[t.pos:], '}')
		if end < 0 {
			return "", fmt.Errorf(`\p{ is not closed`)
		}
		name = t.src[t.pos : t.pos+end]
		t.pos += end + 1
	} else if t.more() {
		name = string(t.next())
	}
	if t.fold && (name == "Lower" || name == "Upper" || strings.HasPrefix(strings.TrimPrefix(name, "Is"), "L")) {
		return "", fmt.Errorf(`\p{%s} under (?i) is not supported`, name)
	}
	if set, ok := javaProperties[name]; ok {
		if negated {
			return negatedSet(set)
		}
		return set, nil
	}
	p := `\p{`
	if negated {
		p = `\P{`
	}
	for _, prefix := range []string{"", "Is", "gc=", "general_category="} {
		if c, ok := strings.CutPrefix(name, prefix); ok && unicode.Categories[c] != nil {
			return p + c + "}", nil
		}
	}
	for _, prefix := range []string{"Is", "sc=", "script="} {
		if c, ok := strings.CutPrefix(name, prefix); ok && unicode.Scripts[c] != nil {
			return p + c + "}", nil
		}
	}
	return "", fmt.Errorf(`\p{%s} is not supported`, name)
}

// negatedSet is the complement of a set as ranges.
func negatedSet(set string) (string, error) {
	in, err := regexp.Compile("[" + set + "]")
	if err != nil {
		return "", fmt.Errorf("set %s: %w", set, err)
	}
	var b strings.Builder
	start := rune(-1)
	for r := rune(0); r <= 0x80; r++ {
		inside := r < 0x80 && in.MatchString(string(r))
		if !inside && start < 0 {
			start = r
		}
		if inside && start >= 0 {
			writeRange(&b, start, r-1)
			start = -1
		}
	}
	writeRange(&b, start, utf8.MaxRune) // the sets are ASCII
	return b.String(), nil
}

func writeRange(b *strings.Builder, lo, hi rune) {
	fmt.Fprintf(b, `\x{%X}`, lo)
	if hi > lo {
		fmt.Fprintf(b, `-\x{%X}`, hi)
	}
}

// class reads […]. Nested classes and && are refused.
func (t *regexTranslator) class() error {
	var b strings.Builder
	b.WriteByte('[')
	if t.accept("^") {
		b.WriteByte('^')
	}
	for items := 0; ; items++ {
		switch {
		case !t.more():
			return fmt.Errorf("class is not closed by ]")
		case t.accept("&&"):
			return fmt.Errorf("class intersection && is not supported by RE2")
		case t.peekRune() == '[':
			return fmt.Errorf(`a [ inside a class is not supported; write \[`)
		case t.peekRune() == ']' && items == 0:
			return fmt.Errorf(`a class begins with ]; write \]`)
		case t.accept("]"):
			b.WriteByte(']')
			t.out.WriteString(b.String())
			return nil
		}
		if err := t.classItem(&b); err != nil {
			return err
		}
	}
}

// classItem reads a character, a set or a range.
func (t *regexTranslator) classItem(b *strings.Builder) error {
	set, lo, err := t.classChar()
	if err != nil {
		return err
	}
	if set != "" {
		b.WriteString(set)
		return nil
	}
	hi := lo
	if rest := t.src[t.pos:]; len(rest) > 1 && rest[0] == '-' && rest[1] != ']' && rest[1] != '[' {
		t.pos++
		if set, hi, err = t.classChar(); err != nil {
			return err
		}
		if set != "" || hi < lo {
			return fmt.Errorf("range in a class is not in order")
		}
	}
	writeRange(b, lo, hi)
	if t.fold {
		writeOtherCase(b, lo, hi)
	}
	return nil
}

func (t *regexTranslator) classChar() (string, rune, error) {
	if t.accept(`\`) {
		if t.peekRune() == 'Q' {
			return "", 0, fmt.Errorf(`\Q inside a class is not supported`)
		}
		return t.escapeItem()
	}
	if !t.more() {
		return "", 0, fmt.Errorf("class is not closed by ]")
	}
	return "", t.next(), nil
}

// writeOtherCase adds the other case of the ASCII letters in a range.
func writeOtherCase(b *strings.Builder, lo, hi rune) {
	for _, letters := range []struct{ lo, hi, shift rune }{{'a', 'z', -32}, {'A', 'Z', 32}} {
		l, h := max(lo, letters.lo), min(hi, letters.hi)
		if l <= h {
			writeRange(b, l+letters.shift, h+letters.shift)
		}
	}
}
