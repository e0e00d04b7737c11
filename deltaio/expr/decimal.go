package expr

import (
	"math"
	"math/big"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// pow10Dec holds 10^0 to 10^38.
var pow10Dec = func() [39]decimal128.Num {
	var t [39]decimal128.Num
	for i := range t {
		t[i] = decimal128.FromBigInt(pow10Big[i])
	}
	return t
}()

func truncDecimal(v decimal128.Num, scale int) *big.Int {
	b := v.BigInt()
	return b.Quo(b, pow10(scale))
}

var mask64 = new(big.Int).SetUint64(math.MaxUint64)

// lowBits are the low 64 bits in two's complement, as BigDecimal.longValue.
func lowBits(v *big.Int) int64 {
	if v.IsInt64() {
		return v.Int64()
	}
	return int64(new(big.Int).And(v, mask64).Uint64())
}

// decimalToFloat rounds once: small values divide exactly, others go through
// their digits.
func decimalToFloat(v decimal128.Num, scale, bits int) float64 {
	if v.HighBits() == int64(v.LowBits())>>63 && scale <= 22 && bits == 64 {
		if i := int64(v.LowBits()); i > -1<<53 && i < 1<<53 {
			return float64(i) / math.Pow10(scale)
		}
	}
	f, _ := strconv.ParseFloat(formatDecimal(v.BigInt(), scale), bits) // digits always parse
	return f
}

func castToDecimal(from schema.Type, d schema.Decimal) caster {
	put := func(out *vec, i int, v *big.Int, scale int) bool {
		v, ok := fitDecimal(v, scale, d)
		if ok {
			out.dec[i] = decimal128.FromBigInt(v)
		}
		return ok
	}
	switch {
	case from == schema.String:
		return func(in, out *vec, i int) bool {
			v, ok := parseDecimal(in.str(i), d)
			if ok {
				out.dec[i] = decimal128.FromBigInt(v)
			}
			return ok
		}
	case from == schema.Boolean:
		return func(in, out *vec, i int) bool {
			return put(out, i, new(big.Int).SetUint64(b2u(getBit(in.bits, i))), 0)
		}
	case from == schema.Date:
		return func(_, _ *vec, _ int) bool { return false }
	case from == schema.Timestamp: // through the seconds as a double
		return func(in, out *vec, i int) bool {
			v, scale, ok := floatDigits(float64(in.i64[i]) / microsPerSecond)
			return ok && put(out, i, v, scale)
		}
	case isFloat(from):
		return func(in, out *vec, i int) bool {
			v, scale, ok := floatDigits(in.f64[i])
			return ok && put(out, i, v, scale)
		}
	case isDecimal(from):
		return decimalToDecimal(from.(schema.Decimal), d, put)
	}
	return integerToDecimal(from, d, put)
}

// floatDigits are the digits of Double.toString, from which Spark makes the
// decimal; NaN and infinities have none.
func floatDigits(f float64) (*big.Int, int, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, 0, false
	}
	return parseBigDecimal(strconv.FormatFloat(f, 'e', -1, 64))
}

type putDecimal func(out *vec, i int, v *big.Int, scale int) bool

func decimalToDecimal(from, to schema.Decimal, put putDecimal) caster {
	if rises, _ := castRises(from, to, utc); rises {
		factor := pow10Dec[to.Scale-from.Scale]
		return func(in, out *vec, i int) bool {
			out.dec[i] = in.dec[i].Mul(factor)
			return true
		}
	}
	return func(in, out *vec, i int) bool { return put(out, i, in.dec[i].BigInt(), from.Scale) }
}

func integerToDecimal(from schema.Type, to schema.Decimal, put putDecimal) caster {
	get := intGetter(from)
	if rises, _ := castRises(from, to, utc); rises {
		factor := pow10Dec[to.Scale]
		return func(in, out *vec, i int) bool {
			out.dec[i] = decimal128.FromI64(get(in, i)).Mul(factor)
			return true
		}
	}
	return func(in, out *vec, i int) bool { return put(out, i, big.NewInt(get(in, i)), 0) }
}

// decimalKernel computes + - * / % DIV of decimals. Where the result type holds
// every exact result, 128-bit arithmetic is enough; else the exact result is
// rounded half up to the type, and NULL where it does not fit. Division by
// zero is NULL.
func decimalKernel(o op, a, b schema.Decimal, typ schema.Type) kernel {
	if res, ok := typ.(schema.Decimal); ok {
		if k := exactKernel(o, a, b, res); k != nil {
			return k
		}
	}
	return func(n int, args []*vec) (*vec, error) {
		x, y := args[0], args[1]
		out := newVec(typ, n)
		for i := range n {
			if x.isNull(i) || y.isNull(i) {
				out.setNull(i)
				continue
			}
			v, scale, ok := decimalOp(o, x.dec[i&x.at()].BigInt(), y.dec[i&y.at()].BigInt(), a.Scale, b.Scale)
			if ok && typ == schema.Long {
				out.i64[i] = lowBits(v)
				continue
			}
			if ok {
				v, ok = fitDecimal(v, scale, typ.(schema.Decimal))
			}
			if ok {
				out.dec[i] = decimal128.FromBigInt(v)
			} else {
				out.setNull(i)
			}
		}
		return out, nil
	}
}

// exactKernel is + - * in 128 bits for result types that were not cut to 38
// digits, or nil.
func exactKernel(o op, a, b, res schema.Decimal) kernel {
	var f func(x, y decimal128.Num) decimal128.Num
	scale := max(a.Scale, b.Scale)
	fx, fy := pow10Dec[scale-a.Scale], pow10Dec[scale-b.Scale]
	whole := max(a.Precision-a.Scale, b.Precision-b.Scale)
	switch {
	case o == opAdd && whole+scale+1 <= maxPrecision:
		f = func(x, y decimal128.Num) decimal128.Num { return x.Mul(fx).Add(y.Mul(fy)) }
	case o == opSub && whole+scale+1 <= maxPrecision:
		f = func(x, y decimal128.Num) decimal128.Num { return x.Mul(fx).Sub(y.Mul(fy)) }
	case o == opMul && a.Precision+b.Precision+1 <= maxPrecision:
		f = func(x, y decimal128.Num) decimal128.Num { return x.Mul(y) }
	default:
		return nil
	}
	return func(n int, args []*vec) (*vec, error) {
		x, y := args[0], args[1]
		out := newVec(res, n)
		out.null = orBits(x.spreadNull(n), y.spreadNull(n))
		for i := range out.dec {
			out.dec[i] = f(x.dec[i&x.at()], y.dec[i&y.at()])
		}
		return out, nil
	}
}

// decimalOp is one operation on unscaled values, with the intermediate
// rounding of Spark's Decimal: products to 39 digits, quotients to 39 places.
func decimalOp(o op, x, y *big.Int, sx, sy int) (v *big.Int, scale int, ok bool) {
	scale = max(sx, sy)
	switch o {
	case opMul:
		v, scale = new(big.Int).Mul(x, y), sx+sy
		if extra := digits(v) - (maxPrecision + 1); extra > 0 {
			v, scale = roundQuo(v, pow10(extra)), scale-extra
		}
		return v, scale, true
	case opDiv, opMod, opIntDiv:
		if y.Sign() == 0 {
			return nil, 0, false
		}
	}
	switch o {
	case opDiv:
		return quotient(x, y, sx, sy), maxPrecision + 1, true
	case opMod:
		v = new(big.Int).Rem(rescale(x, sx, scale), rescale(y, sy, scale))
	case opIntDiv:
		return new(big.Int).Quo(rescale(x, sx, scale), rescale(y, sy, scale)), 0, true
	case opAdd:
		v = new(big.Int).Add(rescale(x, sx, scale), rescale(y, sy, scale))
	default:
		v = new(big.Int).Sub(rescale(x, sx, scale), rescale(y, sy, scale))
	}
	return v, scale, true
}

// quotient is x/y with 39 decimal places, half up.
func quotient(x, y *big.Int, sx, sy int) *big.Int {
	num := new(big.Int).Mul(x, pow10(maxPrecision+1+sy))
	den := new(big.Int).Mul(y, pow10(sx))
	if den.Sign() < 0 {
		num.Neg(num)
		den.Neg(den)
	}
	return roundQuo(num, den)
}
