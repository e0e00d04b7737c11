package page

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
)

// maxPage bounds the size of a page.
const maxPage = 1 << 30

// zstdDecoders are costly to make and hold no input between uses.
var zstdDecoders = sync.Pool{New: func() any {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(maxPage))
	if err != nil { // only options that contradict each other
		panic(err)
	}
	return d
}}

// plausible refuses a stated size that the compressed bytes cannot hold, before
// memory is taken for it: page headers of damaged files say anything.
func plausible(codec footer.Codec, src []byte, size int) error {
	most := maxPage
	switch codec {
	case footer.Uncompressed:
		most = len(src)
	case footer.Snappy: // a copy of 64 bytes takes 3
		most = 32 * len(src)
	case footer.Gzip: // deflate reaches 1032
		most = 1100 * len(src)
	case footer.LZ4, footer.LZ4Raw: // a byte of length stands for 255
		most = 256 * len(src)
	}
	if size > most {
		return corrupt("%d bytes cannot hold the %d that the page's header says", len(src), size)
	}
	return nil
}

// decompress fills dst, whose length is the stated size, from src.
func decompress(codec footer.Codec, dst, src []byte) error {
	if len(dst) == 0 && len(src) == 0 {
		return nil
	}
	var got int
	var err error
	switch codec {
	case footer.Uncompressed:
		got = copy(dst, src)
		if len(src) != len(dst) {
			got = len(src)
		}
	case footer.Snappy:
		got, err = decompressSnappy(dst, src)
	case footer.Gzip:
		got, err = decompressGzip(dst, src)
	case footer.Brotli:
		got, err = readAll(dst, brotli.NewReader(bytes.NewReader(src)))
	case footer.Zstd:
		d := zstdDecoders.Get().(*zstd.Decoder)
		var out []byte
		out, err = d.DecodeAll(src, dst[:0:len(dst)])
		got = len(out)
		zstdDecoders.Put(d)
	case footer.LZ4Raw:
		got, err = lz4.UncompressBlock(src, dst)
	case footer.LZ4:
		got, err = decompressHadoopLZ4(dst, src)
	default:
		return fmt.Errorf("%w: compression codec %d", footer.ErrUnsupported, codec)
	}
	if err != nil {
		return corrupt("decompress a page: %v", err)
	}
	if got != len(dst) {
		return corrupt("a page decompresses to %d bytes, its header says %d", got, len(dst))
	}
	return nil
}

func decompressSnappy(dst, src []byte) (int, error) {
	n, err := snappy.DecodedLen(src)
	if err != nil || n != len(dst) {
		return n, err
	}
	_, err = snappy.Decode(dst, src)
	return n, err
}

func decompressGzip(dst, src []byte) (int, error) {
	r, err := gzip.NewReader(bytes.NewReader(src))
	if err != nil {
		return 0, err
	}
	return readAll(dst, r)
}

// readAll fills dst and makes sure that nothing follows.
func readAll(dst []byte, r io.Reader) (int, error) {
	n, err := io.ReadFull(r, dst)
	if err != nil {
		return n, err
	}
	var one [1]byte
	m, err := io.ReadFull(r, one[:])
	if err != io.EOF {
		return n + m, err
	}
	return n, nil
}

// decompressHadoopLZ4 reads the deprecated framing: blocks behind big-endian
// sizes, uncompressed and compressed. Some writers left a bare block.
func decompressHadoopLZ4(dst, src []byte) (int, error) {
	if n, ok := hadoopBlocks(dst, src); ok {
		return n, nil
	}
	return lz4.UncompressBlock(src, dst)
}

func hadoopBlocks(dst, src []byte) (n int, ok bool) {
	for len(src) > 0 {
		if len(src) < 8 {
			return n, false
		}
		size, packed := binary.BigEndian.Uint32(src), binary.BigEndian.Uint32(src[4:])
		src = src[8:]
		if uint64(packed) > uint64(len(src)) || uint64(size) > uint64(len(dst)-n) {
			return n, false
		}
		got, err := lz4.UncompressBlock(src[:packed], dst[n:n+int(size)])
		if err != nil || got != int(size) {
			return n, false
		}
		n, src = n+got, src[packed:]
	}
	return n, n == len(dst)
}
