package pq

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// arrowProps draws writer properties: codec, page version and size, dictionary,
// encoding without one.
func arrowProps(r *rand.Rand) []parquet.WriterProperty {
	codecs := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Zstd}
	codec, size := codecs[r.IntN(len(codecs))], []int64{100, 4000, 1 << 20}[r.IntN(3)]
	if codec == compress.Codecs.Brotli || codec == compress.Codecs.Gzip {
		size = 1 << 20 // their encoders take megabytes to start
	}
	props := []parquet.WriterProperty{
		parquet.WithCompression(codec),
		parquet.WithDataPageSize(size),
		parquet.WithDictionaryDefault(r.IntN(3) > 0),
	}
	if r.IntN(2) == 0 { // arrow writes v2 pages without end where a row is longer than a batch
		props = append(props, parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithBatchSize(4096))
	} else {
		props = append(props, parquet.WithBatchSize([]int64{7, 100, 1024}[r.IntN(3)]))
	}
	if r.IntN(2) == 0 {
		props = append(props, parquet.WithDictionaryPageSizeLimit(300)) // falls back to PLAIN on the way
	}
	return props
}

func TestRewrite_random_tables_and_masks_keep_exactly_the_wanted_rows(t *testing.T) {
	t.Parallel()
	eachSeed(t, 60, func(t *testing.T, r *rand.Rand) {
		rows := []int{1, 30, 500, 3000}[r.IntN(4)]
		s := randomStruct(r, 1+r.IntN(4), 2)
		rec := randomRecord(r, s, rows)
		data := arrowFile(t, rec, 1+r.IntN(rows), arrowProps(r)...)
		want := recordTable(rec)
		wantGo, err := tryGoTable(data) // refuses some of arrow's v2 pages

		outs := make([]Output, 1+r.IntN(3))
		page, names := []int{0, 200, 10_000}[r.IntN(3)], []string{"snappy", "zstd", "uncompressed", "lz4_raw", "", "gzip", "brotli"}
		if page != 0 {
			names = names[:4]
		}
		for i := range outs {
			outs[i] = Output{Columns: columnsOf(s), Rows: randomRows(r, rows), Codec: names[r.IntN(len(names))]}
		}
		files, _ := rewriteAll(t, data, Options{PageBytes: page}, outs...)
		for i, f := range files {
			if outs[i].Codec == "lz4_raw" { // arrow has no decoder, parquet-go a broken one
				f = recompressed(t, f, s)
			}
			if err == nil {
				require.Equal(t, keepRows(wantGo, outs[i].Rows), goTable(t, f))
			}
			require.Equal(t, keepRows(want, outs[i].Rows), arrowTable(t, f))
		}
	})
}

// recompressed splits a file so that no chunk of it is copied as bytes, and
// joins it again, uncompressed.
func recompressed(t *testing.T, data []byte, s *schema.Struct) []byte {
	src, err := openSource(inMemory(data))
	require.NoError(t, err)
	p, err := src.plan(&Output{W: io.Discard, Columns: columnsOf(s)}, &Options{})
	require.NoError(t, err)
	var buf bytes.Buffer
	p.file.w.Reset(&buf)
	p.file.off = 0
	require.NoError(t, p.file.write([]byte(magic)))
	rw := &rewriter{src: src, pageBytes: defaultPageBytes}
	for g := range src.meta.RowGroups {
		p.begin(0, int(src.meta.RowGroups[g].NumRows))
		for i, l := range p.leaves {
			job := chunkJob{rw: rw, leaf: l.src, chunk: &src.meta.RowGroups[g].Columns[l.src.index], rows: p.rows}
			p.chunk.open(l, p.file, 0, defaultPageBytes)
			job.target(p, &p.chunk, nil)
			require.NoError(t, job.run())
			res, err := p.chunk.finish()
			require.NoError(t, err)
			p.file.add(res)
			p.next = i
		}
		require.NoError(t, p.file.endGroup(int64(p.rows), nil, src))
	}
	require.NoError(t, p.file.close())
	return buf.Bytes()
}
