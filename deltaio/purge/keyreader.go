package purge

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/zeebo/xxh3"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// keyKind groups types whose values compare by the same bytes.
func keyKind(t schema.Type) (string, error) {
	switch x := t.(type) {
	case schema.Decimal:
		return fmt.Sprintf("decimal with %d decimals", x.Scale), nil
	case schema.Primitive:
		switch x {
		case schema.Long, schema.Integer, schema.Short, schema.Byte:
			return "integer", nil
		case schema.Float, schema.Double:
			return "floating point", nil
		case schema.String, schema.Boolean, schema.Binary, schema.Date, schema.Timestamp, schema.TimestampNTZ:
			return string(x), nil
		}
	}
	return "", fmt.Errorf("type %s cannot be a key", t)
}

// keyReader hashes the key tuples of one record.
type keyReader struct {
	cols []keyColumn
	buf  []byte
}

// keyColumn appends the canonical bytes of row i; ok is false for null.
type keyColumn func(buf []byte, i int) (out []byte, ok bool)

func newKeyReader(rec arrow.Record, columns []string) (*keyReader, error) {
	r := &keyReader{}
	for _, name := range columns {
		at := rec.Schema().FieldIndices(name)
		if len(at) != 1 {
			return nil, fmt.Errorf("key column %s is not among the columns read", name)
		}
		c, err := newKeyColumn(rec.Column(at[0]))
		if err != nil {
			return nil, fmt.Errorf("key column %s: %w", name, err)
		}
		r.cols = append(r.cols, c)
	}
	return r, nil
}

// key hashes the tuple of row i; ok is false when one of its values is null.
func (r *keyReader) key(i int) (key128, bool) {
	r.buf = r.buf[:0]
	for _, c := range r.cols {
		var ok bool
		if r.buf, ok = c(r.buf, i); !ok {
			return key128{}, false
		}
	}
	return xxh3.Hash128(r.buf).Bytes(), true
}

func newKeyColumn(a arrow.Array) (keyColumn, error) {
	switch x := a.(type) {
	case *array.Int64:
		return fixed(x, func(i int) uint64 { return uint64(x.Value(i)) }), nil
	case *array.Int32:
		return fixed(x, func(i int) uint64 { return uint64(int64(x.Value(i))) }), nil
	case *array.Int16:
		return fixed(x, func(i int) uint64 { return uint64(int64(x.Value(i))) }), nil
	case *array.Int8:
		return fixed(x, func(i int) uint64 { return uint64(int64(x.Value(i))) }), nil
	case *array.Date32:
		return fixed(x, func(i int) uint64 { return uint64(int64(x.Value(i))) }), nil
	case *array.Timestamp:
		return fixed(x, func(i int) uint64 { return uint64(x.Value(i)) }), nil
	case *array.Float64:
		return fixed(x, func(i int) uint64 { return floatBits(x.Value(i)) }), nil
	case *array.Float32:
		return fixed(x, func(i int) uint64 { return floatBits(float64(x.Value(i))) }), nil
	case *array.Boolean:
		return fixed(x, func(i int) uint64 {
			if x.Value(i) {
				return 1
			}
			return 0
		}), nil
	case *array.String:
		return variable(x, func(i int) string { return x.Value(i) }), nil
	case *array.Binary:
		return variable(x, func(i int) string { return x.ValueString(i) }), nil
	case *array.Decimal128:
		return func(buf []byte, i int) ([]byte, bool) {
			v := x.Value(i)
			buf = binary.BigEndian.AppendUint64(buf, uint64(v.HighBits()))
			return binary.BigEndian.AppendUint64(buf, v.LowBits()), x.IsValid(i)
		}, nil
	}
	return nil, fmt.Errorf("values of type %s cannot be a key", a.DataType())
}

func fixed(a arrow.Array, bits func(int) uint64) keyColumn {
	return func(buf []byte, i int) ([]byte, bool) {
		return binary.BigEndian.AppendUint64(buf, bits(i)), a.IsValid(i)
	}
}

// variable puts the length first, so that neighbouring values cannot run into
// each other.
func variable(a arrow.Array, value func(int) string) keyColumn {
	return func(buf []byte, i int) ([]byte, bool) {
		if a.IsNull(i) {
			return buf, false
		}
		v := value(i)
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(v)))
		return append(buf, v...), true
	}
}

// floatBits follows SQL: one zero, one NaN.
func floatBits(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}
