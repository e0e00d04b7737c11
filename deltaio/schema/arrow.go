package schema

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
)

// ArrowSchema gives the Arrow schema of batches that hold rows of s, fields
// under their logical names.
func ArrowSchema(s *Struct) (*arrow.Schema, error) {
	fields, err := arrowFields(s)
	if err != nil {
		return nil, err
	}
	return arrow.NewSchema(fields, nil), nil
}

func arrowFields(s *Struct) ([]arrow.Field, error) {
	out := make([]arrow.Field, len(s.Fields))
	for i, f := range s.Fields {
		t, err := ArrowType(f.Type)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", f.Name, err)
		}
		out[i] = arrow.Field{Name: f.Name, Type: t, Nullable: f.Nullable}
	}
	return out, nil
}

// ArrowType maps a Delta type to Arrow: timestamps are microseconds (UTC, or
// without a zone for timestamp_ntz), decimals decimal128, a variant the struct
// of its two binary members, void the null type.
func ArrowType(t Type) (arrow.DataType, error) {
	switch x := t.(type) {
	case Decimal:
		return &arrow.Decimal128Type{Precision: int32(x.Precision), Scale: int32(x.Scale)}, nil
	case *Array:
		el, err := ArrowType(x.Element)
		if err != nil {
			return nil, err
		}
		return arrow.ListOfField(arrow.Field{Name: "element", Type: el, Nullable: x.ContainsNull}), nil
	case *Map:
		k, err := ArrowType(x.Key)
		if err != nil {
			return nil, err
		}
		v, err := ArrowType(x.Value)
		if err != nil {
			return nil, err
		}
		m := arrow.MapOf(k, v)
		m.SetItemNullable(x.ValueContainsNull)
		return m, nil
	case *Struct:
		fields, err := arrowFields(x)
		if err != nil {
			return nil, err
		}
		return arrow.StructOf(fields...), nil
	case Primitive:
		return arrowPrimitive(x)
	}
	return nil, fmt.Errorf("type %v has no Arrow form", t)
}

func arrowPrimitive(p Primitive) (arrow.DataType, error) {
	switch p {
	case String:
		return arrow.BinaryTypes.String, nil
	case Long:
		return arrow.PrimitiveTypes.Int64, nil
	case Integer:
		return arrow.PrimitiveTypes.Int32, nil
	case Short:
		return arrow.PrimitiveTypes.Int16, nil
	case Byte:
		return arrow.PrimitiveTypes.Int8, nil
	case Float:
		return arrow.PrimitiveTypes.Float32, nil
	case Double:
		return arrow.PrimitiveTypes.Float64, nil
	case Boolean:
		return arrow.FixedWidthTypes.Boolean, nil
	case Binary:
		return arrow.BinaryTypes.Binary, nil
	case Date:
		return arrow.FixedWidthTypes.Date32, nil
	case Timestamp:
		return arrow.FixedWidthTypes.Timestamp_us, nil
	case TimestampNTZ:
		return &arrow.TimestampType{Unit: arrow.Microsecond}, nil
	case Void:
		return arrow.Null, nil
	case Variant:
		return arrow.StructOf(
			arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary, Nullable: true},
			arrow.Field{Name: "metadata", Type: arrow.BinaryTypes.Binary, Nullable: true},
		), nil
	}
	return nil, fmt.Errorf("type %s has no Arrow form", p)
}
