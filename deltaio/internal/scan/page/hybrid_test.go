package page

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// encodeHybrid writes values in random runs of both kinds.
func encodeHybrid(r *rand.Rand, values []uint32, width int) (out []byte) {
	for i := 0; i < len(values); {
		run := 1
		for i+run < len(values) && values[i+run] == values[i] {
			run++
		}
		if r.IntN(3) > 0 || run > 40 {
			n := 1 + r.IntN(run)
			out = binary.AppendUvarint(out, uint64(n)<<1)
			for k := 0; k < (width+7)/8; k++ {
				out = append(out, byte(values[i]>>(8*k)))
			}
			i += n
			continue
		}
		groups := 1 + r.IntN(3)
		out = binary.AppendUvarint(out, uint64(groups)<<1|1)
		packed := make([]byte, groups*width)
		for k := range groups * 8 {
			if i+k < len(values) {
				for b := range width {
					if values[i+k]>>b&1 == 1 {
						packed[(k*width+b)>>3] |= 1 << ((k*width + b) & 7)
					}
				}
			}
		}
		out = append(out, packed...)
		i += groups * 8
	}
	return out
}

func TestHybrid_values_read_in_any_pieces_are_those_written(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		width := rapid.IntRange(0, 32).Draw(rt, "width")
		values := make([]uint32, rapid.IntRange(0, 300).Draw(rt, "n"))
		for i := range values {
			values[i] = uint32(uint64(r.Uint32()) & (1<<width - 1))
			if i > 0 && r.IntN(3) > 0 {
				values[i] = values[i-1]
			}
		}
		data := encodeHybrid(r, values, width)
		var h hybrid
		h.reset(data, uint(width))
		got := make([]uint32, len(values))
		for at := 0; at < len(got); {
			n := min(1+r.IntN(50), len(got)-at)
			require.NoError(rt, h.read32(got[at:at+n]))
			at += n
		}
		require.Equal(rt, values, got)
		if width <= 8 {
			h.reset(data, uint(width))
			levels := make([]byte, len(values))
			require.NoError(rt, h.read8(levels, 1<<width-1))
			for i := range levels {
				require.EqualValues(rt, values[i], levels[i])
			}
		}
		if width == 1 {
			requireBits(rt, r, data, values)
		}
	})
}

func requireBits(rt *rapid.T, r *rand.Rand, data []byte, values []uint32) {
	var h hybrid
	h.reset(data, 1)
	bits := make([]byte, (len(values)+7)/8+8)
	ones := 0
	for at := 0; at < len(values); {
		n := min(1+r.IntN(90), len(values)-at)
		k, err := h.readBits(bits, at, n)
		require.NoError(rt, err)
		ones += k
		at += n
	}
	want := 0
	for i, v := range values {
		require.EqualValues(rt, v, bits[i>>3]>>(i&7)&1, i)
		want += int(v)
	}
	require.Equal(rt, want, ones)
}

func TestHybrid_damaged_runs_are_errors(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{
		"empty":                  {},
		"unended header":         {0x80},
		"run without its value":  {0x04},
		"value beyond the width": {0x04, 0x02},
		"packed run cut off":     {0x05},
		"only empty runs":        {0x00, 0x01, 0x00, 0x00},
	} {
		var h hybrid
		h.reset(data, 1)
		require.Error(t, h.read32(make([]uint32, 3)), name)
	}
	var h hybrid
	h.reset([]byte{0x04, 0x03}, 2)
	require.ErrorContains(t, h.read8(make([]byte, 2), 2), "level 3")
	h.reset([]byte{0x03, 0xff, 0xff}, 2)
	require.ErrorContains(t, h.read8(make([]byte, 2), 2), "level 3")
}

func TestHybrid_big_endian_levels_of_the_deprecated_encoding(t *testing.T) {
	t.Parallel()
	// The example of Encodings.md: 0 to 7 in 3 bits each.
	var h hybrid
	h.resetBigEndian([]byte{0b00000101, 0b00111001, 0b01110111}, 3, 8)
	got := make([]uint32, 8)
	require.NoError(t, h.read32(got))
	require.Equal(t, []uint32{0, 1, 2, 3, 4, 5, 6, 7}, got)
	require.Error(t, h.read32(got[:1]))
}
