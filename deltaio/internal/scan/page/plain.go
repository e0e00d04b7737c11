package page

import "encoding/binary"

// decoder decodes the values of one page, in order.
type decoder interface {
	// read appends n values to v.
	read(v *Vector, n int) error
	// done complains when the page holds values that were not asked for.
	done() error
}

// plainFixed decodes PLAIN values of fixed width.
type plainFixed struct {
	b     []byte
	width int
}

func (p *plainFixed) read(v *Vector, n int) error {
	if n > len(p.b)/p.width {
		return corrupt("%d values left in the page, %d needed", len(p.b)/p.width, n)
	}
	dst, err := v.grow(n * p.width)
	if err != nil {
		return err
	}
	copy(dst, p.b)
	p.b = p.b[n*p.width:]
	return nil
}

func (p *plainFixed) done() error { return leftOver(len(p.b)) }

func leftOver(n int) error {
	if n > 0 {
		return corrupt("%d bytes of values more than the page's levels call for", n)
	}
	return nil
}

// plainBool decodes PLAIN booleans: a bit each.
type plainBool struct {
	b   []byte
	bit int
}

func (p *plainBool) read(v *Vector, n int) error {
	if n > len(p.b)*8-p.bit {
		return corrupt("%d values left in the page, %d needed", len(p.b)*8-p.bit, n)
	}
	dst, err := v.grow(n)
	if err != nil {
		return err
	}
	for i := range dst {
		dst[i] = p.b[p.bit>>3] >> (p.bit & 7) & 1
		p.bit++
	}
	return nil
}

func (p *plainBool) done() error { return leftOver(len(p.b) - (p.bit+7)/8) }

// rleBool decodes booleans in runs, behind a length of 4 bytes.
type rleBool struct{ h hybrid }

func (p *rleBool) reset(b []byte) error {
	if len(b) == 0 {
		p.h.reset(nil, 1)
		return nil
	}
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return corrupt("the length of runs of booleans exceeds the page")
	}
	p.h.reset(b[4:4+binary.LittleEndian.Uint32(b)], 1)
	return nil
}

func (p *rleBool) read(v *Vector, n int) error {
	dst, err := v.grow(n)
	if err != nil {
		return err
	}
	return p.h.read8(dst, 1)
}

func (p *rleBool) done() error { return nil }

// plainVar decodes PLAIN values of variable width: a length of 4 bytes before
// each.
type plainVar struct{ b []byte }

func (p *plainVar) read(v *Vector, n int) error {
	// First the lengths, so that memory is taken once and the copies below
	// need no checks.
	at, total := 0, 0
	for range n {
		if len(p.b)-at < 4 {
			return corrupt("the page ends before its last value")
		}
		size := int(binary.LittleEndian.Uint32(p.b[at:]))
		if size > len(p.b)-at-4 {
			return corrupt("a value of %d bytes exceeds the page", size)
		}
		at += 4 + size
		total += size
	}
	end := len(v.Data)
	if _, err := v.grow(total); err != nil {
		return err
	}
	v.Offsets = extend(v.Offsets, n)
	src, out := p.b, v.Offsets[len(v.Offsets)-n:]
	room := v.Data[:cap(v.Data)]
	for i := range out {
		size := int(binary.LittleEndian.Uint32(src))
		if size <= slack && len(src) >= 4+slack {
			copyWords(room[end:], src[4:])
		} else {
			copy(room[end:end+size], src[4:])
		}
		end += size
		out[i] = int32(end)
		src = src[4+size:]
	}
	p.b = src
	return nil
}

func (p *plainVar) done() error { return leftOver(len(p.b)) }

// copyWords copies slack bytes, whatever the value's true length: what is
// behind it is overwritten by the next value or not used.
func copyWords(dst, src []byte) {
	_, _ = dst[slack-1], src[slack-1]
	*(*[slack]byte)(dst) = *(*[slack]byte)(src)
}

// extend lengthens s by n elements whose values are undefined.
func extend[T any](s []T, n int) []T {
	if len(s)+n <= cap(s) {
		return s[:len(s)+n]
	}
	bigger := make([]T, len(s)+n, max(len(s)+n, 2*cap(s)))
	copy(bigger, s)
	return bigger
}
