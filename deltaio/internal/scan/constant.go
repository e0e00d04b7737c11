package scan

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// constant is a column with one value in every row.
type constant struct {
	dt    arrow.DataType
	value any
	made  arrow.ArrayData // the longest made so far; shorter ones are slices
}

func newConstant(f *schema.Field, value any) (column, error) {
	dt, err := schema.ArrowType(f.Type)
	if err != nil {
		return nil, err
	}
	if value == nil {
		return &nothing{dt}, nil
	}
	c := &constant{dt: dt, value: value}
	if err := c.make(1); err != nil {
		return nil, fmt.Errorf("column %s: %w", f.Name, err)
	}
	return c, nil
}

func (c *constant) leaves() []*leaf { return nil }

func (c *constant) build(n int) (arrow.ArrayData, error) {
	if n > c.made.Len() {
		if err := c.make(n); err != nil {
			return nil, err
		}
	}
	return array.NewSliceData(c.made, 0, int64(n)), nil
}

// make builds n values.
func (c *constant) make(n int) error {
	b := array.NewBuilder(memory.DefaultAllocator, c.dt)
	defer b.Release()
	b.Reserve(n)
	appendOne, err := appender(b, c.value)
	if err != nil {
		return fmt.Errorf("a constant of %s: %w", c.dt, err)
	}
	for range n {
		appendOne()
	}
	a := b.NewArray()
	defer a.Release()
	c.made = a.Data()
	c.made.Retain()
	return nil
}

// appender gives a function that appends v, a Go value as package expr has
// them, to b.
func appender(b array.Builder, v any) (func(), error) {
	switch b := b.(type) {
	case *array.BooleanBuilder:
		if x, ok := v.(bool); ok {
			return func() { b.Append(x) }, nil
		}
	case *array.Float32Builder:
		if x, ok := v.(float64); ok {
			return func() { b.Append(float32(x)) }, nil
		}
	case *array.Float64Builder:
		if x, ok := v.(float64); ok {
			return func() { b.Append(x) }, nil
		}
	case *array.StringBuilder:
		if x, ok := v.(string); ok {
			return func() { b.Append(x) }, nil
		}
	case *array.BinaryBuilder:
		if x, ok := v.([]byte); ok {
			return func() { b.Append(x) }, nil
		}
	case *array.Date32Builder:
		if x, ok := v.(expr.Date); ok {
			return func() { b.Append(arrow.Date32(x)) }, nil
		}
	case *array.TimestampBuilder:
		if x, ok := v.(expr.Timestamp); ok {
			return func() { b.Append(arrow.Timestamp(x)) }, nil
		}
	case *array.Decimal128Builder:
		if x, ok := v.(expr.Decimal); ok {
			return decimalAppender(b, x)
		}
	default:
		return integerAppender(b, v)
	}
	return nil, fmt.Errorf("%T does not fit", v)
}

func decimalAppender(b *array.Decimal128Builder, d expr.Decimal) (func(), error) {
	t := b.Type().(*arrow.Decimal128Type)
	v := d.V
	if raise := int(t.Scale) - d.Scale; raise > 0 {
		if !v.FitsInPrecision(max(t.Precision-int32(raise), 1)) {
			return nil, fmt.Errorf("%s has too many digits", d.V.ToString(int32(d.Scale)))
		}
		v = v.IncreaseScaleBy(int32(raise))
	} else if raise < 0 {
		return nil, fmt.Errorf("scale %d of the value, %d of the type", d.Scale, t.Scale)
	}
	if v != (decimal128.Num{}) && !v.FitsInPrecision(t.Precision) {
		return nil, fmt.Errorf("%s has too many digits", d.V.ToString(int32(d.Scale)))
	}
	return func() { b.Append(v) }, nil
}

func integerAppender(b array.Builder, v any) (func(), error) {
	x, ok := v.(int64)
	if !ok {
		return nil, fmt.Errorf("%T does not fit", v)
	}
	switch b := b.(type) {
	case *array.Int8Builder:
		if x == int64(int8(x)) {
			return func() { b.Append(int8(x)) }, nil
		}
	case *array.Int16Builder:
		if x == int64(int16(x)) {
			return func() { b.Append(int16(x)) }, nil
		}
	case *array.Int32Builder:
		if x == int64(int32(x)) {
			return func() { b.Append(int32(x)) }, nil
		}
	case *array.Int64Builder:
		return func() { b.Append(x) }, nil
	}
	return nil, fmt.Errorf("%d does not fit", x)
}
