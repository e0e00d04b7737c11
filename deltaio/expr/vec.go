package expr

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// vec is a column of values of one type while it is computed. Which slice holds
// them depends on the type's storage:
//
//	bits       boolean (0 where NULL)
//	i32        byte, short, integer, date
//	i64        long, timestamp, timestamp_ntz
//	f64        float (rounded to float32 after each step), double
//	dec        decimal, unscaled
//	off, data  string, binary
//	arr        array, map, struct, variant: asked for NULL only
//
// A vec with one set is a single value that stands for all rows: its slices
// have one entry. Slices may be shared with the batch and are never changed
// once the vec is made.
type vec struct {
	typ  schema.Type
	n    int
	one  bool
	null []uint64 // nil: no NULL

	bits []uint64
	i32  []int32
	i64  []int64
	f64  []float64
	dec  []decimal128.Num
	off  []int32
	data []byte
	arr  arrow.Array
}

// storage says which slices of a vec a type uses.
type storage uint8

const (
	inNothing storage = iota // void
	inBits
	inI32
	inI64
	inF64
	inDec
	inBytes
	inArray
)

func storageOf(t schema.Type) storage {
	switch x := t.(type) {
	case schema.Decimal:
		return inDec
	case schema.Primitive:
		switch x {
		case schema.Boolean:
			return inBits
		case schema.Byte, schema.Short, schema.Integer, schema.Date:
			return inI32
		case schema.Long, schema.Timestamp, schema.TimestampNTZ:
			return inI64
		case schema.Float, schema.Double:
			return inF64
		case schema.String, schema.Binary:
			return inBytes
		case schema.Void:
			return inNothing
		}
	}
	return inArray
}

// newVec makes room for n values; strings are appended by the caller.
func newVec(t schema.Type, n int) *vec {
	v := &vec{typ: t, n: n}
	switch storageOf(t) {
	case inBits:
		v.bits = newBits(n)
	case inI32:
		v.i32 = make([]int32, n)
	case inI64:
		v.i64 = make([]int64, n)
	case inF64:
		v.f64 = make([]float64, n)
	case inDec:
		v.dec = make([]decimal128.Num, n)
	case inBytes:
		v.off = make([]int32, 1, n+1)
	}
	return v
}

// nullVec is NULL of a type for all rows.
func nullVec(t schema.Type) *vec {
	v := newVec(t, 1)
	if v.off != nil {
		v.off = append(v.off, 0)
	}
	v.one, v.null = true, []uint64{1}
	return v
}

func (v *vec) setNull(i int) {
	if v.null == nil {
		v.null = newBits(v.n)
	}
	setBit(v.null, i)
}

// at is the mask that maps a row to its entry: row & v.at().
func (v *vec) at() int {
	if v.one {
		return 0
	}
	return -1
}

func (v *vec) isNull(i int) bool { return v.null != nil && getBit(v.null, i&v.at()) }

// allNull says whether the vec is a NULL that stands for all rows.
func (v *vec) allNull() bool { return v.one && v.null != nil && v.null[0] != 0 }

// bytes is entry i of a string or binary vec.
func (v *vec) bytes(i int) []byte {
	i &= v.at()
	return v.data[v.off[i]:v.off[i+1]]
}

// str is bytes as a string that shares the memory; it must not outlive the vec.
func (v *vec) str(i int) string { return unsafeString(v.bytes(i)) }

// appendBytes adds the next string.
func (v *vec) appendBytes(b []byte) {
	v.data = append(v.data, b...)
	v.off = append(v.off, int32(len(v.data)))
}

// endString closes a string whose bytes were appended to data.
func (v *vec) endString() { v.off = append(v.off, int32(len(v.data))) }

// masks gives the TRUE and NULL rows of a boolean vec as words for n rows.
func (v *vec) masks(n int) (isTrue, isNull []uint64) {
	if !v.one {
		return v.bits, v.nullMask(n)
	}
	switch {
	case v.allNull():
		return newBits(n), onesBits(n)
	case v.bits[0] != 0:
		return onesBits(n), newBits(n)
	}
	return newBits(n), newBits(n)
}

// nullMask gives the NULL rows as words for n rows, never nil.
func (v *vec) nullMask(n int) []uint64 {
	switch {
	case v.null == nil:
		return newBits(n)
	case v.one && v.null[0] != 0:
		return onesBits(n)
	case v.one:
		return newBits(n)
	}
	return v.null
}

// boolVec is a boolean vec from its masks.
func boolVec(n int, isTrue, isNull []uint64) *vec {
	if !anyBit(isNull) {
		isNull = nil
	}
	return &vec{typ: schema.Boolean, n: n, bits: isTrue, null: isNull}
}

// as is the same entries under another type of the same storage.
func (v *vec) as(t schema.Type) *vec {
	c := *v
	c.typ = t
	return &c
}
