package pq

import (
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go/format"
)

// node is an element of a Parquet schema with its children.
type node struct {
	el       element
	children []*node
	leaf     *leaf // of a primitive element
	maxDef   int   // definition level of a present value here
	maxRep   int
}

// leaf is a primitive column of a file.
type leaf struct {
	index   int // position among the column chunks of a row group
	path    []string
	el      element
	typ     format.Type
	width   int // bytes of a value decoded; 0 for byte arrays
	maxDef  int
	maxRep  int
	ordered bool // the file's column order for it is the type's
}

func (l *leaf) name() string { return strings.Join(l.path, ".") }

func (n *node) repetition() format.FieldRepetitionType { return n.el.Repetition.V }

// child finds a member by name: an exact match, else the only one that differs
// in case alone.
func (n *node) child(name string) (*node, error) {
	var folded *node
	for _, c := range n.children {
		if c.el.Name == name {
			return c, nil
		}
		if strings.EqualFold(c.el.Name, name) {
			if folded != nil {
				return nil, fmt.Errorf("columns %q and %q of the file both match %q", folded.el.Name, c.el.Name, name)
			}
			folded = c
		}
	}
	return folded, nil
}

// childByID finds a member by Parquet field id.
func (n *node) childByID(id int32) *node {
	for _, c := range n.children {
		if v, ok := c.el.FieldID.Get(); ok && v == id {
			return c
		}
	}
	return nil
}

// leaves gives the primitive columns below n, in order.
func (n *node) leaves() []*leaf {
	if n.leaf != nil {
		return []*leaf{n.leaf}
	}
	var out []*leaf
	for _, c := range n.children {
		out = append(out, c.leaves()...)
	}
	return out
}

const (
	maxSchemaDepth = 64
	maxLevel       = 255 // levels are held in bytes
)

type treeBuilder struct {
	els    []element
	pos    int
	leaves int
}

// buildTree makes the schema tree of a footer's flat list and numbers its leaves.
func buildTree(els []element) (*node, error) {
	if len(els) == 0 {
		return nil, fmt.Errorf("schema is empty")
	}
	b := &treeBuilder{els: els}
	root := &node{el: els[0]}
	b.pos = 1
	if err := b.fill(root, nil, 0); err != nil {
		return nil, err
	}
	if b.pos != len(els) {
		return nil, fmt.Errorf("schema has %d elements beyond its root", len(els)-b.pos)
	}
	return root, nil
}

func (b *treeBuilder) fill(n *node, path []string, depth int) error {
	if depth > maxSchemaDepth {
		return fmt.Errorf("schema is nested deeper than %d", maxSchemaDepth)
	}
	count := int(n.el.NumChildren.V)
	if count < 0 || count > len(b.els)-b.pos {
		return fmt.Errorf("schema element %q claims %d children", n.el.Name, count)
	}
	for range count {
		if b.pos >= len(b.els) {
			return fmt.Errorf("schema ends inside of %q", n.el.Name)
		}
		c := &node{el: b.els[b.pos], maxDef: n.maxDef, maxRep: n.maxRep}
		b.pos++
		switch c.repetition() {
		case format.Optional:
			c.maxDef++
		case format.Repeated:
			c.maxDef++
			c.maxRep++
		case format.Required:
		default:
			return fmt.Errorf("schema element %q has repetition %d", c.el.Name, c.repetition())
		}
		if c.maxDef > maxLevel {
			return fmt.Errorf("schema element %q is nested too deep", c.el.Name)
		}
		sub := append(path[:len(path):len(path)], c.el.Name)
		if err := b.place(c, sub, depth); err != nil {
			return err
		}
		n.children = append(n.children, c)
	}
	return nil
}

func (b *treeBuilder) place(c *node, path []string, depth int) error {
	typ, primitive := c.el.Type.Get()
	if c.el.NumChildren.V > 0 {
		return b.fill(c, path, depth+1)
	}
	if !primitive { // an empty group: a struct without members
		return nil
	}
	w, err := widthOf(typ, c.el.TypeLength.V)
	if err != nil {
		return fmt.Errorf("column %s: %w", strings.Join(path, "."), err)
	}
	c.leaf = &leaf{index: b.leaves, path: path, el: c.el, typ: typ, width: w, maxDef: c.maxDef, maxRep: c.maxRep}
	b.leaves++
	return nil
}

// widthOf is the size of a decoded value: booleans take a byte, byte arrays
// have no fixed size (0).
func widthOf(t format.Type, length int32) (int, error) {
	switch t {
	case format.Boolean:
		return 1, nil
	case format.Int32, format.Float:
		return 4, nil
	case format.Int64, format.Double:
		return 8, nil
	case format.Int96:
		return 12, nil
	case format.ByteArray:
		return 0, nil
	case format.FixedLenByteArray:
		if length <= 0 || length > 1<<20 {
			return 0, fmt.Errorf("fixed length %d is out of range", length)
		}
		return int(length), nil
	}
	return 0, fmt.Errorf("physical type %d is not known", t)
}
