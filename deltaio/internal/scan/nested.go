package scan

import (
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/page"
)

// Nested columns are put together from levels (the Dremel encoding). Every leaf
// below a struct or list repeats its structure; one of them, the guide, is
// taken at its word, and the others must agree with it: where they do not, the
// file is damaged and rows would be falsified.

// record is a struct. Its slots are the entries that reach elemDef and do not
// repeat a list inside of it.
type record struct {
	node    *footer.Node
	dt      arrow.DataType
	elemDef int
	guide   *leaf // of structure alone when no wanted member is in the file
	fields  []column
	all     []*leaf
}

func (c *record) leaves() []*leaf { return c.all }

func (c *record) build(n int) (arrow.ArrayData, error) {
	bits, slots, present := c.validity(c.guide)
	if slots != n {
		return nil, fmt.Errorf("%w: column %s: %d structs where its neighbours have %d", ErrCorrupt, c.node.Path(), slots, n)
	}
	for _, l := range c.all {
		if l == c.guide {
			continue
		}
		other, m, p := c.validity(l)
		if m != n || p != present || present < n && !slices.Equal(bits, other) {
			return nil, disagree(c.node, c.guide, l)
		}
	}
	children := make([]arrow.ArrayData, len(c.fields))
	for i, f := range c.fields {
		d, err := f.build(n)
		if err != nil {
			return nil, err
		}
		children[i] = d
	}
	var validity *memory.Buffer
	if present < n {
		validity = memory.NewBufferBytes(bits[:(n+7)/8])
	}
	return array.NewData(c.dt, n, []*memory.Buffer{validity}, children, n-present, 0), nil
}

func (c *record) validity(l *leaf) (bits []byte, slots, present int) {
	switch {
	case l.flat && c.node.MaxDef == 0:
		return nil, l.rows, l.rows
	case l.flat: // the struct is optional, the leaf required
		return l.bits[:(l.rows+7)/8], l.rows, l.present
	}
	repeated := l.node.MaxRep > 0
	bits = make([]byte, (len(l.def)+7)/8)
	for i, d := range l.def {
		if int(d) < c.elemDef || repeated && int(l.rep[i]) > c.node.MaxRep {
			continue
		}
		if int(d) >= c.node.MaxDef {
			bits[slots>>3] |= 1 << (slots & 7)
			present++
		}
		slots++
	}
	return bits[:(slots+7)/8], slots, present
}

func disagree(n *footer.Node, a, b *leaf) error {
	return fmt.Errorf("%w: columns %s and %s disagree on the structure of %s", ErrCorrupt, a.node.Path(), b.node.Path(), n.Path())
}

// list is an array, or a map, whose elements are structs of two.
type list struct {
	node     *footer.Node // the field: the annotated group, or the bare repeated field
	repeated *footer.Node // the field inside that repeats
	dt       arrow.DataType
	elemDef  int
	elem     column
	guide    *leaf
	all      []*leaf
	// isMap refuses null keys.
	isMap bool
}

func (c *list) leaves() []*leaf { return c.all }

func (c *list) build(n int) (arrow.ArrayData, error) {
	shape, err := c.shape(c.guide)
	if err != nil {
		return nil, err
	}
	if len(shape.offsets)-1 != n {
		return nil, fmt.Errorf("%w: column %s: %d lists where its neighbours have %d", ErrCorrupt, c.node.Path(), len(shape.offsets)-1, n)
	}
	for _, l := range c.all {
		if l == c.guide {
			continue
		}
		other, err := c.shape(l)
		if err != nil {
			return nil, err
		}
		if !slices.Equal(shape.offsets, other.offsets) || !slices.Equal(shape.bits, other.bits) {
			return nil, disagree(c.node, c.guide, l)
		}
	}
	elem, err := c.elem.build(int(shape.offsets[n]))
	if err != nil {
		return nil, err
	}
	if c.isMap && elem.Children()[0].NullN() > 0 {
		return nil, fmt.Errorf("%w: column %s: a null key", ErrCorrupt, c.node.Path())
	}
	return newList(c.dt, n, shape.bits, shape.present, shape.offsets, elem), nil
}

// shape is where each list starts and ends, and which are null.
type shape struct {
	offsets []int32
	bits    []byte
	present int
}

func (c *list) shape(l *leaf) (shape, error) {
	outer, full, level := c.repeated.MaxRep-1, c.repeated.MaxDef, c.repeated.MaxRep
	valid := full // of a bare repeated field: it is never null
	bare := c.node == c.repeated
	if !bare {
		valid = c.node.MaxDef
	}
	s := shape{offsets: make([]int32, 0, len(l.def)+1), bits: make([]byte, (len(l.def)+7)/8)}
	elements, open := int32(0), false
	if len(l.def) > math.MaxInt32-1 {
		return s, page.ErrTooLarge
	}
	for i, d := range l.def {
		r, d := int(l.rep[i]), int(d)
		switch {
		case r > level:
		case r == level:
			if d < full || !open {
				return s, fmt.Errorf("%w: column %s: an element outside of a list", ErrCorrupt, l.node.Path())
			}
			elements++
		case d >= c.elemDef && r <= outer:
			if bare || d >= valid {
				slot := len(s.offsets)
				s.bits[slot>>3] |= 1 << (slot & 7)
				s.present++
			}
			s.offsets = append(s.offsets, elements)
			if open = d >= full; open {
				elements++
			}
		default: // inside an outer list that is null or empty
			open = false
		}
	}
	s.bits = s.bits[:(len(s.offsets)+7)/8]
	s.offsets = append(s.offsets, elements)
	return s, nil
}
