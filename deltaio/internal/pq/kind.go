package pq

import (
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// kind is what the values of a leaf mean, read from its annotations.
type kind uint8

const (
	kindUnknown kind = iota // an annotation that no Delta type has
	kindBool
	kindInt    // fits INT32 signed
	kindUint32 // INT32 holding unsigned 32 bits
	kindLong
	kindUint64
	kindFloat
	kindDouble
	kindText
	kindBytes // BYTE_ARRAY without annotation
	kindFixed // FIXED_LEN_BYTE_ARRAY without annotation
	kindDecimal
	kindDate
	kindMillis // timestamps, INT64
	kindMicros
	kindNanos
	kindInt96
)

// meaning is a leaf's kind; precision and scale belong to kindDecimal.
type meaning struct {
	kind             kind
	precision, scale int
}

func meaningOf(l *leaf) meaning {
	if l.typ == format.Int96 {
		return meaning{kind: kindInt96}
	}
	if l.el.Logical.Value != nil {
		return logicalMeaning(l)
	}
	if c, ok := l.el.ConvertedType.Get(); ok {
		return convertedMeaning(l, c)
	}
	return meaning{kind: plainKind(l.typ)}
}

func plainKind(t format.Type) kind {
	switch t {
	case format.Boolean:
		return kindBool
	case format.Int32:
		return kindInt
	case format.Int64:
		return kindLong
	case format.Float:
		return kindFloat
	case format.Double:
		return kindDouble
	case format.ByteArray:
		return kindBytes
	case format.FixedLenByteArray:
		return kindFixed
	}
	return kindUnknown
}

func logicalMeaning(l *leaf) meaning {
	switch t := l.el.Logical.Value.(type) {
	case *format.DecimalType:
		return decimalMeaning(t.Precision, t.Scale)
	case *format.IntType:
		return meaning{kind: integerKind(l.typ, int(t.BitWidth), t.IsSigned)}
	case *format.StringType, *format.EnumType, *format.JsonType, *format.BsonType:
		if l.typ == format.ByteArray {
			return meaning{kind: kindText}
		}
	case *format.UUIDType:
		return meaning{kind: kindFixed}
	case *format.DateType:
		if l.typ == format.Int32 {
			return meaning{kind: kindDate}
		}
	case *format.TimestampType:
		if l.typ != format.Int64 {
			break
		}
		switch t.Unit.Value.(type) {
		case *format.MilliSeconds:
			return meaning{kind: kindMillis}
		case *format.MicroSeconds:
			return meaning{kind: kindMicros}
		case *format.NanoSeconds:
			return meaning{kind: kindNanos}
		}
	case *format.NullType: // a column of nulls whose physical type was guessed
		return meaning{kind: plainKind(l.typ)}
	}
	return meaning{}
}

func convertedMeaning(l *leaf, c deprecated.ConvertedType) meaning {
	switch c {
	case deprecated.Decimal:
		return decimalMeaning(l.el.Precision.V, l.el.Scale.V)
	case deprecated.UTF8, deprecated.Enum, deprecated.Json, deprecated.Bson:
		if l.typ == format.ByteArray {
			return meaning{kind: kindText}
		}
	case deprecated.Date:
		if l.typ == format.Int32 {
			return meaning{kind: kindDate}
		}
	case deprecated.TimestampMillis:
		if l.typ == format.Int64 {
			return meaning{kind: kindMillis}
		}
	case deprecated.TimestampMicros:
		if l.typ == format.Int64 {
			return meaning{kind: kindMicros}
		}
	case deprecated.Int8, deprecated.Int16, deprecated.Int32:
		return meaning{kind: integerKind(l.typ, 32, true)}
	case deprecated.Int64:
		return meaning{kind: integerKind(l.typ, 64, true)}
	case deprecated.Uint8, deprecated.Uint16:
		return meaning{kind: integerKind(l.typ, 16, false)}
	case deprecated.Uint32:
		return meaning{kind: integerKind(l.typ, 32, false)}
	case deprecated.Uint64:
		return meaning{kind: integerKind(l.typ, 64, false)}
	}
	return meaning{}
}

func decimalMeaning(precision, scale int32) meaning {
	if precision < 1 || precision > 1<<10 || scale < 0 || scale > precision {
		return meaning{}
	}
	return meaning{kindDecimal, int(precision), int(scale)}
}

func integerKind(t format.Type, bits int, signed bool) kind {
	switch {
	case t == format.Int32 && (signed || bits < 32):
		return kindInt
	case t == format.Int32:
		return kindUint32
	case t == format.Int64 && signed:
		return kindLong
	case t == format.Int64:
		return kindUint64
	}
	return kindUnknown
}
