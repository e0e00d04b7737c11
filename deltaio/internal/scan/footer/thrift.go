package footer

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Wire types of the compact protocol.
const (
	wireStop   = 0
	wireTrue   = 1
	wireFalse  = 2
	wireByte   = 3
	wireI16    = 4
	wireI32    = 5
	wireI64    = 6
	wireDouble = 7
	wireBinary = 8
	wireList   = 9
	wireSet    = 10
	wireMap    = 11
	wireStruct = 12
	wireUUID   = 13
)

// maxNesting bounds how deep unknown fields are skipped, so that a hostile
// input cannot exhaust the stack.
const maxNesting = 64

// decoder reads one buffer. The first error sticks: later reads give zero
// values and every loop ends, so that callers check it once.
type decoder struct {
	b     []byte
	pos   int
	depth int
	err   error
	// short is set when the error is that the buffer ended; a page header may
	// then be read again from a longer window.
	short bool
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: metadata at byte %d: %s", ErrCorrupt, d.pos, fmt.Sprintf(format, args...))
	}
}

func (d *decoder) truncated() {
	if d.err == nil {
		d.fail("ends in the middle")
		d.short = true
	}
}

func (d *decoder) byte() byte {
	if d.err != nil {
		return 0
	}
	if d.pos >= len(d.b) {
		d.truncated()
		return 0
	}
	c := d.b[d.pos]
	d.pos++
	return c
}

func (d *decoder) uvarint() uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.b[d.pos:])
	switch {
	case n > 0:
		d.pos += n
		return v
	case n == 0 && len(d.b)-d.pos < binary.MaxVarintLen64:
		d.truncated()
	default:
		d.fail("an integer is too long")
	}
	return 0
}

func (d *decoder) varint() int64 {
	u := d.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (d *decoder) i32() int32 {
	v := d.varint()
	if v < math.MinInt32 || v > math.MaxInt32 {
		d.fail("%d does not fit 32 bits", v)
		return 0
	}
	return int32(v)
}

func (d *decoder) bytes() []byte {
	n := d.uvarint()
	if d.err != nil {
		return nil
	}
	if n > math.MaxInt32 {
		d.fail("a string of %d bytes", n)
		return nil
	}
	if n > uint64(len(d.b)-d.pos) {
		d.truncated()
		return nil
	}
	s := d.b[d.pos : d.pos+int(n) : d.pos+int(n)]
	d.pos += int(n)
	return s
}

func (d *decoder) string() string { return string(d.bytes()) }

// require fails unless the struct just read, named what, had all the fields.
func (d *decoder) require(seen uint64, what string, ids ...int) {
	for _, id := range ids {
		if d.err == nil && seen>>id&1 == 0 {
			d.fail("%s without its field %d", what, id)
		}
	}
}

// fields calls f for each field of a struct. f reads the value and returns
// true, or returns false and reads nothing: the field is then skipped. Booleans
// live in the wire type. The result has a bit for each field that f read.
func (d *decoder) fields(f func(id int16, wire byte) bool) (seen uint64) {
	if d.depth++; d.depth > maxNesting {
		d.fail("nested deeper than %d structs", maxNesting)
	}
	defer func() { d.depth-- }()
	id := int16(0)
	for d.err == nil {
		h := d.byte()
		if d.err != nil || h&0xf == wireStop {
			return seen
		}
		if delta := h >> 4; delta != 0 {
			id += int16(delta)
		} else {
			v := d.varint()
			if v < math.MinInt16 || v > math.MaxInt16 {
				d.fail("field number %d", v)
				return seen
			}
			id = int16(v)
		}
		if wire := h & 0xf; !f(id, wire) {
			d.skip(wire)
		} else if id >= 0 && id < 64 {
			seen |= 1 << id
		}
	}
	return seen
}

// list calls f once per element of a list of the wire type want. least is the
// fewest bytes a sane element takes: a length that needs more bytes than follow
// is refused before anything is built from it.
func (d *decoder) list(want byte, least int, f func()) {
	n, elem := d.listHeader()
	if n > 0 && elem != want {
		d.fail("a list of type %d where %d is expected", elem, want)
	}
	if n > 0 && n > (len(d.b)-d.pos)/least {
		d.truncated()
	}
	for i := 0; i < n && d.err == nil; i++ {
		f()
	}
}

func (d *decoder) listHeader() (n int, elem byte) {
	h := d.byte()
	size := uint64(h >> 4)
	if size == 15 {
		size = d.uvarint()
	}
	if d.err != nil {
		return 0, 0
	}
	// Every element takes a byte at least.
	if size > uint64(len(d.b)-d.pos) {
		d.truncated()
		return 0, 0
	}
	return int(size), h & 0xf
}

func (d *decoder) skip(wire byte) {
	if d.depth++; d.depth > maxNesting {
		d.fail("nested deeper than %d", maxNesting)
	}
	defer func() { d.depth-- }()
	switch wire {
	case wireTrue, wireFalse:
	case wireByte:
		d.byte()
	case wireI16, wireI32, wireI64:
		d.uvarint()
	case wireDouble:
		d.skipBytes(8)
	case wireUUID:
		d.skipBytes(16)
	case wireBinary:
		d.bytes()
	case wireList, wireSet:
		n, elem := d.listHeader()
		for i := 0; i < n && d.err == nil; i++ {
			d.skipElement(elem)
		}
	case wireMap:
		d.skipMap()
	case wireStruct:
		d.fields(func(int16, byte) bool { return false })
	default:
		d.fail("wire type %d", wire)
	}
}

// skipElement skips a value inside a container, where booleans take a byte.
func (d *decoder) skipElement(wire byte) {
	if wire == wireTrue || wire == wireFalse {
		d.byte()
		return
	}
	d.skip(wire)
}

func (d *decoder) skipMap() {
	n := d.uvarint()
	if n == 0 || d.err != nil {
		return
	}
	kv := d.byte()
	if n > uint64(len(d.b)-d.pos) {
		d.truncated()
		return
	}
	for i := uint64(0); i < n && d.err == nil; i++ {
		d.skipElement(kv >> 4)
		d.skipElement(kv & 0xf)
	}
}

func (d *decoder) skipBytes(n int) {
	if d.err != nil {
		return
	}
	if n > len(d.b)-d.pos {
		d.truncated()
		return
	}
	d.pos += n
}
