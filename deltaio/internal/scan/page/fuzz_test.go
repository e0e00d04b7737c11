package page

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
)

// FuzzDecompress: whatever a page holds, its decoder fills the room that it was
// given or fails, and touches nothing behind it.
func FuzzDecompress(f *testing.F) {
	text := bytes.Repeat([]byte("retention "), 40)
	for codec, b := range compressed(f, text) {
		f.Add(uint8(codec), len(text), b)
	}
	f.Add(uint8(footer.LZ4), 20, []byte{0, 0, 0, 20, 0, 0, 0, 2, 0x1F, 0xFF})
	f.Fuzz(func(t *testing.T, codec uint8, size int, src []byte) {
		c := footer.Codec(codec % 8)
		if size < 0 || size > 1<<16 {
			return
		}
		if plausible(c, src, size) != nil {
			require.Error(t, decompress(c, make([]byte, size), src))
			return
		}
		room := bytes.Repeat([]byte{0xA5}, size+64)
		_ = decompress(c, room[:size:size], src) // damage may go unnoticed here: checksums find it
		require.Equal(t, bytes.Repeat([]byte{0xA5}, 64), room[size:])
	})
}
