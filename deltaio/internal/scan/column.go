package scan

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/page"
)

// column builds one Arrow column, or a nested part of one, from the leaves that
// are loaded with a batch.
type column interface {
	// build makes n slots; that it comes to n is checked.
	build(n int) (arrow.ArrayData, error)
	// leaves are the physical columns read for it, its guide first.
	leaves() []*leaf
}

// primitive is a column without children. Its slots are the entries whose
// definition level reaches elemDef.
type primitive struct {
	*leaf
	dt      arrow.DataType
	elemDef int
}

func (c *primitive) leaves() []*leaf { return []*leaf{c.leaf} }

func (c *primitive) build(n int) (arrow.ArrayData, error) {
	bits := c.bits
	if !c.flat {
		var slots int
		bits, slots = c.validity()
		if slots != n {
			return nil, fmt.Errorf("%w: column %s: %d values where its neighbours have %d", ErrCorrupt, c.node.Path(), slots, n)
		}
	}
	v := &c.values
	if v.Width == 0 {
		if c.present < n {
			v.Offsets = spreadOffsets(v.Offsets, bits, c.present, n)
		}
		c.sizeHint = len(v.Data) + len(v.Data)/8
		return newData(c.dt, n, bits, c.present, bytesOf(v.Offsets), v.Data), nil
	}
	if c.dt.ID() == arrow.BOOL {
		return newData(c.dt, n, bits, c.present, packBools(v.Data, bits, c.present, n)), nil
	}
	if c.present < n {
		v.Data = spread(v.Data, v.Width, bits, c.present, n)
	}
	return newData(c.dt, n, bits, c.present, v.Data), nil
}

// validity turns levels into a bitmap and counts the slots.
func (c *primitive) validity() (bits []byte, slots int) {
	bits = make([]byte, (len(c.def)+7)/8+8)
	top := c.node.MaxDef
	for _, d := range c.def {
		if int(d) < c.elemDef {
			continue
		}
		if int(d) == top {
			bits[slots>>3] |= 1 << (slots & 7)
		}
		slots++
	}
	return bits, slots
}

// newData wraps buffers; present is the number of slots that are not null.
func newData(dt arrow.DataType, n int, bits []byte, present int, buffers ...[]byte) arrow.ArrayData {
	all := make([]*memory.Buffer, 1, 1+len(buffers))
	if present < n {
		all[0] = memory.NewBufferBytes(bits[:(n+7)/8])
	}
	for _, b := range buffers {
		all = append(all, memory.NewBufferBytes(b))
	}
	return array.NewData(dt, n, all, nil, n-present, 0)
}

func bytesOf(offsets []int32) []byte {
	return arrow.Int32Traits.CastToBytes(offsets)
}

func bit(bits []byte, i int) int { return int(bits[i>>3]>>(i&7)) & 1 }

// spread moves dense values of the given width to their slots, in place, from
// the last to the first. What lies in the slots of nulls is undefined.
func spread(data []byte, width int, bits []byte, present, n int) []byte {
	if cap(data) < n*width {
		bigger := page.Aligned(n * width)
		copy(bigger, data)
		data = bigger
	}
	data = data[:n*width]
	switch width {
	case 4:
		spreadWords(page.View[uint32](data), bits, present)
	case 8:
		spreadWords(page.View[uint64](data), bits, present)
	default:
		j := present
		for i := n - 1; i >= j && i >= 0; i-- {
			if bit(bits, i) == 1 {
				j--
				copy(data[i*width:(i+1)*width], data[j*width:])
			}
		}
	}
	return data
}

func spreadWords[T any](v []T, bits []byte, present int) {
	// Once as many slots as values are left, those values are in place.
	j := present
	for i := len(v) - 1; i >= j && j > 0; i-- {
		v[i] = v[j-1]
		j -= bit(bits, i)
	}
}

// spreadOffsets gives nulls the extent of an empty value.
func spreadOffsets(offsets []int32, bits []byte, present, n int) []int32 {
	if cap(offsets) < n+1 {
		bigger := make([]int32, n+1)
		copy(bigger, offsets)
		offsets = bigger
	}
	offsets = offsets[:n+1]
	j := present
	offsets[n] = offsets[j]
	for i := n - 1; i >= j; i-- {
		j -= bit(bits, i)
		offsets[i] = offsets[j]
	}
	return offsets
}

// packBools makes a bitmap of dense bytes.
func packBools(values, bits []byte, present, n int) []byte {
	out := make([]byte, (n+7)/8)
	j := 0
	for i := 0; i < n && j < present; i++ {
		if present < n && bit(bits, i) == 0 {
			continue
		}
		out[i>>3] |= values[j] << (i & 7)
		j++
	}
	return out
}

// nothing is a column that the file lacks, or whose type has no values.
type nothing struct{ dt arrow.DataType }

func (c *nothing) leaves() []*leaf { return nil }

func (c *nothing) build(n int) (arrow.ArrayData, error) { return nulls(c.dt, n), nil }

// nulls makes n nulls of any type.
func nulls(dt arrow.DataType, n int) arrow.ArrayData {
	if dt.ID() == arrow.NULL {
		return array.NewData(dt, n, []*memory.Buffer{nil}, nil, n, 0)
	}
	bits := make([]byte, (n+7)/8)
	switch t := dt.(type) {
	case *arrow.StructType:
		children := make([]arrow.ArrayData, t.NumFields())
		for i := range children {
			children[i] = nulls(t.Field(i).Type, n)
		}
		return array.NewData(dt, n, []*memory.Buffer{memory.NewBufferBytes(bits)}, children, n, 0)
	case *arrow.ListType:
		return newList(dt, n, bits, 0, make([]int32, n+1), nulls(t.Elem(), 0))
	case *arrow.MapType:
		return newList(dt, n, bits, 0, make([]int32, n+1), nulls(t.Elem(), 0))
	case arrow.BinaryDataType:
		return newData(dt, n, bits, 0, make([]byte, 4*(n+1)), nil)
	case arrow.FixedWidthDataType:
		return newData(dt, n, bits, 0, page.Aligned((n*t.BitWidth()+7)/8))
	}
	panic(fmt.Sprintf("no nulls of %s", dt)) // schema.ArrowType gives no other
}

func newList(dt arrow.DataType, n int, bits []byte, present int, offsets []int32, elem arrow.ArrayData) arrow.ArrayData {
	var validity *memory.Buffer
	if present < n {
		validity = memory.NewBufferBytes(bits[:(n+7)/8])
	}
	return array.NewData(dt, n, []*memory.Buffer{validity, memory.NewBufferBytes(bytesOf(offsets))}, []arrow.ArrayData{elem}, n-present, 0)
}
