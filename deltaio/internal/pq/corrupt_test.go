package pq

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// corruptible makes small files of many features, and their schema.
func corruptible(t testing.TB) (files [][]byte, s *schema.Struct) {
	s = &schema.Struct{Fields: []schema.Field{
		nullable("id", schema.Long), nullable("text", schema.String), nullable("flag", schema.Boolean),
		nullable("list", &schema.Array{Element: schema.String, ContainsNull: true}), nullable("money", schema.Decimal{Precision: 30, Scale: 2}),
	}}
	rec := randomRecord(rand.New(rand.NewPCG(6, 6)), s, 300)
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Zstd} {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			for _, dict := range []bool{true, false} {
				files = append(files, arrowFile(t, rec, 120, parquet.WithCompression(codec), parquet.WithDataPageVersion(version),
					parquet.WithDictionaryDefault(dict), parquet.WithDataPageSize(700), parquet.WithBatchSize(50)))
			}
		}
	}
	return files, s
}

// halves rewrites a file so that row groups are copied and split.
func halves(data []byte, s *schema.Struct, n int) ([][]byte, []Result, error) {
	rows := NewBitmap(n)
	rows.SetRange(0, n/2)
	rest := FullBitmap(n)
	rest.AndNot(rows)
	return tryRewrite(data, Options{}, Output{Columns: columnsOf(s), Rows: rows}, Output{Columns: columnsOf(s), Rows: rest})
}

func TestRewrite_corrupt_files_end_in_errors_never_in_panics(t *testing.T) {
	t.Parallel()
	files, s := corruptible(t)
	r := rand.New(rand.NewPCG(7, 7))
	failed := 0
	for range 3000 {
		data := append([]byte(nil), files[r.IntN(len(files))]...)
		for range 1 + r.IntN(3) {
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
		if r.IntN(10) == 0 {
			data = data[:r.IntN(len(data))]
		}
		if _, _, err := halves(data, s, 300); err != nil {
			require.ErrorContains(t, err, "part-0.parquet")
			failed++
		}
	}
	require.Greater(t, failed, 1000)
}

func TestRewrite_any_damage_to_a_page_with_checksum_is_caught(t *testing.T) {
	t.Parallel()
	files, s := corruptible(t)
	for _, original := range files[:6] {
		whole, _, err := halves(original, s, 300)
		require.NoError(t, err)
		data := whole[0] // half of its row groups are ours, with checksums
		src, err := openSource(inMemory(data))
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(2, 2))
		for g := range src.meta.RowGroups {
			for c := range src.leaves {
				var pages pageReader
				pages.open(src, &src.meta.RowGroups[g].Columns[c].Meta.V)
				for pages.left > 0 {
					p, err := pages.next()
					require.NoError(t, err)
					if !p.header.CRC.Valid || len(p.body) == 0 {
						continue
					}
					at := p.offset + int64(len(p.head)) + r.Int64N(int64(len(p.body)))
					bad := append([]byte(nil), data...)
					bad[at] ^= 1 << r.IntN(8)
					for _, rows := range []*Bitmap{nil, randomMask(r, 150)} { // copied, split
						_, _, err = tryRewrite(bad, Options{}, Output{Columns: columnsOf(s), Rows: rows})
						require.ErrorContains(t, err, "checksum")
						require.ErrorContains(t, err, "column "+src.leaves[c].name())
					}
				}
			}
		}
	}
}

func FuzzRewrite(f *testing.F) {
	files, s := corruptible(f)
	for _, data := range files {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rows := NewBitmap(300)
		rows.SetRange(20, 200)
		_, _ = Rewrite(context.Background(), inMemory(data), []Output{ // only panics and hangs count
			{W: io.Discard, Columns: columnsOf(s)}, {W: io.Discard, Columns: columnsOf(s), Rows: rows}}, Options{})
	})
}

func FuzzHybrid(f *testing.F) {
	f.Add([]byte{3, 0x88, 0xC6, 0xFA}, uint8(3), uint16(8))
	f.Add([]byte{0xFE, 0xFF, 0xFF, 0xFF, 0x0F, 1}, uint8(1), uint16(5))
	f.Fuzz(func(t *testing.T, src []byte, width uint8, n uint16) {
		vals, err := decodeHybrid[uint32](nil, src, int(width%40), int(n))
		if err != nil {
			return
		}
		require.Len(t, vals, int(n))
		for _, v := range vals { // a run may hold a value of more bits: callers refuse it
			if widthFor(int(v)) > int(width%40) {
				return
			}
		}
		again, err := decodeHybrid[uint32](nil, encodeHybrid(nil, vals, int(width%40)), int(width%40), int(n))
		require.NoError(t, err)
		require.Equal(t, vals, again)
	})
}

// FuzzDecompress: whatever a page holds, its decoder fills the room that it was
// given or fails, and touches nothing behind it.
func FuzzDecompress(f *testing.F) {
	text := bytes.Repeat([]byte("retention "), 40)
	for c := range format.CompressionCodec(8) {
		if b, err := pack(c, nil, text); err == nil {
			f.Add(uint8(c), len(text), b)
		}
	}
	f.Add(uint8(format.Lz4), 20, []byte{0, 0, 0, 20, 0, 0, 0, 2, 0x1F, 0xFF})
	f.Fuzz(func(t *testing.T, codec uint8, size int, src []byte) {
		c := format.CompressionCodec(codec % 8)
		if size < 0 || size > 1<<16 {
			return
		}
		if checkSize(c, src, size) != nil {
			require.Error(t, decompress(c, make([]byte, size), src))
			return
		}
		room := bytes.Repeat([]byte{0xA5}, size+64)
		_ = decompress(c, room[:size:size], src) // damage may go unnoticed here: checksums find it
		require.Equal(t, bytes.Repeat([]byte{0xA5}, 64), room[size:])
	})
}
