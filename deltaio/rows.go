package deltaio

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/compute"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
)

// run is a range of rows [lo, hi).
type run struct{ lo, hi int }

// runsOf gives the ranges of set bits in [from, from+n), relative to from.
func runsOf(b *pq.Bitmap, from, n int) []run {
	var out []run
	for i := 0; i < n; {
		if !b.Get(from + i) {
			i++
			continue
		}
		lo := i
		for i < n && b.Get(from+i) {
			i++
		}
		out = append(out, run{lo, i})
	}
	return out
}

// filterRecord keeps the rows of rec whose bit is set at from+row. nil keeps all.
// The caller releases the result.
func filterRecord(ctx context.Context, rec arrow.Record, keep *pq.Bitmap, from int) (arrow.Record, error) {
	n := int(rec.NumRows())
	if keep == nil || keep.All(from, from+n) {
		rec.Retain()
		return rec, nil
	}
	return takeRuns(ctx, rec, runsOf(keep, from, n))
}

// takeRuns gives the rows of the runs, in order. Flat columns of scattered rows
// go through the filter kernel; nested ones and long runs are sliced and joined,
// since the kernels' way through nested strings is quadratic.
func takeRuns(ctx context.Context, rec arrow.Record, runs []run) (arrow.Record, error) {
	total := 0
	for _, r := range runs {
		total += r.hi - r.lo
	}
	if len(runs) == 1 {
		return rec.NewSlice(int64(runs[0].lo), int64(runs[0].hi)), nil
	}
	cols := make([]arrow.Array, rec.NumCols())
	defer func() {
		for _, c := range cols {
			if c != nil {
				c.Release()
			}
		}
	}()
	scattered := len(runs)*8 > total
	var mask arrow.Array
	if scattered && total > 0 {
		mask = maskOf(runs, int(rec.NumRows()))
		defer mask.Release()
	}
	for i, col := range rec.Columns() {
		var err error
		if mask != nil && col.DataType().ID() == arrow.BOOL {
			cols[i], err = gather(col, runs) // Arrow's filter moves nulls among booleans
		} else if mask != nil && isFlat(col.DataType()) {
			cols[i], err = compute.FilterArray(ctx, col, mask, *compute.DefaultFilterOptions())
		} else {
			cols[i], err = joinRuns(col, runs)
		}
		if err != nil {
			return nil, fmt.Errorf("column %s: select rows: %w", rec.ColumnName(i), err)
		}
	}
	return array.NewRecord(rec.Schema(), cols, int64(total)), nil
}

func maskOf(runs []run, n int) arrow.Array {
	b := array.NewBooleanBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(n)
	at := 0
	for _, r := range runs {
		for ; at < r.lo; at++ {
			b.UnsafeAppend(false)
		}
		for ; at < r.hi; at++ {
			b.UnsafeAppend(true)
		}
	}
	for ; at < n; at++ {
		b.UnsafeAppend(false)
	}
	return b.NewArray()
}

func isFlat(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRUCT, arrow.LIST, arrow.MAP, arrow.NULL:
		return false
	}
	return true
}

func joinRuns(col arrow.Array, runs []run) (arrow.Array, error) {
	if len(runs) == 0 {
		return array.NewSlice(col, 0, 0), nil
	}
	parts := make([]arrow.Array, len(runs))
	for i, r := range runs {
		parts[i] = array.NewSlice(col, int64(r.lo), int64(r.hi))
	}
	defer func() {
		for _, p := range parts {
			p.Release()
		}
	}()
	return array.Concatenate(parts, memory.DefaultAllocator)
}

// project gives the columns of the names, in order. The caller releases it.
func project(rec arrow.Record, sc *arrow.Schema) arrow.Record {
	cols := make([]arrow.Array, sc.NumFields())
	for i, f := range sc.Fields() {
		at := rec.Schema().FieldIndices(f.Name)
		cols[i] = rec.Column(at[0])
	}
	return array.NewRecord(sc, cols, rec.NumRows())
}
