package page

import (
	"encoding/binary"
	"math/bits"
)

// readBits appends n one-bit values to the bitmap dst at position at, and
// counts the ones. dst has room for at+n bits and 8 bytes behind.
func (h *hybrid) readBits(dst []byte, at, n int) (ones int, err error) {
	for n > 0 {
		if err := h.ensure(); err != nil {
			return ones, err
		}
		m := min(n, h.repeat+h.packed)
		if h.repeat > 0 {
			if h.value == 1 {
				SetBits(dst, at, m)
				ones += m
			}
			h.repeat -= m
		} else {
			ones += CopyBits(dst, at, h.bits, h.bit, m)
			h.bit += m
			h.packed -= m
		}
		at, n = at+m, n-m
	}
	return ones, nil
}

// SetBits sets n bits of dst from position at.
func SetBits(dst []byte, at, n int) {
	for ; n > 0 && at&7 != 0; n-- {
		dst[at>>3] |= 1 << (at & 7)
		at++
	}
	for ; n >= 8; n -= 8 {
		dst[at>>3] = 0xff
		at += 8
	}
	if n > 0 {
		dst[at>>3] |= 1<<n - 1
	}
}

// CopyBits sets n zero bits of dst from position at to those of src from
// position from, and counts the ones.
func CopyBits(dst []byte, at int, src []byte, from, n int) (ones int) {
	for n > 0 {
		m := min(n, 32)
		w := load64(src, from>>3) >> (from & 7) & (1<<m - 1)
		ones += bits.OnesCount64(w)
		or64(dst, at>>3, w<<(at&7))
		at, from, n = at+m, from+m, n-m
	}
	return ones
}

func load64(b []byte, at int) uint64 {
	if at+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[at:])
	}
	return tail64(b, at)
}

func or64(b []byte, at int, w uint64) {
	if at+8 <= len(b) {
		binary.LittleEndian.PutUint64(b[at:], binary.LittleEndian.Uint64(b[at:])|w)
		return
	}
	for ; w != 0 && at < len(b); at++ {
		b[at] |= byte(w)
		w >>= 8
	}
}
