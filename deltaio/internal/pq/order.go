package pq

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// order is how the values of a leaf compare, on their PLAIN bytes (byte arrays
// without the length).
type order uint8

const (
	orderNone order = iota // no order worth statistics
	orderBool
	orderInt32
	orderInt64
	orderFloat
	orderDouble
	orderBytes   // unsigned bytes
	orderDecimal // two's complement, big-endian
)

func orderOf(t format.Type, el *element) order {
	switch t {
	case format.Boolean:
		return orderBool
	case format.Int32:
		return orderInt32
	case format.Int64:
		return orderInt64
	case format.Float:
		return orderFloat
	case format.Double:
		return orderDouble
	case format.ByteArray, format.FixedLenByteArray:
		return orderOfBytes(el)
	}
	return orderNone
}

func orderOfBytes(el *element) order {
	switch el.Logical.Value.(type) {
	case *format.DecimalType:
		return orderDecimal
	case *format.Float16Type, *format.VariantType, *format.GeometryType, *format.GeographyType:
		return orderNone
	}
	if c, ok := el.ConvertedType.Get(); ok {
		switch c {
		case deprecated.Decimal:
			return orderDecimal
		case deprecated.Interval:
			return orderNone
		}
	}
	return orderBytes
}

// size is the length of a PLAIN value, 0 where it varies.
func (o order) size() int {
	switch o {
	case orderBool:
		return 1
	case orderInt32, orderFloat:
		return 4
	case orderInt64, orderDouble:
		return 8
	}
	return 0
}

func wellFormed(o order, b []byte) bool {
	if n := o.size(); n != 0 && len(b) != n {
		return false
	}
	switch o {
	case orderFloat, orderDouble:
		return !math.IsNaN(o.float(b))
	case orderDecimal:
		return len(b) > 0
	}
	return true
}

func (o order) int(b []byte) int64 {
	switch o {
	case orderBool:
		return int64(b[0])
	case orderInt32:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

func (o order) float(b []byte) float64 {
	if o == orderFloat {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

func (o order) putInt(v int64) []byte {
	switch o {
	case orderBool:
		return []byte{byte(v)}
	case orderInt32:
		return binary.LittleEndian.AppendUint32(nil, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(v))
}

func (o order) putFloat(v float64) []byte {
	if o == orderFloat {
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v)))
	}
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
}

// compare compares two well-formed values.
func (o order) compare(a, b []byte) int {
	switch o {
	case orderBool, orderInt32, orderInt64:
		return cmp.Compare(o.int(a), o.int(b))
	case orderFloat, orderDouble:
		return cmp.Compare(o.float(a), o.float(b))
	case orderDecimal:
		return compareDecimal(a, b)
	}
	return bytes.Compare(a, b)
}

// compareDecimal compares two's complement big-endian numbers of any lengths.
func compareDecimal(a, b []byte) int {
	negA, negB := len(a) > 0 && a[0]&0x80 != 0, len(b) > 0 && b[0]&0x80 != 0
	if negA != negB {
		if negA {
			return -1
		}
		return 1
	}
	pad := byte(0)
	if negA {
		pad = 0xFF
	}
	for len(a) > 0 && a[0] == pad {
		a = a[1:]
	}
	for len(b) > 0 && b[0] == pad {
		b = b[1:]
	}
	if len(a) != len(b) {
		if (len(a) < len(b)) != negA {
			return -1
		}
		return 1
	}
	return bytes.Compare(a, b)
}

// widenZeros makes bounds of floats hold for both zeros: a writer may have
// compared -0.0 and +0.0 as equal.
func widenZeros(o order, lo, hi []byte) ([]byte, []byte) {
	if len(lo) == o.size() && o.float(lo) == 0 {
		lo = o.putFloat(math.Copysign(0, -1))
	}
	if len(hi) == o.size() && o.float(hi) == 0 {
		hi = o.putFloat(0)
	}
	return lo, hi
}
