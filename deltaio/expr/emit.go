package expr

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// emit makes the Arrow array of n rows. It copies, since a vec may share the
// memory of a batch that is released before the result.
func (v *vec) emit(n int) (arrow.Array, error) {
	t, err := schema.ArrowType(v.typ)
	if err != nil {
		return nil, err
	}
	if v.arr != nil && !v.one {
		return v.emitNested(n), nil
	}
	if v.typ == schema.Void || v.arr == nil && storageOf(v.typ) == inArray {
		return array.MakeArrayOfNull(memory.DefaultAllocator, t, n), nil
	}
	buffers := []*memory.Buffer{nil}
	nulls := 0
	if mask := v.nullMask(n); anyBit(mask) {
		nulls = countBits(mask)
		buffers[0] = memory.NewBufferBytes(bytesOfBits(notBits(mask, n), n))
	}
	for _, b := range v.valueBuffers(n) {
		buffers = append(buffers, memory.NewBufferBytes(b))
	}
	data := array.NewData(t, n, buffers, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// emitNested shares the array; a field of a struct is also NULL where the struct
// is.
func (v *vec) emitNested(n int) arrow.Array {
	data := v.arr.Data()
	mask := v.nullMask(n)
	nulls := countBits(mask)
	if nulls == v.arr.NullN() {
		v.arr.Retain()
		return v.arr
	}
	valid := onesBits(data.Offset() + n)
	for i := range n {
		if getBit(mask, i) {
			at := data.Offset() + i
			valid[at>>6] &^= 1 << (at & 63)
		}
	}
	buffers := append([]*memory.Buffer(nil), data.Buffers()...)
	buffers[0] = memory.NewBufferBytes(bytesOfBits(valid, data.Offset()+n))
	out := array.NewData(data.DataType(), n, buffers, data.Children(), nulls, data.Offset())
	defer out.Release()
	return array.MakeFromData(out)
}

func (v *vec) valueBuffers(n int) [][]byte {
	switch storageOf(v.typ) {
	case inBits:
		isTrue, _ := v.masks(n)
		return [][]byte{bytesOfBits(isTrue, n)}
	case inI32:
		vals := spread(v.i32, v.one, n)
		switch v.typ {
		case schema.Byte:
			return [][]byte{arrow.Int8Traits.CastToBytes(widen[int8](vals))}
		case schema.Short:
			return [][]byte{arrow.Int16Traits.CastToBytes(widen[int16](vals))}
		}
		return [][]byte{arrow.Int32Traits.CastToBytes(vals)}
	case inI64:
		return [][]byte{arrow.Int64Traits.CastToBytes(spread(v.i64, v.one, n))}
	case inF64:
		vals := spread(v.f64, v.one, n)
		if v.typ == schema.Float {
			return [][]byte{arrow.Float32Traits.CastToBytes(widen[float32](vals))}
		}
		return [][]byte{arrow.Float64Traits.CastToBytes(vals)}
	case inDec:
		return [][]byte{arrow.Decimal128Traits.CastToBytes(spread(v.dec, v.one, n))}
	}
	out := newVec(v.typ, n)
	for i := range n {
		out.appendBytes(v.bytes(i))
	}
	return [][]byte{arrow.Int32Traits.CastToBytes(out.off), out.data}
}

// spread copies values, repeating a single one.
func spread[T any](vals []T, one bool, n int) []T {
	out := make([]T, n)
	if !one {
		copy(out, vals)
		return out
	}
	for i := range out {
		out[i] = vals[0]
	}
	return out
}
