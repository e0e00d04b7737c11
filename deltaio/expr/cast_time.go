package expr

import (
	"math"
	"math/big"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

func castToDate(from schema.Type, zone *zoneClock) caster {
	switch from {
	case schema.String:
		return func(in, out *vec, i int) (ok bool) {
			out.i32[i], ok = parseDate(in.str(i))
			return ok
		}
	case schema.Timestamp:
		return func(in, out *vec, i int) bool {
			out.i32[i] = int32(floorDiv(zone.wall(floorDiv(in.i64[i], microsPerSecond)), 86_400))
			return true
		}
	}
	return func(in, out *vec, i int) bool {
		out.i32[i] = int32(floorDiv(in.i64[i], microsPerDay))
		return true
	}
}

func castToTimestamp(from schema.Type, zone *zoneClock) caster {
	switch {
	case from == schema.String:
		return func(in, out *vec, i int) (ok bool) {
			t, ok := parseTimestamp(in.str(i))
			if ok {
				out.i64[i], ok = zone.resolveTime(t)
			}
			return ok
		}
	case from == schema.Date:
		return func(in, out *vec, i int) (ok bool) {
			out.i64[i], ok = mulOK(zone.startOfDay(int64(in.i32[i])), microsPerSecond)
			return ok
		}
	case from == schema.TimestampNTZ:
		return func(in, out *vec, i int) (ok bool) {
			out.i64[i], ok = zone.resolveTime(timeText{wall: in.i64[i]})
			return ok
		}
	case from == schema.Boolean: // one microsecond for TRUE, as Cast.castToTimestamp
		return func(in, out *vec, i int) bool {
			out.i64[i] = int64(b2u(getBit(in.bits, i)))
			return true
		}
	case isNumeric(from):
		return secondsToTimestamp(from)
	}
	panic("expr: no cast from " + from.String() + " to timestamp")
}

// secondsToTimestamp reads a number as seconds since 1970.
func secondsToTimestamp(from schema.Type) caster {
	switch {
	case isFloat(from):
		return func(in, out *vec, i int) bool {
			f := in.f64[i]
			out.i64[i] = saturate(f*microsPerSecond, math.MinInt64, math.MaxInt64)
			return !math.IsNaN(f) && !math.IsInf(f, 0)
		}
	case isDecimal(from):
		scale := pow10(from.(schema.Decimal).Scale)
		return func(in, out *vec, i int) bool {
			v := new(big.Int).Mul(in.dec[i].BigInt(), big.NewInt(microsPerSecond))
			out.i64[i] = lowBits(v.Quo(v, scale))
			return true
		}
	}
	get := intGetter(from)
	return func(in, out *vec, i int) bool {
		v := get(in, i)
		us, ok := mulOK(v, microsPerSecond)
		if !ok { // TimeUnit.SECONDS.toMicros stops at the ends
			us = math.MaxInt64
			if v < 0 {
				us = math.MinInt64
			}
		}
		out.i64[i] = us
		return true
	}
}

func castToNTZ(from schema.Type, zone *zoneClock) caster {
	switch from {
	case schema.String:
		return func(in, out *vec, i int) bool {
			t, ok := parseTimestamp(in.str(i))
			out.i64[i] = t.wall // a zone is dropped
			return ok
		}
	case schema.Date:
		return func(in, out *vec, i int) (ok bool) {
			out.i64[i], ok = mulOK(int64(in.i32[i]), microsPerDay)
			return ok
		}
	}
	return func(in, out *vec, i int) bool {
		out.i64[i] = zone.wallMicros(in.i64[i])
		return true
	}
}
