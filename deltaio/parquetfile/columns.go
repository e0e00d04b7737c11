package parquetfile

import (
	"context"
	"fmt"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Column is a top-level column.
type Column struct {
	Name string
	// Type is the Delta type that it reads as; nil where there is none.
	Type schema.Type
	// Stored describes it, by its Delta type where it has one.
	Stored string
	// Required: it cannot hold nulls.
	Required bool
}

// Columns lists the top-level columns, in file order.
func (f *File) Columns() []Column {
	out := make([]Column, 0, len(f.scan.Footer().Root.Children))
	for _, n := range f.scan.Footer().Root.Children {
		c := Column{Name: n.Name, Type: typeOf(n), Required: n.Repetition == footer.Required}
		c.Stored = "a type that is not read (" + n.Type.String() + ")"
		if c.Type != nil {
			c.Stored = c.Type.String()
		}
		out = append(out, c)
	}
	return out
}

// Shape names all columns with their types: files of one shape have equal ones.
func (f *File) Shape() string {
	var b strings.Builder
	for i, c := range f.Columns() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.Name + " " + c.Stored)
	}
	return b.String()
}

// Readable says whether the file's column reads as the field: nil also where the
// file has none and the field may be null. mapped and byID are the table's column
// mapping.
func (f *File) Readable(ctx context.Context, field schema.Field, mapped, byID bool) error {
	opt := scan.Options{Schema: &schema.Struct{Fields: []schema.Field{field}}, Mapped: mapped, ByFieldID: byID, RowGroups: []int{}}
	for rec, err := range f.scan.Batches(ctx, opt) {
		if err != nil {
			return err
		}
		rec.Release()
	}
	name := field.Name
	if mapped || byID {
		name = field.PhysicalName()
	}
	if !field.Nullable && !byID && !f.scan.HasColumn(name) {
		return fmt.Errorf("column %s is required and missing", name)
	}
	return nil
}

// typeOf gives the Delta type of a column; nil where there is none.
func typeOf(n *footer.Node) schema.Type {
	if n.Repetition == footer.Repeated {
		elem := single(n)
		if elem == nil {
			return nil
		}
		return &schema.Array{Element: elem}
	}
	return single(n)
}

// single is the type of one value of a node.
func single(n *footer.Node) schema.Type {
	if n.Leaf >= 0 {
		return leafType(n)
	}
	switch n.Logical.Kind {
	case footer.KindList:
		return listType(n)
	case footer.KindMap:
		return mapType(n)
	case footer.KindVariant:
		return schema.Variant
	}
	s := &schema.Struct{}
	for _, c := range n.Children {
		t := typeOf(c)
		if t == nil {
			return nil
		}
		s.Fields = append(s.Fields, schema.Field{Name: c.Name, Type: t, Nullable: c.Repetition != footer.Required})
	}
	return s
}

func listType(n *footer.Node) schema.Type {
	if len(n.Children) != 1 || n.Children[0].Repetition != footer.Repeated {
		return nil
	}
	repeated := n.Children[0]
	elem := repeated
	if repeated.Leaf < 0 && len(repeated.Children) == 1 && repeated.Name != "array" && repeated.Name != n.Name+"_tuple" {
		elem = repeated.Children[0]
	}
	t := single(elem)
	if t == nil {
		return nil
	}
	return &schema.Array{Element: t, ContainsNull: elem.Repetition == footer.Optional}
}

func mapType(n *footer.Node) schema.Type {
	if len(n.Children) != 1 || len(n.Children[0].Children) != 2 {
		return nil
	}
	k, v := typeOf(n.Children[0].Children[0]), typeOf(n.Children[0].Children[1])
	if k == nil || v == nil {
		return nil
	}
	return &schema.Map{Key: k, Value: v, ValueContainsNull: n.Children[0].Children[1].Repetition == footer.Optional}
}

func leafType(n *footer.Node) schema.Type {
	l := n.Logical
	if l.Kind == footer.KindDecimal {
		return schema.Decimal{Precision: int(l.Precision), Scale: int(l.Scale)}
	}
	switch n.Type {
	case footer.Boolean:
		return schema.Boolean
	case footer.Int32, footer.Int64:
		return integerType(n)
	case footer.Int96:
		return schema.Timestamp
	case footer.Float:
		return schema.Float
	case footer.Double:
		return schema.Double
	case footer.ByteArray:
		switch l.Kind {
		case footer.KindString, footer.KindEnum, footer.KindJSON:
			return schema.String
		case footer.KindNone, footer.KindBSON:
			return schema.Binary
		}
	case footer.FixedLenByteArray:
		if l.Kind == footer.KindNone {
			return schema.Binary
		}
	}
	return nil
}

// integerType is the type of what is stored as int32 or int64.
func integerType(n *footer.Node) schema.Type {
	l := n.Logical
	switch l.Kind {
	case footer.KindNone:
		if n.Type == footer.Int32 {
			return schema.Integer
		}
		return schema.Long
	case footer.KindDate:
		return schema.Date
	case footer.KindTimestamp:
		if l.UTC {
			return schema.Timestamp
		}
		return schema.TimestampNTZ
	case footer.KindInt:
		bits := int(l.Bits)
		if !l.Signed {
			bits *= 2 // the next larger signed type holds all values
		}
		return map[int]schema.Type{8: schema.Byte, 16: schema.Short, 32: schema.Integer, 64: schema.Long}[bits]
	}
	return nil
}
