package expr

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokEOF    tokenKind = iota
	tokIdent            // an unquoted word; keywords are words
	tokQuoted           // a backticked name, unescaped in val
	tokNumber           // digits with point, exponent and suffix as written
	tokString           // a string, unescaped in val
	tokOp               // an operator or punctuation mark
)

// token is one lexical element; text[pos:end] is how it was written.
type token struct {
	kind     tokenKind
	pos, end int
	val      string
}

// is says whether the token is the given keyword, in any case.
func (t token) is(word string) bool {
	return t.kind == tokIdent && strings.EqualFold(t.val, word)
}

func (t token) op(s string) bool { return t.kind == tokOp && t.val == s }

// lexer cuts a text into tokens on demand. It is a value: a copy looks ahead.
type lexer struct {
	src *source
	off int
}

func (l *lexer) next() (token, error) {
	if err := l.skipSpace(); err != nil {
		return token{}, err
	}
	text := l.src.text
	if l.off >= len(text) {
		return token{kind: tokEOF, pos: len(text), end: len(text)}, nil
	}
	c := text[l.off]
	switch {
	case c == '\'' || c == '"':
		return l.lexString(c)
	case (c == 'r' || c == 'R') && l.off+1 < len(text) && (text[l.off+1] == '\'' || text[l.off+1] == '"'):
		return l.lexRawString()
	case c == '`':
		return l.lexBackticks()
	case isDigit(c) || c == '.' && l.off+1 < len(text) && isDigit(text[l.off+1]):
		return l.lexNumber()
	}
	if r, _ := utf8.DecodeRuneInString(text[l.off:]); isWordStart(r) {
		return l.lexWord(), nil
	}
	return l.lexOp()
}

// skipSpace passes white space and comments; bracketed comments nest.
func (l *lexer) skipSpace() error {
	text := l.src.text
	for l.off < len(text) {
		rest := text[l.off:]
		switch {
		case strings.HasPrefix(rest, "--"):
			if i := strings.IndexByte(rest, '\n'); i >= 0 {
				l.off += i + 1
			} else {
				l.off = len(text)
			}
		case strings.HasPrefix(rest, "/*"):
			if err := l.skipComment(); err != nil {
				return err
			}
		default:
			r, size := utf8.DecodeRuneInString(rest)
			if !unicode.IsSpace(r) {
				return nil
			}
			l.off += size
		}
	}
	return nil
}

func (l *lexer) skipComment() error {
	start, depth := l.off, 0
	for text := l.src.text; l.off < len(text); {
		switch rest := text[l.off:]; {
		case strings.HasPrefix(rest, "/*"):
			depth, l.off = depth+1, l.off+2
		case strings.HasPrefix(rest, "*/"):
			depth, l.off = depth-1, l.off+2
			if depth == 0 {
				return nil
			}
		default:
			l.off++
		}
	}
	return l.src.syntax(start, "comment is not closed by */")
}

func (l *lexer) lexWord() token {
	start := l.off
	for l.off < len(l.src.text) {
		r, size := utf8.DecodeRuneInString(l.src.text[l.off:])
		if !isWordStart(r) && !unicode.IsDigit(r) {
			break
		}
		l.off += size
	}
	return token{tokIdent, start, l.off, l.src.text[start:l.off]}
}

func (l *lexer) lexBackticks() (token, error) {
	start := l.off
	var b strings.Builder
	for i := start + 1; i < len(l.src.text); i++ {
		c := l.src.text[i]
		if c != '`' {
			b.WriteByte(c)
			continue
		}
		if i+1 < len(l.src.text) && l.src.text[i+1] == '`' {
			b.WriteByte('`')
			i++
			continue
		}
		if b.Len() == 0 {
			return token{}, l.src.syntax(start, "empty name")
		}
		l.off = i + 1
		return token{tokQuoted, start, l.off, b.String()}, nil
	}
	return token{}, l.src.syntax(start, "name is not closed by `")
}

// lexNumber takes digits, point, exponent and suffix; what they mean is
// decided with the sign (parse_number.go).
func (l *lexer) lexNumber() (token, error) {
	text, start := l.src.text, l.off
	i := start
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	if i < len(text) && text[i] == '.' {
		i++
		for i < len(text) && isDigit(text[i]) {
			i++
		}
	}
	i = scanExponent(text, i)
	for i < len(text) && (isDigit(text[i]) || isWordStart(rune(text[i]))) {
		i++
	}
	l.off = i
	return token{tokNumber, start, i, text[start:i]}, nil
}

func scanExponent(text string, i int) int {
	if i >= len(text) || text[i]|0x20 != 'e' {
		return i
	}
	j := i + 1
	if j < len(text) && (text[j] == '+' || text[j] == '-') {
		j++
	}
	if j >= len(text) || !isDigit(text[j]) {
		return i
	}
	for j < len(text) && isDigit(text[j]) {
		j++
	}
	return j
}

// operators, longest first.
var operators = []string{
	"<=>", "<=", ">=", "<>", "!=", "==", "||",
	"<", ">", "=", "+", "-", "*", "/", "%", "(", ")", ",", ".", "!",
}

func (l *lexer) lexOp() (token, error) {
	rest := l.src.text[l.off:]
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			t := token{tokOp, l.off, l.off + len(op), op}
			l.off = t.end
			return t, nil
		}
	}
	r, _ := utf8.DecodeRuneInString(rest)
	switch r {
	case ';':
		return token{}, l.src.syntax(l.off, "one expression without ; is wanted")
	case '[', ']', '{', '}', '&', '|', '^', '~', ':', '?', '@', '$':
		return token{}, l.src.syntax(l.off, "operator %q is not supported", r)
	case utf8.RuneError:
		return token{}, l.src.syntax(l.off, "not UTF-8 text")
	}
	return token{}, l.src.syntax(l.off, "unexpected character %q", r)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordStart(r rune) bool { return r == '_' || r != utf8.RuneError && unicode.IsLetter(r) }
