package parquetfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Verified says how a file's pages were read.
type Verified struct {
	// Checksummed pages were compared with the checksum that was written.
	Checksummed int
	// Decoded columns have pages without one, and were decoded.
	Decoded []string
	// Unread columns have pages without one, and a type that is not decoded here.
	Unread []string
}

// maxHeader is how long a page header may be: statistics inside are as long as
// values are.
const maxHeader = 1 << 20

// Verify reads every page. told hears of the bytes that were read.
func (f *File) Verify(ctx context.Context, told func(bytes int64)) (Verified, error) {
	var v Verified
	foot := f.scan.Footer()
	decode := map[string]bool{}
	buf := bufio.NewReaderSize(nil, maxHeader)
	for g := range foot.RowGroups {
		for i := range foot.RowGroups[g].Chunks {
			if err := ctx.Err(); err != nil {
				return v, err
			}
			c := &foot.RowGroups[g].Chunks[i]
			column := foot.Leaves[i].Names[0]
			if decode[column] {
				continue
			}
			pages, all, err := f.checkChunk(buf, c)
			if err != nil {
				return v, damage(BadPage, f.key, fmt.Errorf("row group %d, column %s: %w", g, foot.Leaves[i].Path(), err))
			}
			v.Checksummed += pages
			if !all {
				decode[column] = true
				continue
			}
			start, end := c.Bounds()
			told(end - start)
		}
	}
	return v, f.decode(ctx, &v, decode, told)
}

// checkChunk compares the checksums of a chunk's pages. It stops with all false
// at the first page that has none.
func (f *File) checkChunk(buf *bufio.Reader, c *footer.Chunk) (pages int, all bool, err error) {
	start, end := c.Bounds()
	buf.Reset(io.NewSectionReader(f.r, start, end-start))
	for values := int64(0); values < c.NumValues; {
		h, err := pageHeader(buf)
		if err != nil {
			return pages, false, err
		}
		if !h.HasCRC {
			return pages, false, nil
		}
		sum := crc32.NewIEEE()
		n, err := io.CopyN(sum, buf, int64(h.CompressedSize))
		switch {
		case errors.Is(err, io.EOF) || h.CompressedSize < 0:
			return pages, false, fmt.Errorf("%w: a page has %d of %d bytes", scan.ErrCorrupt, n, h.CompressedSize)
		case err != nil:
			return pages, false, err
		case sum.Sum32() != h.CRC:
			return pages, false, fmt.Errorf("%w: a page has checksum %08x, its header says %08x", scan.ErrCorrupt, sum.Sum32(), h.CRC)
		}
		pages++
		if h.Type == footer.DataPage || h.Type == footer.DataPageV2 {
			if h.NumValues < 0 {
				return pages, false, fmt.Errorf("%w: a page of %d values", scan.ErrCorrupt, h.NumValues)
			}
			values += int64(h.NumValues)
		}
	}
	return pages, true, nil
}

func pageHeader(buf *bufio.Reader) (footer.Header, error) {
	for want := 256; ; want = min(want*8, maxHeader) {
		b, err := buf.Peek(want)
		if len(b) == 0 && errors.Is(err, io.EOF) {
			return footer.Header{}, fmt.Errorf("%w: the pages end before all values", scan.ErrCorrupt)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return footer.Header{}, err
		}
		h, n, more, perr := footer.ParseHeader(b)
		if perr == nil {
			_, err := buf.Discard(n)
			return h, err
		}
		if !more || err != nil || want == maxHeader {
			return footer.Header{}, fmt.Errorf("page header: %w", perr)
		}
	}
}

// decode reads whole columns, those whose pages have no checksums.
func (f *File) decode(ctx context.Context, v *Verified, columns map[string]bool, told func(int64)) error {
	s := &schema.Struct{}
	for _, c := range f.Columns() {
		switch {
		case !columns[c.Name]:
		case c.Type == nil:
			v.Unread = append(v.Unread, c.Name)
		default:
			v.Decoded = append(v.Decoded, c.Name)
			s.Fields = append(s.Fields, schema.Field{Name: c.Name, Type: c.Type, Nullable: true})
		}
	}
	slices.Sort(v.Unread)
	if len(s.Fields) == 0 {
		return nil
	}
	rows, bytes := int64(0), f.bytesOf(columns)
	for rec, err := range f.Batches(ctx, s) {
		if err != nil {
			return err
		}
		rows += rec.NumRows()
		told(bytes * rec.NumRows() / max(f.Rows(), 1))
		rec.Release()
	}
	if rows != f.Rows() {
		return &DamageError{Kind: BadPage, Key: f.key, Err: fmt.Errorf("%d rows read, the footer says %d", rows, f.Rows())}
	}
	return nil
}

// bytesOf sums up the chunks of top-level columns.
func (f *File) bytesOf(columns map[string]bool) (n int64) {
	foot := f.scan.Footer()
	for g := range foot.RowGroups {
		for i := range foot.RowGroups[g].Chunks {
			if columns[foot.Leaves[i].Names[0]] {
				start, end := foot.RowGroups[g].Chunks[i].Bounds()
				n += end - start
			}
		}
	}
	return n
}
