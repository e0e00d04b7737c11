package log

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// An object writes one JSON object, member by member. Absent members are left
// out, as Spark leaves them out.
type object struct {
	b     []byte
	empty bool
}

func openObject(b []byte) *object { return &object{b: append(b, '{'), empty: true} }

func (o *object) close() []byte { return append(o.b, '}') }

func (o *object) key(name string) {
	if !o.empty {
		o.b = append(o.b, ',')
	}
	o.empty = false
	o.b = append(appendString(o.b, name), ':')
}

func (o *object) str(name, v string) {
	o.key(name)
	o.b = appendString(o.b, v)
}

func (o *object) optStr(name string, v *string) {
	if v != nil {
		o.str(name, *v)
	}
}

func (o *object) int(name string, v int64) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, v, 10)
}

func (o *object) optInt(name string, v *int64) {
	if v != nil {
		o.int(name, *v)
	}
}

func (o *object) bool(name string, v bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, v)
}

func (o *object) raw(name string, v []byte) {
	o.key(name)
	o.b = append(o.b, v...)
}

// strings writes a list; nil is absent.
func (o *object) strings(name string, list []string) {
	if list == nil {
		return
	}
	o.key(name)
	o.b = append(o.b, '[')
	for i, s := range list {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendString(o.b, s)
	}
	o.b = append(o.b, ']')
}

// strMap writes a map with sorted keys; nil is absent.
func (o *object) strMap(name string, m map[string]string) {
	if m == nil {
		return
	}
	o.key(name)
	in := openObject(o.b)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		in.str(k, m[k])
	}
	o.b = in.close()
}

// partitionValues writes the map, nulls included; nil is absent.
func (o *object) partitionValues(m map[string]*string) {
	if m == nil {
		return
	}
	o.key("partitionValues")
	in := openObject(o.b)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if v := m[k]; v != nil {
			in.str(k, *v)
		} else {
			in.raw(k, []byte("null"))
		}
	}
	o.b = in.close()
}

func (o *object) extra(x Extra) {
	for _, k := range slices.Sorted(maps.Keys(x)) {
		o.raw(k, oneLine(x[k]))
	}
}

// oneLine gives raw JSON without line breaks, which may only stand between
// tokens: a commit holds one action a line.
func oneLine(raw json.RawMessage) []byte {
	if !slices.ContainsFunc(raw, func(b byte) bool { return b == '\n' || b == '\r' }) {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for _, b := range raw {
		if b != '\n' && b != '\r' {
			out = append(out, b)
		}
	}
	return out
}

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string. Only what JSON demands is escaped, and the
// line separators of Unicode, which some line readers break at. Bytes that are
// no UTF-8 become U+FFFD: callers check names before they get here.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = append(b, s[start:i]...)
			b = appendEscape(b, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(append(b, s[start:i]...), "\ufffd"...)
			start = i + size
		case r == '\u2028' || r == '\u2029':
			b = append(append(b, s[start:i]...), `\u202`...)
			b = append(b, hexDigits[r&0xf])
			start = i + size
		}
		i += size
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}
