package partitions

import (
	"math"
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Column are the statistics of a column over the files of a partition.
type Column struct {
	Rows      int64  `json:"rows"`
	Nulls     int64  `json:"nulls"`
	Min       *Value `json:"min,omitempty"`
	Max       *Value `json:"max,omitempty"`
	Outside   int64  `json:"outside,omitempty"`
	Ambiguous int64  `json:"ambiguous,omitempty"`
	Undated   int64  `json:"undated,omitempty"` // text that is no date
	// Sum and Count are of numbers that were read; Sketch counts distinct values.
	Sum    float64 `json:"sum,omitempty"`
	Count  int64   `json:"count,omitempty"`
	Sketch Sketch  `json:"sketch,omitempty"`
	// Unread are files whose values could not be read: the rest is not judged.
	Unread int `json:"unread,omitempty"`
	// Why the values could not be read.
	Why string `json:"why,omitempty"`
}

// merge adds the statistics of other rows.
func (c *Column) merge(_ schema.Type, o *Column) {
	c.Rows += o.Rows
	c.Nulls += o.Nulls
	c.Outside += o.Outside
	c.Ambiguous += o.Ambiguous
	c.Undated += o.Undated
	c.Sum += o.Sum
	c.Count += o.Count
	c.Unread += o.Unread
	if c.Why == "" {
		c.Why = o.Why
	}
	if o.Min != nil && (c.Min == nil || o.Min.compare(*c.Min) < 0) {
		c.Min = o.Min
	}
	if o.Max != nil && (c.Max == nil || o.Max.compare(*c.Max) > 0) {
		c.Max = o.Max
	}
	c.Sketch = c.Sketch.merge(o.Sketch)
}

// Mean of the numbers that were read; ok is false without any.
func (c *Column) Mean() (float64, bool) {
	if c.Count == 0 {
		return 0, false
	}
	return c.Sum / float64(c.Count), true
}

// Sketch approximates how many distinct values there are (HyperLogLog, about
// 1.6 % off). Nil: none were read.
type Sketch []byte

const (
	sketchBits = 12
	sketchSize = 1 << sketchBits
)

// add puts a value in, by its bytes.
func (s Sketch) add(value []byte) {
	h := xxh3.Hash(value)
	at := h >> (64 - sketchBits)
	rank := byte(bits.LeadingZeros64(h<<sketchBits|1<<(sketchBits-1)) + 1)
	if rank > s[at] {
		s[at] = rank
	}
}

func (s Sketch) merge(o Sketch) Sketch {
	if len(o) != sketchSize {
		return s
	}
	if len(s) != sketchSize {
		s = make(Sketch, sketchSize)
	}
	for i, v := range o {
		s[i] = max(s[i], v)
	}
	return s
}

// Distinct is the approximate number of distinct values.
func (s Sketch) Distinct() int64 {
	if len(s) != sketchSize {
		return 0
	}
	sum, zeros := 0.0, 0
	for _, v := range s {
		sum += math.Ldexp(1, -int(v))
		if v == 0 {
			zeros++
		}
	}
	const m = float64(sketchSize)
	e := 0.7213 / (1 + 1.079/m) * m * m / sum
	if e <= 2.5*m && zeros > 0 { // few values: empty registers tell more
		e = m * math.Log(m/float64(zeros))
	}
	return int64(math.Round(e))
}
