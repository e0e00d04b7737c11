package expr

import (
	"math"
	"math/big"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

func bindAbs(b *binder, n *node, args []*term) (*term, error) {
	x := args[0]
	if !isNumeric(x.typ) {
		var err error
		if x, err = b.arg(n, args, 0, schema.Double); err != nil {
			return nil, err
		}
	}
	return b.fold(strictCall(x.typ, absKernel, n, x))
}

// rounder rounds an unscaled decimal from one scale to a smaller.
type rounder struct {
	float   func(float64) float64
	decimal func(v *big.Int, from, to int) *big.Int
}

var roundFloor = rounder{math.Floor, func(v *big.Int, from, to int) *big.Int {
	return new(big.Int).Div(v, pow10(from-to)) // Euclidean: down, as the divisor is positive
}}

var roundCeil = rounder{math.Ceil, func(v *big.Int, from, to int) *big.Int {
	return new(big.Int).Neg(roundFloor.decimal(new(big.Int).Neg(v), from, to))
}}

// bindRounding binds floor and ceil of one argument: a long, or for a decimal
// a decimal of one digit more without fraction.
func bindRounding(r rounder) func(*binder, *node, []*term) (*term, error) {
	return func(b *binder, n *node, args []*term) (*term, error) {
		x := args[0]
		switch d, ok := x.typ.(schema.Decimal); {
		case ok && d.Scale == 0:
			return x, nil
		case ok:
			to := schema.Decimal{Precision: min(d.Precision-d.Scale+1, maxPrecision)}
			t := strictCall(to, roundKernel(r, d, to, 0), n, x)
			t.rises = true
			return b.fold(t)
		case isIntegral(x.typ):
			return b.castTo(x, schema.Long)
		}
		x, err := b.arg(n, args, 0, schema.Double)
		if err != nil {
			return nil, err
		}
		t := strictCall(schema.Long, func(rows int, args []*vec) (*vec, error) {
			x := args[0]
			out := newVec(schema.Long, rows)
			out.null = x.spreadNull(rows)
			for i := range out.i64 {
				out.i64[i] = saturate(r.float(x.f64[i&x.at()]), math.MinInt64, math.MaxInt64)
			}
			return out, nil
		}, n, x)
		return b.fold(t)
	}
}

// roundKernel rounds decimals to a scale, which may be negative, and stores
// them in a result type of scale zero or more.
func roundKernel(r rounder, from, to schema.Decimal, scale int) kernel {
	return func(n int, args []*vec) (*vec, error) {
		x := args[0]
		out := newVec(to, n)
		if null := x.spreadNull(n); null != nil {
			out.null = append([]uint64(nil), null...)
		}
		for i := range n {
			if out.isNull(i) {
				continue
			}
			v := x.dec[i&x.at()].BigInt()
			at := min(scale, from.Scale)
			if at < from.Scale {
				v = r.decimal(v, from.Scale, at)
			}
			v = rescale(v, at, to.Scale)
			if fitsPrecision(v, to.Precision) {
				out.dec[i] = decimal128.FromBigInt(v)
			} else {
				out.setNull(i)
			}
		}
		return out, nil
	}
}

var roundHalfUp = rounder{decimal: func(v *big.Int, from, to int) *big.Int { return rescale(v, from, to) }}

// bindRound binds round(x[, scale]), half up, the scale a constant.
func bindRound(b *binder, n *node, args []*term) (*term, error) {
	scale := 0
	if len(args) == 2 {
		s, err := b.arg(n, args, 1, schema.Integer)
		if err != nil {
			return nil, err
		}
		if s.kind != termConst {
			return nil, n.args[1].bindError("the scale of round must be constant")
		}
		if s.val.allNull() {
			return b.castTo(constant(nullVec(schema.Void), n), args[0].typ)
		}
		scale = int(s.val.i32[0])
	}
	x := args[0]
	if d, ok := x.typ.(schema.Decimal); ok {
		to := roundedDecimal(d, scale)
		t := strictCall(to, roundKernel(roundHalfUp, d, to, max(scale, -maxPrecision)), n, x)
		return b.fold(t)
	}
	if isIntegral(x.typ) {
		if scale >= 0 {
			return x, nil
		}
		return b.fold(strictCall(x.typ, roundIntegers(x.typ, scale), n, x))
	}
	if x.typ != schema.Float {
		var err error
		if x, err = b.arg(n, args, 0, schema.Double); err != nil {
			return nil, err
		}
	}
	return b.fold(strictCall(x.typ, roundFloats(x.typ, scale), n, x))
}

// roundedDecimal is RoundBase.dataType.
func roundedDecimal(d schema.Decimal, scale int) schema.Decimal {
	whole := d.Precision - d.Scale + 1
	if scale < 0 {
		return schema.Decimal{Precision: min(max(whole, -scale+1), maxPrecision)}
	}
	s := min(d.Scale, scale)
	return schema.Decimal{Precision: min(whole+s, maxPrecision), Scale: s}
}

// roundIntegers rounds to tens, hundreds, …, and wraps around as the type does.
func roundIntegers(typ schema.Type, scale int) kernel {
	wrap := wrapper(typ)
	get := intGetter(typ)
	return func(n int, args []*vec) (*vec, error) {
		x := args[0]
		out := newVec(typ, n)
		out.null = x.spreadNull(n)
		for i := range n {
			v := int64(0)
			if scale > -20 {
				v = lowBits(rescale(rescale(big.NewInt(get(x, i&x.at())), 0, scale), scale, 0))
			}
			if out.i32 != nil {
				out.i32[i] = int32(wrap(v))
			} else {
				out.i64[i] = v
			}
		}
		return out, nil
	}
}

// roundFloats rounds the decimal digits of the value, not its binary form:
// round(1.005, 2) is 1.01.
func roundFloats(typ schema.Type, scale int) kernel {
	bits := 64
	if typ == schema.Float {
		bits = 32
	}
	return func(n int, args []*vec) (*vec, error) {
		x := args[0]
		out := newVec(typ, n)
		out.null = x.spreadNull(n)
		for i := range n {
			out.f64[i] = roundFloat(x.f64[i&x.at()], scale, bits)
		}
		return out, nil
	}
}

func roundFloat(f float64, scale, bits int) float64 {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return f
	case f == 0: // BigDecimal has no negative zero
		return 0
	}
	v, at, _ := parseBigDecimal(strconv.FormatFloat(f, 'e', -1, bits)) // always digits
	if scale >= at {
		return f
	}
	if digits(v)-at < -scale-1 { // far below half of the last place
		return 0
	}
	out, _ := parseFloatDigits(rescale(v, at, scale), scale, bits)
	return out
}

// parseFloatDigits is v / 10^scale, rounded once.
func parseFloatDigits(v *big.Int, scale, bits int) (float64, error) {
	return strconv.ParseFloat(v.String()+"e"+strconv.Itoa(-scale), bits)
}
