package page

import "encoding/binary"

// deltaInts decodes DELTA_BINARY_PACKED integers.
type deltaInts struct {
	b        []byte
	blockLen int // values a block
	miniLen  int // values a miniblock
	left     int // values not read yet
	first    bool
	prev     uint64
	minDelta uint64
	widths   []byte // bit widths of the miniblocks still to come in the block
	width    uint   // the current miniblock
	mini     int    // values left in it
	bits     []byte
	bit      int
}

// maxDeltaBlock bounds the block size that headers may state.
const maxDeltaBlock = 1 << 20

// reset reads the header of a stream of at most limit values.
func (p *deltaInts) reset(b []byte, limit int) error {
	var head [3]uint64
	for i := range head {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return corrupt("a delta header ends too early")
		}
		head[i], b = v, b[n:]
	}
	first, n := binary.Varint(b)
	if n <= 0 {
		return corrupt("a delta header ends too early")
	}
	block, minis, total := head[0], head[1], head[2]
	if block == 0 || block > maxDeltaBlock || minis == 0 || minis > block || block%minis != 0 || block/minis%8 != 0 {
		return corrupt("a delta block of %d values in %d parts", block, minis)
	}
	if total > uint64(limit) {
		return corrupt("%d delta values in a page of %d", total, limit)
	}
	*p = deltaInts{b: b[n:], blockLen: int(block), miniLen: int(block / minis), left: int(total), first: total > 0, prev: uint64(first)}
	return nil
}

// read fills dst.
func (p *deltaInts) read(dst []int64) error {
	if len(dst) > p.left {
		return corrupt("%d delta values left in the page, %d needed", p.left, len(dst))
	}
	p.left -= len(dst)
	if p.first && len(dst) > 0 {
		dst[0], dst, p.first = int64(p.prev), dst[1:], false
	}
	for len(dst) > 0 {
		if p.mini == 0 {
			if err := p.nextMini(p.left + len(dst)); err != nil {
				return err
			}
		}
		n := min(len(dst), p.mini)
		p.unpack(dst[:n])
		p.mini -= n
		dst = dst[n:]
	}
	return nil
}

// nextMini enters the next miniblock; needed is how many values are to come.
func (p *deltaInts) nextMini(needed int) error {
	if len(p.widths) == 0 {
		d, n := binary.Varint(p.b)
		minis := p.blockLen / p.miniLen
		if n <= 0 || len(p.b)-n < minis {
			return corrupt("a delta block ends too early")
		}
		p.minDelta, p.widths, p.b = uint64(d), p.b[n:n+minis], p.b[n+minis:]
	}
	p.width, p.widths = uint(p.widths[0]), p.widths[1:]
	if p.width > 64 {
		return corrupt("deltas of %d bits", p.width)
	}
	size := p.miniLen * int(p.width) / 8
	if size > len(p.b) {
		// The last miniblock may lack the bytes that only pad it.
		if needed > p.miniLen || len(p.b)*8 < needed*int(p.width) {
			return corrupt("a delta block ends too early")
		}
		size = len(p.b)
	}
	p.bits, p.b, p.bit, p.mini = p.b[:size], p.b[size:], 0, p.miniLen
	return nil
}

func (p *deltaInts) unpack(dst []int64) {
	prev, w := p.prev, int(p.width)
	if w == 0 {
		for i := range dst {
			prev += p.minDelta
			dst[i] = int64(prev)
		}
		p.prev = prev
		return
	}
	mask := ^uint64(0) >> (64 - w)
	for i := range dst {
		at, shift := p.bit>>3, p.bit&7
		x := load64(p.bits, at) >> shift
		if shift+w > 64 && at+8 < len(p.bits) {
			x |= uint64(p.bits[at+8]) << (64 - shift)
		}
		prev += p.minDelta + x&mask
		dst[i] = int64(prev)
		p.bit += w
	}
	p.prev = prev
}

// rest gives the bytes behind the stream, once all values are read.
func (p *deltaInts) rest() []byte { return p.b }

// deltaValues decodes DELTA_BINARY_PACKED columns of 32 or 64 bits.
type deltaValues struct {
	ints deltaInts
	buf  [1024]int64
}

func (p *deltaValues) read(v *Vector, n int) error {
	dst, err := v.grow(n * v.Width)
	if err != nil {
		return err
	}
	if v.Width == 8 {
		return p.ints.read(View[int64](dst))
	}
	for out := View[int32](dst); len(out) > 0; {
		part := p.buf[:min(len(out), len(p.buf))]
		if err := p.ints.read(part); err != nil {
			return err
		}
		for i, x := range part {
			out[i] = int32(x) // deltas wrap around in 32 bits
		}
		out = out[len(part):]
	}
	return nil
}

func (p *deltaValues) done() error {
	if p.ints.left > 0 {
		return corrupt("%d values more than the page's levels call for", p.ints.left)
	}
	return nil
}

// lengths reads a whole delta stream of at most limit byte counts, and gives
// what follows it.
func lengths(into []int32, b []byte, limit int) (all []int32, rest []byte, err error) {
	var p deltaInts
	if err := p.reset(b, limit); err != nil {
		return nil, nil, err
	}
	var buf [256]int64
	all = into[:0]
	for p.left > 0 {
		part := buf[:min(p.left, len(buf))]
		if err := p.read(part); err != nil {
			return nil, nil, err
		}
		for _, x := range part {
			if x < 0 || x > MaxData {
				return nil, nil, corrupt("a value of %d bytes", x)
			}
			all = append(all, int32(x))
		}
	}
	return all, p.rest(), nil
}
