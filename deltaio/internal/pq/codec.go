package pq

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// codecOf finds a codec by the name used in table properties.
func codecOf(name string) (format.CompressionCodec, error) {
	switch name {
	case "uncompressed", "none":
		return format.Uncompressed, nil
	case "snappy":
		return format.Snappy, nil
	case "gzip":
		return format.Gzip, nil
	case "brotli":
		return format.Brotli, nil
	case "lz4_raw", "lz4":
		return format.Lz4Raw, nil
	case "zstd":
		return format.Zstd, nil
	}
	return 0, fmt.Errorf("codec %q is not known: use uncompressed, snappy, gzip, brotli, lz4_raw or zstd", name)
}

// writable gives the codec to encode with where a source chunk has c.
func writable(c format.CompressionCodec) format.CompressionCodec {
	if c == format.Lz4 { // deprecated, its framing differs between writers
		return format.Lz4Raw
	}
	return c
}

// The zstd coder and decoder are stateless in their *All methods and shared.
// The decoder never writes beyond the capacity it is given.
var (
	zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(maxPage+1<<20))
	})
	zstdEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault))
	})
	gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}
	gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
	brotliPool  = sync.Pool{New: func() any { return brotli.NewWriterLevel(nil, 5) }}
	lz4Pool     = sync.Pool{New: func() any { return new(lz4.Compressor) }}
)

// decompress fills dst, whose length is the size the page header promises.
func decompress(c format.CompressionCodec, dst, src []byte) error {
	n, err := decompressInto(c, dst, src)
	if err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	if n != len(dst) {
		return fmt.Errorf("%s: %d bytes where the page header says %d", c, n, len(dst))
	}
	return nil
}

func decompressInto(c format.CompressionCodec, dst, src []byte) (int, error) {
	switch c {
	case format.Uncompressed:
		if len(src) > len(dst) {
			return len(src), nil
		}
		return copy(dst, src), nil
	case format.Snappy:
		if n, err := s2.DecodedLen(src); err != nil || n != len(dst) {
			return n, err
		}
		out, err := s2.Decode(dst, src)
		return len(out), err
	case format.Zstd:
		d, err := zstdDecoder()
		if err != nil {
			return 0, err
		}
		out, err := d.DecodeAll(src, dst[:0:len(dst)])
		return len(out), err
	case format.Gzip:
		z := gzipReaders.Get().(*gzip.Reader)
		defer gzipReaders.Put(z)
		if err := z.Reset(bytes.NewReader(src)); err != nil {
			return 0, err
		}
		return readWhole(dst, z)
	case format.Brotli:
		return readWhole(dst, brotli.NewReader(bytes.NewReader(src)))
	case format.Lz4Raw:
		return lz4.UncompressBlock(src, dst)
	case format.Lz4:
		return decompressHadoop(dst, src)
	}
	return 0, fmt.Errorf("codec is not supported")
}

// checkSize refuses a decompressed size that the compressed bytes cannot
// justify, before memory is taken for it.
func checkSize(c format.CompressionCodec, src []byte, size int) error {
	ok := true
	switch c {
	case format.Uncompressed:
		ok = size == len(src)
	case format.Snappy: // a copy of 64 bytes takes 3
		n, err := s2.DecodedLen(src)
		ok = err == nil && n == size && size <= 32*len(src)
	case format.Gzip: // deflate reaches 1032
		ok = size <= 1100*len(src)
	case format.Lz4, format.Lz4Raw: // a byte of length stands for 255
		ok = size <= 256*len(src)
	}
	if !ok {
		return fmt.Errorf("%s: %d bytes cannot hold %d", c, len(src), size)
	}
	return nil
}

// readWhole reads r to its end and counts one byte too many when it holds more
// than dst.
func readWhole(dst []byte, r io.Reader) (int, error) {
	n, err := io.ReadFull(r, dst)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	var one [1]byte
	switch m, err := io.ReadFull(r, one[:]); err {
	case io.EOF:
		return n + m, nil
	case nil:
		return n + m, nil
	default:
		return n, err
	}
}

// decompressHadoop reads the deprecated LZ4 codec: Hadoop's frames of
// big-endian sizes (parquet-mr), else one raw block (parquet-cpp).
func decompressHadoop(dst, src []byte) (int, error) {
	n, rest := 0, src
	for len(rest) >= 8 {
		full, part := binary.BigEndian.Uint32(rest), binary.BigEndian.Uint32(rest[4:])
		rest = rest[8:]
		if uint64(part) > uint64(len(rest)) || uint64(full) > uint64(len(dst)-n) {
			break
		}
		m, err := lz4.UncompressBlock(rest[:part], dst[n:n+int(full)])
		if err != nil || m != int(full) {
			break
		}
		n, rest = n+m, rest[part:]
		if len(rest) == 0 && n == len(dst) {
			return n, nil
		}
	}
	return lz4.UncompressBlock(src, dst)
}

// pack appends the compressed form of src to dst.
func pack(c format.CompressionCodec, dst, src []byte) ([]byte, error) {
	switch c {
	case format.Uncompressed:
		return append(dst, src...), nil
	case format.Snappy:
		dst = grow(dst, s2.MaxEncodedLen(len(src)))
		out := s2.EncodeSnappy(dst[len(dst):cap(dst)], src)
		return dst[:len(dst)+len(out)], nil
	case format.Zstd:
		e, err := zstdEncoder()
		if err != nil {
			return nil, err
		}
		return e.EncodeAll(src, dst), nil
	case format.Gzip:
		z := gzipWriters.Get().(*gzip.Writer)
		defer gzipWriters.Put(z)
		buf := bytes.NewBuffer(dst)
		z.Reset(buf)
		if _, err := z.Write(src); err != nil {
			return nil, err
		}
		err := z.Close()
		return buf.Bytes(), err
	case format.Brotli:
		z := brotliPool.Get().(*brotli.Writer)
		defer brotliPool.Put(z)
		buf := bytes.NewBuffer(dst)
		z.Reset(buf)
		if _, err := z.Write(src); err != nil {
			return nil, err
		}
		err := z.Close()
		return buf.Bytes(), err
	case format.Lz4Raw:
		return packLZ4(dst, src)
	}
	return nil, fmt.Errorf("codec %s cannot be written", c)
}

func packLZ4(dst, src []byte) ([]byte, error) {
	z := lz4Pool.Get().(*lz4.Compressor)
	defer lz4Pool.Put(z)
	dst = grow(dst, lz4.CompressBlockBound(len(src)))
	n, err := z.CompressBlock(src, dst[len(dst):cap(dst)])
	if err == nil && n == 0 && len(src) > 0 {
		err = fmt.Errorf("lz4: block of %d bytes was not encoded", len(src))
	}
	return dst[:len(dst)+n], err
}

// grow makes room for n more bytes.
func grow[T any](s []T, n int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	out := make([]T, len(s), max(len(s)+n, 2*cap(s)))
	copy(out, s)
	return out
}
