package expr

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// parseBool reads what Spark takes for a boolean (StringUtils.isTrueString).
func parseBool(s string) (v, ok bool) {
	switch strings.ToLower(trimControl(s)) {
	case "t", "true", "y", "yes", "1":
		return true, true
	case "f", "false", "n", "no", "0":
		return false, true
	}
	return false, false
}

// parseInt reads an integer as UTF8String.toLong: white space around it is
// ignored; with fraction allowed, digits behind a point are checked and cut.
func parseInt(s string, fraction bool) (int64, bool) {
	s = trimControl(s)
	body := s
	if s != "" && (s[0] == '-' || s[0] == '+') {
		body = s[1:]
	}
	if body == "" {
		return 0, false
	}
	whole, frac, point := strings.Cut(body, ".")
	if point && !fraction || !allDigits(whole) || !allDigits(frac) {
		return 0, false
	}
	if whole == "" { // ".5", and "." too
		return 0, true
	}
	v, err := strconv.ParseInt(s[:len(s)-len(body)]+whole, 10, 64)
	return v, err == nil
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// parseFloat reads a floating-point number as java.lang.Double.parseDouble,
// and Spark's names of the special values.
func parseFloat(s string, bits int) (float64, bool) {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	switch strings.ToLower(s) {
	case "":
		return 0, false
	case "nan":
		return math.NaN(), true
	case "inf", "+inf", "infinity", "+infinity":
		return math.Inf(1), true
	case "-inf", "-infinity":
		return math.Inf(-1), true
	}
	if s == "+NaN" || s == "-NaN" {
		return math.NaN(), true
	}
	isHex := strings.Contains(s, "x") || strings.Contains(s, "X")
	allowed := "0123456789.eE+-"
	if isHex {
		allowed = "0123456789abcdefABCDEFxXpP.+-"
	}
	if len(s) > 1 && strings.IndexByte("dDfF", s[len(s)-1]) >= 0 && (!isHex || strings.ContainsAny(s, "pP")) {
		s = s[:len(s)-1]
	}
	if strings.Trim(s, allowed) != "" || isHex && !strings.ContainsAny(s, "pP") {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, bits)
	if err != nil && !math.IsInf(f, 0) { // out of range is infinite in Java
		return 0, false
	}
	return f, true
}

// parseDecimal reads a decimal as new BigDecimal(s.trim()), rounded half up to
// the scale; what does not fit the precision is not a value.
func parseDecimal(s string, d schema.Decimal) (*big.Int, bool) {
	v, scale, ok := parseBigDecimal(strings.TrimFunc(s, func(r rune) bool { return r <= ' ' }))
	if !ok {
		return nil, false
	}
	return fitDecimal(v, scale, d)
}

// fitDecimal is Decimal.toPrecision: HALF_UP, and no value on overflow.
func fitDecimal(v *big.Int, scale int, d schema.Decimal) (*big.Int, bool) {
	if v.Sign() == 0 {
		return v, true
	}
	n := digits(v)
	switch {
	case n-scale > d.Precision-d.Scale:
		return nil, false // too many digits before the point
	case scale-n > d.Scale+1:
		return new(big.Int), true // below half of the last digit
	}
	v = rescale(v, scale, d.Scale)
	return v, fitsPrecision(v, d.Precision)
}

func castToString(from schema.Type, zone *zoneClock) caster {
	switch t := from.(type) {
	case schema.Decimal:
		return func(in, out *vec, i int) bool {
			out.data = append(out.data, javaDecimal(in.dec[i].BigInt(), t.Scale)...)
			return true
		}
	case schema.Primitive:
		return primitiveToString(t, zone)
	}
	panic("expr: no text of " + from.String())
}

func primitiveToString(from schema.Primitive, zone *zoneClock) caster {
	switch from {
	case schema.Boolean:
		return func(in, out *vec, i int) bool {
			out.data = strconv.AppendBool(out.data, getBit(in.bits, i))
			return true
		}
	case schema.Float, schema.Double:
		bits := 64
		if from == schema.Float {
			bits = 32
		}
		return func(in, out *vec, i int) bool {
			out.data = appendJavaFloat(out.data, in.f64[i], bits)
			return true
		}
	case schema.Date:
		return func(in, out *vec, i int) bool {
			out.data = appendDate(out.data, int64(in.i32[i]))
			return true
		}
	case schema.Timestamp:
		return func(in, out *vec, i int) bool {
			out.data = appendWall(out.data, zone.wallMicros(in.i64[i]))
			return true
		}
	case schema.TimestampNTZ:
		return func(in, out *vec, i int) bool {
			out.data = appendWall(out.data, in.i64[i])
			return true
		}
	case schema.Binary:
		return func(in, out *vec, i int) bool {
			out.data = append(out.data, in.bytes(i)...)
			return true
		}
	}
	get := intGetter(from)
	return func(in, out *vec, i int) bool {
		out.data = strconv.AppendInt(out.data, get(in, i), 10)
		return true
	}
}

// appendJavaFloat writes a number as Double.toString: plain between 1e-3 and
// 1e7, else with an exponent. Digits are the fewest that identify the value,
// as Java does since 19; older ones sometimes write one more.
func appendJavaFloat(b []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	}
	if abs := math.Abs(f); abs == 0 || abs >= 1e-3 && abs < 1e7 {
		start := len(b)
		b = strconv.AppendFloat(b, f, 'f', -1, bits)
		if !strings.Contains(string(b[start:]), ".") {
			b = append(b, ".0"...)
		}
		return b
	}
	text := strconv.FormatFloat(f, 'e', -1, bits)
	mantissa, exp, _ := strings.Cut(text, "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	e, _ := strconv.Atoi(exp) // FormatFloat wrote it
	b = append(append(b, mantissa...), 'E')
	return strconv.AppendInt(b, int64(e), 10)
}

// javaDecimal is BigDecimal.toString: an exponent where more than six zeros
// would follow the point.
func javaDecimal(v *big.Int, scale int) string {
	text := new(big.Int).Abs(v).String()
	adjusted := len(text) - 1 - scale
	if adjusted >= -6 {
		return formatDecimal(v, scale)
	}
	if len(text) > 1 {
		text = text[:1] + "." + text[1:]
	}
	if v.Sign() < 0 {
		text = "-" + text
	}
	return text + "E" + strconv.Itoa(adjusted)
}
