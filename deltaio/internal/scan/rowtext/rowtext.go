// Package rowtext writes rows as canonical text and digests sets of rows
// whatever their order. The text is for comparing tables across engines: equal
// values give equal bytes, whatever encoded them in a file. It is readable and
// slow; package rowhash is for proving things about large tables.
//
// The text of a value: null; true and false; integers in decimal digits; f and
// 8, d and 16 hex digits of a float's or double's bits (fnan, dnan); m and the
// plain digits of a decimal, its scale kept; s<bytes>:<utf8>; b<bytes>:<hex>;
// D<days>; T<micros> and N<micros> of timestamps with and without zone; [a,b];
// {k=v,...} with entries in byte order; (a,b) of a struct and of the row;
// V(<metadata hex>,<value hex>) of a variant.
package rowtext

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Encoder writes rows of one schema.
type Encoder struct {
	schema *schema.Struct
	buf    []byte
}

// New makes an encoder of rows of s. Records have its columns, by name.
func New(s *schema.Struct) *Encoder { return &Encoder{schema: s} }

// Rows calls yield with the text of each row of rec, in order. The slice is
// valid during the call only.
func (e *Encoder) Rows(rec arrow.Record, yield func(row int, text []byte) error) error {
	cols, err := columns(e.schema, rec)
	if err != nil {
		return err
	}
	for i := range int(rec.NumRows()) {
		b := append(e.buf[:0], '(')
		for c, a := range cols {
			if c > 0 {
				b = append(b, ',')
			}
			if b, err = appendValue(b, e.schema.Fields[c].Type, a, i); err != nil {
				return fmt.Errorf("column %s: %w", e.schema.Fields[c].Name, err)
			}
		}
		e.buf = append(b, ')')
		if err := yield(i, e.buf); err != nil {
			return err
		}
	}
	return nil
}

func columns(s *schema.Struct, rec arrow.Record) ([]arrow.Array, error) {
	cols := make([]arrow.Array, len(s.Fields))
	for i := range s.Fields {
		at := rec.Schema().FieldIndices(s.Fields[i].Name)
		if len(at) != 1 {
			return nil, fmt.Errorf("the record has %d columns %s", len(at), s.Fields[i].Name)
		}
		cols[i] = rec.Column(at[0])
	}
	return cols, nil
}

func appendValue(b []byte, t schema.Type, a arrow.Array, i int) ([]byte, error) {
	if t == schema.Void || a.IsNull(i) {
		return append(b, "null"...), nil
	}
	switch x := t.(type) {
	case *schema.Struct:
		return appendStruct(b, x, a, i)
	case *schema.Array:
		return appendList(b, x, a, i)
	case *schema.Map:
		return appendMap(b, x, a, i)
	}
	if t == schema.Variant {
		return appendVariant(b, a, i)
	}
	return appendPrimitive(b, a, i)
}

func appendStruct(b []byte, t *schema.Struct, a arrow.Array, i int) ([]byte, error) {
	s, ok := a.(*array.Struct)
	if !ok || s.NumField() != len(t.Fields) {
		return nil, mismatch(t, a)
	}
	b = append(b, '(')
	var err error
	for f := range t.Fields {
		if f > 0 {
			b = append(b, ',')
		}
		if b, err = appendValue(b, t.Fields[f].Type, s.Field(f), i); err != nil {
			return nil, err
		}
	}
	return append(b, ')'), nil
}

func mismatch(t schema.Type, a arrow.Array) error {
	return fmt.Errorf("the schema says %s, the record has %s", t, a.DataType())
}

func appendList(b []byte, t *schema.Array, a arrow.Array, i int) ([]byte, error) {
	l, ok := a.(*array.List)
	if !ok {
		return nil, mismatch(t, a)
	}
	from, to := l.ValueOffsets(i)
	b = append(b, '[')
	var err error
	for j := from; j < to; j++ {
		if j > from {
			b = append(b, ',')
		}
		if b, err = appendValue(b, t.Element, l.ListValues(), int(j)); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendMap(b []byte, t *schema.Map, a arrow.Array, i int) ([]byte, error) {
	m, ok := a.(*array.Map)
	if !ok {
		return nil, mismatch(t, a)
	}
	from, to := m.ValueOffsets(i)
	var entries [][]byte
	for j := from; j < to; j++ {
		entry, err := appendValue(nil, t.Key, m.Keys(), int(j))
		if err != nil {
			return nil, err
		}
		if entry, err = appendValue(append(entry, '='), t.Value, m.Items(), int(j)); err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, bytes.Compare)
	b = append(b, '{')
	for j, e := range entries {
		if j > 0 {
			b = append(b, ',')
		}
		b = append(b, e...)
	}
	return append(b, '}'), nil
}

func appendVariant(b []byte, a arrow.Array, i int) ([]byte, error) {
	s, ok := a.(*array.Struct)
	if !ok || s.NumField() != 2 {
		return nil, mismatch(schema.Variant, a)
	}
	b = append(b, "V("...)
	for k, name := range []string{"metadata", "value"} {
		f, ok := s.DataType().(*arrow.StructType).FieldIdx(name)
		if !ok {
			return nil, mismatch(schema.Variant, a)
		}
		v, ok := s.Field(f).(*array.Binary)
		if !ok {
			return nil, mismatch(schema.Variant, a)
		}
		if k > 0 {
			b = append(b, ',')
		}
		b = hex.AppendEncode(b, v.Value(i))
	}
	return append(b, ')'), nil
}

func appendPrimitive(b []byte, a arrow.Array, i int) ([]byte, error) {
	switch x := a.(type) {
	case *array.Boolean:
		return strconv.AppendBool(b, x.Value(i)), nil
	case *array.Int8:
		return strconv.AppendInt(b, int64(x.Value(i)), 10), nil
	case *array.Int16:
		return strconv.AppendInt(b, int64(x.Value(i)), 10), nil
	case *array.Int32:
		return strconv.AppendInt(b, int64(x.Value(i)), 10), nil
	case *array.Int64:
		return strconv.AppendInt(b, x.Value(i), 10), nil
	case *array.Float32:
		if v := x.Value(i); v == v {
			return fmt.Appendf(b, "f%08x", math.Float32bits(v)), nil
		}
		return append(b, "fnan"...), nil
	case *array.Float64:
		if v := x.Value(i); v == v {
			return fmt.Appendf(b, "d%016x", math.Float64bits(v)), nil
		}
		return append(b, "dnan"...), nil
	case *array.Decimal128:
		return appendDecimal(append(b, 'm'), x, i), nil
	case *array.String:
		v := x.Value(i)
		return append(append(strconv.AppendInt(append(b, 's'), int64(len(v)), 10), ':'), v...), nil
	case *array.Binary:
		v := x.Value(i)
		return hex.AppendEncode(append(strconv.AppendInt(append(b, 'b'), int64(len(v)), 10), ':'), v), nil
	case *array.Date32:
		return strconv.AppendInt(append(b, 'D'), int64(x.Value(i)), 10), nil
	case *array.Timestamp:
		mark := byte('N')
		if x.DataType().(*arrow.TimestampType).TimeZone != "" {
			mark = 'T'
		}
		return strconv.AppendInt(append(b, mark), int64(x.Value(i)), 10), nil
	}
	return nil, fmt.Errorf("no text for %s", a.DataType())
}

func appendDecimal(b []byte, a *array.Decimal128, i int) []byte {
	scale := int(a.DataType().(*arrow.Decimal128Type).Scale)
	v := a.Value(i).BigInt()
	if v.Sign() < 0 {
		b = append(b, '-')
	}
	digits := v.Abs(v).String()
	for len(digits) <= scale {
		digits = "0" + digits
	}
	b = append(b, digits[:len(digits)-scale]...)
	if scale > 0 {
		b = append(append(b, '.'), digits[len(digits)-scale:]...)
	}
	return b
}
