package expr

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// lower and upper use Unicode's full case mapping (ß becomes SS), as Java's
// String.toUpperCase.
func lower(dst, s []byte) []byte {
	if isASCII(s) {
		return append(dst, bytes.ToLower(s)...)
	}
	return append(dst, cases.Lower(language.Und).Bytes(s)...)
}

func upper(dst, s []byte) []byte {
	if isASCII(s) {
		return append(dst, bytes.ToUpper(s)...)
	}
	return append(dst, cases.Upper(language.Und).Bytes(s)...)
}

func isASCII(s []byte) bool {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func textFunc(k kernel) func(*binder, *node, []*term) (*term, error) {
	return func(b *binder, n *node, args []*term) (*term, error) {
		x, err := b.arg(n, args, 0, schema.String)
		if err != nil {
			return nil, err
		}
		return b.fold(strictCall(schema.String, k, n, x))
	}
}

// bindTrim drops spaces, or the characters of the first of two arguments
// (StringTrim: trim(chars, text)). Only U+0020 is a space here, not a tab.
func bindTrim(left, right bool) func(*binder, *node, []*term) (*term, error) {
	return func(b *binder, n *node, args []*term) (*term, error) {
		args, err := b.textArgs(n, args, n.name)
		if err != nil {
			return nil, err
		}
		if len(args) == 1 {
			args = []*term{stringConst(" ", n), args[0]}
		}
		return b.fold(strictCall(schema.String, func(rows int, args []*vec) (*vec, error) {
			out, chars, x := binaryOut(schema.String, rows, args)
			for i := range rows {
				if out.isNull(i) {
					out.endString()
					continue
				}
				s, cut := x.bytes(i), chars.str(i)
				if left {
					s = bytes.TrimLeft(s, cut)
				}
				if right {
					s = bytes.TrimRight(s, cut)
				}
				out.appendBytes(s)
			}
			return out, nil
		}, n, args...))
	}
}

func stringConst(s string, n *node) *term {
	v := newVec(schema.String, 1)
	v.one = true
	v.appendBytes([]byte(s))
	return constant(v, n)
}

// textOrBinary keeps binary and casts the rest to text.
func (b *binder) textOrBinary(n *node, args []*term) (*term, error) {
	if args[0].typ == schema.Binary {
		return args[0], nil
	}
	return b.arg(n, args, 0, schema.String)
}

// bindLength counts characters of text, bytes of binary.
func bindLength(b *binder, n *node, args []*term) (*term, error) {
	x, err := b.textOrBinary(n, args)
	if err != nil {
		return nil, err
	}
	isText := x.typ == schema.String
	return b.fold(strictCall(schema.Integer, func(rows int, args []*vec) (*vec, error) {
		x := args[0]
		out := newVec(schema.Integer, rows)
		out.null = x.spreadNull(rows)
		for i := range rows {
			if out.isNull(i) {
				continue
			}
			s := x.bytes(i)
			if isText {
				out.i32[i] = int32(utf8.RuneCount(s))
			} else {
				out.i32[i] = int32(len(s))
			}
		}
		return out, nil
	}, n, x))
}

// bindSubstring counts from 1; from the end where negative; 0 is 1
// (UTF8String.substringSQL).
func bindSubstring(b *binder, n *node, args []*term) (*term, error) {
	x, err := b.textOrBinary(n, args)
	if err != nil {
		return nil, err
	}
	all := []*term{x, nil, intConst(schema.Integer, 1<<31-1, n)}
	for i := 1; i < len(args); i++ {
		if all[i], err = b.arg(n, args, i, schema.Integer); err != nil {
			return nil, err
		}
	}
	cut := cutBytes
	if x.typ == schema.String {
		cut = cutRunes
	}
	return b.fold(strictCall(x.typ, func(rows int, args []*vec) (*vec, error) {
		out := newVec(x.typ, rows)
		for i := range rows {
			if args[0].isNull(i) || args[1].isNull(i) || args[2].isNull(i) {
				out.setNull(i)
			} else {
				pos, length := args[1].i32[i&args[1].at()], args[2].i32[i&args[2].at()]
				out.data = append(out.data, cut(args[0].bytes(i), int64(pos), int64(length))...)
			}
			out.endString()
		}
		return out, nil
	}, n, all...))
}

// window turns position and length into a range of n elements.
func window(n, pos, length int64) (from, to int64) {
	switch {
	case pos > 0:
		from = pos - 1
	case pos < 0:
		from = n + pos
	}
	to = min(from+length, n)
	return max(from, 0), max(to, 0)
}

func cutBytes(s []byte, pos, length int64) []byte {
	from, to := window(int64(len(s)), pos, length)
	if from >= to {
		return nil
	}
	return s[from:to]
}

func cutRunes(s []byte, pos, length int64) []byte {
	if isASCII(s) {
		return cutBytes(s, pos, length)
	}
	from, to := window(int64(utf8.RuneCount(s)), pos, length)
	if from >= to {
		return nil
	}
	start := len(s)
	k := int64(0)
	for i := 0; i < len(s); k++ {
		if k == from {
			start = i
		}
		if k == to {
			return s[start:i]
		}
		_, size := utf8.DecodeRune(s[i:])
		i += size
	}
	return s[start:]
}

// concat binds concat(…) and ||: NULL if any part is; binary if all parts are,
// else text (ConcatCoercion).
func (b *binder) concat(n *node, args []*term) (*term, error) {
	typ := schema.Type(schema.Binary)
	for i, a := range args {
		if a.typ != schema.Binary {
			typ = schema.String
		}
		if !implicitCast(a.typ, schema.String) {
			return nil, n.args[i].bindError("%s wants text, and this is %s", "concat", a.typ)
		}
	}
	if len(args) == 0 {
		return stringConst("", n), nil
	}
	args, err := b.castAll(args, typ)
	if err != nil {
		return nil, err
	}
	return b.fold(strictCall(typ, func(rows int, args []*vec) (*vec, error) {
		out := newVec(typ, rows)
		for i := range rows {
			start, null := len(out.data), false
			for _, a := range args {
				if null = a.isNull(i); null {
					out.data = out.data[:start]
					out.setNull(i)
					break
				}
				out.data = append(out.data, a.bytes(i)...)
			}
			out.endString()
		}
		return out, nil
	}, n, args...))
}

func hasPrefix(s, t []byte) bool    { return bytes.HasPrefix(s, t) }
func hasSuffix(s, t []byte) bool    { return bytes.HasSuffix(s, t) }
func containsText(s, t []byte) bool { return strings.Contains(unsafeString(s), unsafeString(t)) }

// textTest binds startswith, endswith and contains.
func textTest(test func(s, t []byte) bool) func(*binder, *node, []*term) (*term, error) {
	return func(b *binder, n *node, args []*term) (*term, error) {
		args, err := b.textArgs(n, args, n.name)
		if err != nil {
			return nil, err
		}
		return b.fold(strictCall(schema.Boolean, func(rows int, args []*vec) (*vec, error) {
			out, x, y := binaryOut(schema.Boolean, rows, args)
			for i := range rows {
				if !out.isNull(i) && test(x.bytes(i), y.bytes(i)) {
					setBit(out.bits, i)
				}
			}
			return out, nil
		}, n, args...))
	}
}
