package footer

import (
	"fmt"
	"strings"
)

// maxLevel is the highest definition or repetition level read: some 120 nested
// lists. Levels are held in a byte each.
const maxLevel = 250

// Node is a field of the schema tree. The root is a node of its own.
type Node struct {
	*Element
	Parent   *Node
	Children []*Node
	// Names is the path from the root, this node's name last.
	Names []string
	// Leaf is the column's index in a row group; -1 for a group.
	Leaf int
	// MaxDef and MaxRep are the levels of a value of this node that is there:
	// for a repeated node, of its elements.
	MaxDef, MaxRep int
	// ElemDef is the definition level from which an entry has a slot in this
	// node: that of the elements of the innermost repeated ancestor (0 without).
	ElemDef int
}

// Tree builds the schema tree, checks it, and gives its leaves in order.
func (m *Meta) Tree() (root *Node, leaves []*Node, err error) {
	if len(m.Elements) == 0 {
		return nil, nil, fmt.Errorf("%w: no schema", ErrCorrupt)
	}
	b := &treeBuilder{elements: m.Elements}
	// The root's own repetition is meaningless; some writers say REPEATED.
	root, err = b.node(nil, 0)
	if err != nil {
		return nil, nil, err
	}
	if b.next != len(m.Elements) {
		return nil, nil, fmt.Errorf("%w: schema has %d elements outside its tree", ErrCorrupt, len(m.Elements)-b.next)
	}
	return root, b.leaves, nil
}

type treeBuilder struct {
	elements []Element
	next     int
	leaves   []*Node
}

func (b *treeBuilder) node(parent *Node, depth int) (*Node, error) {
	if b.next >= len(b.elements) {
		return nil, fmt.Errorf("%w: schema ends in the middle of a group", ErrCorrupt)
	}
	e := &b.elements[b.next]
	b.next++
	n := &Node{Element: e, Parent: parent, Leaf: -1}
	if parent != nil {
		n.Names = append(append(make([]string, 0, len(parent.Names)+1), parent.Names...), e.Name)
		if err := n.levels(parent); err != nil {
			return nil, err
		}
		if e.NumChildren <= 0 && e.HasType {
			n.Leaf = len(b.leaves)
			b.leaves = append(b.leaves, n)
			return n, n.checkType()
		}
	}
	if e.NumChildren < 0 || int(e.NumChildren) > len(b.elements)-b.next {
		return nil, fmt.Errorf("%w: schema group %s has %d children", ErrCorrupt, n.Path(), e.NumChildren)
	}
	if depth > maxLevel {
		return nil, fmt.Errorf("%w: schema is nested deeper than %d", ErrUnsupported, maxLevel)
	}
	for i := int32(0); i < e.NumChildren; i++ {
		c, err := b.node(n, depth+1)
		if err != nil {
			return nil, err
		}
		n.Children = append(n.Children, c)
	}
	return n, nil
}

func (n *Node) levels(parent *Node) error {
	n.MaxDef, n.MaxRep, n.ElemDef = parent.MaxDef, parent.MaxRep, parent.ElemDef
	if parent.Parent != nil && parent.Repetition == Repeated {
		n.ElemDef = parent.MaxDef
	}
	switch n.Repetition {
	case Required:
	case Optional:
		n.MaxDef++
	case Repeated:
		n.MaxDef++
		n.MaxRep++
	default:
		return fmt.Errorf("%w: column %s has repetition %d", ErrCorrupt, n.Path(), n.Repetition)
	}
	if n.MaxDef > maxLevel {
		return fmt.Errorf("%w: column %s is nested deeper than %d levels", ErrUnsupported, n.Path(), maxLevel)
	}
	return nil
}

func (n *Node) checkType() error {
	if n.Type < Boolean || n.Type > FixedLenByteArray {
		return fmt.Errorf("%w: column %s has %s", ErrCorrupt, n.Path(), n.Type)
	}
	if n.Type == FixedLenByteArray && (n.TypeLength <= 0 || n.TypeLength > 1<<24) {
		return fmt.Errorf("%w: column %s has values of %d bytes", ErrCorrupt, n.Path(), n.TypeLength)
	}
	return nil
}

// Width is the size of a value in bytes: 0 where it varies, 1 for booleans.
func (n *Node) Width() int {
	switch n.Type {
	case Boolean:
		return 1
	case Int32, Float:
		return 4
	case Int64, Double:
		return 8
	case Int96:
		return 12
	case FixedLenByteArray:
		return int(n.TypeLength)
	}
	return 0
}

// Path is the dotted path from the root.
func (n *Node) Path() string { return strings.Join(n.Names, ".") }
