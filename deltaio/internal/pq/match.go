package pq

import (
	"fmt"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// matcher finds where the values of a Delta field lie in a source file.
type matcher struct {
	src  *source
	byID bool
}

// column plans one column of an output; nil when the file leaves it out.
func (s *source) column(c *Column, cleared bool) (*outNode, error) {
	if c.Field.Type == schema.Void {
		return nil, nil
	}
	if cleared {
		return nullColumn(&c.Field)
	}
	if c.IsConst {
		return s.constant(c)
	}
	if c.Fill != nil {
		return s.filled(c)
	}
	n, err := s.find(c)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return nullColumn(&c.Field)
	}
	m := &matcher{src: s, byID: c.SourceID != nil}
	return m.match(&c.Field, n)
}

// find looks a column's source up: by id where asked, else by name.
func (s *source) find(c *Column) (*node, error) {
	if c.SourceID != nil {
		if n := s.root.childByID(*c.SourceID); n != nil {
			return n, nil
		}
	}
	return s.root.child(c.Source)
}

// nullColumn is a column of nulls.
func nullColumn(f *schema.Field) (*outNode, error) {
	if !f.Nullable {
		return nil, fmt.Errorf("column is not nullable, and there are no values for it")
	}
	return canonical(f)
}

// match lays the field out as n does, under the field's names.
func (m *matcher) match(f *schema.Field, n *node) (*outNode, error) {
	out := &outNode{el: newElement(f, n.repetition())}
	switch t := f.Type.(type) {
	case *schema.Struct:
		if n.leaf != nil || isListOrMap(n) {
			return nil, fmt.Errorf("the file has %s where the table has %s", nodeKind(n), t)
		}
		return out, m.members(t, n, out)
	case *schema.Array:
		return m.list(t, n, out)
	case *schema.Map:
		return m.mapping(t, n, out)
	}
	if f.Type == schema.Variant {
		if n.leaf != nil {
			return nil, fmt.Errorf("the file has %s where the table has a variant", nodeKind(n))
		}
		out.el.ConvertedType, out.el.Logical = n.el.ConvertedType, n.el.Logical
		m.verbatim(n.children, out)
		return out, nil
	}
	if n.leaf == nil || n.repetition() == format.Repeated {
		return nil, fmt.Errorf("the file has %s where the table has %s", nodeKind(n), f.Type)
	}
	return out, m.leaf(f.Type, n, out)
}

func nodeKind(n *node) string {
	switch {
	case n.repetition() == format.Repeated || isListOrMap(n):
		return "a list or map"
	case n.leaf != nil:
		return describe(n.leaf)
	}
	return "a struct"
}

func isListOrMap(n *node) bool {
	switch n.el.Logical.Value.(type) {
	case *format.ListType, *format.MapType:
		return true
	}
	c, ok := n.el.ConvertedType.Get()
	return ok && (c == deprecated.List || c == deprecated.Map || c == deprecated.MapKeyValue)
}

func (m *matcher) leaf(t schema.Type, n *node, out *outNode) error {
	conv, err := m.src.convert(t, n.leaf)
	if err != nil {
		return err
	}
	l := &outLeaf{delta: t, src: n.leaf, conv: conv, typ: n.leaf.typ, width: n.leaf.width}
	if l.typ == format.FixedLenByteArray { // a bit length has no meaning for others
		l.el.TypeLength = n.el.TypeLength
	}
	if conv != nil {
		l.typ, l.width = conv.typ, conv.width
		l.el.TypeLength = thrift.Null[int32]{}
		if conv.length > 0 {
			l.el.TypeLength = thrift.New(conv.length)
		}
	}
	out.leaf = l
	l.annotate(&out.el)
	return nil
}

// members matches the members of a struct. Members the file lacks stay out of
// the output: they read as null. Members the table lacks are dropped, unless
// the struct would be left without any: then the first one stays, to tell a
// struct of nulls from a null.
func (m *matcher) members(t *schema.Struct, n *node, out *outNode) error {
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Type == schema.Void {
			continue
		}
		c, err := m.member(f, n)
		if err != nil {
			return err
		}
		if c == nil {
			continue
		}
		sub, err := m.match(f, c)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		out.children = append(out.children, sub)
	}
	if len(out.children) == 0 {
		if len(n.children) == 0 {
			return fmt.Errorf("struct %s has no members in the file", n.el.Name)
		}
		m.verbatim(n.children[:1], out)
	}
	return nil
}

func (m *matcher) member(f *schema.Field, n *node) (*node, error) {
	if id, ok := f.ColumnID(); ok && m.byID {
		if c := n.childByID(id); c != nil {
			return c, nil
		}
	}
	return n.child(f.PhysicalName())
}

// list matches the three-level form and the older two-level ones, by the rules
// of the format's LogicalTypes.md.
func (m *matcher) list(t *schema.Array, n *node, out *outNode) (*outNode, error) {
	if n.repetition() == format.Repeated { // a repeated field without a list around it
		el, err := m.match(&schema.Field{Name: out.el.Name, Type: t.Element}, unrepeated(n))
		if err != nil {
			return nil, err
		}
		el.el.Repetition, el.el.FieldID = n.el.Repetition, out.el.FieldID
		return el, nil
	}
	if n.leaf != nil || len(n.children) != 1 || n.children[0].repetition() != format.Repeated {
		return nil, fmt.Errorf("the file has %s where the table has %s", nodeKind(n), t)
	}
	annotateGroup(&out.el, deprecated.List, &format.ListType{})
	rep := n.children[0]
	if twoLevel(rep, n.el.Name) {
		el, err := m.match(&schema.Field{Name: rep.el.Name, Type: t.Element}, unrepeated(rep))
		if err != nil {
			return nil, fmt.Errorf("element: %w", err)
		}
		el.el.Repetition, el.el.FieldID = rep.el.Repetition, rep.el.FieldID
		out.children = []*outNode{el}
		return out, nil
	}
	return m.repeated(out, rep, []schema.Type{t.Element})
}

// unrepeated is n as the element that it repeats.
func unrepeated(n *node) *node {
	c := *n
	c.el.Repetition = thrift.New(format.Required)
	return &c
}

// twoLevel says whether the repeated node is the element itself.
func twoLevel(rep *node, list string) bool {
	if rep.leaf != nil || len(rep.children) != 1 {
		return true
	}
	return rep.children[0].repetition() == format.Repeated || rep.el.Name == "array" || rep.el.Name == list+"_tuple"
}

func (m *matcher) mapping(t *schema.Map, n *node, out *outNode) (*outNode, error) {
	if n.leaf != nil || len(n.children) != 1 || n.children[0].repetition() != format.Repeated || len(n.children[0].children) != 2 {
		return nil, fmt.Errorf("the file has %s where the table has %s", nodeKind(n), t)
	}
	annotateGroup(&out.el, deprecated.Map, &format.MapType{})
	return m.repeated(out, n.children[0], []schema.Type{t.Key, t.Value})
}

// repeated matches the members of a repeated group by position.
func (m *matcher) repeated(out *outNode, rep *node, types []schema.Type) (*outNode, error) {
	group := &outNode{el: element{Name: rep.el.Name, Repetition: rep.el.Repetition,
		FieldID: rep.el.FieldID, ConvertedType: rep.el.ConvertedType}}
	out.children = []*outNode{group}
	for i, t := range types {
		c := rep.children[i]
		el, err := m.match(&schema.Field{Name: c.el.Name, Type: t}, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.el.Name, err)
		}
		el.el.FieldID = c.el.FieldID
		group.children = append(group.children, el)
	}
	return out, nil
}

// verbatim takes elements over as they are.
func (m *matcher) verbatim(nodes []*node, out *outNode) {
	for _, c := range nodes {
		o := &outNode{el: c.el}
		if c.leaf != nil {
			o.leaf = &outLeaf{src: c.leaf, typ: c.leaf.typ, width: c.leaf.width}
		}
		m.verbatim(c.children, o)
		out.children = append(out.children, o)
	}
}
