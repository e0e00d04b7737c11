package pq

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// conversion turns the values of a source leaf into another physical form. Two
// conversions of one leaf with the same key give the same values.
type conversion struct {
	key    string
	typ    format.Type
	length int32 // of FIXED_LEN_BYTE_ARRAY
	width  int
	// apply appends the converted values to dst, fixed width each.
	apply func(dst []byte, v *values) ([]byte, error)
}

// convert finds how values of l become values of the Delta type t: nil when
// they are right as they lie.
func (s *source) convert(t schema.Type, l *leaf) (*conversion, error) {
	m := meaningOf(l)
	if d, ok := t.(schema.Decimal); ok {
		return toDecimal(d, m, l)
	}
	p, ok := t.(schema.Primitive)
	if !ok {
		return nil, fmt.Errorf("a primitive column of the file cannot hold %s", t)
	}
	if asIs(p, m.kind) {
		return nil, nil
	}
	switch {
	case p == schema.Long && m.kind == kindInt:
		return fixed64("int-long", 4, func(b []byte) (int64, error) { return int64(int32(le32(b))), nil }), nil
	case p == schema.Long && m.kind == kindUint32:
		return fixed64("uint-long", 4, func(b []byte) (int64, error) { return int64(le32(b)), nil }), nil
	case p == schema.Double && m.kind == kindInt:
		return toDouble("int-double", func(b []byte) float64 { return float64(int32(le32(b))) }), nil
	case p == schema.Double && m.kind == kindFloat:
		return toDouble("float-double", func(b []byte) float64 { return float64(math.Float32frombits(le32(b))) }), nil
	case p == schema.TimestampNTZ && m.kind == kindDate:
		return fixed64("date-micros", 4, func(b []byte) (int64, error) {
			day := int64(int32(le32(b)))
			if day > math.MaxInt64/microsPerDay || day < math.MinInt64/microsPerDay {
				return 0, fmt.Errorf("date %d days from 1970 is out of range in microseconds", day)
			}
			return day * microsPerDay, nil
		}), nil
	case p == schema.Timestamp || p == schema.TimestampNTZ:
		return s.toMicros(m.kind)
	}
	return nil, fmt.Errorf("%s of the file cannot become %s", describe(l), t)
}

// asIs says whether a kind is stored the way the Delta type wants it.
func asIs(p schema.Primitive, k kind) bool {
	switch p {
	case schema.Boolean:
		return k == kindBool
	case schema.Byte, schema.Short, schema.Integer:
		return k == kindInt
	case schema.Long:
		return k == kindLong
	case schema.Float:
		return k == kindFloat
	case schema.Double:
		return k == kindDouble
	case schema.String: // old writers leave the UTF8 annotation out
		return k == kindText || k == kindBytes
	case schema.Binary:
		return k == kindText || k == kindBytes || k == kindFixed
	case schema.Date:
		return k == kindDate
	case schema.Timestamp, schema.TimestampNTZ:
		return k == kindMicros
	}
	return false
}

func describe(l *leaf) string {
	d := l.typ.String()
	if v := l.el.Logical.Value; v != nil {
		d += " (" + v.String() + ")"
	} else if c, ok := l.el.ConvertedType.Get(); ok {
		d += fmt.Sprintf(" (converted type %d)", c)
	}
	return d
}

func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

func fixed64(key string, from int, f func([]byte) (int64, error)) *conversion {
	apply := func(dst []byte, v *values) ([]byte, error) {
		dst = grow(dst, v.n*8)
		for b := v.fixed; len(b) >= from; b = b[from:] {
			x, err := f(b)
			if err != nil {
				return dst, err
			}
			dst = binary.LittleEndian.AppendUint64(dst, uint64(x))
		}
		return dst, nil
	}
	return &conversion{key: key, typ: format.Int64, width: 8, apply: apply}
}

func toDouble(key string, f func([]byte) float64) *conversion {
	c := fixed64(key, 4, func(b []byte) (int64, error) { return int64(math.Float64bits(f(b))), nil })
	c.typ = format.Double
	return c
}

// toMicros converts the other forms of timestamps. Nanoseconds are floored, the
// precision Delta has. INT96 of files in Spark's legacy calendar stays as it
// is: the footer keys that say so are about INT96 and would not be read for
// INT64.
func (s *source) toMicros(k kind) (*conversion, error) {
	switch k {
	case kindMillis:
		return fixed64("millis-micros", 8, func(b []byte) (int64, error) {
			v := int64(le64(b))
			if v > math.MaxInt64/1000 || v < math.MinInt64/1000 {
				return 0, fmt.Errorf("timestamp of %d ms since 1970 is out of range in microseconds", v)
			}
			return v * 1000, nil
		}), nil
	case kindNanos:
		return fixed64("nanos-micros", 8, func(b []byte) (int64, error) { return floorDiv(int64(le64(b)), 1000), nil }), nil
	case kindInt96:
		if s.legacyInt96() {
			return nil, nil
		}
		return fixed64("int96-micros", 12, microsOfInt96), nil
	}
	return nil, fmt.Errorf("the file's column is no timestamp")
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

const (
	julianEpoch  = 2_440_588 // Julian day number of 1970-01-01
	microsPerDay = 86_400_000_000
)

// microsOfInt96 reads nanoseconds of the day (8 bytes) and a Julian day (4).
func microsOfInt96(b []byte) (int64, error) {
	nanos, day := int64(le64(b)), int64(int32(le32(b[8:])))-julianEpoch
	hi, lo := bits.Mul64(uint64(max(day, -day)), microsPerDay)
	if hi != 0 || lo > math.MaxInt64 {
		return 0, fmt.Errorf("INT96 timestamp of Julian day %d is out of range in microseconds", day+julianEpoch)
	}
	micros, rest := day*microsPerDay, floorDiv(nanos, 1000)
	sum := micros + rest
	if (sum > micros) != (rest > 0) && rest != 0 {
		return 0, fmt.Errorf("INT96 timestamp of Julian day %d is out of range in microseconds", day+julianEpoch)
	}
	return sum, nil
}

// decimalType is where Delta's writers store a decimal.
func decimalType(precision int) (t format.Type, length int32, width int) {
	switch {
	case precision <= 9:
		return format.Int32, 0, 4
	case precision <= 18:
		return format.Int64, 0, 8
	}
	// least n with 2^(8n-1) > 10^precision
	n := int(math.Ceil((float64(precision)*math.Log2(10) + 1) / 8))
	return format.FixedLenByteArray, int32(n), n
}

func toDecimal(d schema.Decimal, m meaning, l *leaf) (*conversion, error) {
	scale := 0
	switch m.kind {
	case kindDecimal:
		if m.precision == d.Precision && m.scale == d.Scale {
			return nil, nil
		}
		scale = m.scale
	case kindInt, kindLong:
	default:
		return nil, fmt.Errorf("%s of the file cannot become %s", describe(l), d)
	}
	if scale > d.Scale {
		return nil, fmt.Errorf("%s of the file cannot become %s: digits behind the point would be lost", describe(l), d)
	}
	c := &conversion{key: d.String()}
	c.typ, c.length, c.width = decimalType(d.Precision)
	shift := d.Scale - scale
	read := decimalReader(l)
	c.apply = func(dst []byte, v *values) ([]byte, error) {
		err := v.each(l.width, func(b []byte) error {
			x, err := read(b)
			if err == nil {
				x, err = rescale(x, d, shift)
			}
			if err == nil {
				dst = appendDecimal(dst, x, c.typ, c.width)
			}
			return err
		})
		return dst, err
	}
	return c, nil
}

func rescale(x decimal128.Num, d schema.Decimal, shift int) (decimal128.Num, error) {
	digits := d.Precision - shift
	if x != (decimal128.Num{}) && (digits < 1 || !x.FitsInPrecision(int32(digits))) {
		return x, fmt.Errorf("a decimal of the file does not fit %s", d)
	}
	if shift == 0 || x == (decimal128.Num{}) {
		return x, nil
	}
	return x.Mul(decimal128.GetScaleMultiplier(shift)), nil
}

// decimalReader reads the unscaled number of a PLAIN value of l.
func decimalReader(l *leaf) func([]byte) (decimal128.Num, error) {
	switch l.typ {
	case format.Int32:
		return func(b []byte) (decimal128.Num, error) { return decimal128.FromI64(int64(int32(le32(b)))), nil }
	case format.Int64:
		return func(b []byte) (decimal128.Num, error) { return decimal128.FromI64(int64(le64(b))), nil }
	}
	return bigEndianDecimal
}

// bigEndianDecimal reads two's complement of any length whose value fits 128
// bits.
func bigEndianDecimal(b []byte) (decimal128.Num, error) {
	var w [16]byte
	negative := len(b) > 0 && b[0]&0x80 != 0
	if negative {
		for i := range w {
			w[i] = 0xFF
		}
	}
	for len(b) > len(w) {
		if b[0] != w[0] || (b[1]&0x80 != 0) != negative {
			return decimal128.Num{}, fmt.Errorf("a decimal of the file does not fit 128 bits")
		}
		b = b[1:]
	}
	copy(w[len(w)-len(b):], b)
	return decimal128.New(int64(binary.BigEndian.Uint64(w[:])), binary.BigEndian.Uint64(w[8:])), nil
}

func appendDecimal(dst []byte, x decimal128.Num, t format.Type, width int) []byte {
	switch t {
	case format.Int32:
		return binary.LittleEndian.AppendUint32(dst, uint32(x.LowBits()))
	case format.Int64:
		return binary.LittleEndian.AppendUint64(dst, x.LowBits())
	}
	var w [16]byte
	binary.BigEndian.PutUint64(w[:], uint64(x.HighBits()))
	binary.BigEndian.PutUint64(w[8:], x.LowBits())
	return append(dst, w[16-width:]...)
}
