package pq

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
)

// The RLE/bit-packing hybrid of levels and dictionary codes. The decoder stops
// at the number of values the page header promises, whatever a run claims.

type small interface{ ~uint8 | ~uint32 }

// decodeHybrid appends n values of the given bit width to dst.
func decodeHybrid[T small](dst []T, src []byte, width, n int) ([]T, error) {
	if width < 0 || width > 32 {
		return dst, fmt.Errorf("bit width %d is out of range", width)
	}
	dst = grow(dst, n)
	for n > 0 {
		h, k := binary.Uvarint(src)
		if k <= 0 {
			return dst, fmt.Errorf("run of levels or codes: %w", io.ErrUnexpectedEOF)
		}
		src = src[k:]
		if h&1 == 0 {
			size := (width + 7) / 8
			if size > len(src) {
				return dst, fmt.Errorf("run of levels or codes: %w", io.ErrUnexpectedEOF)
			}
			v := T(littleEndian(src[:size]))
			src = src[size:]
			count := int(min(h>>1, uint64(n)))
			dst = appendRepeat(dst, v, count)
			n -= count
			continue
		}
		// A last group may be cut off where its values end.
		count := int(min(h>>1, uint64(n)+7)) * 8
		size := min((count*width+7)/8, len(src))
		count = min(count, n)
		if (count*width+7)/8 > size {
			return dst, fmt.Errorf("run of levels or codes: %w", io.ErrUnexpectedEOF)
		}
		dst = unpack(dst, src[:size], width, count)
		src = src[size:]
		n -= count
	}
	return dst, nil
}

func littleEndian(b []byte) uint32 {
	v := uint32(0)
	for i, x := range b {
		v |= uint32(x) << (8 * i)
	}
	return v
}

func appendRepeat[T any](dst []T, v T, n int) []T {
	dst = grow(dst, n)
	at := len(dst)
	dst = dst[:at+n]
	for i := at; i < len(dst); i++ {
		dst[i] = v
	}
	return dst
}

// unpack appends n values packed from the least significant bit on.
func unpack[T small](dst []T, src []byte, width, n int) []T {
	at := len(dst)
	dst = grow(dst, n)[:at+n]
	out := dst[at:]
	mask := uint64(1)<<width - 1
	fast := 0
	if width > 0 && len(src) >= 8 {
		fast = min(n, (len(src)-8)*8/width+1)
	}
	for i := range fast {
		bit := i * width
		out[i] = T(binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7) & mask)
	}
	var tail [16]byte
	for i := fast; i < n; i++ {
		bit := i * width
		copy(tail[:], src[min(bit>>3, len(src)):])
		out[i] = T(binary.LittleEndian.Uint64(tail[:]) >> (bit & 7) & mask)
		clear(tail[:8])
	}
	return dst
}

// unpackMSB appends n levels of the deprecated BIT_PACKED encoding, packed from
// the most significant bit on, and gives the bytes it used.
func unpackMSB(dst, src []byte, width, n int) ([]byte, int, error) {
	size := (n*width + 7) / 8
	if size > len(src) {
		return dst, 0, fmt.Errorf("bit-packed levels: %w", io.ErrUnexpectedEOF)
	}
	for i := range n {
		v := byte(0)
		for b := i * width; b < (i+1)*width; b++ {
			v = v<<1 | src[b>>3]>>(7-b&7)&1
		}
		dst = append(dst, v)
	}
	return dst, size, nil
}

// encodeHybrid appends the values in runs: repeats of eight or more as such,
// the rest bit-packed in groups of eight.
func encodeHybrid[T small](dst []byte, vals []T, width int) []byte {
	from := 0 // start of what waits to be bit-packed, a multiple of 8 values long
	for i := 0; i < len(vals); {
		run := runLength(vals[i:])
		if run < 8 {
			i += 8
			continue
		}
		dst = appendPacked(dst, vals[from:i], width)
		dst = appendRun(dst, uint32(vals[i]), run, width)
		i += run
		from = i
	}
	if from < len(vals) {
		dst = appendPacked(dst, vals[from:], width)
	}
	return dst
}

func runLength[T small](vals []T) int {
	v := vals[0]
	n := 1
	for n < len(vals) && vals[n] == v {
		n++
	}
	return n
}

// appendRun appends one repeated run.
func appendRun(dst []byte, v uint32, n, width int) []byte {
	dst = binary.AppendUvarint(dst, uint64(n)<<1)
	for i := 0; i < width; i += 8 {
		dst = append(dst, byte(v>>i))
	}
	return dst
}

// appendPacked appends a bit-packed run, the last group padded with zeros.
func appendPacked[T small](dst []byte, vals []T, width int) []byte {
	if len(vals) == 0 {
		return dst
	}
	groups := (len(vals) + 7) / 8
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
	want := len(dst) + groups*width
	dst = grow(dst, groups*width+8)
	acc, used := uint64(0), 0
	for _, v := range vals {
		acc |= uint64(v) << used
		used += width
		if used >= 32 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(acc))
			acc >>= 32
			used -= 32
		}
	}
	dst = binary.LittleEndian.AppendUint64(dst, acc)
	if len(dst) < want {
		return append(dst, make([]byte, want-len(dst))...)
	}
	return dst[:want]
}

// widthFor is the bit width that holds values up to v.
func widthFor(v int) int { return bits.Len(uint(v)) }
