package expr

import (
	"math"
	"time"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// arithmeticKernel computes on integers and floating-point numbers of one type.
// Non-ANSI Spark wraps integers around on overflow, and a zero divisor gives
// NULL, for floating-point numbers too.
func arithmeticKernel(o op, typ schema.Type) kernel {
	switch storageOf(typ) {
	case inF64:
		return floatKernel(o, typ == schema.Float)
	case inI64:
		return func(n int, args []*vec) (*vec, error) {
			out, x, y := binaryOut(typ, n, args)
			integerLoop(o, out, x.i64, y.i64, out.i64, x.at(), y.at(), func(v int64) int64 { return v })
			return out, nil
		}
	}
	wrap := func(v int32) int32 { return v }
	switch typ {
	case schema.Byte:
		wrap = func(v int32) int32 { return int32(int8(v)) }
	case schema.Short:
		wrap = func(v int32) int32 { return int32(int16(v)) }
	}
	return func(n int, args []*vec) (*vec, error) {
		out, x, y := binaryOut(typ, n, args)
		integerLoop(o, out, x.i32, y.i32, out.i32, x.at(), y.at(), wrap)
		return out, nil
	}
}

// binaryOut makes the result of a strict operation: NULL where a side is.
func binaryOut(typ schema.Type, n int, args []*vec) (out, x, y *vec) {
	x, y = args[0], args[1]
	out = newVec(typ, n)
	if null := orBits(x.spreadNull(n), y.spreadNull(n)); null != nil {
		out.null = append([]uint64(nil), null...) // kernels add to it
	}
	return out, x, y
}

func integerLoop[T int32 | int64](o op, out *vec, x, y, z []T, ax, ay int, wrap func(T) T) {
	switch o {
	case opAdd:
		for i := range z {
			z[i] = wrap(x[i&ax] + y[i&ay])
		}
	case opSub:
		for i := range z {
			z[i] = wrap(x[i&ax] - y[i&ay])
		}
	case opMul:
		for i := range z {
			z[i] = wrap(x[i&ax] * y[i&ay])
		}
	default:
		divideLoop(o, out, x, y, z, ax, ay, wrap)
	}
}

// divideLoop: Go's division of the smallest integer by -1 wraps, as Java's.
func divideLoop[T int32 | int64](o op, out *vec, x, y, z []T, ax, ay int, wrap func(T) T) {
	for i := range z {
		d := y[i&ay]
		switch {
		case d == 0:
			out.setNull(i)
		case o == opMod:
			z[i] = wrap(x[i&ax] % d)
		default:
			z[i] = wrap(x[i&ax] / d)
		}
	}
}

func floatKernel(o op, single bool) kernel {
	f := map[op]func(a, b float64) float64{
		opAdd: func(a, b float64) float64 { return a + b },
		opSub: func(a, b float64) float64 { return a - b },
		opMul: func(a, b float64) float64 { return a * b },
		opDiv: func(a, b float64) float64 { return a / b },
		opMod: math.Mod,
	}[o]
	divides := o == opDiv || o == opMod
	return func(n int, args []*vec) (*vec, error) {
		typ := schema.Type(schema.Double)
		if single {
			typ = schema.Float
		}
		out, x, y := binaryOut(typ, n, args)
		for i := range out.f64 {
			a, b := x.f64[i&x.at()], y.f64[i&y.at()]
			if divides && b == 0 {
				out.setNull(i)
				continue
			}
			v := f(a, b)
			if single { // exact in float64 before this one rounding
				v = float64(float32(v))
			}
			out.f64[i] = v
		}
		return out, nil
	}
}

func negateKernel(n int, args []*vec) (*vec, error) {
	x := args[0]
	out := newVec(x.typ, n)
	out.null = x.spreadNull(n)
	wrap := wrapper(x.typ)
	for i := range n {
		j := i & x.at()
		switch {
		case out.i32 != nil:
			out.i32[i] = int32(wrap(-int64(x.i32[j])))
		case out.i64 != nil:
			out.i64[i] = -x.i64[j]
		case out.f64 != nil:
			out.f64[i] = -x.f64[j]
		default:
			out.dec[i] = x.dec[j].Negate()
		}
	}
	return out, nil
}

func absKernel(n int, args []*vec) (*vec, error) {
	x := args[0]
	out := newVec(x.typ, n)
	out.null = x.spreadNull(n)
	wrap := wrapper(x.typ)
	for i := range n {
		j := i & x.at()
		switch {
		case out.i32 != nil:
			out.i32[i] = int32(wrap(max(int64(x.i32[j]), -int64(x.i32[j]))))
		case out.i64 != nil: // the smallest long stays negative, as in Java
			out.i64[i] = max(x.i64[j], -x.i64[j])
		case out.f64 != nil:
			out.f64[i] = math.Abs(x.f64[j])
		default:
			out.dec[i] = absDecimal(x.dec[j])
		}
	}
	return out, nil
}

func absDecimal(v decimal128.Num) decimal128.Num {
	if v.Sign() < 0 {
		return v.Negate()
	}
	return v
}

// addDaysKernel is date_add and date_sub: 32-bit arithmetic that wraps.
func addDaysKernel(minus bool) kernel {
	o := opAdd
	if minus {
		o = opSub
	}
	return func(n int, args []*vec) (*vec, error) {
		out, x, y := binaryOut(schema.Date, n, args)
		integerLoop(o, out, x.i32, y.i32, out.i32, x.at(), y.at(), func(v int32) int32 { return v })
		return out, nil
	}
}

func addMonthsKernel(n int, args []*vec) (*vec, error) {
	out, x, y := binaryOut(schema.Date, n, args)
	for i := range out.i32 {
		out.i32[i] = int32(addMonths(int64(x.i32[i&x.at()]), int64(y.i32[i&y.at()])))
	}
	return out, nil
}

func addMonthsConstKernel(months int64) kernel {
	return func(n int, args []*vec) (*vec, error) {
		x := args[0]
		out := newVec(schema.Date, n)
		out.null = x.spreadNull(n)
		for i := range out.i32 {
			out.i32[i] = int32(addMonths(int64(x.i32[i&x.at()]), months))
		}
		return out, nil
	}
}

// addIntervalKernel moves timestamps: months and whole days along the zone's
// calendar, the rest as elapsed time (DateTimeUtils.timestampAddDayTime).
func addIntervalKernel(v interval, loc *time.Location) kernel {
	days, micros := v.micros/microsPerDay, v.micros%microsPerDay
	return func(n int, args []*vec) (*vec, error) {
		x, zone := args[0], newZoneClock(loc)
		out := newVec(x.typ, n)
		if null := x.spreadNull(n); null != nil {
			out.null = append([]uint64(nil), null...)
		}
		for i := range out.i64 {
			if out.isNull(i) {
				continue
			}
			us := x.i64[i&x.at()]
			if us > maxWall-1<<61 || us < 1<<61-maxWall {
				out.setNull(i) // beyond the year 200,000, where Spark fails
				continue
			}
			if v.kind == yearMonth {
				us = zone.addMonths(us, v.months)
			} else {
				us = zone.addDays(us, days) + micros
			}
			out.i64[i] = us
		}
		return out, nil
	}
}
