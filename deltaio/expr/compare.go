package expr

import (
	"bytes"
	"cmp"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// compareOp is a comparison of two values of one type.
type compareOp uint8

const (
	cmpEq compareOp = iota
	cmpNe
	cmpLt
	cmpLe
	cmpGt
	cmpGe
	cmpNullEq   // <=>: NULL equals NULL
	cmpDistinct // IS DISTINCT FROM: its negation
)

// swapped is the operator with its sides exchanged.
func (o compareOp) swapped() compareOp {
	switch o {
	case cmpLt:
		return cmpGt
	case cmpLe:
		return cmpGe
	case cmpGt:
		return cmpLt
	case cmpGe:
		return cmpLe
	}
	return o
}

// base is the operator that is computed, and whether its result is negated:
// every type has a total order, so that >= is NOT <.
func (o compareOp) base() (compareOp, bool) {
	switch o {
	case cmpNe, cmpDistinct:
		return cmpEq, true
	case cmpNullEq:
		return cmpEq, false
	case cmpLe:
		return cmpGt, true
	case cmpGe:
		return cmpLt, true
	}
	return o, false
}

// compareKernel compares two vecs of the same type.
func compareKernel(o compareOp) kernel {
	base, negated := o.base()
	return func(n int, args []*vec) (*vec, error) {
		a, b := args[0], args[1]
		if o != cmpNullEq && o != cmpDistinct && (a.allNull() || b.allNull()) {
			return nullVec(schema.Boolean), nil
		}
		op := base
		if a.one && !b.one {
			a, b, op = b, a, base.swapped()
		}
		out := compareValues(n, op, a, b)
		null := orBits(a.spreadNull(n), b.spreadNull(n))
		if o == cmpNullEq || o == cmpDistinct {
			return nullSafe(n, out, a, b, null, o == cmpDistinct), nil
		}
		if negated {
			out = notBits(out, n)
		}
		clearBits(out, null)
		return boolVec(n, out, null), nil
	}
}

// spreadNull is nullMask without making a mask of none.
func (v *vec) spreadNull(n int) []uint64 {
	if v.null == nil || v.one && v.null[0] == 0 {
		return nil
	}
	return v.nullMask(n)
}

// nullSafe turns equality into <=>: equal, or both NULL.
func nullSafe(n int, equal []uint64, a, b *vec, null []uint64, negated bool) *vec {
	clearBits(equal, null)
	if an, bn := a.spreadNull(n), b.spreadNull(n); an != nil && bn != nil {
		for i := range equal {
			equal[i] |= an[i] & bn[i]
		}
	}
	if negated {
		equal = notBits(equal, n)
	}
	return boolVec(n, equal, nil)
}

// compareValues gives a mask of the rows where a op b, for Eq, Lt and Gt; bits
// of NULL rows are arbitrary. When one side stands for all rows it is b.
func compareValues(n int, op compareOp, a, b *vec) []uint64 {
	switch storageOf(a.typ) {
	case inBits:
		return compareBools(n, op, a, b)
	case inI32:
		return compareOrdered(n, op, a.i32, b.i32, b.one)
	case inI64:
		return compareOrdered(n, op, a.i64, b.i64, b.one)
	case inF64:
		return compareFloats(n, op, a.f64, b.f64, b.one)
	case inDec:
		return compareDecimals(n, op, a.dec, b.dec, b.one)
	case inBytes:
		return compareBytes(n, op, a, b)
	}
	return newBits(n) // void: all NULL
}

func compareOrdered[T cmp.Ordered](n int, op compareOp, a, b []T, constant bool) []uint64 {
	if constant {
		return compareConst(n, op, a, b[0])
	}
	out := newBits(n)
	a, b = a[:n], b[:n]
	for w := range out {
		lo, hi := w*64, min(w*64+64, n)
		x, y := a[lo:hi], b[lo:hi]
		var m uint64
		switch op {
		case cmpEq:
			for i := range x {
				m |= b2u(x[i] == y[i]) << i
			}
		case cmpLt:
			for i := range x {
				m |= b2u(x[i] < y[i]) << i
			}
		default:
			for i := range x {
				m |= b2u(x[i] > y[i]) << i
			}
		}
		out[w] = m
	}
	return out
}

// compareConst is the hot loop of criteria: a column against a constant, 64
// rows to a word.
func compareConst[T cmp.Ordered](n int, op compareOp, a []T, c T) []uint64 {
	out := newBits(n)
	a = a[:n]
	for w := range out {
		x := a[w*64 : min(w*64+64, n)]
		var m uint64
		switch op {
		case cmpEq:
			for i, v := range x {
				m |= b2u(v == c) << (i & 63)
			}
		case cmpLt:
			for i, v := range x {
				m |= b2u(v < c) << (i & 63)
			}
		default:
			for i, v := range x {
				m |= b2u(v > c) << (i & 63)
			}
		}
		out[w] = m
	}
	return out
}

// compareFloats follows Spark's order: NaN equals NaN and is greater than any
// other value; -0.0 equals 0.0 (SQLOrderingUtil.compareDoubles).
func compareFloats(n int, op compareOp, a, b []float64, constant bool) []uint64 {
	if constant && b[0] == b[0] {
		if op == cmpGt {
			return floatsAbove(n, a, b[0])
		}
		return compareConst(n, op, a, b[0])
	}
	at := -1
	if constant {
		at = 0
	}
	out := newBits(n)
	for i := range n {
		x, y := a[i], b[i&at]
		var r bool
		switch op {
		case cmpEq:
			r = x == y || x != x && y != y
		case cmpLt:
			r = x < y || y != y && x == x
		default:
			r = x > y || x != x && y == y
		}
		out[i>>6] |= b2u(r) << (i & 63)
	}
	return out
}

// floatsAbove is v > c for a constant that is no NaN.
func floatsAbove(n int, a []float64, c float64) []uint64 {
	out := newBits(n)
	a = a[:n]
	for w := range out {
		var m uint64
		for i, v := range a[w*64 : min(w*64+64, n)] {
			m |= (b2u(v > c) | b2u(v != v)) << (i & 63)
		}
		out[w] = m
	}
	return out
}

func compareDecimals(n int, op compareOp, a, b []decimal128.Num, constant bool) []uint64 {
	if constant {
		return compareDecimalConst(n, op, a, b[0])
	}
	out := newBits(n)
	for i := range n {
		c := a[i].Cmp(b[i])
		r := op == cmpEq && c == 0 || op == cmpLt && c < 0 || op == cmpGt && c > 0
		out[i>>6] |= b2u(r) << (i & 63)
	}
	return out
}

func compareDecimalConst(n int, op compareOp, a []decimal128.Num, c decimal128.Num) []uint64 {
	out := newBits(n)
	hi, lo := c.HighBits(), c.LowBits()
	a = a[:n]
	for w := range out {
		var m uint64
		for i, v := range a[w*64 : min(w*64+64, n)] {
			h, l := v.HighBits(), v.LowBits()
			var r uint64
			switch op {
			case cmpEq:
				r = b2u(h == hi) & b2u(l == lo)
			case cmpLt:
				r = b2u(h < hi) | b2u(h == hi)&b2u(l < lo)
			default:
				r = b2u(h > hi) | b2u(h == hi)&b2u(l > lo)
			}
			m |= r << (i & 63)
		}
		out[w] = m
	}
	return out
}

// compareBytes orders strings by their UTF-8 bytes, unsigned, as UTF8String.
func compareBytes(n int, op compareOp, a, b *vec) []uint64 {
	if b.one && !a.one {
		return compareBytesConst(n, op, a.off, a.data, b.bytes(0))
	}
	out := newBits(n)
	for i := range n {
		c := bytes.Compare(a.bytes(i), b.bytes(i))
		r := op == cmpEq && c == 0 || op == cmpLt && c < 0 || op == cmpGt && c > 0
		out[i>>6] |= b2u(r) << (i & 63)
	}
	return out
}

func compareBytesConst(n int, op compareOp, off []int32, data, c []byte) []uint64 {
	out := newBits(n)
	want := map[compareOp]int{cmpLt: -1, cmpGt: 1}[op]
	off = off[:n+1]
	for w := range out {
		var m uint64
		lo := off[w*64]
		for i, hi := range off[w*64+1 : min(w*64+64, n)+1] {
			x := data[lo:hi]
			lo = hi
			if op != cmpEq {
				m |= b2u(bytes.Compare(x, c) == want) << (i & 63)
			} else if len(x) == len(c) {
				m |= b2u(string(x) == string(c)) << (i & 63)
			}
		}
		out[w] = m
	}
	return out
}

// compareBools orders FALSE before TRUE.
func compareBools(n int, op compareOp, a, b *vec) []uint64 {
	x, _ := a.masks(n)
	y, _ := b.masks(n)
	out := newBits(n)
	for i := range out {
		switch op {
		case cmpEq:
			out[i] = ^(x[i] ^ y[i])
		case cmpLt:
			out[i] = ^x[i] & y[i]
		default:
			out[i] = x[i] &^ y[i]
		}
	}
	trimBits(out, n)
	return out
}
