package purge

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// partitions evaluates predicates on partition values alone, once per partition:
// exact where statistics would only bound, and true for files without rows too.
type partitions struct {
	snap   *deltaio.Snapshot
	fields []schema.Field // partition columns, in order
	mu     sync.Mutex
	known  map[partitionAsk]expr.Verdict
}

type partitionAsk struct {
	p   *predicate
	key string
}

func newPartitions(snap *deltaio.Snapshot) *partitions {
	p := &partitions{snap: snap, known: map[partitionAsk]expr.Verdict{}}
	for _, name := range snap.PartitionBy() {
		f, _ := snap.Schema().Field(name)
		p.fields = append(p.fields, *f)
	}
	return p
}

// key identifies a file's partition.
func (p *partitions) key(add *log.Add) string {
	var b strings.Builder
	for i := range p.fields {
		if v := add.PartitionValues[p.snap.PhysicalName(&p.fields[i])]; v == nil || *v == "" {
			b.WriteByte(0)
		} else {
			b.WriteString("\x01" + *v)
		}
		b.WriteByte('\x02')
	}
	return b.String()
}

// verdict says for a predicate over partition columns whether it is TRUE in the
// file's partition.
func (p *partitions) verdict(x *predicate, add *log.Add) (expr.Verdict, error) {
	ask := partitionAsk{x, p.key(add)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if v, ok := p.known[ask]; ok {
		return v, nil
	}
	rec, err := p.record(x, add)
	if err != nil {
		return expr.Some, err
	}
	defer rec.Release()
	truth, err := x.Truth(rec)
	if err != nil {
		return expr.Some, err
	}
	v := expr.None
	if truth.IsTrue(0) {
		v = expr.All
	}
	p.known[ask] = v
	return v, nil
}

// record is one row of the partition columns that the predicate reads.
func (p *partitions) record(x *predicate, add *log.Add) (arrow.Record, error) {
	var fields []arrow.Field
	var cols []arrow.Array
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	for i := range p.fields {
		f := &p.fields[i]
		if !slices.Contains(x.Columns(), f.Name) {
			continue
		}
		v, err := scan.ParsePartitionValue(f.Type, add.PartitionValues[p.snap.PhysicalName(f)])
		if err != nil {
			return nil, fmt.Errorf("%s: partition column %s: %w", add.Path, f.Name, err)
		}
		dt, err := schema.ArrowType(f.Type)
		if err != nil {
			return nil, fmt.Errorf("partition column %s: %w", f.Name, err)
		}
		c, err := constArray(dt, v, 1)
		if err != nil {
			return nil, fmt.Errorf("%s: partition column %s: %w", add.Path, f.Name, err)
		}
		fields, cols = append(fields, arrow.Field{Name: f.Name, Type: dt, Nullable: true}), append(cols, c)
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), cols, 1), nil
}

// constArray repeats a Go value (as package expr describes them; nil is null).
func constArray(dt arrow.DataType, v any, n int) (arrow.Array, error) {
	if v == nil {
		return array.MakeArrayOfNull(memory.DefaultAllocator, dt, n), nil
	}
	b := array.NewBuilder(memory.DefaultAllocator, dt)
	defer b.Release()
	b.Reserve(n)
	for range n {
		if err := appendValue(b, v); err != nil {
			return nil, err
		}
	}
	return b.NewArray(), nil
}

func appendValue(b array.Builder, v any) error {
	switch b := b.(type) {
	case *array.BooleanBuilder:
		return appendAs(b.Append, v)
	case *array.StringBuilder:
		return appendAs(b.Append, v)
	case *array.BinaryBuilder:
		return appendAs(b.Append, v)
	case *array.Float64Builder:
		return appendAs(b.Append, v)
	case *array.Decimal128Builder:
		return appendAs(func(d expr.Decimal) { b.Append(d.V) }, v)
	case *array.Float32Builder:
		return appendAs(func(f float64) { b.Append(float32(f)) }, v)
	}
	n, ok := wholeNumber(v)
	if !ok {
		return fmt.Errorf("value %v (%T) does not fit %s", v, v, b.Type())
	}
	switch b := b.(type) {
	case *array.Int64Builder:
		b.Append(n)
	case *array.Int32Builder:
		b.Append(int32(n))
	case *array.Int16Builder:
		b.Append(int16(n))
	case *array.Int8Builder:
		b.Append(int8(n))
	case *array.Date32Builder:
		b.Append(arrow.Date32(n))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(n))
	default:
		return fmt.Errorf("values of %s cannot be built", b.Type())
	}
	return nil
}

func appendAs[T any](add func(T), v any) error {
	x, ok := v.(T)
	if !ok {
		var d any = v
		if n, isNum := d.(decimal128.Num); isNum {
			return fmt.Errorf("decimal %v without a scale", n)
		}
		return fmt.Errorf("value %v is %T, not %T", v, v, x)
	}
	add(x)
	return nil
}

func wholeNumber(v any) (int64, bool) {
	switch x := v.(type) {
	case int64:
		return x, true
	case expr.Date:
		return int64(x), true
	case expr.Timestamp:
		return int64(x), true
	}
	return 0, false
}
