package rowhash

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/zeebo/xxh3"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

func (h *Hash128) plus(u xxh3.Uint128) {
	var carry uint64
	h.Lo, carry = bits.Add64(h.Lo, u.Lo, 0)
	h.Hi, _ = bits.Add64(h.Hi, u.Hi, carry)
}

// add adds the hashes of a column's values to the rows.
func (c *hashedColumn) add(rows []Hash128, a arrow.Array) error {
	if d, ok := a.(*array.Dictionary); ok {
		return c.addDictionary(rows, d)
	}
	if err := fits(c.t, a.DataType()); err != nil {
		return err
	}
	if a.Len() != len(rows) {
		return fmt.Errorf("%d values for %d rows", a.Len(), len(rows))
	}
	if a.NullN() == a.Len() { // none at all included
		for i := range rows {
			rows[i].plus(c.null)
		}
		return nil
	}
	switch x := a.(type) {
	case *array.Int64:
		addWords(c, rows, a, x.Int64Values())
	case *array.Int32:
		addWords(c, rows, a, x.Int32Values())
	case *array.Int16:
		addWords(c, rows, a, x.Int16Values())
	case *array.Int8:
		addWords(c, rows, a, x.Int8Values())
	case *array.Date32:
		addWords(c, rows, a, x.Date32Values())
	case *array.Timestamp:
		addWords(c, rows, a, x.TimestampValues())
	case *array.Float64:
		addWide(c, rows, a, func(b []byte, i int) {
			binary.LittleEndian.PutUint64(b, doubleBits(x.Value(i)))
		}, 8)
	case *array.Decimal128:
		values := x.Values()
		addWide(c, rows, a, func(b []byte, i int) {
			binary.LittleEndian.PutUint64(b, values[i].LowBits())
			binary.LittleEndian.PutUint64(b[8:], uint64(values[i].HighBits()))
		}, 16)
	case *array.String:
		c.addBytes(rows, a, x.ValueBytes(), x.ValueOffsets())
	case *array.Binary:
		c.addBytes(rows, a, x.ValueBytes(), x.ValueOffsets())
	default:
		return c.addOthers(rows, a)
	}
	return nil
}

// fits refuses a record whose column is not what the schema says.
func fits(t schema.Type, dt arrow.DataType) error {
	want, err := schema.ArrowType(t)
	if err != nil {
		return err
	}
	if !sameShape(want, dt) {
		return fmt.Errorf("the schema says %s (%s), the record has %s", t, want, dt)
	}
	return nil
}

// sameShape compares types without regard to nullability and the names that
// Arrow gives to list elements.
func sameShape(a, b arrow.DataType) bool {
	if a.ID() != b.ID() {
		return false
	}
	switch x := a.(type) {
	case *arrow.StructType:
		y := b.(*arrow.StructType)
		if x.NumFields() != y.NumFields() {
			return false
		}
		for i := range x.NumFields() {
			if x.Field(i).Name != y.Field(i).Name || !sameShape(x.Field(i).Type, y.Field(i).Type) {
				return false
			}
		}
		return true
	case *arrow.ListType:
		return sameShape(x.Elem(), b.(*arrow.ListType).Elem())
	case *arrow.MapType:
		y := b.(*arrow.MapType)
		return sameShape(x.KeyType(), y.KeyType()) && sameShape(x.ItemType(), y.ItemType())
	}
	return arrow.TypeEqual(a, b)
}

// addWords hashes integers, dates and timestamps as 8 bytes each.
func addWords[T ~int8 | ~int16 | ~int32 | ~int64](c *hashedColumn, rows []Hash128, a arrow.Array, values []T) {
	var b [8]byte
	nulls := a.NullN() > 0
	for i, v := range values {
		if nulls && a.IsNull(i) {
			rows[i].plus(c.null)
			continue
		}
		binary.LittleEndian.PutUint64(b[:], uint64(int64(v)))
		rows[i].plus(xxh3.Hash128Seed(b[:], c.seed))
	}
}

// addWide hashes values whose canonical bytes put writes, width of them.
func addWide(c *hashedColumn, rows []Hash128, a arrow.Array, put func(b []byte, i int), width int) {
	var buf [16]byte
	b := buf[:width]
	for i := range rows {
		if a.IsNull(i) {
			rows[i].plus(c.null)
			continue
		}
		put(b, i)
		rows[i].plus(xxh3.Hash128Seed(b, c.seed))
	}
}

// addBytes hashes strings and binaries. data holds the bytes from the first
// offset on.
func (c *hashedColumn) addBytes(rows []Hash128, a arrow.Array, data []byte, offsets []int32) {
	nulls := a.NullN() > 0
	base := offsets[0]
	for i := range rows {
		if nulls && a.IsNull(i) {
			rows[i].plus(c.null)
			continue
		}
		rows[i].plus(xxh3.Hash128Seed(data[offsets[i]-base:offsets[i+1]-base], c.seed))
	}
}

// addOthers hashes the canonical bytes of any value.
func (c *hashedColumn) addOthers(rows []Hash128, a arrow.Array) error {
	var b []byte
	for i := range rows {
		if a.IsNull(i) {
			rows[i].plus(c.null)
			continue
		}
		var err error
		if b, err = appendValue(b[:0], a, i); err != nil {
			return err
		}
		rows[i].plus(xxh3.Hash128Seed(b, c.seed))
	}
	return nil
}

// addDictionary hashes every entry of the dictionary once.
func (c *hashedColumn) addDictionary(rows []Hash128, d *array.Dictionary) error {
	entries := make([]Hash128, d.Dictionary().Len())
	if err := c.add(entries, d.Dictionary()); err != nil {
		return err
	}
	for i := range rows {
		if d.IsNull(i) {
			rows[i].plus(c.null)
			continue
		}
		e := entries[d.GetValueIndex(i)]
		rows[i].plus(xxh3.Uint128{Lo: e.Lo, Hi: e.Hi})
	}
	return nil
}
