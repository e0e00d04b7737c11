package page

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
)

func TestDeltaInts_values_of_another_encoder_read_back(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		want := make([]int64, rapid.IntRange(0, 700).Draw(rt, "n"))
		shift := rapid.IntRange(0, 63).Draw(rt, "shift")
		for i := range want {
			want[i] = int64(r.Uint64()) >> shift
			if r.IntN(50) == 0 {
				want[i] = math.MinInt64
			}
		}
		var enc delta.BinaryPackedEncoding
		data, err := enc.EncodeInt64(nil, want)
		require.NoError(rt, err)
		var p deltaInts
		require.NoError(rt, p.reset(append(data, 1, 2, 3), len(want)))
		got := make([]int64, len(want))
		for at := 0; at < len(got); {
			n := min(1+r.IntN(200), len(got)-at)
			require.NoError(rt, p.read(got[at:at+n]))
			at += n
		}
		require.Equal(rt, want, got)
		require.Equal(rt, []byte{1, 2, 3}, p.rest(), "the stream ends where it should")
	})
}

func TestDeltaValues_32_bits_wrap_around(t *testing.T) {
	t.Parallel()
	want := []int32{math.MaxInt32, math.MinInt32, 0, math.MinInt32, math.MaxInt32}
	var enc delta.BinaryPackedEncoding
	data, err := enc.EncodeInt32(nil, want)
	require.NoError(t, err)
	var p deltaValues
	require.NoError(t, p.ints.reset(data, len(want)))
	v := &Vector{}
	v.Reset(4, 5, 0)
	require.NoError(t, p.read(v, 5))
	require.Equal(t, want, View[int32](v.Data))
	require.NoError(t, p.done())
}

func TestDeltaInts_damaged_headers_are_errors(t *testing.T) {
	t.Parallel()
	head := func(block, minis, total uint64) []byte {
		b := binary.AppendUvarint(nil, block)
		b = binary.AppendUvarint(b, minis)
		return append(binary.AppendUvarint(b, total), 0)
	}
	for name, data := range map[string][]byte{
		"empty":               {},
		"no block":            head(0, 4, 1),
		"no miniblocks":       head(128, 0, 1),
		"uneven miniblocks":   head(128, 3, 1),
		"huge block":          head(1<<40, 4, 1),
		"more than the page":  head(128, 4, 1000),
		"count without bound": head(128, 4, math.MaxUint64),
	} {
		var p deltaInts
		require.Error(t, p.reset(data, 10), name)
	}
	var p deltaInts
	require.NoError(t, p.reset(append(head(128, 4, 3), 0, 65, 0, 0, 0), 10))
	require.ErrorContains(t, p.read(make([]int64, 3)), "65 bits")
}

func TestDecoders_values_that_levels_do_not_call_for_are_refused(t *testing.T) {
	t.Parallel()
	v := &Vector{}
	v.Reset(0, 4, 10)
	plain := &plainVar{b: []byte{1, 0, 0, 0, 'a', 1, 0, 0, 0, 'b'}}
	require.NoError(t, plain.read(v, 1))
	require.ErrorIs(t, plain.done(), footer.ErrCorrupt)
	require.NoError(t, plain.read(v, 1))
	require.NoError(t, plain.done())
	require.ErrorIs(t, plain.read(v, 1), footer.ErrCorrupt)
	require.Equal(t, "ab", string(v.Data))
	require.Equal(t, []int32{0, 1, 2}, v.Offsets)

	v.Reset(4, 4, 0)
	fixed := &plainFixed{make([]byte, 8), 4}
	require.NoError(t, fixed.read(v, 1))
	require.ErrorIs(t, fixed.done(), footer.ErrCorrupt)
	require.ErrorIs(t, fixed.read(v, 2), footer.ErrCorrupt)
}

func TestVector_a_limit_stops_growth(t *testing.T) {
	t.Parallel()
	v := &Vector{Limit: 10}
	v.Reset(0, 4, 0)
	v.Limit = 10
	p := &plainVar{b: append([]byte{11, 0, 0, 0}, make([]byte, 11)...)}
	require.ErrorIs(t, p.read(v, 1), ErrTooLarge)
}

func TestDecompress_sizes_that_headers_misstate_are_errors(t *testing.T) {
	t.Parallel()
	text := make([]byte, 1000)
	for i := range text {
		text[i] = byte(i % 7)
	}
	for codec, data := range compressed(t, text) {
		got := make([]byte, len(text))
		require.NoError(t, decompress(codec, got, data), codec)
		require.Equal(t, text, got, codec)
		require.ErrorIs(t, decompress(codec, make([]byte, len(text)-1), data), footer.ErrCorrupt, codec)
		require.ErrorIs(t, decompress(codec, make([]byte, len(text)+1), data), footer.ErrCorrupt, codec)
		require.ErrorIs(t, decompress(codec, got, data[:len(data)/2]), footer.ErrCorrupt, codec)
	}
	require.ErrorIs(t, decompress(footer.LZO, text, text), footer.ErrUnsupported)
}

func TestDecompress_both_forms_of_the_old_LZ4(t *testing.T) {
	t.Parallel()
	a, b := []byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), []byte("bcbcbcbcbcbcbcbcbcbcbcbcbcbcbcbcbcbcbcbcbcbcbcbcbc")
	block := func(p []byte) []byte {
		dst := make([]byte, lz4.CompressBlockBound(len(p)))
		n, err := lz4.CompressBlock(p, dst, nil)
		require.NoError(t, err)
		return dst[:n]
	}
	var framed []byte
	for _, p := range [][]byte{a, b} {
		c := block(p)
		framed = binary.BigEndian.AppendUint32(framed, uint32(len(p)))
		framed = append(binary.BigEndian.AppendUint32(framed, uint32(len(c))), c...)
	}
	want := append(append([]byte{}, a...), b...)
	got := make([]byte, len(want))
	require.NoError(t, decompress(footer.LZ4, got, framed))
	require.Equal(t, want, got)
	got = make([]byte, len(a))
	require.NoError(t, decompress(footer.LZ4, got, block(a)))
	require.Equal(t, a, got)
}
