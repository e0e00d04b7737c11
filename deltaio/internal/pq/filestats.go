package pq

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// FileStats describe the rows of a written file for the log.
type FileStats struct {
	NumRecords int64
	// Columns are the leaves outside of lists and maps, in file order.
	Columns []ColumnStats
}

// ColumnStats are the statistics of one leaf.
type ColumnStats struct {
	Path []string    // names as written
	Type schema.Type // primitive or decimal
	// Min and Max are bounds of the values: int64 (integers, days,
	// microseconds), float64, string, decimal128.Num. Those of strings may be
	// cut from longer values. HasMin and HasMax are false for booleans and
	// binaries, and when there is no value or none that may be told: NaN among
	// the values, text that is no UTF-8, bounds that cannot be trusted, dates of
	// the legacy calendar.
	Min, Max       any
	HasMin, HasMax bool
	NullCount      int64
	HasNullCount   bool
}

// Column finds a leaf by its path, nil when there is none.
func (s *FileStats) Column(path ...string) *ColumnStats {
next:
	for i := range s.Columns {
		c := &s.Columns[i]
		if len(c.Path) != len(path) {
			continue
		}
		for k := range path {
			if c.Path[k] != path[k] {
				continue next
			}
		}
		return c
	}
	return nil
}

// leafStats gather the statistics of a leaf over row groups.
type leafStats struct {
	stat         bounds
	nulls        int64
	nullsUnknown bool
	unbounded    bool // no bounds are known of some row group
}

func newLeafStats(leaves []*outLeaf, wanted func(path []string) bool) []leafStats {
	out := make([]leafStats, len(leaves))
	for i, l := range leaves {
		out[i].stat.order = l.order
		l.needed = l.inStat && (wanted == nil || wanted(l.path))
	}
	return out
}

// bounded says whether FileStats tells bounds of such a leaf at all.
func (l *outLeaf) bounded() bool {
	return l.order != orderNone && l.delta != schema.Boolean && l.delta != schema.Binary
}

// addChunk adds what a chunk writer saw.
func (s *leafStats) addChunk(c *chunkWriter) {
	s.stat.merge(&c.stat)
	s.nulls += c.nulls
}

func fileStats(rows int64, leaves []*outLeaf, stats []leafStats, legacy bool) FileStats {
	out := FileStats{NumRecords: rows}
	for i, l := range leaves {
		if !l.inStat {
			continue
		}
		s := &stats[i]
		c := ColumnStats{Path: l.path, Type: l.delta, NullCount: s.nulls, HasNullCount: !s.nullsUnknown}
		if l.bounded() && !s.unbounded {
			c.setBounds(l, &s.stat, legacy)
		}
		out.Columns = append(out.Columns, c)
	}
	return out
}

func (c *ColumnStats) setBounds(l *outLeaf, b *bounds, legacy bool) {
	if !b.has || b.nan {
		return
	}
	switch b.order {
	case orderInt32, orderInt64:
		if legacy && ambiguous(l.delta, b.i0) {
			return
		}
		c.Min, c.Max = number(l.delta, b.i0), number(l.delta, b.i1)
	case orderFloat, orderDouble:
		if math.IsInf(b.f0, 0) || math.IsInf(b.f1, 0) {
			c.setFinite(b)
			return
		}
		c.Min, c.Max = b.f0, b.f1
	case orderDecimal:
		c.Min, c.Max = unscaled(b.b0), unscaled(b.b1)
	case orderBytes:
		c.setText(b)
		return
	}
	c.HasMin, c.HasMax = c.Min != nil, c.Max != nil
}

// number is an integer bound, of the unscaled value where the type is decimal.
func number(t schema.Type, v int64) any {
	if _, ok := t.(schema.Decimal); ok {
		return decimal128.FromI64(v)
	}
	return v
}

func unscaled(b []byte) any {
	x, err := bigEndianDecimal(b)
	if err != nil { // wider than 38 digits: no decimal of Delta
		return nil
	}
	return x
}

// setFinite leaves out the infinite one of two bounds: JSON has no such number.
func (c *ColumnStats) setFinite(b *bounds) {
	if !math.IsInf(b.f0, 0) {
		c.Min, c.HasMin = b.f0, true
	}
	if !math.IsInf(b.f1, 0) {
		c.Max, c.HasMax = b.f1, true
	}
}
