package partitions

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// tally takes statistics of one column's values as batches come.
type tally struct {
	need need
	typ  schema.Type
	w    *window // nil: not asked for
	fmt  *format
	out  Column

	lo, hi   any // of the type below; nil: none yet
	bufBytes [16]byte
}

func newTally(n need, t schema.Type, p *Part, s *Scheme) *tally {
	c := &tally{need: n, typ: t}
	if n.outside && p.Start != nil {
		w := windowOf(p, s.Unit, s.Zone)
		c.w = &w
		c.fmt, _ = parseFormat(n.format) // judged before; nil of a column that holds dates
	}
	if n.values {
		c.out.Sketch = make(Sketch, sketchSize)
	}
	return c
}

// add takes the rows of a column that keep admits.
func (c *tally) add(col arrow.Array, keep func(int) bool) {
	for i := range col.Len() {
		if !keep(i) {
			continue
		}
		c.out.Rows++
		if col.IsNull(i) {
			c.out.Nulls++
			continue
		}
		c.value(col, i)
	}
}

func (c *tally) value(col arrow.Array, i int) {
	switch a := col.(type) {
	case *array.Int8:
		c.integer(int64(a.Value(i)))
	case *array.Int16:
		c.integer(int64(a.Value(i)))
	case *array.Int32:
		c.integer(int64(a.Value(i)))
	case *array.Int64:
		c.integer(a.Value(i))
	case *array.Float32:
		c.float(float64(a.Value(i)))
	case *array.Float64:
		c.float(a.Value(i))
	case *array.Decimal128:
		d := expr.Decimal{V: a.Value(i), Scale: int(a.DataType().(*arrow.Decimal128Type).Scale)}
		c.keep(d, func(x, y any) bool { return x.(expr.Decimal).V.Less(y.(expr.Decimal).V) })
		f, _ := strconv.ParseFloat(d.V.ToString(int32(d.Scale)), 64) // digits of a number
		c.number(f)
		c.distinct([]byte(d.V.ToString(int32(d.Scale))))
	case *array.String:
		c.text(a.Value(i))
	case *array.Boolean:
		c.keep(a.Value(i), func(x, y any) bool { return !x.(bool) && y.(bool) })
		c.distinct([]byte{map[bool]byte{true: 1}[a.Value(i)]})
	case *array.Date32:
		d := expr.Date(a.Value(i))
		c.keep(d, func(x, y any) bool { return x.(expr.Date) < y.(expr.Date) })
		c.distinctBits(uint64(d)) //nolint:gosec // bits, not a number
		if c.w != nil {
			c.place(c.w.day(dayOf(d)))
		}
	case *array.Timestamp:
		t := expr.Timestamp(a.Value(i))
		c.keep(t, func(x, y any) bool { return x.(expr.Timestamp) < y.(expr.Timestamp) })
		c.distinctBits(uint64(t)) //nolint:gosec // bits, not a number
		if c.w != nil {
			c.place(c.w.at(c.typ, time.UnixMicro(int64(t))))
		}
	case *array.Binary:
		c.distinct(a.Value(i))
	}
}

func (c *tally) integer(v int64) {
	c.keep(v, func(x, y any) bool { return x.(int64) < y.(int64) })
	c.number(float64(v))
	c.distinctBits(uint64(v)) //nolint:gosec // bits, not a number
}

func (c *tally) float(v float64) {
	if math.IsNaN(v) {
		c.distinct([]byte("NaN"))
		return
	}
	c.keep(v, func(x, y any) bool { return x.(float64) < y.(float64) })
	c.number(v)
	c.distinctBits(math.Float64bits(v))
}

func (c *tally) text(v string) {
	c.keep(v, func(x, y any) bool { return x.(string) < y.(string) })
	c.distinct([]byte(v))
	if c.w == nil || c.fmt == nil {
		return
	}
	t, err := c.fmt.parse(v)
	if err != nil {
		c.out.Undated++
		return
	}
	c.place(c.w.wall(t))
}

func (c *tally) number(v float64) {
	if c.need.values {
		c.out.Sum += v
		c.out.Count++
	}
}

func (c *tally) distinctBits(v uint64) {
	if c.need.values {
		binary.LittleEndian.PutUint64(c.bufBytes[:], v)
		c.out.Sketch.add(c.bufBytes[:8])
	}
}

func (c *tally) distinct(v []byte) {
	if c.need.values {
		c.out.Sketch.add(v)
	}
}

func (c *tally) place(p place) {
	switch p {
	case outside:
		c.out.Outside++
	case ambiguous:
		c.out.Ambiguous++
	}
}

func (c *tally) keep(v any, less func(a, b any) bool) {
	if !c.need.bounds {
		return
	}
	if c.lo == nil || less(v, c.lo) {
		c.lo = cloned(v)
	}
	if c.hi == nil || less(c.hi, v) {
		c.hi = cloned(v)
	}
}

// cloned keeps a text alive beyond its batch.
func cloned(v any) any {
	if s, ok := v.(string); ok {
		return string([]byte(s))
	}
	return v
}

// result is what was counted.
func (c *tally) result() *Column {
	if c.lo != nil {
		if v, ok := valueOf(c.typ, c.lo); ok {
			c.out.Min = &v
		}
		if v, ok := valueOf(c.typ, c.hi); ok {
			c.out.Max = &v
		}
	}
	return &c.out
}
