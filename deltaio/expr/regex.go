package expr

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// RLIKE takes a Java regular expression. It is translated to RE2, whose time is
// linear in the text; what RE2 cannot say (look-around, back references,
// possessive quantifiers, class intersection) is refused. The translation is
// exact but for two points that depend on the version of Java or Unicode: \b
// sees ASCII words (as Java since 19), and \p classes are Go's Unicode tables.

// javaRegex is a compiled pattern.
type javaRegex struct {
	re *regexp.Regexp
	// dollar: the pattern has $, which Java also matches before a line end that
	// ends the text. RE2 has only the end of text, so such texts are tried twice.
	dollar bool
}

func (j *javaRegex) kernel(n int, args []*vec) (*vec, error) {
	x := args[0]
	out := newBits(n)
	for i := range n {
		if !x.isNull(i) && j.find(x.bytes(i)) {
			setBit(out, i)
		}
	}
	return boolVec(n, out, x.nullMask(n)), nil
}

func (j *javaRegex) find(s []byte) bool {
	if j.re.Match(s) {
		return true
	}
	if !j.dollar {
		return false
	}
	cut := chopLineEnd(s)
	return len(cut) < len(s) && j.re.Match(cut)
}

// chopLineEnd drops one line terminator of Java from the end.
func chopLineEnd(s []byte) []byte {
	for _, end := range []string{"\r\n", "\n", "\r", "\u0085", "\u2028", "\u2029"} {
		if cut, ok := bytes.CutSuffix(s, []byte(end)); ok {
			return cut
		}
	}
	return s
}

func compileJavaRegex(pattern string) (*javaRegex, error) {
	t := &regexTranslator{src: pattern}
	if err := t.alternatives(0); err != nil {
		return nil, fmt.Errorf("RLIKE pattern %q: %w", pattern, err)
	}
	re, err := regexp.Compile(t.out.String())
	if err != nil {
		return nil, fmt.Errorf("RLIKE pattern %q is beyond RE2: %w", pattern, err)
	}
	if t.dollar {
		tree, err := syntax.Parse(t.out.String(), syntax.Perl)
		if err != nil || t.endOfText || !endsOnly(tree, true) {
			return nil, fmt.Errorf("RLIKE pattern %q: $ is supported at the end of the pattern or of an alternative only", pattern)
		}
	}
	return &javaRegex{re, t.dollar}, nil
}

// endsOnly says whether end-of-text stands in last places only, where trying
// the text without its line end is the same as Java's $.
func endsOnly(r *syntax.Regexp, last bool) bool {
	switch r.Op {
	case syntax.OpEndText:
		return last
	case syntax.OpConcat:
		for i, sub := range r.Sub {
			if !endsOnly(sub, last && i == len(r.Sub)-1) {
				return false
			}
		}
		return true
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		last = false
	}
	for _, sub := range r.Sub {
		if !endsOnly(sub, last) {
			return false
		}
	}
	return true
}

// regexTranslator writes RE2 syntax while it reads Java's.
type regexTranslator struct {
	src       string
	pos       int
	out       strings.Builder
	fold      bool // (?i): ASCII letters match both cases
	dotAll    bool // (?s)
	dollar    bool
	endOfText bool // \z
}

func (t *regexTranslator) more() bool { return t.pos < len(t.src) }

func (t *regexTranslator) peekRune() rune {
	if !t.more() {
		return -1
	}
	r, _ := utf8.DecodeRuneInString(t.src[t.pos:])
	return r
}

func (t *regexTranslator) next() rune {
	r, size := utf8.DecodeRuneInString(t.src[t.pos:])
	t.pos += size
	return r
}

func (t *regexTranslator) accept(s string) bool {
	if strings.HasPrefix(t.src[t.pos:], s) {
		t.pos += len(s)
		return true
	}
	return false
}

// alternatives reads up to the parenthesis that closes the group, or the end.
// Flags set inside hold to its end.
func (t *regexTranslator) alternatives(depth int) error {
	if depth > maxNesting {
		return fmt.Errorf("groups are nested deeper than %d", maxNesting)
	}
	fold, dotAll := t.fold, t.dotAll
	defer func() { t.fold, t.dotAll = fold, dotAll }()
	repeatable := false
	for t.more() {
		r := t.peekRune()
		switch r {
		case ')':
			if depth == 0 {
				return fmt.Errorf("unmatched )")
			}
			return nil
		case '|':
			t.next()
			t.out.WriteByte('|')
			repeatable = false
			continue
		case '*', '+', '?', '{':
			if !repeatable {
				return fmt.Errorf("%c has nothing to repeat", r)
			}
			if err := t.quantifier(); err != nil {
				return err
			}
			repeatable = false
			continue
		}
		var err error
		if repeatable, err = t.atom(depth); err != nil {
			return err
		}
	}
	if depth > 0 {
		return fmt.Errorf("group is not closed")
	}
	return nil
}

// atom reads one element; it says whether a quantifier may follow.
func (t *regexTranslator) atom(depth int) (bool, error) {
	switch r := t.next(); r {
	case '(':
		return t.group(depth)
	case '[':
		return true, t.class()
	case '\\':
		return t.escape()
	case '.':
		if t.dotAll {
			t.out.WriteString(`(?s:.)`)
		} else {
			t.out.WriteString(`[^\n\r\x{85}\x{2028}\x{2029}]`)
		}
	case '^':
		t.out.WriteString(`\A`)
		return false, nil
	case '$':
		t.out.WriteString(`\z`)
		t.dollar = true
		return false, nil
	default:
		t.literal(r)
	}
	return true, nil
}

func (t *regexTranslator) literal(r rune) {
	if t.fold && isASCIILetter(r) {
		fmt.Fprintf(&t.out, "[%c%c]", r|0x20, r&^0x20)
		return
	}
	t.out.WriteString(regexp.QuoteMeta(string(r)))
}

func isASCIILetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' && r < 0x80 }

func (t *regexTranslator) quantifier() error {
	r := t.next()
	t.out.WriteRune(r)
	if r == '{' {
		end := strings.IndexByte(t.src[t.pos:], '}')
		if end < 0 {
			return fmt.Errorf("{ is not closed")
		}
		bounds := t.src[t.pos : t.pos+end+1]
		from, to, _ := strings.Cut(strings.TrimSuffix(bounds, "}"), ",")
		if from == "" || !allDigits(from) || !allDigits(to) {
			return fmt.Errorf("{%s is not a repetition", bounds)
		}
		t.out.WriteString(bounds)
		t.pos += end + 1
	}
	switch {
	case t.accept("?"): // laziness changes nothing about whether there is a match
		t.out.WriteByte('?')
	case t.accept("+"):
		return fmt.Errorf("possessive quantifiers are not supported by RE2")
	}
	return nil
}

var refusedGroups = []struct{ open, name string }{
	{"?=", "look-ahead"}, {"?!", "negative look-ahead"}, {"?<=", "look-behind"},
	{"?<!", "negative look-behind"}, {"?>", "atomic groups"},
}

func (t *regexTranslator) group(depth int) (bool, error) {
	for _, g := range refusedGroups {
		if t.accept(g.open) {
			return false, fmt.Errorf("%s is not supported by RE2", g.name)
		}
	}
	fold, dotAll := t.fold, t.dotAll
	switch {
	case t.accept("?<"):
		end := strings.IndexByte(t.src[t.pos:], '>')
		if end <= 0 || strings.Trim(t.src[t.pos:t.pos+end], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
			return false, fmt.Errorf("group name is not a word")
		}
		t.pos += end + 1
	case t.accept("?"):
		scoped, err := t.flags()
		if err != nil {
			return false, err
		}
		if !scoped { // (?i) changes the rest of the enclosing group
			return false, nil
		}
	}
	t.out.WriteString("(?:")
	if err := t.alternatives(depth + 1); err != nil {
		return false, err
	}
	t.fold, t.dotAll = fold, dotAll
	t.next() // the parenthesis
	t.out.WriteByte(')')
	return true, nil
}

// flags reads (?flags) or (?flags: up to and including its last character.
func (t *regexTranslator) flags() (scoped bool, err error) {
	on := true
	for t.more() {
		switch r := t.next(); r {
		case ':':
			return true, nil
		case ')':
			return false, nil
		case '-':
			on = false
		case 'i':
			t.fold = on
		case 's':
			t.dotAll = on
		default:
			return false, fmt.Errorf("flag (?%c) is not supported; i and s are", r)
		}
	}
	return false, fmt.Errorf("group is not closed")
}
