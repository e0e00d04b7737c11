package expr

import (
	"fmt"
	"math"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Bound is an expression bound to a schema. It is immutable and safe for
// concurrent use.
type Bound struct {
	root    *term
	columns []string
	zone    *time.Location
}

// Type is the type of the value; an untyped NULL is void.
func (b *Bound) Type() schema.Type { return b.root.typ }

// Columns lists the top-level columns it reads, by their names in the schema,
// sorted. A batch for Eval and Truth has at least these.
func (b *Bound) Columns() []string { return b.columns }

// Eval computes the expression for each row of a batch, whose columns are found
// by name in any order. The caller releases the array.
func (b *Bound) Eval(rec arrow.Record) (arrow.Array, error) {
	v, err := b.run(rec)
	if err != nil {
		return nil, err
	}
	return v.emit(int(rec.NumRows()))
}

// Truth evaluates a boolean expression to bit masks.
func (b *Bound) Truth(rec arrow.Record) (*Truth, error) {
	if b.root.typ != schema.Boolean && b.root.typ != schema.Void {
		return nil, fmt.Errorf("expression is %s, not a condition", b.root.typ)
	}
	v, err := b.run(rec)
	if err != nil {
		return nil, err
	}
	n := int(rec.NumRows())
	t := &Truth{N: n}
	t.isTrue, t.isNull = v.masks(n)
	return t, nil
}

func (b *Bound) run(rec arrow.Record) (*vec, error) {
	if rec.NumRows() > math.MaxInt32 {
		return nil, fmt.Errorf("batch of %d rows is too long; read smaller batches", rec.NumRows())
	}
	f := &frame{rec: rec, n: int(rec.NumRows()), loaded: map[*columnRef]*vec{}}
	return b.root.eval(f)
}

// Truth holds the truth value of each row: TRUE, FALSE or NULL.
type Truth struct {
	N              int // rows
	isTrue, isNull []uint64
}

// IsTrue says whether row i is TRUE.
func (t *Truth) IsTrue(i int) bool { return getBit(t.isTrue, i) }

// IsNull says whether row i is NULL.
func (t *Truth) IsNull(i int) bool { return getBit(t.isNull, i) }

// CountTrue counts the rows that are TRUE.
func (t *Truth) CountTrue() int { return countBits(t.isTrue) }

// CountNull counts the rows that are NULL.
func (t *Truth) CountNull() int { return countBits(t.isNull) }

// True gives the TRUE rows as little-endian bit words: row i is bit i%64 of
// word i/64, and bits at N and above are 0. The caller must not change them.
func (t *Truth) True() []uint64 { return t.isTrue }

// Null gives the NULL rows in the same form.
func (t *Truth) Null() []uint64 { return t.isNull }
