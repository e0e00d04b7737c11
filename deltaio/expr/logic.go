package expr

import (
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// evalLogic computes AND and OR in three-valued logic, word by word. An operand
// is not evaluated once those before it have decided every row.
func (t *term) evalLogic(f *frame) (*vec, error) {
	var all, any []uint64 // every operand TRUE (AND) or FALSE (OR); one operand the contrary
	one, n := true, f.n
	for _, a := range t.args {
		v, err := a.eval(f)
		if err != nil {
			return nil, err
		}
		one = one && v.one
		isTrue, isNull := v.masks(n)
		if all == nil {
			all, any = onesBits(n), newBits(n)
		}
		undecided := uint64(0)
		last := lastWordMask(n)
		for i := range all {
			valid := ^uint64(0)
			if i == len(all)-1 {
				valid = last
			}
			yes := isTrue[i]
			no := ^(isTrue[i] | isNull[i]) & valid
			if t.kind == termOr {
				yes, no = no, yes
			}
			all[i] &= yes
			any[i] |= no
			undecided |= ^any[i] & valid
		}
		if undecided == 0 && !one {
			break
		}
	}
	isNull := newBits(n)
	for i := range isNull {
		isNull[i] = ^(all[i] | any[i])
	}
	trimBits(isNull, n)
	if t.kind == termOr {
		all = any
	}
	out := boolVec(n, all, isNull)
	if one && n > 0 {
		return out.first(), nil
	}
	return out, nil
}

func lastWordMask(n int) uint64 {
	if n&63 == 0 {
		return ^uint64(0)
	}
	return 1<<(n&63) - 1
}

// first is row 0 of a boolean vec as a value for all rows.
func (v *vec) first() *vec {
	out := &vec{typ: schema.Boolean, n: 1, one: true, bits: []uint64{v.bits[0] & 1}}
	if v.null != nil && v.null[0]&1 != 0 {
		out.null = []uint64{1}
	}
	return out
}

func notKernel(n int, args []*vec) (*vec, error) {
	isTrue, isNull := args[0].masks(n)
	out := newBits(n)
	for i := range out {
		out[i] = ^(isTrue[i] | isNull[i])
	}
	trimBits(out, n)
	return boolVec(n, out, isNull), nil
}

func isNullKernel(n int, args []*vec) (*vec, error) {
	return boolVec(n, append([]uint64(nil), args[0].nullMask(n)...), nil), nil
}

// chooseKernel picks for each row the first value whose condition is TRUE:
// args are condition and value in pairs, and a last value where none is.
func chooseKernel(typ schema.Type) kernel {
	return func(n int, args []*vec) (*vec, error) {
		pick := make([]int32, n)
		for i := range pick {
			pick[i] = int32(len(args) - 1)
		}
		for k := len(args) - 3; k >= 0; k -= 2 {
			isTrue, _ := args[k].masks(n)
			for i := range pick {
				if getBit(isTrue, i) {
					pick[i] = int32(k + 1)
				}
			}
		}
		return gather(typ, n, pick, args)
	}
}

// coalesceKernel picks the first value that is not NULL.
func coalesceKernel(typ schema.Type) kernel {
	return func(n int, args []*vec) (*vec, error) {
		pick := make([]int32, n)
		for i := range pick {
			k := 0
			for k < len(args)-1 && args[k].isNull(i) {
				k++
			}
			pick[i] = int32(k)
		}
		return gather(typ, n, pick, args)
	}
}

// gather copies row i from args[pick[i]].
func gather(typ schema.Type, n int, pick []int32, args []*vec) (*vec, error) {
	out := newVec(typ, n)
	st := storageOf(typ)
	for i, k := range pick {
		a := args[k]
		if a.isNull(i) {
			out.setNull(i)
			if st == inBytes {
				out.endString()
			}
			continue
		}
		j := i & a.at()
		switch st {
		case inBits:
			if getBit(a.bits, j) {
				setBit(out.bits, i)
			}
		case inI32:
			out.i32[i] = a.i32[j]
		case inI64:
			out.i64[i] = a.i64[j]
		case inF64:
			out.f64[i] = a.f64[j]
		case inDec:
			out.dec[i] = a.dec[j]
		case inBytes:
			out.appendBytes(a.bytes(j))
		}
	}
	return out, nil
}
