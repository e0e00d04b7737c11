package expr

import (
	"strings"
	"unicode/utf8"
)

// lexString reads a quoted string with Spark's escapes (ParserUtils.unescapeSQLString).
// A doubled quote is one quote, as in standard SQL and Spark 4; Spark 3.5 reads
// 'it”s' as its (differences.go).
func (l *lexer) lexString(quote byte) (token, error) {
	text, start := l.src.text, l.off
	var b strings.Builder
	for i := start + 1; i < len(text); {
		c := text[i]
		switch {
		case c == quote && i+1 < len(text) && text[i+1] == quote:
			b.WriteByte(quote)
			i += 2
		case c == quote:
			l.off = i + 1
			return l.stringToken(start, b.String())
		case c == '\\' && i+1 < len(text):
			i += unescape(&b, text[i:])
		default:
			b.WriteByte(c)
			i++
		}
	}
	return token{}, l.src.syntax(start, "string is not closed by %c", quote)
}

// lexRawString reads r'…', in which a backslash stands for itself.
func (l *lexer) lexRawString() (token, error) {
	start, quote := l.off, l.src.text[l.off+1]
	i := strings.IndexByte(l.src.text[start+2:], quote)
	if i < 0 {
		return token{}, l.src.syntax(start, "string is not closed by %c", quote)
	}
	l.off = start + 2 + i + 1
	return l.stringToken(start, l.src.text[start+2:start+2+i])
}

func (l *lexer) stringToken(start int, val string) (token, error) {
	if !utf8.ValidString(val) {
		return token{}, l.src.syntax(start, "string is not UTF-8 text")
	}
	return token{tokString, start, l.off, val}, nil
}

// unescape writes what the escape at the start of s stands for and returns its
// length. \% and \_ keep their backslash, for LIKE.
func unescape(b *strings.Builder, s string) int {
	switch s[1] {
	case 'u':
		if r, ok := hexRune(s[2:], 4); ok {
			b.WriteRune(r)
			return 6
		}
	case 'U':
		if r, ok := hexRune(s[2:], 8); ok {
			b.WriteRune(r)
			return 10
		}
	}
	if len(s) >= 4 && s[1] <= '1' && isOctal(s[1]) && isOctal(s[2]) && isOctal(s[3]) {
		b.WriteRune(rune(s[1]-'0')<<6 | rune(s[2]-'0')<<3 | rune(s[3]-'0'))
		return 4
	}
	if i := strings.IndexByte("0bnrtZ", s[1]); i >= 0 {
		b.WriteByte("\x00\b\n\r\t\x1a"[i])
		return 2
	}
	if s[1] == '%' || s[1] == '_' {
		b.WriteString(s[:2])
		return 2
	}
	_, size := utf8.DecodeRuneInString(s[1:])
	b.WriteString(s[1 : 1+size])
	return 1 + size
}

func isOctal(c byte) bool { return c >= '0' && c <= '7' }

func hexRune(s string, n int) (rune, bool) {
	if len(s) < n {
		return 0, false
	}
	var r rune
	for i := range n {
		d := strings.IndexByte("0123456789abcdef", s[i]|0x20)
		if d < 0 || s[i] < '0' {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, utf8.ValidRune(r)
}
