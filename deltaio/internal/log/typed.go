package log

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// A typedColumn turns the text forms of a Delta type into Parquet values. A text
// that does not give exactly one value of the type gives none.
type typedColumn struct {
	node          parquet.Node
	fromJSON      func(any) (parquet.Value, bool)
	fromPartition func(string) (parquet.Value, bool)
	// noBounds: the Parquet library orders values of this encoding wrongly.
	noBounds bool
}

func typedOf(t schema.Type) (typedColumn, bool) {
	if d, ok := t.(schema.Decimal); ok {
		return decimalColumn(d), true
	}
	p, ok := t.(schema.Primitive)
	if !ok {
		return typedColumn{}, false
	}
	switch p {
	case schema.Byte:
		return intColumn(8), true
	case schema.Short:
		return intColumn(16), true
	case schema.Integer:
		return intColumn(32), true
	case schema.Long:
		return intColumn(64), true
	case schema.Float:
		return floatColumn(32), true
	case schema.Double:
		return floatColumn(64), true
	case schema.Boolean:
		return boolColumn(), true
	case schema.String:
		return textColumn(plainText()), true
	case schema.Binary:
		return textColumn(parquet.Leaf(parquet.ByteArrayType)), true
	case schema.Date:
		return fromText(parquet.Date(), parseDate), true
	case schema.Timestamp:
		return fromText(parquet.TimestampAdjusted(parquet.Microsecond, true), parseInstant), true
	case schema.TimestampNTZ:
		return fromText(parquet.TimestampAdjusted(parquet.Microsecond, false), parseLocal), true
	}
	return typedColumn{}, false
}

// fromText is for types that JSON writes as the same string as partitions do.
func fromText(n parquet.Node, parse func(string) (parquet.Value, bool)) typedColumn {
	return typedColumn{node: n, fromPartition: parse, fromJSON: func(x any) (parquet.Value, bool) {
		s, ok := x.(string)
		if !ok {
			return parquet.Value{}, false
		}
		return parse(s)
	}}
}

// fromNumber is for types that JSON writes as numbers.
func fromNumber(n parquet.Node, parse func(string) (parquet.Value, bool)) typedColumn {
	return typedColumn{node: n, fromPartition: parse, fromJSON: func(x any) (parquet.Value, bool) {
		switch v := x.(type) {
		case json.Number:
			return parse(v.String())
		case string: // NaN and the infinities
			return parse(v)
		}
		return parquet.Value{}, false
	}}
}

func textColumn(n parquet.Node) typedColumn {
	return fromText(n, func(s string) (parquet.Value, bool) { return textValue(s), true })
}

func intColumn(bits int) typedColumn {
	return fromNumber(parquet.Int(bits), func(s string) (parquet.Value, bool) {
		v, err := strconv.ParseInt(s, 10, bits)
		if err != nil {
			return parquet.Value{}, false
		}
		if bits == 64 {
			return parquet.Int64Value(v), true
		}
		return parquet.Int32Value(int32(v)), true
	})
}

func floatColumn(bits int) typedColumn {
	if bits == 32 {
		return fromNumber(parquet.Leaf(parquet.FloatType), func(s string) (parquet.Value, bool) {
			v, err := strconv.ParseFloat(s, 32)
			return parquet.FloatValue(float32(v)), err == nil
		})
	}
	return fromNumber(parquet.Leaf(parquet.DoubleType), func(s string) (parquet.Value, bool) {
		v, err := strconv.ParseFloat(s, 64)
		return parquet.DoubleValue(v), err == nil
	})
}

func boolColumn() typedColumn {
	parse := func(s string) (parquet.Value, bool) {
		v := strings.ToLower(s)
		return parquet.BooleanValue(v == "true"), v == "true" || v == "false"
	}
	return typedColumn{node: parquet.Leaf(parquet.BooleanType), fromPartition: parse, fromJSON: func(x any) (parquet.Value, bool) {
		v, ok := x.(bool)
		return parquet.BooleanValue(v), ok
	}}
}

func decimalColumn(d schema.Decimal) typedColumn {
	width := decimalWidth(d.Precision)
	physical, encode := parquet.FixedLenByteArrayType(width), func(n *big.Int) parquet.Value {
		return parquet.FixedLenByteArrayValue(bigBytes(n, width))
	}
	switch {
	case d.Precision <= 9:
		physical, encode = parquet.Int32Type, func(n *big.Int) parquet.Value { return parquet.Int32Value(int32(n.Int64())) }
	case d.Precision <= 18:
		physical, encode = parquet.Int64Type, func(n *big.Int) parquet.Value { return parquet.Int64Value(n.Int64()) }
	}
	c := fromNumber(parquet.Decimal(d.Scale, d.Precision, physical), func(s string) (parquet.Value, bool) {
		n, ok := parseDecimal(s, d)
		if !ok {
			return parquet.Value{}, false
		}
		return encode(n), true
	})
	c.noBounds = d.Precision > 18
	return c
}

// decimalWidth is the least number of bytes that hold the precision.
func decimalWidth(precision int) int {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
	return limit.BitLen()/8 + 1
}

// parseDecimal gives the unscaled number, exactly or not at all.
func parseDecimal(s string, d schema.Decimal) (*big.Int, bool) {
	mantissa, exp, hasExp := strings.Cut(strings.ToLower(s), "e")
	e := 0
	if hasExp {
		var err error
		if e, err = strconv.Atoi(exp); err != nil || e < -100 || e > 100 {
			return nil, false
		}
	}
	if len(mantissa) > 100 || strings.ContainsAny(mantissa, "/_xp") {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(mantissa)
	if !ok {
		return nil, false
	}
	shift := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(d.Scale+e, -d.Scale-e))), nil))
	if d.Scale+e < 0 {
		shift.Inv(shift)
	}
	if r.Mul(r, shift); !r.IsInt() {
		return nil, false
	}
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Precision)), nil)
	return r.Num(), r.Num().CmpAbs(limit) < 0
}

func parseDate(s string) (parquet.Value, bool) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return parquet.Value{}, false
	}
	return parquet.Int32Value(int32(t.Unix() / 86400)), true
}

// Forms of timestamps in the log. An instant without a zone is written in that
// of its writer, which nothing records: it gives no value.
var (
	instantForms = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07:00"}
	localForms   = []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", time.DateOnly}
)

func parseInstant(s string) (parquet.Value, bool) { return parseTime(s, instantForms) }

func parseLocal(s string) (parquet.Value, bool) { return parseTime(s, localForms) }

func parseTime(s string, forms []string) (parquet.Value, bool) {
	for _, form := range forms {
		if t, err := time.Parse(form, s); err == nil {
			if t.Nanosecond()%1000 != 0 {
				return parquet.Value{}, false
			}
			return parquet.Int64Value(t.UnixMicro()), true
		}
	}
	return parquet.Value{}, false
}
