package pq

import "math/bits"

// Bitmap is a fixed-size set of row numbers 0 to Len-1, one bit each. The zero
// value and nil are empty bitmaps of length 0. It is not safe for concurrent
// writes.
type Bitmap struct {
	words []uint64
	n     int
}

// NewBitmap makes a bitmap of n clear bits.
func NewBitmap(n int) *Bitmap {
	return &Bitmap{words: make([]uint64, (n+63)/64), n: n}
}

// FullBitmap makes a bitmap of n set bits.
func FullBitmap(n int) *Bitmap {
	b := NewBitmap(n)
	b.SetRange(0, n)
	return b
}

// BitmapOf wraps little-endian bit words (bit i of word w is row 64w+i) without
// copying them. Bits at n and beyond are cleared; missing words are zero.
func BitmapOf(words []uint64, n int) *Bitmap {
	need := (n + 63) / 64
	for len(words) < need {
		words = append(words, 0)
	}
	b := &Bitmap{words: words[:need], n: n}
	if r := n & 63; r != 0 {
		b.words[need-1] &= 1<<r - 1
	}
	return b
}

// Len is the number of rows.
func (b *Bitmap) Len() int {
	if b == nil {
		return 0
	}
	return b.n
}

// Words are the bit words themselves, not a copy.
func (b *Bitmap) Words() []uint64 {
	if b == nil {
		return nil
	}
	return b.words
}

// Clone copies the bitmap.
func (b *Bitmap) Clone() *Bitmap {
	return &Bitmap{words: append([]uint64(nil), b.Words()...), n: b.Len()}
}

// Get says whether row i is in the set.
func (b *Bitmap) Get(i int) bool { return b.words[i>>6]>>(i&63)&1 != 0 }

// Set adds row i.
func (b *Bitmap) Set(i int) { b.words[i>>6] |= 1 << (i & 63) }

// Unset removes row i.
func (b *Bitmap) Unset(i int) { b.words[i>>6] &^= 1 << (i & 63) }

// SetRange adds the rows from lo up to, not including, hi.
func (b *Bitmap) SetRange(lo, hi int) {
	forWords(lo, hi, func(w int, mask uint64) bool {
		b.words[w] |= mask
		return true
	})
}

// Count is the number of rows in the set.
func (b *Bitmap) Count() int {
	n := 0
	for _, w := range b.Words() {
		n += bits.OnesCount64(w)
	}
	return n
}

// CountRange counts the rows of the set in [lo, hi).
func (b *Bitmap) CountRange(lo, hi int) int {
	n := 0
	forWords(lo, hi, func(w int, mask uint64) bool {
		n += bits.OnesCount64(b.words[w] & mask)
		return true
	})
	return n
}

// Any says whether [lo, hi) holds a row of the set.
func (b *Bitmap) Any(lo, hi int) bool {
	any := false
	forWords(lo, hi, func(w int, mask uint64) bool {
		any = b.words[w]&mask != 0
		return !any
	})
	return any
}

// All says whether every row of [lo, hi) is in the set; true for an empty range.
func (b *Bitmap) All(lo, hi int) bool {
	all := true
	forWords(lo, hi, func(w int, mask uint64) bool {
		all = b.words[w]&mask == mask
		return all
	})
	return all
}

// And keeps the rows that o holds too. Both have the same length.
func (b *Bitmap) And(o *Bitmap) {
	for i := range b.words {
		b.words[i] &= o.words[i]
	}
}

// Or adds the rows of o. Both have the same length.
func (b *Bitmap) Or(o *Bitmap) {
	for i := range b.words {
		b.words[i] |= o.words[i]
	}
}

// AndNot removes the rows of o. Both have the same length.
func (b *Bitmap) AndNot(o *Bitmap) {
	for i := range b.words {
		b.words[i] &^= o.words[i]
	}
}

// forWords visits the words that cover [lo, hi), each with the mask of its bits
// in the range, until visit returns false.
func forWords(lo, hi int, visit func(w int, mask uint64) bool) {
	for lo < hi {
		w, from := lo>>6, lo&63
		to := min(64, from+hi-lo)
		mask := ^uint64(0) << from
		if to < 64 {
			mask &= 1<<to - 1
		}
		if !visit(w, mask) {
			return
		}
		lo += to - from
	}
}
