package pq

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/parquet-go/parquet-go/format"
	"github.com/zeebo/xxh3"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

const (
	// maxDictionaryEntries bounds dictionaries of tiny values; in bytes they are
	// bounded by the page size.
	maxDictionaryEntries = 1 << 17
	// dictionaryTrial is after how many values it is decided whether a
	// dictionary is worth it.
	dictionaryTrial = 8000
)

// leafWriter encodes one leaf of the records of a Writer: with a dictionary as
// long as one pays, PLAIN from then on.
type leafWriter struct {
	chunk chunkWriter
	trial bool     // the dictionary is still in use
	table []uint32 // open addressing: code + 1
	vals  values
	codes []uint32
}

func (w *leafWriter) open(l *outLeaf, f *fileWriter, c format.CompressionCodec, page int) {
	w.chunk.open(l, f, c, page)
	w.chunk.hold = true
	w.trial = l.typ != format.Boolean
	w.table = w.table[:0]
}

// append takes a batch of values that are not coded.
func (w *leafWriter) append(b *batch) error {
	if w.trial && w.pays() {
		w.encode(&b.vals)
	}
	return w.chunk.append(b, nil)
}

// pays says whether the dictionary goes on, and drops it otherwise: altogether
// when no page is coded yet.
func (w *leafWriter) pays() bool {
	c := &w.chunk
	seen := int(c.values-c.nulls) + c.nvals
	switch {
	case len(c.dict.bytes()) < c.pageBytes && c.dict.n < maxDictionaryEntries &&
		(seen < dictionaryTrial || len(c.pages) > 0 || c.dict.n*3 <= seen*2):
		return true
	case len(c.pages) == 0:
		c.dropDictionary()
	}
	w.trial = false
	return false
}

// dropDictionary brings the page to PLAIN and forgets the dictionary.
func (c *chunkWriter) dropDictionary() {
	v := c.dict.expand(&values{n: len(c.codes), coded: true, codes: c.codes})
	c.vals = append(append(c.vals[:0], v.fixed...), v.plain...)
	c.codes, c.coded, c.enc = c.codes[:0], false, format.Plain
	c.dict.reset(c.leaf.width)
	c.used = c.used[:0]
}

// encode replaces values by codes of the chunk's dictionary.
func (w *leafWriter) encode(v *values) {
	w.codes = grow(w.codes[:0], v.n)
	width := w.chunk.leaf.width
	for i := range v.n {
		if width > 0 {
			w.codes = append(w.codes, w.code(v.fixed[i*width:(i+1)*width]))
		} else {
			w.codes = append(w.codes, w.code(v.plain[v.offs[i]:v.offs[i+1]]))
		}
	}
	*v = values{n: v.n, coded: true, codes: w.codes}
}

// code finds or adds an entry, in its PLAIN form.
func (w *leafWriter) code(entry []byte) uint32 {
	d := &w.chunk.dict
	if 2*(d.n+1) > len(w.table) {
		w.rehash()
	}
	mask := uint64(len(w.table) - 1)
	for h := xxh3.Hash(entry) & mask; ; h = (h + 1) & mask {
		code := w.table[h]
		if code == 0 {
			d.add(entry)
			w.table[h] = uint32(d.n)
			return uint32(d.n - 1)
		}
		if bytes.Equal(d.entry(int(code-1)), entry) {
			return code - 1
		}
	}
}

func (w *leafWriter) rehash() {
	size := max(1024, 2*len(w.table))
	w.table = append(w.table[:0], make([]uint32, size)...)
	clear(w.table)
	mask := uint64(size - 1)
	for i := range w.chunk.dict.n {
		h := xxh3.Hash(w.chunk.dict.entry(i)) & mask
		for w.table[h] != 0 {
			h = (h + 1) & mask
		}
		w.table[h] = uint32(i + 1)
	}
}

// extract gathers the values at the given positions of a.
func (w *leafWriter) extract(l *outLeaf, a arrow.Array, at []int32) (values, error) {
	v := values{n: len(at), fixed: w.vals.fixed[:0], plain: w.vals.plain[:0], offs: w.vals.offs[:0]}
	var err error
	if l.width == 0 {
		err = v.takeBytes(a, at)
	} else if d, ok := l.delta.(schema.Decimal); ok {
		err = v.takeDecimals(d, l, a, at)
	} else {
		err = v.takeNumbers(l.delta.(schema.Primitive), a, at)
	}
	w.vals = v
	return v, err
}

func (v *values) takeBytes(a arrow.Array, at []int32) error {
	var get func(i int) string
	switch x := a.(type) {
	case *array.String:
		get = x.Value
	case *array.LargeString:
		get = x.Value
	case *array.Binary:
		get = x.ValueString
	case *array.LargeBinary:
		get = x.ValueString
	default:
		return fmt.Errorf("array is %s, want text or bytes", a.DataType())
	}
	v.offs = append(v.offs, 0)
	for _, i := range at {
		s := get(int(i))
		if int64(len(v.plain))+int64(len(s)) > maxPage {
			return fmt.Errorf("values of more than %d bytes do not fit a page", maxPage)
		}
		v.plain = append(binary.LittleEndian.AppendUint32(v.plain, uint32(len(s))), s...)
		v.offs = append(v.offs, uint32(len(v.plain)))
	}
	return nil
}

func (v *values) takeDecimals(d schema.Decimal, l *outLeaf, a arrow.Array, at []int32) error {
	x, ok := a.(*array.Decimal128)
	if !ok {
		return fmt.Errorf("array is %s, want %s", a.DataType(), d)
	}
	if s := x.DataType().(*arrow.Decimal128Type).Scale; int(s) != d.Scale {
		return fmt.Errorf("array is %s, want %s", a.DataType(), d)
	}
	for _, i := range at {
		n := x.Value(int(i))
		if n != (decimal128.Num{}) && !n.FitsInPrecision(int32(d.Precision)) {
			return fmt.Errorf("a value does not fit %s", d)
		}
		v.fixed = appendDecimal(v.fixed, n, l.typ, l.width)
	}
	return nil
}

func (v *values) takeNumbers(t schema.Primitive, a arrow.Array, at []int32) error {
	wrong := fmt.Errorf("array is %s, want %s", a.DataType(), t)
	switch x := a.(type) {
	case *array.Boolean:
		for _, i := range at {
			b := byte(0)
			if x.Value(int(i)) {
				b = 1
			}
			v.fixed = append(v.fixed, b)
		}
		return fits(t == schema.Boolean, wrong)
	case *array.Int8:
		take32(v, at, x.Int8Values())
		return fits(t == schema.Byte, wrong)
	case *array.Int16:
		take32(v, at, x.Int16Values())
		return fits(t == schema.Short, wrong)
	case *array.Int32:
		take32(v, at, x.Int32Values())
		return fits(t == schema.Integer, wrong)
	case *array.Date32:
		take32(v, at, x.Date32Values())
		return fits(t == schema.Date, wrong)
	case *array.Int64:
		take64(v, at, x.Int64Values())
		return fits(t == schema.Long, wrong)
	case *array.Timestamp:
		take64(v, at, x.TimestampValues())
		unit := x.DataType().(*arrow.TimestampType).Unit
		return fits(unit == arrow.Microsecond && (t == schema.Timestamp || t == schema.TimestampNTZ), wrong)
	}
	return v.takeFloats(t, a, at, wrong)
}

func (v *values) takeFloats(t schema.Primitive, a arrow.Array, at []int32, wrong error) error {
	switch x := a.(type) {
	case *array.Float32:
		for _, i := range at {
			v.fixed = binary.LittleEndian.AppendUint32(v.fixed, math.Float32bits(x.Value(int(i))))
		}
		return fits(t == schema.Float, wrong)
	case *array.Float64:
		for _, i := range at {
			v.fixed = binary.LittleEndian.AppendUint64(v.fixed, math.Float64bits(x.Value(int(i))))
		}
		return fits(t == schema.Double, wrong)
	}
	return wrong
}

func take32[T ~int8 | ~int16 | ~int32](v *values, at []int32, from []T) {
	for _, i := range at {
		v.fixed = binary.LittleEndian.AppendUint32(v.fixed, uint32(int32(from[i])))
	}
}

func take64[T ~int64](v *values, at []int32, from []T) {
	for _, i := range at {
		v.fixed = binary.LittleEndian.AppendUint64(v.fixed, uint64(from[i]))
	}
}

func fits(ok bool, wrong error) error {
	if ok {
		return nil
	}
	return wrong
}
