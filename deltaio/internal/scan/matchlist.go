package scan

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Lists have had several shapes in Parquet. LogicalTypes.md, "Lists", gives the
// rules by which a reader tells the element from a level of nesting; they are
// numbered there and here.

// array builds a list column at n: a group that wraps a repeated field, or the
// repeated field itself.
func (m *matcher) array(t *schema.Array, dt *arrow.ListType, n *footer.Node) (column, error) {
	repeated, err := repeatedIn(n)
	if err != nil {
		return nil, fmt.Errorf("%w, the schema %s", err, t)
	}
	element, err := m.element(t.Element, dt.Elem(), n, repeated)
	if err != nil {
		return nil, err
	}
	return newListColumn(n, repeated, dt, element, false)
}

func repeatedIn(n *footer.Node) (*footer.Node, error) {
	if n.Repetition == footer.Repeated {
		return n, nil
	}
	if len(n.Children) == 1 && n.Children[0].Repetition == footer.Repeated {
		return n.Children[0], nil
	}
	return nil, fmt.Errorf("%w: the file has %s", ErrUnsupported, kindOf(n))
}

func kindOf(n *footer.Node) string {
	if n.Leaf >= 0 {
		return describe(n)
	}
	return fmt.Sprintf("a group of %d members", len(n.Children))
}

func newListColumn(n, repeated *footer.Node, dt arrow.DataType, elem column, isMap bool) (column, error) {
	l := &list{node: n, repeated: repeated, dt: dt, elem: elem, all: elem.leaves(), isMap: isMap}
	l.elemDef = n.ElemDef
	if len(l.all) == 0 {
		// Nothing of the element is in the file: any leaf tells the lengths.
		r := &record{node: repeated}
		if repeated.Leaf >= 0 {
			lv := newLeaf(repeated)
			lv.levelsOnly = true
			r.all = []*leaf{lv}
		}
		if err := r.needGuide(); err != nil {
			return nil, err
		}
		l.all = r.all
	}
	l.guide = l.all[0]
	return l, nil
}

// element builds the elements of the list n, whose repeated field is given.
func (m *matcher) element(t schema.Type, dt arrow.DataType, n, repeated *footer.Node) (column, error) {
	if isElement(t, n, repeated) {
		return m.repeatedElement(t, dt, repeated)
	}
	return m.value(t, dt, repeated.Children[0]) // rule 5
}

// isElement says whether the repeated field is the element itself. Where the
// wanted type leaves no choice, it decides before the rules do.
func isElement(t schema.Type, n, repeated *footer.Node) bool {
	if repeated.Leaf >= 0 || len(repeated.Children) != 1 {
		return true // rules 1 and 2
	}
	child := repeated.Children[0]
	switch t.(type) {
	case *schema.Struct:
		if child.Leaf >= 0 {
			return true
		}
	case schema.Primitive, schema.Decimal:
		if child.Leaf >= 0 {
			return false
		}
	}
	if n == repeated || child.Repetition == footer.Repeated {
		return true // not wrapped at all, and rule 3
	}
	return repeated.Name == "array" || repeated.Name == n.Name+"_tuple" // rule 4
}

// repeatedElement builds elements that are the repeated field itself: never
// null, with a slot wherever the field repeats.
func (m *matcher) repeatedElement(t schema.Type, dt arrow.DataType, repeated *footer.Node) (column, error) {
	switch t.(type) {
	case *schema.Array, *schema.Map:
		// The element is a list whose only wrapper is the repeated group.
		inner := *repeated
		inner.Repetition, inner.ElemDef = footer.Required, repeated.MaxDef
		return m.value(t, dt, &inner)
	}
	if t == schema.Void {
		return &nothing{dt}, nil
	}
	return m.single(t, dt, repeated, repeated.MaxDef)
}

// mapping builds a map column at n: a group that wraps a repeated group of key
// and value, or that group itself.
func (m *matcher) mapping(t *schema.Map, dt *arrow.MapType, n *footer.Node) (column, error) {
	entries, err := repeatedIn(n)
	if err != nil {
		return nil, fmt.Errorf("%w, the schema %s", err, t)
	}
	if len(entries.Children) < 1 || len(entries.Children) > 2 {
		return nil, fmt.Errorf("%w: map entries of %d members", ErrUnsupported, len(entries.Children))
	}
	key, value := entries.Children[0], (*footer.Node)(nil)
	if len(entries.Children) == 2 {
		if value = entries.Children[1]; value.Name == "key" && key.Name == "value" {
			key, value = value, key
		}
	}
	st := dt.Elem().(*arrow.StructType)
	r := &record{node: entries, dt: st, elemDef: entries.MaxDef}
	k, err := m.value(t.Key, st.Field(0).Type, key)
	if err != nil {
		return nil, fmt.Errorf("map key: %w", err)
	}
	r.add(k)
	if value == nil {
		r.add(&nothing{st.Field(1).Type})
	} else {
		v, err := m.value(t.Value, st.Field(1).Type, value)
		if err != nil {
			return nil, fmt.Errorf("map value: %w", err)
		}
		r.add(v)
	}
	if err := r.needGuide(); err != nil {
		return nil, err
	}
	return newListColumn(n, entries, dt, r, true)
}
