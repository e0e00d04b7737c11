package expr

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// inKernel looks values up in a set of constants. A value that is in none of
// them is NULL, not FALSE, when the set holds a NULL.
func inKernel(items []*term) kernel {
	hasNull := false
	var values []*vec
	for _, t := range items {
		if t.val.allNull() {
			hasNull = true
		} else {
			values = append(values, t.val)
		}
	}
	find := finder(items[0].typ, values)
	return func(n int, args []*vec) (*vec, error) {
		x := args[0]
		if x.allNull() {
			return nullVec(schema.Boolean), nil
		}
		out := newBits(n)
		if len(values) > 0 {
			find(x, n, out)
		}
		null := x.nullMask(n)
		clearBits(out, null)
		if hasNull {
			null = notBits(out, n)
		}
		return boolVec(n, out, null), nil
	}
}

// smallSet is up to how many values a scan beats a hash table.
const smallSet = 8

// finder makes the loop that sets the bits of rows whose value is in the set;
// bits of NULL rows are arbitrary.
func finder(typ schema.Type, values []*vec) func(x *vec, n int, out []uint64) {
	if len(values) <= smallSet {
		return func(x *vec, n int, out []uint64) {
			for _, v := range values {
				for i, w := range compareValues(n, cmpEq, x, v) {
					out[i] |= w
				}
			}
		}
	}
	switch storageOf(typ) {
	case inI32:
		return lookup(values, func(v *vec, i int) int32 { return v.i32[i] })
	case inI64:
		return lookup(values, func(v *vec, i int) int64 { return v.i64[i] })
	case inF64:
		return lookup(values, func(v *vec, i int) uint64 { return floatKey(v.f64[i]) })
	case inDec:
		return lookup(values, func(v *vec, i int) decimal128.Num { return v.dec[i] })
	case inBytes:
		return lookupBytes(values)
	}
	return lookup(values, func(v *vec, i int) bool { return getBit(v.bits, i) })
}

// floatKey makes equal what Spark's = makes equal: all NaN, and both zeros.
func floatKey(f float64) uint64 {
	switch {
	case f != f:
		return math.Float64bits(math.NaN())
	case f == 0:
		return 0
	}
	return math.Float64bits(f)
}

func lookup[K comparable](values []*vec, key func(*vec, int) K) func(x *vec, n int, out []uint64) {
	set := make(map[K]struct{}, len(values))
	for _, v := range values {
		set[key(v, 0)] = struct{}{}
	}
	return func(x *vec, n int, out []uint64) {
		for i := range n {
			if _, ok := set[key(x, i&x.at())]; ok {
				setBit(out, i)
			}
		}
	}
}

func lookupBytes(values []*vec) func(x *vec, n int, out []uint64) {
	set := make(map[string]struct{}, len(values))
	for _, v := range values {
		set[string(v.bytes(0))] = struct{}{}
	}
	return func(x *vec, n int, out []uint64) {
		for i := range n {
			if _, ok := set[x.str(i)]; ok {
				setBit(out, i)
			}
		}
	}
}
