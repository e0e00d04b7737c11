package page

import "encoding/binary"

// dictionary holds the decoded values of a dictionary page. values of variable
// width have slack behind their data.
type dictionary struct {
	Vector
	n int
}

// load decodes a dictionary page of n plain values.
func (d *dictionary) load(b []byte, n, width int) error {
	d.Reset(width, 0, len(b))
	var err error
	if width > 0 {
		p := plainFixed{b, width}
		if err = p.read(&d.Vector, n); err == nil {
			err = p.done()
		}
	} else {
		if n > len(b)/4 {
			return corrupt("a dictionary of %d values in %d bytes", n, len(b))
		}
		p := plainVar{b}
		if err = p.read(&d.Vector, n); err == nil {
			err = p.done()
		}
	}
	d.n = n
	return err
}

// indexBlock is how many indices are decoded at a time.
const indexBlock = 4096

// dictValues decodes indices into a dictionary.
type dictValues struct {
	h    hybrid
	dict *dictionary
	idx  [indexBlock]uint32
}

func (p *dictValues) reset(b []byte, dict *dictionary) error {
	if len(b) == 0 { // a page of nulls
		p.h.reset(nil, 0)
		p.dict = dict
		return nil
	}
	if b[0] > 32 {
		return corrupt("dictionary indices of %d bits", b[0])
	}
	p.h.reset(b[1:], uint(b[0]))
	p.dict = dict
	return nil
}

func (p *dictValues) done() error { return nil }

func (p *dictValues) read(v *Vector, n int) error {
	for n > 0 {
		idx := p.idx[:min(n, indexBlock)]
		if err := p.h.read32(idx); err != nil {
			return err
		}
		if err := p.check(idx); err != nil {
			return err
		}
		if err := p.gather(v, idx); err != nil {
			return err
		}
		n -= len(idx)
	}
	return nil
}

// check makes sure that all indices lie within the dictionary.
func (p *dictValues) check(idx []uint32) error {
	size := uint32(p.dict.n)
	if w := p.h.width; w < 32 && size>>w != 0 {
		return nil // no index of that many bits can lie outside
	}
	top := uint32(0)
	for _, x := range idx {
		top = max(top, x)
	}
	if top >= size {
		return corrupt("dictionary index %d of %d values", top, size)
	}
	return nil
}

func (p *dictValues) gather(v *Vector, idx []uint32) error {
	switch p.dict.Width {
	case 0:
		return p.gatherVar(v, idx)
	case 4:
		dst, err := v.grow(len(idx) * 4)
		if err != nil {
			return err
		}
		out, values := View[uint32](dst), View[uint32](p.dict.Data)
		for i, x := range idx {
			out[i] = values[x]
		}
	case 8:
		dst, err := v.grow(len(idx) * 8)
		if err != nil {
			return err
		}
		out, values := View[uint64](dst), View[uint64](p.dict.Data)
		for i, x := range idx {
			out[i] = values[x]
		}
	default:
		w := p.dict.Width
		dst, err := v.grow(len(idx) * w)
		if err != nil {
			return err
		}
		for i, x := range idx {
			copy(dst[i*w:(i+1)*w], p.dict.Data[int(x)*w:])
		}
	}
	return nil
}

func (p *dictValues) gatherVar(v *Vector, idx []uint32) error {
	offsets, total := p.dict.Offsets, 0
	for _, x := range idx {
		total += int(offsets[x+1] - offsets[x])
	}
	end := len(v.Data)
	if _, err := v.grow(total); err != nil {
		return err
	}
	v.Offsets = extend(v.Offsets, len(idx))
	out := v.Offsets[len(v.Offsets)-len(idx):]
	room, values := v.Data[:cap(v.Data)], p.dict.Data[:cap(p.dict.Data)]
	for i, x := range idx {
		from, to := int(offsets[x]), int(offsets[x+1])
		if to-from <= slack {
			copyWords(room[end:], values[from:])
		} else {
			copy(room[end:end+to-from], values[from:to])
		}
		end += to - from
		out[i] = int32(end)
	}
	return nil
}

// prefixed gives the first section of b, which a length of 4 bytes precedes,
// and the rest.
func prefixed(b []byte) (section, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, corrupt("the page ends before its levels")
	}
	n := binary.LittleEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-4) {
		return nil, nil, corrupt("levels of %d bytes exceed the page", n)
	}
	return b[4 : 4+n], b[4+n:], nil
}
