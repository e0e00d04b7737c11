package page

// deltaLength decodes DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes.
type deltaLength struct {
	sizes []int32
	at    int
	b     []byte
}

func (p *deltaLength) reset(b []byte, limit int) (err error) {
	p.at = 0
	p.sizes, p.b, err = lengths(p.sizes, b, limit)
	return err
}

// next gives the next value; it aliases the page.
func (p *deltaLength) next() ([]byte, error) {
	if p.at >= len(p.sizes) {
		return nil, corrupt("the page has %d values, more are needed", len(p.sizes))
	}
	n := int(p.sizes[p.at])
	if n > len(p.b) {
		return nil, corrupt("a value of %d bytes exceeds the page", n)
	}
	s := p.b[:n]
	p.at, p.b = p.at+1, p.b[n:]
	return s, nil
}

func (p *deltaLength) read(v *Vector, n int) error {
	for range n {
		s, err := p.next()
		if err != nil {
			return err
		}
		if err := v.appendValue(nil, s); err != nil {
			return err
		}
	}
	return nil
}

func (p *deltaLength) done() error {
	if p.at < len(p.sizes) {
		return corrupt("%d values more than the page's levels call for", len(p.sizes)-p.at)
	}
	return leftOver(len(p.b))
}

// appendValue appends the value prefix+suffix.
func (v *Vector) appendValue(prefix, suffix []byte) error {
	n := len(prefix) + len(suffix)
	if v.Width > 0 && n != v.Width {
		return corrupt("a value of %d bytes where %d are fixed", n, v.Width)
	}
	dst, err := v.grow(n)
	if err != nil {
		return err
	}
	copy(dst[copy(dst, prefix):], suffix)
	if v.Width == 0 {
		v.Offsets = append(v.Offsets, int32(len(v.Data)))
	}
	return nil
}

// deltaBytes decodes DELTA_BYTE_ARRAY: how much of the value before is kept,
// and what follows it.
type deltaBytes struct {
	keep   []int32
	suffix deltaLength
	prev   []byte
}

func (p *deltaBytes) reset(b []byte, limit int) (err error) {
	p.prev = p.prev[:0]
	if p.keep, b, err = lengths(p.keep, b, limit); err != nil {
		return err
	}
	if err := p.suffix.reset(b, limit); err != nil {
		return err
	}
	if len(p.keep) != len(p.suffix.sizes) {
		return corrupt("%d prefixes for %d suffixes", len(p.keep), len(p.suffix.sizes))
	}
	return nil
}

func (p *deltaBytes) read(v *Vector, n int) error {
	for range n {
		at := p.suffix.at
		s, err := p.suffix.next()
		if err != nil {
			return err
		}
		k := int(p.keep[at])
		if k > len(p.prev) {
			return corrupt("a prefix of %d bytes of a value of %d", k, len(p.prev))
		}
		if err := v.appendValue(p.prev[:k], s); err != nil {
			return err
		}
		p.prev = append(p.prev[:k], s...)
	}
	return nil
}

func (p *deltaBytes) done() error { return p.suffix.done() }

// streamSplit decodes BYTE_STREAM_SPLIT: the first bytes of all values, then
// the second bytes, and so on.
type streamSplit struct {
	b     []byte
	width int
	n, at int // values in the page, values read
}

func (p *streamSplit) reset(b []byte, width int) error {
	if len(b)%width != 0 {
		return corrupt("%d bytes of values of %d bytes each", len(b), width)
	}
	*p = streamSplit{b: b, width: width, n: len(b) / width}
	return nil
}

func (p *streamSplit) read(v *Vector, n int) error {
	if n > p.n-p.at {
		return corrupt("%d values left in the page, %d needed", p.n-p.at, n)
	}
	dst, err := v.grow(n * p.width)
	if err != nil {
		return err
	}
	for k := range p.width {
		stream := p.b[k*p.n+p.at:][:n]
		for i, x := range stream {
			dst[i*p.width+k] = x
		}
	}
	p.at += n
	return nil
}

func (p *streamSplit) done() error { return leftOver((p.n - p.at) * p.width) }
