package expr

import (
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

const typeBoolean = schema.Boolean

func (p *parser) literal(pos int, l literal) (*node, error) {
	n, err := p.build(pos, opLit)
	if err != nil {
		return nil, err
	}
	n.lit = l
	return n, p.advance()
}

// stringLiteral reads a string; strings that stand side by side are one.
func (p *parser) stringLiteral() (*node, error) {
	pos, val := p.tok.pos, p.tok.val
	for p.peek().kind == tokString {
		if err := p.advance(); err != nil {
			return nil, err
		}
		val += p.tok.val
	}
	return p.literal(pos, literal{typ: schema.String, str: val})
}

// typedLiteral reads DATE'…', TIMESTAMP'…', TIMESTAMP_NTZ'…' and X'…'.
func (p *parser) typedLiteral(kind string) (*node, error) {
	pos := p.tok.pos
	if err := p.advance(); err != nil {
		return nil, err
	}
	l, want := literalOfText(kind, p.tok.val)
	if want == "" {
		return p.literal(pos, l)
	}
	hint := ""
	switch strings.ToLower(strings.TrimSpace(p.tok.val)) {
	case "now", "today", "tomorrow", "yesterday", "epoch":
		hint = "; special values are written as current_date() or current_timestamp()"
	}
	return nil, p.src.syntax(p.tok.pos, "%s'%s' is not %s%s", kind, p.tok.val, want, hint)
}

// literalOfText gives the value, or what the text should have been.
func literalOfText(kind, text string) (l literal, want string) {
	switch kind {
	case "DATE":
		day, ok := parseDate(text)
		if !ok {
			return l, "a date such as 2024-01-31"
		}
		return literal{typ: schema.Date, i: int64(day)}, ""
	case "X":
		if len(text)%2 == 1 {
			text = "0" + text
		}
		b, err := hex.DecodeString(text)
		if err != nil {
			return l, "a string of hexadecimal digits"
		}
		return literal{typ: schema.Binary, str: string(b)}, ""
	}
	t, ok := parseTimestamp(text)
	if !ok {
		return l, "a timestamp such as 2024-01-31 12:00:00, with or without a zone"
	}
	l = literal{typ: schema.Timestamp, i: t.wall, zone: zoneSession}
	switch {
	case kind == "TIMESTAMP_NTZ": // a zone is dropped, as Spark does
		l = literal{typ: schema.TimestampNTZ, i: t.wall}
	case t.region != nil:
		l.zone, l.str = zoneNamed, t.name
	case t.hasZone:
		l.zone = zoneUTC
		if l.i, ok = addOKNeg(t.wall, t.offset*microsPerSecond); !ok {
			return l, "in the range of timestamps"
		}
	}
	return l, ""
}

// number reads a numeric literal with the sign before it. Without a suffix it
// is an int, a long or a decimal, whichever holds it; with a point a decimal;
// with an exponent a double (AstBuilder.visitIntegerLiteral and siblings).
func (p *parser) number(pos int, neg bool) (*node, error) {
	text := p.tok.val
	up := strings.ToUpper(text)
	digits, suffix := up, ""
	for _, s := range []string{"BD", "L", "S", "Y", "D", "F"} {
		if strings.HasSuffix(up, s) {
			digits, suffix = strings.TrimSuffix(up, s), s
			break
		}
	}
	if strings.Trim(digits, "0123456789.E+-") != "" {
		return nil, p.src.syntax(p.tok.pos, "%s is not a number; a name that starts with a digit stands in backticks", text)
	}
	if neg {
		digits = "-" + digits
	}
	l, msg := numberLiteral(digits, suffix)
	if msg != "" {
		return nil, p.src.syntax(p.tok.pos, "%s %s", text, msg)
	}
	return p.literal(pos, l)
}

func numberLiteral(digits, suffix string) (literal, string) {
	isInt := !strings.ContainsAny(digits, ".E")
	switch suffix {
	case "L", "S", "Y":
		bits := map[string]int{"L": 64, "S": 16, "Y": 8}[suffix]
		v, err := strconv.ParseInt(digits, 10, bits)
		if err != nil {
			return literal{}, "does not fit its type"
		}
		typ := map[string]schema.Type{"L": schema.Long, "S": schema.Short, "Y": schema.Byte}[suffix]
		return literal{typ: typ, i: v}, ""
	case "D", "F":
		return floatLiteral(digits, suffix)
	case "BD":
		return decimalLiteral(digits)
	}
	switch {
	case strings.Contains(digits, "E"):
		return floatLiteral(digits, "D")
	case !isInt:
		return decimalLiteral(digits)
	}
	v, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case err != nil:
		return decimalLiteral(digits)
	case v >= math.MinInt32 && v <= math.MaxInt32:
		return literal{typ: schema.Integer, i: v}, ""
	}
	return literal{typ: schema.Long, i: v}, ""
}

func floatLiteral(digits, suffix string) (literal, string) {
	bits, typ := 64, schema.Double
	if suffix == "F" {
		bits, typ = 32, schema.Float
	}
	v, err := strconv.ParseFloat(digits, bits)
	if err != nil {
		return literal{}, "does not fit its type"
	}
	return literal{typ: typ, f: v}, ""
}

// decimalLiteral gives the smallest decimal type that holds the digits as
// written: 1.50 is decimal(3,2), 0.05 decimal(2,2), 1e3BD decimal(4,0).
func decimalLiteral(text string) (literal, string) {
	v, scale, ok := parseBigDecimal(text)
	if !ok {
		return literal{}, "is not a decimal"
	}
	if scale < 0 {
		if scale < -maxPrecision {
			return literal{}, "has more than 38 digits"
		}
		v, scale = rescale(v, scale, 0), 0
	}
	precision := max(digits(v), scale)
	if precision > maxPrecision {
		return literal{}, "has more than 38 digits"
	}
	return literal{
		typ: schema.Decimal{Precision: precision, Scale: scale},
		dec: Decimal{decimal128.FromBigInt(v), scale},
	}, ""
}

// parseBigDecimal reads [+-]digits[.digits][e[+-]digits] as java.math.BigDecimal
// does: unscaled value and scale, which may be negative.
func parseBigDecimal(s string) (*big.Int, int, bool) {
	mantissa, exp := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.ParseInt(s[i+1:], 10, 32)
		if err != nil {
			return nil, 0, false
		}
		mantissa, exp = s[:i], int(e)
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	sign := ""
	if whole != "" && (whole[0] == '-' || whole[0] == '+') {
		sign, whole = strings.TrimPrefix(whole[:1], "+"), whole[1:]
	}
	all := whole + frac
	if all == "" || strings.Trim(all, "0123456789") != "" {
		return nil, 0, false
	}
	v, ok := new(big.Int).SetString(sign+all, 10)
	return v, len(frac) - exp, ok
}
