package expr

import (
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Types are coerced by the rules of Spark's TypeCoercion (non-ANSI); the names
// of its rules stand beside ours. testdata holds the answers of Spark itself
// for every pair of types.

func isIntegral(t schema.Type) bool {
	return t == schema.Byte || t == schema.Short || t == schema.Integer || t == schema.Long
}

func isFloat(t schema.Type) bool { return t == schema.Float || t == schema.Double }

func isDecimal(t schema.Type) bool {
	_, ok := t.(schema.Decimal)
	return ok
}

func isNumeric(t schema.Type) bool { return isIntegral(t) || isFloat(t) || isDecimal(t) }

func isDatetime(t schema.Type) bool {
	return t == schema.Date || t == schema.Timestamp || t == schema.TimestampNTZ
}

// isAtomic excludes void, variants and nested types.
func isAtomic(t schema.Type) bool {
	return isNumeric(t) || isDatetime(t) || t == schema.Boolean || t == schema.String || t == schema.Binary
}

// decimalForType is the decimal that holds every value of an integral type
// (DecimalType.forType).
func decimalForType(t schema.Type) schema.Decimal {
	switch t {
	case schema.Byte:
		return schema.Decimal{Precision: 3}
	case schema.Short:
		return schema.Decimal{Precision: 5}
	case schema.Integer:
		return schema.Decimal{Precision: 10}
	}
	return schema.Decimal{Precision: 20}
}

// decimalOf is the decimal an operand counts as beside another decimal; an
// integer literal needs its own digits only (literalPickMinimumPrecision).
func decimalOf(t *term) schema.Decimal {
	if d, ok := t.typ.(schema.Decimal); ok {
		return d
	}
	if t.src != nil && t.src.op == opLit && isIntegral(t.src.lit.typ) {
		v := t.src.lit.i
		n := 1
		for v /= 10; v != 0; v /= 10 {
			n++
		}
		return schema.Decimal{Precision: n}
	}
	return decimalForType(t.typ)
}

// widerDecimal holds the integer and fraction digits of both, cut at 38
// (DecimalPrecision.widerDecimalType).
func widerDecimal(a, b schema.Decimal) schema.Decimal {
	scale := max(a.Scale, b.Scale)
	return boundedDecimal(max(a.Precision-a.Scale, b.Precision-b.Scale)+scale, scale)
}

func boundedDecimal(precision, scale int) schema.Decimal {
	return schema.Decimal{Precision: min(precision, maxPrecision), Scale: min(scale, maxPrecision)}
}

// adjustedDecimal is the result type of arithmetic: where more than 38 digits
// are needed, fraction digits give way, down to six
// (DecimalType.adjustPrecisionScale with allowPrecisionLoss).
func adjustedDecimal(precision, scale int) schema.Decimal {
	if precision <= maxPrecision {
		return schema.Decimal{Precision: precision, Scale: scale}
	}
	whole := precision - scale
	return schema.Decimal{Precision: maxPrecision, Scale: max(maxPrecision-whole, min(scale, minAdjustedScale))}
}

// widerNumber is the later of two non-decimal numeric types in byte, short,
// int, long, float, double (numericPrecedence).
func widerNumber(a, b schema.Type) schema.Type {
	for _, t := range []schema.Type{schema.Double, schema.Float, schema.Long, schema.Integer, schema.Short} {
		if a == t || b == t {
			return t
		}
	}
	return schema.Byte
}

// widerDatetime: a date becomes the other's type; a timestamp_ntz a timestamp.
func widerDatetime(a, b schema.Type) schema.Type {
	if a == schema.Timestamp || b == schema.Timestamp {
		return schema.Timestamp
	}
	return schema.TimestampNTZ
}

// comparisonType is the type in which two values are compared
// (PromoteStrings, DecimalPrecision, BooleanEquality, ImplicitTypeCasts).
func comparisonType(a, b *term, equality bool) (schema.Type, bool) {
	x, y := a.typ, b.typ
	switch {
	case schema.Equal(x, y):
		return x, isAtomic(x) || x == schema.Void
	case x == schema.Void:
		return y, isAtomic(y)
	case y == schema.Void:
		return x, isAtomic(x)
	case !isAtomic(x) || !isAtomic(y):
		return nil, false
	case x == schema.String:
		return besideString(y), true
	case y == schema.String:
		return besideString(x), true
	case isNumeric(x) && isNumeric(y):
		return numericType(a, b), true
	case isDatetime(x) && isDatetime(y):
		return widerDatetime(x, y), true
	case equality && x == schema.Boolean && isNumeric(y):
		return y, true
	case equality && y == schema.Boolean && isNumeric(x):
		return x, true
	}
	return nil, false
}

// besideString: a string is cast to the other's type, so '2024-1-1' equals a
// date and '1.9' the int 1; beside a decimal both become double
// (findCommonTypeForBinaryComparison).
func besideString(t schema.Type) schema.Type {
	if isDecimal(t) {
		return schema.Double
	}
	return t
}

func numericType(a, b *term) schema.Type {
	switch da, db := isDecimal(a.typ), isDecimal(b.typ); {
	case !da && !db:
		return widerNumber(a.typ, b.typ)
	case isFloat(a.typ) || isFloat(b.typ):
		return schema.Double
	}
	return widerDecimal(decimalOf(a), decimalOf(b))
}

// widerType is the common type of IN lists, CASE branches and coalesce
// (findWiderCommonType). Unlike in comparison, strings win over numbers and
// dates: DATE'2024-01-01' IN ('2024-1-1') compares texts and is FALSE.
func widerType(types []schema.Type) (schema.Type, bool) {
	var ordered []schema.Type
	for _, strings := range []bool{true, false} {
		for _, t := range types {
			if (t == schema.String) == strings {
				ordered = append(ordered, t)
			}
		}
	}
	common := schema.Type(schema.Void)
	for _, t := range ordered {
		var ok bool
		if common, ok = widerOfTwo(common, t); !ok {
			return nil, false
		}
	}
	return common, true
}

func widerOfTwo(a, b schema.Type) (schema.Type, bool) {
	switch {
	case schema.Equal(a, b), b == schema.Void:
		return a, true
	case a == schema.Void:
		return b, true
	case isNumeric(a) && isNumeric(b):
		return numericType(&term{typ: a}, &term{typ: b}), true
	case isDatetime(a) && isDatetime(b):
		return widerDatetime(a, b), true
	case a == schema.String && promotes(b), b == schema.String && promotes(a):
		return schema.String, true
	}
	return nil, false
}

// promotes says which types a string absorbs (stringPromotion).
func promotes(t schema.Type) bool { return isNumeric(t) || isDatetime(t) }

// implicitCast says whether Spark's implicitCast turns a function's argument
// into a wanted type.
func implicitCast(from, want schema.Type) bool {
	switch {
	case schema.Equal(from, want), from == schema.Void:
		return true
	case want == schema.String:
		return isAtomic(from)
	case from == schema.String:
		return isNumeric(want) || isDatetime(want) || want == schema.Binary
	}
	return isNumeric(from) && isNumeric(want) || isDatetime(from) && isDatetime(want)
}
