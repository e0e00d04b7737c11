package scan

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// ParsePartitionValue reads a partition value of the log as a value of type t,
// in the Go types of package expr. nil and the empty string are null (nil) for
// every type. A timestamp without a zone is in UTC. What does not parse is an
// error: a partition whose value is guessed would falsify all of its rows.
func ParsePartitionValue(t schema.Type, v *string) (any, error) {
	if v == nil || *v == "" {
		return nil, nil
	}
	out, err := parseValue(t, *v)
	if err != nil {
		return nil, fmt.Errorf("partition value %q is no %s: %w", *v, t, err)
	}
	return out, nil
}

func parseValue(t schema.Type, s string) (any, error) {
	if d, ok := t.(schema.Decimal); ok {
		return parseDecimal(s, d)
	}
	switch t {
	case schema.String:
		return s, nil
	case schema.Binary:
		return []byte(s), nil
	case schema.Boolean:
		switch strings.ToLower(s) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, fmt.Errorf("want true or false")
	case schema.Byte:
		return parseInteger(s, 8)
	case schema.Short:
		return parseInteger(s, 16)
	case schema.Integer:
		return parseInteger(s, 32)
	case schema.Long:
		return parseInteger(s, 64)
	case schema.Float:
		return parseFloat(s, 32)
	case schema.Double:
		return parseFloat(s, 64)
	case schema.Date:
		days, rest, err := parseDate(s)
		if err == nil && rest != "" {
			err = fmt.Errorf("%q follows the date", rest)
		}
		return expr.Date(days), err
	case schema.Timestamp:
		return parseTimestamp(s, true)
	case schema.TimestampNTZ:
		return parseTimestamp(s, false)
	}
	return nil, fmt.Errorf("the type cannot partition a table")
}

func parseInteger(s string, bits int) (any, error) {
	return strconv.ParseInt(s, 10, bits)
}

// parseFloat takes the forms of Java, which writes Infinity and NaN.
func parseFloat(s string, bits int) (any, error) {
	if strings.ContainsAny(s, "xX_pP") {
		return nil, fmt.Errorf("want decimal digits")
	}
	return strconv.ParseFloat(s, bits)
}

// maxExponent bounds the exponents of decimals in scientific notation.
const maxExponent = 100

func parseDecimal(s string, d schema.Decimal) (any, error) {
	mantissa, exponent := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(s[i+1:])
		if err != nil || e > maxExponent || e < -maxExponent {
			return nil, fmt.Errorf("exponent %q", s[i+1:])
		}
		mantissa, exponent = s[:i], e
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if len(digits) > 2*maxExponent || strings.Trim(strings.TrimLeft(digits, "+-"), "0123456789") != "" {
		return nil, fmt.Errorf("want digits")
	}
	v, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return nil, fmt.Errorf("want digits")
	}
	shift := d.Scale + exponent - len(fraction)
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(shift, -shift))), nil)
	if shift >= 0 {
		v.Mul(v, power)
	} else if rest := new(big.Int); true {
		if v.QuoRem(v, power, rest); rest.Sign() != 0 {
			return nil, fmt.Errorf("more than %d decimals", d.Scale)
		}
	}
	if limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Precision)), nil); v.CmpAbs(limit) >= 0 {
		return nil, fmt.Errorf("more than %d digits", d.Precision)
	}
	return expr.Decimal{V: decimal128.FromBigInt(v), Scale: d.Scale}, nil
}
