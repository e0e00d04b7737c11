package log

import (
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonDepth bounds the nesting of one action, so that a hostile line cannot
// exhaust the stack.
const jsonDepth = 512

// A cursor reads one JSON document front to back without building a tree: logs
// of large tables are hundreds of megabytes of it. It is as strict as
// encoding/json, and stricter in one point: a string that is no valid Unicode is
// an error, because replacing a character would change a path.
type cursor struct {
	b     []byte
	i     int
	depth int
}

func (c *cursor) fail(what string) error {
	return fmt.Errorf("byte %d: %s", c.i+1, what)
}

func (c *cursor) space() {
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case ' ', '\t', '\r', '\n':
			c.i++
		default:
			return
		}
	}
}

// peek gives the next byte that is no space; 0 at the end.
func (c *cursor) peek() byte {
	c.space()
	if c.i >= len(c.b) {
		return 0
	}
	return c.b[c.i]
}

func (c *cursor) expect(want byte) error {
	if c.peek() != want {
		return c.fail("want " + strconv.QuoteRune(rune(want)))
	}
	c.i++
	return nil
}

// end says that nothing but space is left.
func (c *cursor) end() error {
	if c.peek() != 0 || c.i < len(c.b) {
		return c.fail("text after the end of the document")
	}
	return nil
}

// null consumes a null, when one is next.
func (c *cursor) null() bool {
	if c.peek() == 'n' && c.literal("null") {
		return true
	}
	return false
}

func (c *cursor) literal(s string) bool {
	if len(c.b)-c.i < len(s) || string(c.b[c.i:c.i+len(s)]) != s {
		return false
	}
	c.i += len(s)
	return true
}

// object calls field for each member, the cursor standing before its value,
// which field must consume.
func (c *cursor) object(field func(key string) error) error {
	if err := c.expect('{'); err != nil {
		return err
	}
	return c.members('}', func() error {
		key, err := c.str()
		if err != nil {
			return err
		}
		if err := c.expect(':'); err != nil {
			return err
		}
		return field(key)
	})
}

// array calls element with the cursor before each element.
func (c *cursor) array(element func() error) error {
	if err := c.expect('['); err != nil {
		return err
	}
	return c.members(']', element)
}

func (c *cursor) members(closing byte, member func() error) error {
	if c.depth++; c.depth > jsonDepth {
		return c.fail(fmt.Sprintf("nested deeper than %d", jsonDepth))
	}
	defer func() { c.depth-- }()
	if c.peek() == closing {
		c.i++
		return nil
	}
	for {
		if err := member(); err != nil {
			return err
		}
		switch c.peek() {
		case ',':
			c.i++
		case closing:
			c.i++
			return nil
		default:
			return c.fail("want ',' or " + strconv.QuoteRune(rune(closing)))
		}
	}
}

// raw consumes any value, checks it and gives its bytes.
func (c *cursor) raw() ([]byte, error) {
	c.space()
	start := c.i
	if err := c.skip(); err != nil {
		return nil, err
	}
	return c.b[start:c.i], nil
}

func (c *cursor) skip() error {
	switch b := c.peek(); {
	case b == '{':
		c.i++
		return c.members('}', func() error {
			if err := c.skipString(); err != nil {
				return err
			}
			if err := c.expect(':'); err != nil {
				return err
			}
			return c.skip()
		})
	case b == '[':
		return c.array(c.skip)
	case b == '"':
		return c.skipString()
	case b == '-' || b >= '0' && b <= '9':
		_, _, err := c.number()
		return err
	case c.literal("true") || c.literal("false") || c.literal("null"):
		return nil
	}
	return c.fail("want a value")
}

// number consumes a JSON number and says whether it is written as an integer.
func (c *cursor) number() (text []byte, integer bool, err error) {
	c.space()
	start := c.i
	if c.at('-') {
		c.i++
	}
	switch {
	case c.at('0'):
		c.i++
	case !c.digits():
		return nil, false, c.fail("want a number")
	}
	integer = true
	if c.at('.') {
		integer = false
		if c.i++; !c.digits() {
			return nil, false, c.fail("want a digit")
		}
	}
	if c.at('e') || c.at('E') {
		integer = false
		if c.i++; c.at('+') || c.at('-') {
			c.i++
		}
		if !c.digits() {
			return nil, false, c.fail("want a digit")
		}
	}
	return c.b[start:c.i], integer, nil
}

func (c *cursor) at(b byte) bool { return c.i < len(c.b) && c.b[c.i] == b }

func (c *cursor) digits() bool {
	start := c.i
	for c.i < len(c.b) && c.b[c.i] >= '0' && c.b[c.i] <= '9' {
		c.i++
	}
	return c.i > start
}

// int64 consumes an integer, exactly.
func (c *cursor) int64() (int64, error) {
	text, integer, err := c.number()
	if err != nil {
		return 0, err
	}
	v, perr := strconv.ParseInt(string(text), 10, 64)
	if !integer || perr != nil {
		return 0, c.fail(fmt.Sprintf("%q is no 64-bit integer", text))
	}
	return v, nil
}

func (c *cursor) bool() (bool, error) {
	switch {
	case c.peek() == 't' && c.literal("true"):
		return true, nil
	case c.peek() == 'f' && c.literal("false"):
		return false, nil
	}
	return false, c.fail("want true or false")
}

// span finds the string that is next: its content between the quotes and
// whether it holds escapes.
func (c *cursor) span() (content []byte, escaped bool, err error) {
	if err := c.expect('"'); err != nil {
		return nil, false, err
	}
	start := c.i
	for c.i < len(c.b) {
		switch b := c.b[c.i]; {
		case b == '"':
			content = c.b[start:c.i]
			c.i++
			return content, escaped, nil
		case b == '\\':
			escaped = true
			c.i += 2
		case b < ' ':
			return nil, false, c.fail("control character in a string")
		default:
			c.i++
		}
	}
	c.i = len(c.b)
	return nil, false, c.fail("string without an end")
}

func (c *cursor) skipString() error {
	content, escaped, err := c.span()
	if err != nil {
		return err
	}
	if escaped {
		_, err = c.unescape(nil, content)
		return err
	}
	if !utf8.Valid(content) {
		return c.fail("string is not UTF-8")
	}
	return nil
}

// str consumes a string.
func (c *cursor) str() (string, error) {
	content, escaped, err := c.span()
	if err != nil {
		return "", err
	}
	if !escaped {
		if !utf8.Valid(content) {
			return "", c.fail("string is not UTF-8")
		}
		return string(content), nil
	}
	buf, err := c.unescape(make([]byte, 0, len(content)), content)
	return string(buf), err
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape appends the text that content stands for. c.i stands behind it.
func (c *cursor) unescape(dst, content []byte) ([]byte, error) {
	for i := 0; i < len(content); {
		b := content[i]
		switch {
		case b < utf8.RuneSelf && b != '\\':
			dst = append(dst, b)
			i++
		case b != '\\':
			r, size := utf8.DecodeRune(content[i:])
			if r == utf8.RuneError && size == 1 {
				return nil, c.fail("string is not UTF-8")
			}
			dst = append(dst, content[i:i+size]...)
			i += size
		case i+1 < len(content) && content[i+1] == 'u':
			r, size := escapedRune(content[i:])
			if size == 0 {
				return nil, c.fail("escape in a string is no Unicode character")
			}
			dst = utf8.AppendRune(dst, r)
			i += size
		case i+1 < len(content) && escapes[content[i+1]] != 0:
			dst = append(dst, escapes[content[i+1]])
			i += 2
		default:
			return nil, c.fail("unknown escape in a string")
		}
	}
	return dst, nil
}

// escapedRune reads \uXXXX, or two of them that form a pair; size 0 when they
// stand for no character.
func escapedRune(b []byte) (r rune, size int) {
	hi, ok := hex4(b)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(hi) {
		return hi, 6
	}
	lo, ok := hex4(b[6:])
	if !ok {
		return 0, 0
	}
	if r := utf16.DecodeRune(hi, lo); r != utf8.RuneError {
		return r, 12
	}
	return 0, 0
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(v), err == nil
}
