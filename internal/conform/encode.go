package conform

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// Row is one version of a key, as bytes that compare like the version's place in
// the order of versions.
type Row struct {
	// Key is the key's columns.
	Key []byte
	// Order is sequence, delete flag and content. The greatest counts.
	Order []byte
	// Sequence is how many bytes of Order are sequence and delete flag: versions
	// that agree in them are ties.
	Sequence int
	// File numbers the file that the version comes from.
	File uint32
}

// Deleted says whether the version is a delete.
func (r Row) Deleted() bool { return r.Order[r.Sequence-1] == 1 }

const (
	null  = 0
	value = 1
)

// encodeValue appends one value so that bytes compare as values do, nulls first.
func encodeValue(dst []byte, a arrow.Array, i int) ([]byte, error) {
	if a.IsNull(i) {
		return append(dst, null), nil
	}
	dst = append(dst, value)
	switch a := a.(type) {
	case *array.String:
		return encodeText(dst, a.Value(i)), nil
	case *array.Boolean:
		if a.Value(i) {
			return append(dst, 1), nil
		}
		return append(dst, 0), nil
	case *array.Int8:
		return append(dst, byte(a.Value(i))^0x80), nil
	case *array.Int16:
		return binary.BigEndian.AppendUint16(dst, uint16(a.Value(i))^1<<15), nil
	case *array.Int32:
		return binary.BigEndian.AppendUint32(dst, uint32(a.Value(i))^1<<31), nil
	case *array.Date32:
		return binary.BigEndian.AppendUint32(dst, uint32(a.Value(i))^1<<31), nil
	case *array.Int64:
		return binary.BigEndian.AppendUint64(dst, uint64(a.Value(i))^1<<63), nil
	case *array.Timestamp:
		return binary.BigEndian.AppendUint64(dst, uint64(a.Value(i))^1<<63), nil
	case *array.Float32:
		return encodeFloat(dst, float64(a.Value(i))), nil
	case *array.Float64:
		return encodeFloat(dst, a.Value(i)), nil
	case *array.Decimal128:
		v := a.Value(i)
		dst = binary.BigEndian.AppendUint64(dst, uint64(v.HighBits())^1<<63)
		return binary.BigEndian.AppendUint64(dst, v.LowBits()), nil
	}
	return nil, fmt.Errorf("a column of type %s cannot be ordered", a.DataType())
}

// encodeText ends with two zero bytes; a zero byte inside is followed by 0xff.
func encodeText(dst []byte, s string) []byte {
	for i := range len(s) {
		dst = append(dst, s[i])
		if s[i] == 0 {
			dst = append(dst, 0xff)
		}
	}
	return append(dst, 0, 0)
}

// encodeFloat orders numbers as numbers, NaN above all. Zeros are one number.
func encodeFloat(dst []byte, v float64) []byte {
	bits := math.Float64bits(v)
	switch {
	case v == 0:
		bits = 0
	case math.IsNaN(v):
		bits = 0x7ff8000000000001
	}
	if bits>>63 == 1 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(dst, bits)
}

// decodeValue appends the value at the start of src to the builder and gives
// what follows it.
func decodeValue(src []byte, b array.Builder) (rest []byte, err error) {
	if src[0] == null {
		b.AppendNull()
		return src[1:], nil
	}
	src = src[1:]
	switch b := b.(type) {
	case *array.StringBuilder:
		s, rest := decodeText(src)
		b.BinaryBuilder.Append(s)
		return rest, nil
	case *array.BooleanBuilder:
		b.Append(src[0] == 1)
		return src[1:], nil
	case *array.Int8Builder:
		b.Append(int8(src[0] ^ 0x80))
		return src[1:], nil
	case *array.Int16Builder:
		b.Append(int16(binary.BigEndian.Uint16(src) ^ 1<<15))
		return src[2:], nil
	case *array.Int32Builder:
		b.Append(int32(binary.BigEndian.Uint32(src) ^ 1<<31))
		return src[4:], nil
	case *array.Date32Builder:
		b.Append(arrow.Date32(int32(binary.BigEndian.Uint32(src) ^ 1<<31)))
		return src[4:], nil
	}
	return decodeWide(src, b)
}

func decodeWide(src []byte, b array.Builder) (rest []byte, err error) {
	v := binary.BigEndian.Uint64(src)
	switch b := b.(type) {
	case *array.Int64Builder:
		b.Append(int64(v ^ 1<<63))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(int64(v ^ 1<<63)))
	case *array.Float32Builder:
		b.Append(float32(decodeFloat(v)))
	case *array.Float64Builder:
		b.Append(decodeFloat(v))
	case *array.Decimal128Builder:
		b.Append(decimal128.New(int64(v^1<<63), binary.BigEndian.Uint64(src[8:])))
		return src[16:], nil
	default:
		return nil, fmt.Errorf("a column of type %s cannot be ordered", b.Type())
	}
	return src[8:], nil
}

func decodeFloat(bits uint64) float64 {
	if bits>>63 == 1 {
		return math.Float64frombits(bits &^ (1 << 63))
	}
	return math.Float64frombits(^bits)
}

func decodeText(src []byte) (s, rest []byte) {
	escaped := false
	for i := 0; ; i++ {
		if src[i] != 0 {
			continue
		}
		if src[i+1] == 0 {
			s, rest = src[:i], src[i+2:]
			break
		}
		escaped = true
		i++
	}
	if !escaped {
		return s, rest
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		out = append(out, s[i])
		if s[i] == 0 {
			i++
		}
	}
	return out, rest
}

// Rows is a run of rows in one piece of memory.
type Rows struct {
	data []byte
	n    int
}

// rowHeader is keyLen, sequence, orderLen, file: four bytes each.
const rowHeader = 16

// Len counts the rows.
func (r *Rows) Len() int { return r.n }

// Bytes is the memory that the rows take.
func (r *Rows) Bytes() int { return len(r.data) }

// Add appends a row.
func (r *Rows) Add(row Row) {
	r.data = binary.LittleEndian.AppendUint32(r.data, uint32(len(row.Key)))
	r.data = binary.LittleEndian.AppendUint32(r.data, uint32(row.Sequence))
	r.data = binary.LittleEndian.AppendUint32(r.data, uint32(len(row.Order)))
	r.data = binary.LittleEndian.AppendUint32(r.data, row.File)
	r.data = append(append(r.data, row.Key...), row.Order...)
	r.n++
}

// rowAt reads the row at an offset, and gives the offset behind it.
func rowAt(data []byte, at int) (Row, int) {
	u := func(i int) int { return int(binary.LittleEndian.Uint32(data[at+i:])) }
	k, o := u(0), u(8)
	start := at + rowHeader
	return Row{Key: data[start : start+k : start+k], Order: data[start+k : start+k+o : start+k+o], Sequence: u(4), File: uint32(u(12))}, start + k + o
}

// All calls yield with each row.
func (r *Rows) All(yield func(Row) bool) {
	for at := 0; at < len(r.data); {
		var row Row
		row, at = rowAt(r.data, at)
		if !yield(row) {
			return
		}
	}
}
