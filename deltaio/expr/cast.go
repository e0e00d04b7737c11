package expr

import (
	"math"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// caster casts entry i of in to entry i of out; false is NULL. Strings are
// appended to out.data, and closed by the caller.
type caster func(in, out *vec, i int) bool

func castKernel(from, to schema.Type, try bool, zone *time.Location) kernel {
	return func(n int, args []*vec) (*vec, error) {
		in := args[0]
		if from == schema.String && to == schema.Binary {
			return in.as(to), nil
		}
		out := newVec(to, n)
		f := newCaster(from, to, try, newZoneClock(zone))
		isText := storageOf(to) == inBytes
		for i := range n {
			if in.isNull(i) || !f(in, out, i) {
				out.setNull(i)
			}
			if isText {
				out.endString()
			}
		}
		return out, nil
	}
}

func newCaster(from, to schema.Type, try bool, zone *zoneClock) caster {
	switch t := to.(type) {
	case schema.Decimal:
		return castToDecimal(from, t)
	case schema.Primitive:
		switch t {
		case schema.String:
			return castToString(from, zone)
		case schema.Boolean:
			return castToBoolean(from)
		case schema.Byte, schema.Short, schema.Integer, schema.Long:
			return castToInteger(from, t, try)
		case schema.Float, schema.Double:
			return castToFloat(from, t)
		case schema.Date:
			return castToDate(from, zone)
		case schema.Timestamp:
			return castToTimestamp(from, zone)
		case schema.TimestampNTZ:
			return castToNTZ(from, zone)
		case schema.Binary:
			return castToBinary(from)
		}
	}
	panic("expr: no cast from " + from.String() + " to " + to.String())
}

func castToBoolean(from schema.Type) caster {
	switch {
	case from == schema.String:
		return func(in, out *vec, i int) bool {
			v, ok := parseBool(in.str(i))
			if v {
				setBit(out.bits, i)
			}
			return ok
		}
	case from == schema.Date: // NULL, as Spark's Cast.castToBoolean
		return func(_, _ *vec, _ int) bool { return false }
	}
	isZero := zeroTest(from)
	return func(in, out *vec, i int) bool {
		if !isZero(in, i) {
			setBit(out.bits, i)
		}
		return true
	}
}

func zeroTest(t schema.Type) func(*vec, int) bool {
	switch storageOf(t) {
	case inI32:
		return func(v *vec, i int) bool { return v.i32[i] == 0 }
	case inI64:
		return func(v *vec, i int) bool { return v.i64[i] == 0 }
	case inF64:
		return func(v *vec, i int) bool { return v.f64[i] == 0 }
	}
	return func(v *vec, i int) bool { return v.dec[i].Sign() == 0 }
}

// intGetter reads an integer of any width.
func intGetter(t schema.Type) func(*vec, int) int64 {
	if storageOf(t) == inI32 {
		return func(v *vec, i int) int64 { return int64(v.i32[i]) }
	}
	return func(v *vec, i int) int64 { return v.i64[i] }
}

// intRange is the range of an integral type.
func intRange(t schema.Type) (lo, hi int64) {
	switch t {
	case schema.Byte:
		return math.MinInt8, math.MaxInt8
	case schema.Short:
		return math.MinInt16, math.MaxInt16
	case schema.Integer:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

// putInt stores an integer: wrapped as Java's narrowing does, or refused.
func putInt(t schema.Type, try bool) func(out *vec, i int, v int64) bool {
	lo, hi := intRange(t)
	wrap := wrapper(t)
	if t == schema.Long {
		return func(out *vec, i int, v int64) bool {
			out.i64[i] = v
			return true
		}
	}
	return func(out *vec, i int, v int64) bool {
		if try && (v < lo || v > hi) {
			return false
		}
		out.i32[i] = int32(wrap(v))
		return true
	}
}

// wrapper narrows a 64-bit integer to the width of a type.
func wrapper(t schema.Type) func(int64) int64 {
	switch t {
	case schema.Byte:
		return func(v int64) int64 { return int64(int8(v)) }
	case schema.Short:
		return func(v int64) int64 { return int64(int16(v)) }
	case schema.Integer:
		return func(v int64) int64 { return int64(int32(v)) }
	}
	return func(v int64) int64 { return v }
}

func castToInteger(from schema.Type, to schema.Primitive, try bool) caster {
	put := putInt(to, try)
	lo, hi := intRange(to)
	switch {
	case from == schema.String:
		return func(in, out *vec, i int) bool {
			v, ok := parseInt(in.str(i), !try)
			return ok && v >= lo && v <= hi && put(out, i, v)
		}
	case from == schema.Boolean:
		return func(in, out *vec, i int) bool { return put(out, i, int64(b2u(getBit(in.bits, i)))) }
	case from == schema.Date:
		return func(_, _ *vec, _ int) bool { return false }
	case from == schema.Timestamp:
		return func(in, out *vec, i int) bool { return put(out, i, floorDiv(in.i64[i], microsPerSecond)) }
	case isFloat(from):
		return floatToInteger(to, try, put)
	case isDecimal(from):
		return decimalToInteger(from.(schema.Decimal), to, try, put)
	}
	get := intGetter(from)
	return func(in, out *vec, i int) bool { return put(out, i, get(in, i)) }
}

// floatToInteger truncates; beyond the range of long (or int, for the narrower
// types) it stops at the end, as Java's (int) and (long).
func floatToInteger(to schema.Primitive, try bool, put func(*vec, int, int64) bool) caster {
	lo, hi := intRange(to)
	stopLo, stopHi := intRange(schema.Integer)
	if to == schema.Long {
		stopLo, stopHi = intRange(schema.Long)
	}
	return func(in, out *vec, i int) bool {
		f := in.f64[i]
		if try && !(math.Floor(f) <= float64(hi) && math.Ceil(f) >= float64(lo)) {
			return false
		}
		return put(out, i, saturate(f, stopLo, stopHi))
	}
}

// saturate is Java's conversion of a floating-point number to an integer.
func saturate(f float64, lo, hi int64) int64 {
	switch {
	case f != f:
		return 0
	case f <= float64(lo):
		return lo
	case f >= float64(hi):
		return hi
	}
	return int64(f)
}

// decimalToInteger truncates and keeps the low 64 bits (BigDecimal.longValue).
func decimalToInteger(from schema.Decimal, to schema.Primitive, try bool, put func(*vec, int, int64) bool) caster {
	lo, hi := intRange(to)
	return func(in, out *vec, i int) bool {
		v := truncDecimal(in.dec[i], from.Scale)
		if try && (!v.IsInt64() || v.Int64() < lo || v.Int64() > hi) {
			return false
		}
		return put(out, i, lowBits(v))
	}
}

func castToFloat(from schema.Type, to schema.Primitive) caster {
	bits := 64
	if to == schema.Float {
		bits = 32
	}
	put := func(out *vec, i int, f float64) bool {
		if bits == 32 {
			f = float64(float32(f))
		}
		out.f64[i] = f
		return true
	}
	switch {
	case from == schema.String:
		return func(in, out *vec, i int) bool {
			f, ok := parseFloat(in.str(i), bits)
			return ok && put(out, i, f)
		}
	case from == schema.Boolean:
		return func(in, out *vec, i int) bool { return put(out, i, float64(b2u(getBit(in.bits, i)))) }
	case from == schema.Date:
		return func(_, _ *vec, _ int) bool { return false }
	case from == schema.Timestamp:
		return func(in, out *vec, i int) bool { return put(out, i, float64(in.i64[i])/microsPerSecond) }
	case isFloat(from):
		return func(in, out *vec, i int) bool { return put(out, i, in.f64[i]) }
	case isDecimal(from):
		scale := from.(schema.Decimal).Scale
		return func(in, out *vec, i int) bool { return put(out, i, decimalToFloat(in.dec[i], scale, bits)) }
	}
	get := intGetter(from)
	return func(in, out *vec, i int) bool {
		v := get(in, i)
		if bits == 32 { // one rounding, not two
			return put(out, i, float64(float32(v)))
		}
		return put(out, i, float64(v))
	}
}

// castToBinary writes an integer big-endian (NumberConverter.toBinary).
func castToBinary(from schema.Type) caster {
	width := map[schema.Type]int{schema.Byte: 1, schema.Short: 2, schema.Integer: 4, schema.Long: 8}[from]
	get := intGetter(from)
	return func(in, out *vec, i int) bool {
		v := get(in, i)
		for s := (width - 1) * 8; s >= 0; s -= 8 {
			out.data = append(out.data, byte(v>>s))
		}
		return true
	}
}
