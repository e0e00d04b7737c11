package expr

import (
	"math"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// singleValue makes a value of type t from its Go form; false where the form is
// not one of the type's.
func singleValue(x any, t schema.Type) (*vec, bool) {
	v := newVec(t, 1)
	v.one = true
	ok := false
	switch storageOf(t) {
	case inBits:
		var b bool
		b, ok = x.(bool)
		v.bits[0] = b2u(b)
	case inI32:
		var i int64
		i, ok = intForm(x, t)
		v.i32[0] = int32(i)
	case inI64:
		v.i64[0], ok = intForm(x, t)
	case inF64:
		v.f64[0], ok = x.(float64)
		if f, is := x.(float32); is {
			v.f64[0], ok = float64(f), true
		}
		if t == schema.Float { // decimal digits of a float32 read as a float64
			v.f64[0] = float64(float32(v.f64[0]))
		}
	case inDec:
		v.dec[0], ok = decimalForm(x, t.(schema.Decimal))
	case inBytes:
		var s string
		s, ok = x.(string)
		if b, is := x.([]byte); is {
			s, ok = string(b), true
		}
		v.appendBytes([]byte(s))
	}
	return v, ok
}

// intForm reads integers, days and microseconds, each only for its type.
func intForm(x any, t schema.Type) (int64, bool) {
	var i int64
	isDate, isTime := t == schema.Date, t == schema.Timestamp || t == schema.TimestampNTZ
	switch n := x.(type) {
	case int64:
		i = n
	case int32:
		i = int64(n)
	case int:
		i = int64(n)
	case Date:
		return int64(n), isDate
	case Timestamp:
		return int64(n), isTime
	default:
		return 0, false
	}
	if isDate {
		return i, i == int64(int32(i))
	}
	lo, hi := intRange(t)
	return i, isTime || i >= lo && i <= hi
}

// decimalForm takes a decimal at the scale of the type, if it is one exactly.
func decimalForm(x any, d schema.Decimal) (decimal128.Num, bool) {
	n, ok := x.(Decimal)
	if !ok {
		return decimal128.Num{}, false
	}
	v := n.V.BigInt()
	if n.Scale < 0 || n.Scale > maxPrecision {
		return decimal128.Num{}, false
	}
	if n.Scale > d.Scale {
		q, r := new(big.Int).QuoRem(v, pow10(n.Scale-d.Scale), new(big.Int))
		if r.Sign() != 0 {
			return decimal128.Num{}, false
		}
		v = q
	} else {
		v = rescale(v, n.Scale, d.Scale)
	}
	if !fitsPrecision(v, maxPrecision) {
		return decimal128.Num{}, false
	}
	return decimal128.FromBigInt(v), true
}

// cutMillis is how far a timestamp cut to the millisecond may lie from the true
// one.
const cutMillis = 1000

// lowerBound is a value that none of the column lies below, or nil.
func lowerBound(x any, t schema.Type, inexact bool) *vec {
	v, ok := singleValue(x, t)
	switch {
	case !ok:
		return nil
	case storageOf(t) == inF64 && math.IsNaN(v.f64[0]):
		return nil
	case !inexact:
		return v
	case isTimestamp(t):
		v.i64[0] = saturatingAdd(v.i64[0], -cutMillis)
	case t == schema.Float:
		v.f64[0] = float64(math.Nextafter32(float32(v.f64[0]), float32(math.Inf(-1))))
	case t == schema.String && brokenCut(v.bytes(0)):
		return nil
	}
	return v
}

// upperBound is a value that none of the column lies above, or nil. Floats have
// none: statistics leave NaN out, and NaN is above all.
func upperBound(x any, t schema.Type, inexact bool) *vec {
	v, ok := singleValue(x, t)
	switch {
	case !ok || storageOf(t) == inF64:
		return nil
	case !inexact:
		return v
	case isTimestamp(t):
		v.i64[0] = saturatingAdd(v.i64[0], cutMillis)
	case storageOf(t) == inBytes:
		return afterPrefix(v, t)
	}
	return v
}

func isTimestamp(t schema.Type) bool { return t == schema.Timestamp || t == schema.TimestampNTZ }

func saturatingAdd(a, b int64) int64 {
	if s, ok := addOK(a, b); ok {
		return s
	}
	if b < 0 {
		return math.MinInt64
	}
	return math.MaxInt64
}

// brokenCut says whether a string may have been cut inside a character that was
// then replaced.
func brokenCut(b []byte) bool {
	s := string(b)
	return !utf8.ValidString(s) || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "\uFFFD")
}

// afterPrefix is above every string that begins with v, which may be the cut
// form of the largest.
func afterPrefix(v *vec, t schema.Type) *vec {
	b := append([]byte(nil), v.bytes(0)...)
	if t == schema.String && brokenCut(b) {
		return nil
	}
	for len(b) > 0 && b[len(b)-1] == 0xff {
		b = b[:len(b)-1]
	}
	if len(b) == 0 {
		return nil
	}
	b[len(b)-1]++
	out := newVec(t, 1)
	out.one = true
	out.appendBytes(b)
	return out
}
