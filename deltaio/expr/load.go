package expr

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// load views an Arrow column as a vec of the bound type. Narrower integers and
// float32 are widened; dictionaries of strings are expanded; any other
// difference is an error, not a guess.
func load(a arrow.Array, t schema.Type) (*vec, error) {
	v := &vec{typ: t, n: a.Len()}
	if a.NullN() > 0 && a.DataType().ID() != arrow.NULL {
		v.null = nullBits(a)
	}
	if d, ok := a.(*array.Dictionary); ok {
		return loadDictionary(d, v)
	}
	if a.DataType().ID() == arrow.NULL {
		return nullVec(t), nil
	}
	ok := false
	switch storageOf(t) {
	case inBits:
		ok = v.loadBool(a)
	case inI32:
		ok = v.loadI32(a)
	case inI64:
		ok = v.loadI64(a)
	case inF64:
		ok = v.loadF64(a)
	case inDec:
		ok = v.loadDecimal(a)
	case inBytes:
		ok = v.loadBytes(a)
	case inArray:
		v.arr, ok = a, true
	case inNothing:
		return nullVec(t), nil
	}
	if !ok {
		return nil, fmt.Errorf("Arrow type %s does not hold %s", a.DataType(), t)
	}
	return v, nil
}

func nullBits(a arrow.Array) []uint64 {
	valid := bitsOfBytes(a.NullBitmapBytes(), a.Data().Offset(), a.Len())
	for i := range valid {
		valid[i] = ^valid[i]
	}
	trimBits(valid, a.Len())
	return valid
}

func (v *vec) loadBool(a arrow.Array) bool {
	b, ok := a.(*array.Boolean)
	if !ok {
		return false
	}
	v.bits = newBits(v.n)
	if v.n > 0 {
		v.bits = bitsOfBytes(b.Data().Buffers()[1].Bytes(), b.Data().Offset(), v.n)
	}
	clearBits(v.bits, v.null)
	return true
}

func (v *vec) loadI32(a arrow.Array) bool {
	isDate := v.typ == schema.Date
	switch x := a.(type) {
	case *array.Date32:
		if isDate {
			v.i32 = arrow.Int32Traits.CastFromBytes(arrow.Date32Traits.CastToBytes(x.Date32Values()))
		}
		return isDate
	case *array.Int32:
		v.i32 = x.Int32Values()
	case *array.Int16:
		v.i32 = widen[int32](x.Int16Values())
	case *array.Int8:
		v.i32 = widen[int32](x.Int8Values())
	default:
		return false
	}
	return !isDate
}

func (v *vec) loadI64(a arrow.Array) bool {
	isLong := v.typ == schema.Long
	switch x := a.(type) {
	case *array.Timestamp:
		if isLong || x.DataType().(*arrow.TimestampType).Unit != arrow.Microsecond {
			return false
		}
		v.i64 = arrow.Int64Traits.CastFromBytes(arrow.TimestampTraits.CastToBytes(x.TimestampValues()))
		return true
	case *array.Int64:
		v.i64 = x.Int64Values()
	case *array.Int32:
		v.i64 = widen[int64](x.Int32Values())
	case *array.Int16:
		v.i64 = widen[int64](x.Int16Values())
	case *array.Int8:
		v.i64 = widen[int64](x.Int8Values())
	default:
		return false
	}
	return isLong
}

func (v *vec) loadF64(a arrow.Array) bool {
	switch x := a.(type) {
	case *array.Float64:
		v.f64 = x.Float64Values()
		return v.typ == schema.Double
	case *array.Float32:
		v.f64 = widen[float64](x.Float32Values())
		return true
	}
	return false
}

func (v *vec) loadDecimal(a arrow.Array) bool {
	x, ok := a.(*array.Decimal128)
	if !ok || int(x.DataType().(*arrow.Decimal128Type).Scale) != v.typ.(schema.Decimal).Scale {
		return false
	}
	v.dec = x.Values()
	return true
}

func (v *vec) loadBytes(a arrow.Array) bool {
	switch x := a.(type) {
	case *array.String:
		v.off, v.data = x.ValueOffsets(), bytesOf(x, 2)
		return true
	case *array.Binary:
		v.off, v.data = x.ValueOffsets(), bytesOf(x, 2)
		return true
	case *array.LargeString:
		return v.copyBytes(func(i int) []byte { return []byte(x.Value(i)) })
	case *array.LargeBinary:
		return v.copyBytes(func(i int) []byte { return x.Value(i) })
	case *array.FixedSizeBinary:
		return v.copyBytes(func(i int) []byte { return x.Value(i) })
	}
	return false
}

// copyBytes re-bases strings with other offsets; it refuses what does not fit
// 32-bit offsets.
func (v *vec) copyBytes(value func(int) []byte) bool {
	v.off = make([]int32, 1, v.n+1)
	for i := range v.n {
		if !v.isNull(i) {
			v.data = append(v.data, value(i)...)
		}
		if len(v.data) > math.MaxInt32 {
			return false
		}
		v.endString()
	}
	return true
}

// bytesOf is the whole value buffer: offsets of a slice count from its start.
func bytesOf(a arrow.Array, i int) []byte {
	b := a.Data().Buffers()[i]
	if b == nil {
		return nil
	}
	return b.Bytes()
}

func loadDictionary(d *array.Dictionary, v *vec) (*vec, error) {
	values, err := load(d.Dictionary(), v.typ)
	if err != nil {
		return nil, err
	}
	if storageOf(v.typ) != inBytes {
		return nil, fmt.Errorf("Arrow type %s: only dictionaries of strings are read", d.DataType())
	}
	out := newVec(v.typ, v.n)
	out.null = v.null
	for i := range v.n {
		if !v.isNull(i) {
			k := d.GetValueIndex(i)
			if values.isNull(k) {
				out.setNull(i)
			} else {
				out.data = append(out.data, values.bytes(k)...)
			}
		}
		if len(out.data) > math.MaxInt32 {
			return nil, fmt.Errorf("strings of a batch exceed 2 GiB; read smaller batches")
		}
		out.endString()
	}
	return out, nil
}

func widen[D, S int8 | int16 | int32 | int64 | float32 | float64](s []S) []D {
	out := make([]D, len(s))
	for i, x := range s {
		out[i] = D(x)
	}
	return out
}
