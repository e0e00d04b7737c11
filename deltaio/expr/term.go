package expr

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// kernel computes n rows from its arguments. A kernel gets at least one
// argument that is not constant, or n is 1.
type kernel func(n int, args []*vec) (*vec, error)

// term is a bound expression: names and types are resolved, every coercion is
// a cast of its own, constants are folded.
type term struct {
	kind termKind
	typ  schema.Type
	args []*term
	val  *vec       // termConst
	col  *columnRef // termColumn
	fn   kernel     // all others
	src  *node

	cmp    compareOp              // termCompare
	strict bool                   // NULL when an argument is NULL
	rises  bool                   // never falls while its first argument rises and the others stay
	widen  int64                  // how far the result may lie beside the rising line (days)
	conds  bool                   // termChoose: conditions stand between the values
	prefix []byte                 // termLike: what each match begins with
	whole  bool                   // termLike: the pattern is the prefix and %
	safe   func(lo, hi *vec) bool // a rising term that may overflow: whether it does not between these
}

type termKind uint8

const (
	termConst termKind = iota
	termColumn
	termAnd
	termOr
	termNot
	termCompare
	termIsNull
	termIn
	termLike
	termChoose // CASE, coalesce, if: the last args are the values
	termCall
)

// columnRef is a column or a field inside a struct column.
type columnRef struct {
	path  []string // logical names as in the schema
	index []int    // below the top-level column
}

// frame is one evaluation: the batch and the columns loaded from it.
type frame struct {
	rec    arrow.Record
	n      int
	loaded map[*columnRef]*vec
}

func (t *term) eval(f *frame) (*vec, error) {
	switch t.kind {
	case termConst:
		return t.val, nil
	case termColumn:
		return f.column(t)
	case termAnd, termOr:
		return t.evalLogic(f)
	}
	args := make([]*vec, len(t.args))
	n := 1
	for i, a := range t.args {
		v, err := a.eval(f)
		if err != nil {
			return nil, err
		}
		args[i] = v
		if !v.one {
			n = f.n
		}
	}
	return t.apply(n, args)
}

// apply runs the kernel; a result of constants is constant.
func (t *term) apply(n int, args []*vec) (*vec, error) {
	one := true
	for _, a := range args {
		one = one && a.one
	}
	if one {
		n = 1
	}
	if t.strict {
		for _, a := range args {
			if a.allNull() {
				return nullVec(t.typ), nil
			}
		}
	}
	v, err := t.fn(n, args)
	if err != nil {
		return nil, err
	}
	if len(v.data) > math.MaxInt32 {
		return nil, fmt.Errorf("strings computed for a batch exceed 2 GiB; read smaller batches")
	}
	if !one {
		return v, nil
	}
	if !v.one {
		c := *v
		c.one = true
		v = &c
	}
	return v, nil
}

func (f *frame) column(t *term) (*vec, error) {
	if v, ok := f.loaded[t.col]; ok {
		return v, nil
	}
	v, err := f.load(t)
	if err != nil {
		return nil, fmt.Errorf("column %s: %w", quotePath(t.col.path), err)
	}
	f.loaded[t.col] = v
	return v, nil
}

func (f *frame) load(t *term) (*vec, error) {
	at := f.rec.Schema().FieldIndices(t.col.path[0])
	if len(at) != 1 {
		return nil, fmt.Errorf("the batch has %d columns of this name", len(at))
	}
	a := f.rec.Column(at[0])
	var null []uint64
	for i, field := range t.col.index {
		s, ok := a.(*array.Struct)
		if !ok {
			return nil, fmt.Errorf("Arrow type %s is not a struct", a.DataType())
		}
		if s.NullN() > 0 {
			null = orBits(null, nullBits(s))
		}
		if field >= s.NumField() || s.DataType().(*arrow.StructType).Field(field).Name != t.col.path[i+1] {
			k, ok := s.DataType().(*arrow.StructType).FieldIdx(t.col.path[i+1])
			if !ok {
				return nil, fmt.Errorf("the batch has no such field")
			}
			field = k
		}
		a = s.Field(field)
	}
	v, err := load(a, t.typ)
	if err != nil || null == nil || v.one {
		return v, err
	}
	c := *v
	c.null = orBits(v.null, null)
	if c.bits != nil {
		c.bits = append([]uint64(nil), c.bits...)
		clearBits(c.bits, c.null)
	}
	return &c, nil
}
