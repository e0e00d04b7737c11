package expr

import "math/bits"

// Bit masks are little-endian words: row i is bit i%64 of word i/64. Bits at
// the row count and above are zero; every function here keeps it so.

func newBits(n int) []uint64 { return make([]uint64, (n+63)/64) }

// onesBits is a mask of n set bits.
func onesBits(n int) []uint64 {
	w := newBits(n)
	for i := range w {
		w[i] = ^uint64(0)
	}
	trimBits(w, n)
	return w
}

func trimBits(w []uint64, n int) {
	if r := n & 63; r != 0 && len(w) > 0 {
		w[len(w)-1] &= 1<<r - 1
	}
}

func getBit(w []uint64, i int) bool { return w[i>>6]>>(i&63)&1 != 0 }
func setBit(w []uint64, i int)      { w[i>>6] |= 1 << (i & 63) }

func countBits(w []uint64) int {
	n := 0
	for _, x := range w {
		n += bits.OnesCount64(x)
	}
	return n
}

func anyBit(w []uint64) bool {
	for _, x := range w {
		if x != 0 {
			return true
		}
	}
	return false
}

func notBits(w []uint64, n int) []uint64 {
	out := make([]uint64, len(w))
	for i, x := range w {
		out[i] = ^x
	}
	trimBits(out, n)
	return out
}

// orBits joins masks; nil is none set.
func orBits(a, b []uint64) []uint64 {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	out := make([]uint64, len(a))
	for i := range a {
		out[i] = a[i] | b[i]
	}
	return out
}

// clearBits removes from w the bits of null, in place.
func clearBits(w, null []uint64) {
	for i := range null {
		w[i] &^= null[i]
	}
}

// bitsOfBytes copies n bits that start at a bit offset of an Arrow bitmap.
func bitsOfBytes(b []byte, offset, n int) []uint64 {
	out := newBits(n)
	b = b[offset>>3:]
	shift := offset & 7
	for i := range out {
		out[i] = loadWord(b, i*8) >> shift
		if shift != 0 {
			out[i] |= loadWord(b, i*8+8) << (64 - shift)
		}
	}
	trimBits(out, n)
	return out
}

// loadWord reads eight bytes little-endian; bytes past the end are zero.
func loadWord(b []byte, i int) uint64 {
	var w uint64
	for j := i; j < min(i+8, len(b)); j++ {
		w |= uint64(b[j]) << ((j - i) * 8)
	}
	return w
}

// bytesOfBits is the Arrow bitmap of a mask.
func bytesOfBits(w []uint64, n int) []byte {
	out := make([]byte, (n+7)/8)
	for i := range out {
		out[i] = byte(w[i/8] >> (i % 8 * 8))
	}
	return out
}

func b2u(b bool) uint64 {
	var x uint64
	if b {
		x = 1
	}
	return x
}
