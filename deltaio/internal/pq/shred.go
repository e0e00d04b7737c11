package pq

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/parquet-go/parquet-go/format"
)

// shredder turns Arrow columns into levels and values of their leaves.
type shredder struct {
	w   *Writer
	row int // rows of the slice
}

// slots are the entries of a column at some depth of nesting: their levels and
// where in the array of that depth the value lies, -1 for one that ended above
// (a null, an empty list).
type slots struct {
	def, rep []byte
	at       []int32
}

func (s slots) clone() slots {
	return slots{append([]byte(nil), s.def...), append([]byte(nil), s.rep...), append([]int32(nil), s.at...)}
}

// column shreds the rows from lo up to hi.
func (sh *shredder) column(n *outNode, a arrow.Array, lo, hi int) error {
	sh.row = hi - lo
	s := slots{make([]byte, hi-lo), make([]byte, hi-lo), make([]int32, hi-lo)}
	for i := range s.at {
		s.at[i] = int32(lo + i)
	}
	return sh.node(n, a, s, 0)
}

// node shreds s, which it may change, below n; rep is the repetition level here.
func (sh *shredder) node(n *outNode, a arrow.Array, s slots, rep byte) error {
	if err := sh.present(n, a, s); err != nil {
		return err
	}
	if n.leaf != nil {
		return sh.leaf(n.leaf, a, s)
	}
	if n.children[0].el.Repetition.V == format.Repeated {
		return sh.list(n, a, s, rep+1)
	}
	st, ok := a.(*array.Struct)
	if !ok {
		return fmt.Errorf("array is %s, want a struct", a.DataType())
	}
	return sh.members(n, st, s, rep)
}

// present raises the definition level of the values that are not null.
func (sh *shredder) present(n *outNode, a arrow.Array, s slots) error {
	nullable := n.el.Repetition.V == format.Optional
	for i, at := range s.at {
		switch {
		case at < 0:
		case a.IsValid(int(at)):
			if nullable {
				s.def[i]++
			}
		case nullable:
			s.at[i] = -1
		default:
			return fmt.Errorf("null in %s, which is not nullable", n.el.Name)
		}
	}
	return nil
}

func (sh *shredder) members(n *outNode, st *array.Struct, s slots, rep byte) error {
	typ := st.DataType().(*arrow.StructType)
	for _, c := range n.children {
		i, ok := typ.FieldIdx(c.el.Name)
		if !ok {
			return fmt.Errorf("array has no member %s", c.el.Name)
		}
		if err := sh.node(c, st.Field(i), s.clone(), rep); err != nil {
			return fmt.Errorf("%s: %w", c.el.Name, err)
		}
	}
	return nil
}

// list spreads lists and maps into entries of their elements.
func (sh *shredder) list(n *outNode, a arrow.Array, s slots, rep byte) error {
	ll, ok := a.(array.ListLike)
	if !ok {
		return fmt.Errorf("array is %s, want a list", a.DataType())
	}
	var out slots
	for i, at := range s.at {
		from, to := int64(0), int64(0)
		if at >= 0 {
			from, to = ll.ValueOffsets(int(at))
		}
		if from == to {
			out.def, out.rep, out.at = append(out.def, s.def[i]), append(out.rep, s.rep[i]), append(out.at, -1)
			continue
		}
		for k := from; k < to; k++ {
			level := rep
			if k == from {
				level = s.rep[i]
			}
			out.def, out.rep, out.at = append(out.def, s.def[i]+1), append(out.rep, level), append(out.at, int32(k))
		}
	}
	inner := n.children[0]
	if m, ok := a.(*array.Map); ok {
		if len(inner.children) != 2 {
			return fmt.Errorf("array is a map, want a list")
		}
		if err := sh.node(inner.children[0], m.Keys(), out.clone(), rep); err != nil {
			return fmt.Errorf("key: %w", err)
		}
		return sh.node(inner.children[1], m.Items(), out, rep)
	}
	if len(inner.children) != 1 {
		return fmt.Errorf("array is %s, want a map", a.DataType())
	}
	return sh.node(inner.children[0], ll.ListValues(), out, rep)
}

// leaf hands the entries of a leaf to its chunk.
func (sh *shredder) leaf(l *outLeaf, a arrow.Array, s slots) error {
	lw := sh.w.chunks[sh.w.indexOf(l)]
	present := s.at[:0:0]
	for _, at := range s.at {
		if at >= 0 {
			present = append(present, at)
		}
	}
	vals, err := lw.extract(l, a, present)
	if err != nil {
		return err
	}
	b := batch{n: len(s.at), nulls: len(s.at) - len(present), vals: vals, rows: sh.row, starts: sh.row}
	if l.maxDef > 0 {
		b.def = s.def
	}
	if l.maxRep > 0 {
		b.rep = s.rep
	}
	return lw.append(&b)
}
