package schema

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Type is a Delta data type: Primitive, Decimal, *Array, *Map or *Struct.
type Type interface {
	// String gives the type in Spark SQL's simple form, such as
	// decimal(18,2) or array<string>.
	String() string
	isType()
}

// Primitive is a type without parameters, by its name in the schema JSON.
type Primitive string

// The primitive types of the protocol. Void is Spark's NullType, which some
// writers leave in a schema; Variant is passed through, never interpreted.
const (
	String       Primitive = "string"
	Long         Primitive = "long"
	Integer      Primitive = "integer"
	Short        Primitive = "short"
	Byte         Primitive = "byte"
	Float        Primitive = "float"
	Double       Primitive = "double"
	Boolean      Primitive = "boolean"
	Binary       Primitive = "binary"
	Date         Primitive = "date"
	Timestamp    Primitive = "timestamp"
	TimestampNTZ Primitive = "timestamp_ntz"
	Void         Primitive = "void"
	Variant      Primitive = "variant"
)

var primitives = map[Primitive]bool{
	String: true, Long: true, Integer: true, Short: true, Byte: true, Float: true,
	Double: true, Boolean: true, Binary: true, Date: true, Timestamp: true,
	TimestampNTZ: true, Void: true, Variant: true,
}

// Decimal is a fixed-point number of Precision digits (1 to 38), Scale of them
// behind the point.
type Decimal struct{ Precision, Scale int }

// Array is a list of elements.
type Array struct {
	Element      Type
	ContainsNull bool
}

// Map is a map; keys are never null.
type Map struct {
	Key, Value        Type
	ValueContainsNull bool
}

// Struct is an ordered list of fields; the schema of a table is one.
type Struct struct{ Fields []Field }

// Field is a named column or struct member.
type Field struct {
	Name     string
	Type     Type
	Nullable bool
	// Metadata holds the field's metadata entries as raw JSON, so that unknown
	// ones survive a rewrite of the schema.
	Metadata map[string]json.RawMessage
}

func (Primitive) isType() {}
func (Decimal) isType()   {}
func (*Array) isType()    {}
func (*Map) isType()      {}
func (*Struct) isType()   {}

func (p Primitive) String() string { return string(p) }
func (d Decimal) String() string   { return fmt.Sprintf("decimal(%d,%d)", d.Precision, d.Scale) }
func (a *Array) String() string    { return "array<" + a.Element.String() + ">" }
func (m *Map) String() string      { return "map<" + m.Key.String() + "," + m.Value.String() + ">" }

func (s *Struct) String() string {
	parts := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		parts[i] = f.Name + ":" + f.Type.String()
	}
	return "struct<" + strings.Join(parts, ",") + ">"
}

// Equal says whether two types are the same, field names and nested types
// included; nullability and metadata do not count.
func Equal(a, b Type) bool {
	switch x := a.(type) {
	case *Array:
		y, ok := b.(*Array)
		return ok && Equal(x.Element, y.Element)
	case *Map:
		y, ok := b.(*Map)
		return ok && Equal(x.Key, y.Key) && Equal(x.Value, y.Value)
	case *Struct:
		y, ok := b.(*Struct)
		if !ok || len(x.Fields) != len(y.Fields) {
			return false
		}
		for i := range x.Fields {
			if x.Fields[i].Name != y.Fields[i].Name || !Equal(x.Fields[i].Type, y.Fields[i].Type) {
				return false
			}
		}
		return true
	default:
		return a == b
	}
}

// Field finds a top-level field by its logical name, ignoring case as Spark
// does; an exact match wins.
func (s *Struct) Field(name string) (*Field, bool) {
	var folded *Field
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return &s.Fields[i], true
		}
		if folded == nil && strings.EqualFold(s.Fields[i].Name, name) {
			folded = &s.Fields[i]
		}
	}
	return folded, folded != nil
}

// Metadata keys of the protocol.
const (
	KeyPhysicalName  = "delta.columnMapping.physicalName"
	KeyColumnID      = "delta.columnMapping.id"
	KeyNestedIDs     = "delta.columnMapping.nested.ids"
	KeyInvariants    = "delta.invariants"
	KeyGeneration    = "delta.generationExpression"
	KeyTypeChanges   = "delta.typeChanges"
	KeyDefault       = "CURRENT_DEFAULT"
	KeyIdentityStart = "delta.identity.start"
)

// PhysicalName is the field's name in Parquet files, statistics and
// partitionValues: the mapped one where the schema carries it, else Name.
// Callers strip mapping metadata from schemas of tables in mode none.
func (f *Field) PhysicalName() string {
	if s, ok := f.MetaString(KeyPhysicalName); ok {
		return s
	}
	return f.Name
}

// ColumnID is the field id for Parquet, and whether the schema carries one.
func (f *Field) ColumnID() (int32, bool) {
	raw, ok := f.Metadata[KeyColumnID]
	if !ok {
		return 0, false
	}
	var id int32
	if json.Unmarshal(raw, &id) != nil {
		return 0, false
	}
	return id, true
}

// MetaString reads a string entry of the field's metadata.
func (f *Field) MetaString(key string) (string, bool) {
	raw, ok := f.Metadata[key]
	if !ok {
		return "", false
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}
