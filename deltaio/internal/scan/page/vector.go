package page

import "unsafe"

// slack is the room kept behind the bytes of a variable-width vector or
// dictionary, so that short values can be copied in whole words.
const slack = 16

// Vector collects dense values of one physical type. Values of fixed width lie
// one after another in Data, little-endian, aligned to their width; booleans
// take a byte each; values of variable width (Width 0) end at Offsets.
type Vector struct {
	Width   int
	Data    []byte
	Offsets []int32 // Width 0: one more than values, starting at 0
	// Limit bounds len(Data); 0 means MaxData.
	Limit int
}

// MaxData is the largest Data a Vector may have: offsets are 32-bit.
const MaxData = 1<<31 - 1 - slack

// Reset empties v for values of the given width and takes fresh memory for n of
// them; bytes is an estimate for variable widths.
func (v *Vector) Reset(width, n, bytes int) {
	v.Width = width
	if width > 0 {
		v.Data = Aligned(n * width)[:0]
		return
	}
	v.Data = make([]byte, 0, bytes+slack)
	v.Offsets = make([]int32, 1, n+1)
}

// Reuse empties v but keeps its memory, for scratch vectors.
func (v *Vector) Reuse(width int) {
	v.Width = width
	v.Data = v.Data[:0]
	if width == 0 {
		v.Offsets = append(v.Offsets[:0], 0)
	}
}

// Len is the number of values.
func (v *Vector) Len() int {
	if v.Width == 0 {
		return max(len(v.Offsets)-1, 0)
	}
	return len(v.Data) / v.Width
}

// grow makes room for n more bytes and gives them, part of Data from then on.
func (v *Vector) grow(n int) ([]byte, error) {
	old := len(v.Data)
	limit := v.Limit
	if limit <= 0 || limit > MaxData {
		limit = MaxData
	}
	if n > limit-old {
		return nil, ErrTooLarge
	}
	if need := old + n + slack; need > cap(v.Data) {
		bigger := Aligned(max(need, min(2*cap(v.Data), limit+slack)))[:old]
		copy(bigger, v.Data)
		v.Data = bigger
	}
	v.Data = v.Data[:old+n]
	return v.Data[old:], nil
}

// Aligned allocates bytes aligned for any value.
func Aligned(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)[:n]
}

// View reinterprets aligned bytes as numbers.
func View[T uint32 | int32 | uint64 | int64 | float32 | float64](b []byte) []T {
	var zero T
	n := len(b) / int(unsafe.Sizeof(zero))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
