package page

import "encoding/binary"

// hybrid decodes the run-length and bit-packed hybrid of levels, dictionary
// indices and booleans, as much at a time as is asked for.
type hybrid struct {
	b     []byte // what follows the current run
	width uint   // bits a value, 0 to 32
	// One of the two is positive inside a run.
	repeat int // values left of a repeated run
	packed int // values left of a bit-packed run
	value  uint32
	bits   []byte // the bit-packed run
	bit    int    // position in bits
}

func (h *hybrid) reset(b []byte, width uint) { *h = hybrid{b: b, width: width} }

// run enters the next run that has values.
func (h *hybrid) run() error {
	for {
		head, n := binary.Uvarint(h.b)
		if n <= 0 || head > 1<<32 {
			return corrupt("runs of levels or indices end too early")
		}
		h.b = h.b[n:]
		if head&1 == 1 {
			if h.enterPacked(int(head >> 1)) {
				return nil
			}
			continue
		}
		size := int(h.width+7) / 8
		if len(h.b) < size {
			return corrupt("a run ends too early")
		}
		h.value = 0
		for i := size - 1; i >= 0; i-- {
			h.value = h.value<<8 | uint32(h.b[i])
		}
		if h.width < 32 && h.value>>h.width != 0 {
			return corrupt("a run of %d, which does not fit %d bits", h.value, h.width)
		}
		h.b = h.b[size:]
		if h.repeat = int(head >> 1); h.repeat > 0 {
			return nil
		}
	}
}

// enterPacked starts a bit-packed run of groups of 8 values. The last run of a
// page may lack the bytes that only pad it.
func (h *hybrid) enterPacked(groups int) bool {
	h.packed = groups * 8
	size := groups * int(h.width)
	if size > len(h.b) {
		size = len(h.b)
		h.packed = size * 8 / int(h.width)
	}
	h.bits, h.b, h.bit = h.b[:size], h.b[size:], 0
	return h.packed > 0
}

// ensure has a run under way.
func (h *hybrid) ensure() error {
	if h.repeat > 0 || h.packed > 0 {
		return nil
	}
	return h.run()
}

// read32 fills dst.
func (h *hybrid) read32(dst []uint32) error {
	for len(dst) > 0 {
		if err := h.ensure(); err != nil {
			return err
		}
		n := min(len(dst), h.repeat+h.packed)
		if h.repeat > 0 {
			fill(dst[:n], h.value)
			h.repeat -= n
		} else {
			h.unpack32(dst[:n])
			h.packed -= n
		}
		dst = dst[n:]
	}
	return nil
}

// read8 fills dst with levels, none above limit.
func (h *hybrid) read8(dst []byte, limit int) error {
	for len(dst) > 0 {
		if err := h.ensure(); err != nil {
			return err
		}
		n := min(len(dst), h.repeat+h.packed)
		if h.repeat > 0 {
			if h.value > uint32(limit) {
				return corrupt("level %d, more than %d", h.value, limit)
			}
			fill(dst[:n], byte(h.value))
			h.repeat -= n
		} else {
			h.unpack8(dst[:n])
			h.packed -= n
			if 1<<h.width-1 > limit {
				if err := checkLevels(dst[:n], limit); err != nil {
					return err
				}
			}
		}
		dst = dst[n:]
	}
	return nil
}

func checkLevels(levels []byte, limit int) error {
	for _, l := range levels {
		if int(l) > limit {
			return corrupt("level %d, more than %d", l, limit)
		}
	}
	return nil
}

func fill[T any](dst []T, v T) {
	for i := range dst {
		dst[i] = v
	}
}

// unpack32 takes len(dst) values from the bit-packed run.
func (h *hybrid) unpack32(dst []uint32) {
	width, mask, bit, bits := int(h.width), uint64(1)<<h.width-1, h.bit, h.bits
	i := 0
	for last := (len(bits) - 8) * 8; i < len(dst) && bit <= last; i++ {
		dst[i] = uint32(binary.LittleEndian.Uint64(bits[bit>>3:]) >> (bit & 7) & mask)
		bit += width
	}
	for ; i < len(dst); i++ {
		dst[i] = uint32(tail64(bits, bit>>3) >> (bit & 7) & mask)
		bit += width
	}
	h.bit = bit
}

func (h *hybrid) unpack8(dst []byte) {
	width, mask, bit, bits := int(h.width), uint64(1)<<h.width-1, h.bit, h.bits
	i := 0
	for last := (len(bits) - 8) * 8; i < len(dst) && bit <= last; i++ {
		dst[i] = byte(binary.LittleEndian.Uint64(bits[bit>>3:]) >> (bit & 7) & mask)
		bit += width
	}
	for ; i < len(dst); i++ {
		dst[i] = byte(tail64(bits, bit>>3) >> (bit & 7) & mask)
		bit += width
	}
	h.bit = bit
}

// tail64 reads up to 8 bytes where fewer may be left.
func tail64(b []byte, at int) uint64 {
	if at >= len(b) {
		return 0
	}
	var w [8]byte
	copy(w[:], b[at:])
	return binary.LittleEndian.Uint64(w[:])
}

// resetBigEndian takes n values of the deprecated bit-packed encoding, which
// fills bytes from their most significant bit: they are turned into a
// bit-packed run as the hybrid has it.
func (h *hybrid) resetBigEndian(b []byte, width uint, n int) {
	turned := make([]byte, len(b)+1)
	for i := range n {
		for k := range int(width) {
			from := i*int(width) + k
			if b[from>>3]>>(7-from&7)&1 == 1 {
				to := i*int(width) + int(width) - 1 - k
				turned[to>>3] |= 1 << (to & 7)
			}
		}
	}
	*h = hybrid{width: width, packed: n, bits: turned}
}
