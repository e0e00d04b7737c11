package deltaio

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// gathered puts the rows of rec into the order of their partitions, so that each
// partition is one range. Without it, rows that alternate between many
// partitions would be filtered once for each of them.
func gathered(rec arrow.Record, parts []partitionRows) (arrow.Record, []partitionRows, error) {
	runs := 0
	for _, p := range parts {
		runs += len(p.runs)
	}
	if runs <= 4*len(parts) {
		rec.Retain()
		return rec, parts, nil
	}
	order := make([]run, 0, runs)
	out := make([]partitionRows, len(parts))
	at := 0
	for i, p := range parts {
		first := at
		for _, r := range p.runs {
			order = append(order, r)
			at += r.hi - r.lo
		}
		out[i] = partitionRows{values: p.values, runs: []run{{first, at}}}
	}
	cols := make([]arrow.Array, rec.NumCols())
	defer func() {
		for _, c := range cols {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i, col := range rec.Columns() {
		var err error
		if cols[i], err = gather(col, order); err != nil {
			return nil, nil, fmt.Errorf("column %s: %w", rec.ColumnName(i), err)
		}
	}
	return array.NewRecord(rec.Schema(), cols, rec.NumRows()), out, nil
}

// gather joins the ranges of an array, in the given order.
func gather(col arrow.Array, order []run) (arrow.Array, error) {
	b := array.NewBuilder(memory.DefaultAllocator, col.DataType())
	defer b.Release()
	b.Reserve(col.Len())
	switch c := col.(type) {
	case *array.Int8:
		copyRuns(c, b.(*array.Int8Builder), order)
	case *array.Int16:
		copyRuns(c, b.(*array.Int16Builder), order)
	case *array.Int32:
		copyRuns(c, b.(*array.Int32Builder), order)
	case *array.Int64:
		copyRuns(c, b.(*array.Int64Builder), order)
	case *array.Float32:
		copyRuns(c, b.(*array.Float32Builder), order)
	case *array.Float64:
		copyRuns(c, b.(*array.Float64Builder), order)
	case *array.Boolean:
		copyRuns(c, b.(*array.BooleanBuilder), order)
	case *array.Date32:
		copyRuns(c, b.(*array.Date32Builder), order)
	case *array.Timestamp:
		copyRuns(c, b.(*array.TimestampBuilder), order)
	case *array.Decimal128:
		copyRuns(c, b.(*array.Decimal128Builder), order)
	case *array.String:
		sb := b.(*array.StringBuilder)
		sb.ReserveData(len(c.ValueBytes()))
		copyRuns(c, sb, order)
	case *array.Binary:
		bb := b.(*array.BinaryBuilder)
		bb.ReserveData(len(c.ValueBytes()))
		copyRuns(c, bb, order)
	default: // nested: slices joined, slower and right
		return joinRuns(col, order)
	}
	return b.NewArray(), nil
}

type values[T any] interface {
	arrow.Array
	Value(int) T
}

type appender[T any] interface {
	Append(T)
	AppendNull()
}

func copyRuns[T any](from values[T], to appender[T], order []run) {
	for _, r := range order {
		for i := r.lo; i < r.hi; i++ {
			if from.IsNull(i) {
				to.AppendNull()
			} else {
				to.Append(from.Value(i))
			}
		}
	}
}
