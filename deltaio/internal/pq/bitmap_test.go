package pq

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestBitmap_agrees_with_a_set_of_rows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		b, model := NewBitmap(n), make([]bool, n)
		row := rapid.IntRange(0, max(n-1, 0))
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				if i := row.Draw(t, "i"); n > 0 {
					b.Set(i)
					model[i] = true
				}
			},
			"unset": func(t *rapid.T) {
				if i := row.Draw(t, "i"); n > 0 {
					b.Unset(i)
					model[i] = false
				}
			},
			"range": func(t *rapid.T) {
				lo := rapid.IntRange(0, n).Draw(t, "lo")
				hi := rapid.IntRange(lo, n).Draw(t, "hi")
				b.SetRange(lo, hi)
				for i := lo; i < hi; i++ {
					model[i] = true
				}
			},
			"": func(t *rapid.T) { checkBitmap(t, b, model) },
		})
		other := NewBitmap(n)
		for i := 0; i < n; i += 3 {
			other.Set(i)
		}
		checkAlgebra(t, b, other, model)
	})
}

func checkBitmap(t *rapid.T, b *Bitmap, model []bool) {
	n := len(model)
	lo := rapid.IntRange(0, n).Draw(t, "lo")
	hi := rapid.IntRange(lo, n).Draw(t, "hi")
	count := 0
	for i := lo; i < hi; i++ {
		if model[i] {
			count++
		}
		require.Equal(t, model[i], b.Get(i))
	}
	require.Equal(t, count, b.CountRange(lo, hi))
	require.Equal(t, count > 0, b.Any(lo, hi))
	require.Equal(t, count == hi-lo, b.All(lo, hi))
	require.Equal(t, b.CountRange(0, n), b.Count())
	sel := b.selectRows(nil, lo, hi-lo)
	require.Len(t, sel, hi-lo)
	for i, s := range sel {
		require.Equal(t, model[lo+i], s == 1)
	}
	require.Equal(t, count, popcount(sel))
}

func checkAlgebra(t *rapid.T, b, other *Bitmap, model []bool) {
	and, or, not := b.Clone(), b.Clone(), b.Clone()
	and.And(other)
	or.Or(other)
	not.AndNot(other)
	for i, in := range model {
		third := i%3 == 0
		require.Equal(t, in && third, and.Get(i))
		require.Equal(t, in || third, or.Get(i))
		require.Equal(t, in && !third, not.Get(i))
	}
}

func TestBitmapOf_bits_beyond_the_end_are_cleared(t *testing.T) {
	t.Parallel()
	b := BitmapOf([]uint64{^uint64(0), ^uint64(0), 7}, 70)
	require.Equal(t, 70, b.Len())
	require.Equal(t, 70, b.Count())
	require.Len(t, b.Words(), 2)
	require.Equal(t, 1, BitmapOf([]uint64{1}, 500).Count())
	var none *Bitmap
	require.Zero(t, none.Len())
	require.Zero(t, none.Count())
}
