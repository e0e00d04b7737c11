package pq

import (
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// outNode is an element of an output's schema. Output schemas are made of the
// Delta schema; only the layout below a column that comes from a source (how
// lists nest, what is optional, physical types that need no conversion) follows
// the source, since its levels and values are copied.
type outNode struct {
	el       element
	children []*outNode
	leaf     *outLeaf // of a primitive element
}

// outLeaf is a column chunk of each row group of an output.
type outLeaf struct {
	path   []string
	el     element
	typ    format.Type
	width  int
	order  order
	maxDef int
	maxRep int

	src  *leaf       // where the values come from; nil: every row has value
	conv *conversion // of src's values, nil when they are right as they lie
	// value is the PLAIN form of a constant (without the length of byte arrays);
	// nil is null.
	value []byte
	// fill computes the values (src is nil then), where fillFrom, if the file has
	// the column, holds none.
	fill     *Fill
	fillFrom *leaf

	delta  schema.Type // primitive or decimal; nil where a variant is copied
	inStat bool        // FileStats has it: a leaf outside of lists and maps
	needed bool        // FileStats must answer for its bounds
}

// outSchema is the schema of an output.
type outSchema struct {
	elements thrift.Slice[element]
	leaves   []*outLeaf
}

// flatten lists the columns depth first and works out levels and paths.
func flatten(columns []*outNode) *outSchema {
	s := &outSchema{}
	s.elements = append(s.elements, element{Name: "schema", NumChildren: thrift.New(int32(len(columns)))})
	for _, c := range columns {
		s.add(c, nil, 0, 0)
	}
	return s
}

func (s *outSchema) add(n *outNode, path []string, def, rep int) {
	switch n.el.Repetition.V {
	case format.Optional:
		def++
	case format.Repeated:
		def++
		rep++
	}
	path = append(path[:len(path):len(path)], n.el.Name)
	if l := n.leaf; l != nil {
		l.path, l.el, l.maxDef, l.maxRep = path, n.el, def, rep
		l.order = orderOf(l.typ, &n.el)
		l.inStat = rep == 0 && l.delta != nil
		s.elements = append(s.elements, n.el)
		s.leaves = append(s.leaves, l)
		return
	}
	n.el.NumChildren = thrift.New(int32(len(n.children)))
	s.elements = append(s.elements, n.el)
	for _, c := range n.children {
		s.add(c, path, def, rep)
	}
}

// newElement is an element named as the field, with its id.
func newElement(f *schema.Field, rep format.FieldRepetitionType) element {
	el := element{Name: f.Name, Repetition: thrift.New(rep)}
	if id, ok := f.ColumnID(); ok {
		el.FieldID = thrift.New(id)
	}
	return el
}

// canonical lays out a field as Delta's writers do: three-level lists, maps of
// key_value groups.
func canonical(f *schema.Field) (*outNode, error) {
	rep := format.Optional
	if !f.Nullable {
		rep = format.Required
	}
	n := &outNode{el: newElement(f, rep)}
	switch t := f.Type.(type) {
	case *schema.Struct:
		return n, n.members(t)
	case *schema.Array:
		annotateGroup(&n.el, deprecated.List, &format.ListType{})
		list := &outNode{el: element{Name: "list", Repetition: thrift.New(format.Repeated)}}
		n.children = []*outNode{list}
		return n, list.members(&schema.Struct{Fields: []schema.Field{
			{Name: "element", Type: t.Element, Nullable: t.ContainsNull}}})
	case *schema.Map:
		annotateGroup(&n.el, deprecated.Map, &format.MapType{})
		kv := &outNode{el: element{Name: "key_value", Repetition: thrift.New(format.Repeated)}}
		n.children = []*outNode{kv}
		return n, kv.members(&schema.Struct{Fields: []schema.Field{
			{Name: "key", Type: t.Key}, {Name: "value", Type: t.Value, Nullable: t.ValueContainsNull}}})
	}
	if f.Type == schema.Variant {
		return n, n.members(&schema.Struct{Fields: []schema.Field{
			{Name: "value", Type: schema.Binary}, {Name: "metadata", Type: schema.Binary}}})
	}
	l, err := canonicalLeaf(f.Type)
	if err != nil {
		return nil, err
	}
	n.leaf = l
	l.annotate(&n.el)
	return n, nil
}

func (n *outNode) members(s *schema.Struct) error {
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Type == schema.Void {
			continue
		}
		c, err := canonical(f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		n.children = append(n.children, c)
	}
	if len(n.children) == 0 {
		return fmt.Errorf("struct %s has no members that Parquet can hold", n.el.Name)
	}
	return nil
}

func annotateGroup(el *element, c deprecated.ConvertedType, l format.LogicalTypeValue) {
	el.ConvertedType, el.Logical.Value = thrift.New(c), l
}

// canonicalLeaf gives the physical type of a Delta type.
func canonicalLeaf(t schema.Type) (*outLeaf, error) {
	l := &outLeaf{delta: t}
	if d, ok := t.(schema.Decimal); ok {
		var length int32
		l.typ, length, l.width = decimalType(d.Precision)
		if length > 0 {
			l.el.TypeLength = thrift.New(length)
		}
		return l, nil
	}
	switch t {
	case schema.Boolean:
		l.typ = format.Boolean
	case schema.Byte, schema.Short, schema.Integer, schema.Date:
		l.typ = format.Int32
	case schema.Long, schema.Timestamp, schema.TimestampNTZ:
		l.typ = format.Int64
	case schema.Float:
		l.typ = format.Float
	case schema.Double:
		l.typ = format.Double
	case schema.String, schema.Binary:
		l.typ = format.ByteArray
	default:
		return nil, fmt.Errorf("type %s cannot be written to Parquet", t)
	}
	l.width, _ = widthOf(l.typ, 0) // none of these has a length
	return l, nil
}

// annotate completes the element of a leaf by its physical and its Delta type.
func (l *outLeaf) annotate(el *element) {
	el.Type = thrift.New(l.typ)
	el.TypeLength = l.el.TypeLength
	if l.typ == format.Int96 { // kept as it lies, its meaning has no annotation
		return
	}
	converted := func(c deprecated.ConvertedType) { el.ConvertedType = thrift.New(c) }
	if d, ok := l.delta.(schema.Decimal); ok {
		converted(deprecated.Decimal)
		el.Precision, el.Scale = thrift.New(int32(d.Precision)), thrift.New(int32(d.Scale))
		el.Logical.Value = &format.DecimalType{Precision: int32(d.Precision), Scale: int32(d.Scale)}
		return
	}
	switch l.delta {
	case schema.String:
		converted(deprecated.UTF8)
		el.Logical.Value = &format.StringType{}
	case schema.Byte:
		converted(deprecated.Int8)
		el.Logical.Value = &format.IntType{BitWidth: 8, IsSigned: true}
	case schema.Short:
		converted(deprecated.Int16)
		el.Logical.Value = &format.IntType{BitWidth: 16, IsSigned: true}
	case schema.Date:
		converted(deprecated.Date)
		el.Logical.Value = &format.DateType{}
	case schema.Timestamp:
		converted(deprecated.TimestampMicros)
		el.Logical.Value = micros(true)
	case schema.TimestampNTZ:
		el.Logical.Value = micros(false)
	}
}

func micros(utc bool) *format.TimestampType {
	return &format.TimestampType{IsAdjustedToUTC: utc, Unit: format.TimeUnit{Value: &format.MicroSeconds{}}}
}
