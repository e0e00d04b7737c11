package rowhash

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// appendValue appends the canonical bytes of a value that is not null. The type
// is known to both sides, so only what varies is written: lengths, and which
// members are null.
func appendValue(b []byte, a arrow.Array, i int) ([]byte, error) {
	switch x := a.(type) {
	case *array.Boolean:
		if x.Value(i) {
			return append(b, 1), nil
		}
		return append(b, 0), nil
	case *array.Int8:
		return appendWord(b, int64(x.Value(i))), nil
	case *array.Int16:
		return appendWord(b, int64(x.Value(i))), nil
	case *array.Int32:
		return appendWord(b, int64(x.Value(i))), nil
	case *array.Int64:
		return appendWord(b, x.Value(i)), nil
	case *array.Date32:
		return appendWord(b, int64(x.Value(i))), nil
	case *array.Timestamp:
		return appendWord(b, int64(x.Value(i))), nil
	case *array.Float32:
		return binary.LittleEndian.AppendUint32(b, floatBits(x.Value(i))), nil
	case *array.Float64:
		return binary.LittleEndian.AppendUint64(b, doubleBits(x.Value(i))), nil
	case *array.Decimal128:
		v := x.Value(i)
		return appendWord(binary.LittleEndian.AppendUint64(b, v.LowBits()), v.HighBits()), nil
	case *array.String:
		return appendBytes(b, x.Value(i)), nil
	case *array.Binary:
		return appendBytes(b, x.Value(i)), nil
	case *array.Struct:
		return appendStruct(b, x, i)
	case *array.Map:
		return appendMap(b, x, i)
	case *array.List:
		return appendList(b, x, i)
	}
	return nil, fmt.Errorf("no hash of %s", a.DataType())
}

// floatBits and doubleBits give all NaNs one pattern.
func floatBits(v float32) uint32 {
	if v != v {
		return 0x7fc00000
	}
	return math.Float32bits(v)
}

func doubleBits(v float64) uint64 {
	if v != v {
		return 0x7ff8000000000000
	}
	return math.Float64bits(v)
}

func appendWord(b []byte, v int64) []byte {
	return binary.LittleEndian.AppendUint64(b, uint64(v))
}

func appendBytes[T string | []byte](b []byte, v T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

// appendMember appends a value that may be null: a byte tells.
func appendMember(b []byte, a arrow.Array, i int) ([]byte, error) {
	if a.IsNull(i) || a.DataType().ID() == arrow.NULL {
		return append(b, 0), nil
	}
	return appendValue(append(b, 1), a, i)
}

func appendStruct(b []byte, s *array.Struct, i int) (_ []byte, err error) {
	for f := range s.NumField() {
		if b, err = appendMember(b, s.Field(f), i); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func appendList(b []byte, l *array.List, i int) (_ []byte, err error) {
	from, to := l.ValueOffsets(i)
	b = binary.AppendUvarint(b, uint64(to-from))
	for j := from; j < to; j++ {
		if b, err = appendMember(b, l.ListValues(), int(j)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// appendMap puts the entries into byte order: maps have none of their own.
func appendMap(b []byte, m *array.Map, i int) ([]byte, error) {
	from, to := m.ValueOffsets(i)
	entries := make([][]byte, 0, to-from)
	for j := from; j < to; j++ {
		e, err := appendMember(nil, m.Keys(), int(j))
		if err != nil {
			return nil, err
		}
		if e, err = appendMember(e, m.Items(), int(j)); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, bytes.Compare)
	b = binary.AppendUvarint(b, uint64(len(entries)))
	for _, e := range entries {
		b = append(b, e...)
	}
	return b, nil
}
