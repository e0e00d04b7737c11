package page

import (
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
)

// compressed gives data in every codec.
func compressed(t testing.TB, data []byte) map[footer.Codec][]byte {
	t.Helper()
	out := map[footer.Codec][]byte{}
	for codec, c := range map[footer.Codec]compress.Codec{
		footer.Uncompressed: &parquet.Uncompressed, footer.Snappy: &parquet.Snappy, footer.Gzip: &parquet.Gzip,
		footer.Brotli: &parquet.Brotli, footer.Zstd: &parquet.Zstd, footer.LZ4Raw: &parquet.Lz4Raw,
	} {
		b, err := c.Encode(nil, data)
		require.NoError(t, err)
		out[codec] = b
	}
	return out
}
