package pq

import (
	"fmt"
	"slices"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// plan lays the file out as Delta's writers do.
func (w *Writer) plan(cols []Column, clear []string) (*outSchema, error) {
	var nodes []*outNode
	seen := map[string]bool{}
	for i := range cols {
		c := &cols[i]
		if seen[c.Field.Name] {
			return nil, fmt.Errorf("column %s is there twice", c.Field.Name)
		}
		seen[c.Field.Name] = true
		if c.Field.Type == schema.Void {
			continue
		}
		n, fromRecord, err := writerNode(c, slices.Contains(clear, c.Field.Name))
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Field.Name, err)
		}
		nodes = append(nodes, n)
		if fromRecord {
			w.columns = append(w.columns, writerColumn{c.Field.Name, n})
		}
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("no columns to write")
	}
	return flatten(nodes), nil
}

func writerNode(c *Column, cleared bool) (n *outNode, fromRecord bool, err error) {
	switch {
	case cleared:
		n, err = nullColumn(&c.Field)
	case c.IsConst:
		n, err = constantColumn(c)
	default:
		if holdsVariant(c.Field.Type) {
			return nil, false, fmt.Errorf("type variant can be rewritten, not written")
		}
		n, err = canonical(&c.Field)
		fromRecord = true
	}
	return n, fromRecord, err
}

func holdsVariant(t schema.Type) bool {
	switch x := t.(type) {
	case *schema.Array:
		return holdsVariant(x.Element)
	case *schema.Map:
		return holdsVariant(x.Key) || holdsVariant(x.Value)
	case *schema.Struct:
		return slices.ContainsFunc(x.Fields, func(f schema.Field) bool { return holdsVariant(f.Type) })
	}
	return t == schema.Variant
}

func (n *outNode) eachLeaf(visit func(*outLeaf)) {
	if n.leaf != nil {
		visit(n.leaf)
	}
	for _, c := range n.children {
		c.eachLeaf(visit)
	}
}
