package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// matcher finds the Parquet columns of Delta fields.
type matcher struct {
	opt *Options
	old calendar
}

// name is the field's name in files.
func (m *matcher) name(f *schema.Field) string {
	if m.opt.Mapped || m.opt.ByFieldID {
		return f.PhysicalName()
	}
	return f.Name
}

// constant gives the value of a column that is the same in every row of the
// file, and whether f is one.
func (m *matcher) constant(f *schema.Field) (value any, ok bool, err error) {
	name := m.name(f)
	if v, ok := m.opt.Partition[name]; ok {
		if value, err = ParsePartitionValue(f.Type, v); err != nil {
			return nil, true, fmt.Errorf("partition column %s: %w", f.Name, err)
		}
		return value, true, nil
	}
	value, ok = m.opt.Const[name]
	return value, ok, nil
}

// find gives the child of group that holds f; nil when the file lacks it.
func (m *matcher) find(group *footer.Node, f *schema.Field) (*footer.Node, error) {
	name := m.name(f)
	if m.opt.ByFieldID && !slices.Contains(m.opt.ByName, f.Name) {
		if id, ok := f.ColumnID(); ok {
			return only(group, name, func(c *footer.Node) bool { return c.HasFieldID && c.FieldID == id })
		}
		return nil, fmt.Errorf("%w: column %s has no id in the schema of a table mapped by id", ErrUnsupported, f.Name)
	}
	n, err := only(group, name, func(c *footer.Node) bool { return c.Name == name })
	if n != nil || err != nil || m.opt.Mapped {
		return n, err
	}
	// Spark resolves names without regard to case.
	return only(group, name, func(c *footer.Node) bool { return strings.EqualFold(c.Name, name) })
}

func only(group *footer.Node, name string, match func(*footer.Node) bool) (found *footer.Node, err error) {
	for _, c := range group.Children {
		if !match(c) {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%w: the file has two columns for %s: %s and %s", ErrUnsupported, name, found.Path(), c.Path())
		}
		found = c
	}
	return found, nil
}

// field builds the column of f, a member of group.
func (m *matcher) field(group *footer.Node, f *schema.Field) (column, error) {
	dt, err := schema.ArrowType(f.Type)
	if err != nil {
		return nil, err
	}
	n, err := m.find(group, f)
	if err != nil {
		return nil, err
	}
	if n == nil {
		return &nothing{dt}, nil
	}
	c, err := m.value(f.Type, dt, n)
	if err != nil {
		return nil, fmt.Errorf("column %s: %w", n.Path(), err)
	}
	return c, nil
}

// value builds the column of a field or list element of type t at n. A repeated
// node is a list unless t says that it is the element of one.
func (m *matcher) value(t schema.Type, dt arrow.DataType, n *footer.Node) (column, error) {
	if t == schema.Void || n.Logical.Kind == footer.KindUnknown && n.Leaf >= 0 && n.Repetition == footer.Optional {
		return &nothing{dt}, nil
	}
	switch x := t.(type) {
	case *schema.Array:
		return m.array(x, dt.(*arrow.ListType), n)
	case *schema.Map:
		return m.mapping(x, dt.(*arrow.MapType), n)
	}
	if n.Repetition == footer.Repeated {
		return nil, fmt.Errorf("%w: the file has a repeated field, the schema %s", ErrUnsupported, t)
	}
	return m.single(t, dt, n, n.ElemDef)
}

// single builds a column that is neither list nor map. elemDef is the level
// from which n has slots.
func (m *matcher) single(t schema.Type, dt arrow.DataType, n *footer.Node, elemDef int) (column, error) {
	if s, ok := t.(*schema.Struct); ok {
		return m.structure(s, dt.(*arrow.StructType), n, elemDef)
	}
	if t == schema.Variant {
		return m.variant(dt.(*arrow.StructType), n, elemDef)
	}
	if n.Leaf < 0 {
		return nil, fmt.Errorf("%w: the file has a group, the schema %s", ErrUnsupported, t)
	}
	l := newLeaf(n)
	var err error
	if l.convert, l.width, err = conversion(t, n, m.old); err != nil {
		return nil, err
	}
	return &primitive{leaf: l, dt: dt, elemDef: elemDef}, nil
}

func (m *matcher) structure(s *schema.Struct, dt *arrow.StructType, n *footer.Node, elemDef int) (column, error) {
	if n.Leaf >= 0 {
		return nil, fmt.Errorf("%w: the file has %s, the schema %s", ErrUnsupported, describe(n), s)
	}
	r := &record{node: n, dt: dt, elemDef: elemDef}
	for i := range s.Fields {
		c, err := m.field(n, &s.Fields[i])
		if err != nil {
			return nil, err
		}
		r.add(c)
	}
	return r, r.needGuide()
}

func (r *record) add(c column) {
	r.fields = append(r.fields, c)
	r.all = append(r.all, c.leaves()...)
}

// needGuide picks the leaf whose levels tell the structure: a wanted one, or
// any of the group, read for its levels alone.
func (r *record) needGuide() error {
	if len(r.all) == 0 {
		n := r.node
		for n.Leaf < 0 {
			if len(n.Children) == 0 {
				return fmt.Errorf("%w: %s is a group without columns", ErrUnsupported, n.Path())
			}
			n = n.Children[0]
		}
		l := newLeaf(n)
		l.levelsOnly = true
		r.all = append(r.all, l)
	}
	r.guide = r.all[0]
	return nil
}

// variant reads the two binaries of an unshredded variant.
func (m *matcher) variant(dt *arrow.StructType, n *footer.Node, elemDef int) (column, error) {
	if n.Leaf >= 0 {
		return nil, fmt.Errorf("%w: the file has %s, the schema variant", ErrUnsupported, describe(n))
	}
	r := &record{node: n, dt: dt, elemDef: elemDef}
	for _, f := range dt.Fields() {
		c, err := only(n, f.Name, func(c *footer.Node) bool { return c.Name == f.Name })
		if err != nil {
			return nil, err
		}
		if c == nil || len(n.Children) != 2 {
			return nil, fmt.Errorf("%w: a variant whose file members are not value and metadata (shredded?)", ErrUnsupported)
		}
		p, err := m.single(schema.Binary, f.Type, c, c.ElemDef)
		if err != nil {
			return nil, err
		}
		r.add(p)
	}
	return r, r.needGuide()
}
