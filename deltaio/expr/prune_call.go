package expr

import (
	"bytes"
	"math"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// maxCombinations bounds how many argument lists judgeCall tries.
const maxCombinations = 16

// judgeCall judges any other operation. Where every argument is one value or
// NULL (a partition), it is simply computed; where it never falls while its
// first argument rises, the bounds are; else it may give anything.
func (t *term) judgeCall(args []values) values {
	if t.strict {
		for _, a := range args {
			if !a.some {
				return onlyNull
			}
		}
	}
	if s, ok := t.judgePoints(args); ok {
		return s
	}
	if s, ok := t.judgeRising(args); ok {
		return s
	}
	return anything
}

// judgePoints computes the operation on every combination of what its
// arguments may be.
func (t *term) judgePoints(args []values) (values, bool) {
	lists := [][]*vec{nil}
	for i, a := range args {
		var options []*vec
		if a.some {
			v, ok := a.point()
			if !ok {
				return values{}, false
			}
			options = append(options, v)
		}
		if a.null {
			options = append(options, nullVec(t.args[i].typ))
		}
		var longer [][]*vec
		for _, l := range lists {
			for _, o := range options {
				longer = append(longer, append(l[:len(l):len(l)], o))
			}
		}
		if lists = longer; len(lists) > maxCombinations {
			return values{}, false
		}
	}
	out := values{}
	for _, l := range lists {
		v, err := t.apply(1, l)
		if err != nil || storageOf(t.typ) == inArray {
			return values{}, false // evaluation will report the error
		}
		out = out.join(one(v))
	}
	return out, true
}

func (t *term) judgeRising(args []values) (values, bool) {
	x := args[0]
	if !t.rises || t.safe != nil && (x.lo == nil || x.hi == nil || !t.safe(x.lo, x.hi)) {
		return values{}, false
	}
	rest := make([]*vec, 0, len(args))
	for _, a := range args[1:] {
		v, ok := a.point()
		if !ok || a.null {
			return values{}, false
		}
		rest = append(rest, v)
	}
	out := values{null: x.null, some: true}
	for _, end := range []struct {
		in   *vec
		out  **vec
		days int64
	}{{x.lo, &out.lo, -t.widen}, {x.hi, &out.hi, t.widen}} {
		if end.in == nil {
			continue
		}
		v, err := t.apply(1, append([]*vec{end.in}, rest...))
		if err != nil || v.allNull() {
			return values{}, false
		}
		if end.days != 0 {
			day := int64(v.i32[0]) + end.days
			if day != int64(int32(day)) {
				return values{}, false
			}
			v = intConst(t.typ, day, nil).val
		}
		*end.out = v
	}
	return out, true
}

// noOverflow32 says whether adding d to dates between the bounds stays a date.
func noOverflow32(d int64) func(lo, hi *vec) bool {
	return func(lo, hi *vec) bool {
		return int64(lo.i32[0])+min(d, 0) >= math.MinInt32 && int64(hi.i32[0])+max(d, 0) <= math.MaxInt32
	}
}

// noWrap says whether t, an integer plus or minus a constant, stays in range
// between the bounds.
func noWrap(t *term) func(lo, hi *vec) bool {
	return func(lo, hi *vec) bool {
		c, ok := intOf(t.args[1].val)
		if !ok {
			return false
		}
		min, max := intRange(t.typ)
		for _, v := range []*vec{lo, hi} {
			x, _ := intOf(v)
			sum := x + c
			fits := (sum > x) == (c > 0)
			if t.src.op == opSub {
				sum = x - c
				fits = (sum < x) == (c > 0)
			}
			if !fits || sum < min || sum > max {
				return false
			}
		}
		return true
	}
}

func intOf(v *vec) (int64, bool) {
	switch {
	case v == nil || v.allNull():
		return 0, false
	case v.i32 != nil:
		return int64(v.i32[0]), true
	case v.i64 != nil:
		return v.i64[0], true
	}
	return 0, false
}

// identical says whether two single values are the same bit for bit, so that
// every function of them is.
func identical(a, b *vec) bool {
	switch storageOf(a.typ) {
	case inBits:
		return a.bits[0] == b.bits[0]
	case inI32:
		return a.i32[0] == b.i32[0]
	case inI64:
		return a.i64[0] == b.i64[0]
	case inF64:
		return math.Float64bits(a.f64[0]) == math.Float64bits(b.f64[0])
	case inDec:
		return a.dec[0] == b.dec[0]
	case inBytes:
		return bytes.Equal(a.bytes(0), b.bytes(0))
	}
	return false
}

// values makes the set of a column from its range.
func (r Range) values(t schema.Type, nested bool) values {
	s := anything
	if r.Exact && !nested {
		if !r.HasMin {
			return onlyNull
		}
		s.null = !r.HasNullCount || r.NullCount != 0
		if v, ok := singleValue(r.Min, t); ok {
			s.lo, s.hi = v, v
		}
		return s
	}
	if r.HasNullCount && !nested { // a leaf is NULL where its struct is, which writers count differently
		known := r.NumRows > 0 || r.HasMin // else both counts may mean "unknown"
		switch {
		case r.NullCount == 0:
			s.null = !known
		case r.NumRows > 0 && r.NullCount >= r.NumRows && !r.HasMin && !r.HasMax:
			return onlyNull
		}
	}
	if r.HasMin {
		s.lo = lowerBound(r.Min, t, r.MinInexact)
	}
	if r.HasMax {
		s.hi = upperBound(r.Max, t, r.MaxInexact)
	}
	if s.lo != nil && s.hi != nil && less(s.hi, s.lo) { // not statistics of any file
		s.lo, s.hi = nil, nil
	}
	return s
}
