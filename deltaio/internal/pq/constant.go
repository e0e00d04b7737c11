package pq

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// constant plans a column with one value in every row.
func (s *source) constant(c *Column) (*outNode, error) {
	n, err := constantColumn(c)
	if err != nil || n.leaf == nil || n.leaf.value == nil || !s.legacyDates() {
		return n, err
	}
	if o := orderOf(n.leaf.typ, &n.el); (o == orderInt32 || o == orderInt64) && ambiguous(c.Field.Type, o.int(n.leaf.value)) {
		return nil, fmt.Errorf("value %v cannot be written into a file of the legacy calendar", c.Const)
	}
	return n, nil
}

func constantColumn(c *Column) (*outNode, error) {
	if c.Const == nil {
		return nullColumn(&c.Field)
	}
	n, err := canonical(&c.Field)
	if err != nil {
		return nil, err
	}
	if n.leaf == nil {
		return nil, fmt.Errorf("a constant of type %s is not supported", c.Field.Type)
	}
	n.leaf.value, err = plainConstant(c.Field.Type, n.leaf, c.Const)
	return n, err
}

// plainConstant encodes a Go value as PLAIN, byte arrays without the length.
func plainConstant(t schema.Type, l *outLeaf, v any) ([]byte, error) {
	wrong := fmt.Errorf("constant %v (%T) is no %s", v, v, t)
	if d, ok := t.(schema.Decimal); ok {
		x, ok := decimalConstant(d, v)
		if !ok {
			return nil, wrong
		}
		return appendDecimal(nil, x, l.typ, l.width), nil
	}
	r := reflect.ValueOf(v)
	switch t {
	case schema.Boolean:
		if b, ok := v.(bool); ok {
			if b {
				return []byte{1}, nil
			}
			return []byte{0}, nil
		}
	case schema.String, schema.Binary:
		switch x := v.(type) {
		case string:
			if t == schema.String && !utf8.ValidString(x) {
				return nil, fmt.Errorf("constant is no valid UTF-8")
			}
			return append([]byte{}, x...), nil
		case []byte:
			return append([]byte{}, x...), nil
		}
	case schema.Float, schema.Double:
		if r.CanFloat() {
			return floatConstant(t, r.Float()), nil
		}
	default:
		if x, ok := integerConstant(t, r); ok {
			if l.width == 4 {
				return binary.LittleEndian.AppendUint32(nil, uint32(x)), nil
			}
			return binary.LittleEndian.AppendUint64(nil, uint64(x)), nil
		}
	}
	return nil, wrong
}

func floatConstant(t schema.Type, v float64) []byte {
	if t == schema.Float {
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v)))
	}
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))
}

// integerConstant takes any signed integer, named types (dates, timestamps)
// included, that fits the Delta type.
func integerConstant(t schema.Type, r reflect.Value) (int64, bool) {
	if !r.CanInt() {
		return 0, false
	}
	x := r.Int()
	switch t {
	case schema.Byte:
		return x, x == int64(int8(x))
	case schema.Short:
		return x, x == int64(int16(x))
	case schema.Integer, schema.Date:
		return x, x == int64(int32(x))
	case schema.Long, schema.Timestamp, schema.TimestampNTZ:
		return x, true
	}
	return 0, false
}

// scaled has the fields of package expr's Decimal, which converts to it: this
// package reads such values without depending on the expression language.
type scaled struct {
	V     decimal128.Num
	Scale int
}

func decimalConstant(d schema.Decimal, v any) (decimal128.Num, bool) {
	x, shift := decimal128.Num{}, 0
	switch r := reflect.ValueOf(v); {
	case r.Type() == reflect.TypeFor[decimal128.Num]():
		x = v.(decimal128.Num)
	case r.CanInt():
		x, shift = decimal128.FromI64(r.Int()), d.Scale
	case r.CanConvert(reflect.TypeFor[scaled]()):
		s := r.Convert(reflect.TypeFor[scaled]()).Interface().(scaled)
		x, shift = s.V, d.Scale-s.Scale
	default:
		return x, false
	}
	if shift < 0 {
		return x, false
	}
	x, err := rescale(x, d, shift)
	return x, err == nil
}

// constantChunk writes a chunk of n rows that all hold the leaf's value. It is
// a few bytes: levels and codes are one run each.
func (c *chunkWriter) constantChunk(l *outLeaf, out *fileWriter, codec format.CompressionCodec, n int) (*chunkResult, error) {
	c.open(l, out, codec, defaultPageBytes)
	raw := c.raw[:0]
	if l.maxRep > 0 {
		raw = appendLevelRun(raw, 0, l.maxRep, n)
	}
	if l.maxDef > 0 {
		def := 0
		if l.value != nil {
			def = l.maxDef
		}
		raw = appendLevelRun(raw, def, l.maxDef, n)
	}
	e := pageEntry{values: int64(n)}
	enc := format.Plain
	if l.value == nil {
		e.nulls = int64(n)
	} else {
		raw, enc = c.constantValues(raw, n)
	}
	c.raw = raw
	if err := c.encodePage(&e, raw, enc); err != nil {
		return nil, err
	}
	e.lo, e.hi, e.bounded = cutBounds(&c.stat, l.typ)
	c.pages = append(c.pages, e)
	c.values, c.allRows, c.nulls = e.values, e.values, e.nulls
	return c.finish()
}

// constantValues puts the value into the dictionary and appends its codes; a
// boolean has no dictionary and is appended bit by bit.
func (c *chunkWriter) constantValues(raw []byte, n int) ([]byte, format.Encoding) {
	l := c.leaf
	if l.width > 0 {
		c.stat.addFixed(l.value, l.width)
	} else if l.order != orderNone {
		c.stat.addBytes(l.value)
	}
	if l.typ == format.Boolean {
		raw = appendRepeat(raw, -l.value[0], n/8)
		if r := n % 8; r > 0 {
			raw = append(raw, -l.value[0]&(1<<r-1))
		}
		return raw, format.Plain
	}
	entry := l.value
	if l.width == 0 {
		entry = append(binary.LittleEndian.AppendUint32(nil, uint32(len(l.value))), l.value...)
	}
	c.dict.add(entry)
	return appendRun(append(raw, 1), 0, n, 1), format.RLEDictionary
}

func appendLevelRun(raw []byte, level, top, n int) []byte {
	at := len(raw)
	raw = append(raw, 0, 0, 0, 0)
	raw = appendRun(raw, uint32(level), n, widthFor(top))
	binary.LittleEndian.PutUint32(raw[at:], uint32(len(raw)-at-4))
	return raw
}
