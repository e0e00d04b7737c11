package pq

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

const (
	// maxPage bounds a page before and after compression.
	maxPage = 1 << 30
	// readAhead is what is read of a chunk at a time.
	readAhead = 1 << 20
	// maxHeader bounds a page header; writers put whole minima and maxima there.
	maxHeader = 16 << 20
)

// page is a page as it lies in the file. Its bytes are valid until the next.
type page struct {
	header pageHeader
	head   []byte // the encoded header
	body   []byte
	offset int64
}

// entries is the number of values of a data page, nulls included.
func (p *page) entries() int {
	switch p.header.Type {
	case format.DataPage:
		return int(p.header.V1.V.NumValues)
	case format.DataPageV2:
		return int(p.header.V2.V.NumValues)
	}
	return 0
}

// pageReader walks the pages of a column chunk until its values are complete.
// What a chunk holds beyond (padding, foreign bytes) is never looked at.
type pageReader struct {
	r     io.ReaderAt
	buf   []byte
	pos   int   // of the next page in buf
	off   int64 // of buf[pos] in the file
	hint  int64 // where the chunk should end
	limit int64 // where it must end
	left  int64 // values still to come
}

// open starts on a chunk, keeping the buffer.
func (p *pageReader) open(s *source, m *columnMeta) {
	p.r, p.limit, p.left = s.r, s.dataEnd, m.NumValues
	p.off = chunkStart(m)
	p.hint = p.limit
	if n := m.TotalCompressedSize; n > 0 && n < p.limit-p.off {
		p.hint = p.off + n
	}
	p.buf, p.pos = p.buf[:0], 0
}

// next reads a page: io.EOF after the one that completes the values.
func (p *pageReader) next() (*page, error) {
	if p.left == 0 {
		return nil, io.EOF
	}
	pg := &page{offset: p.off}
	n, err := p.header(&pg.header)
	if err != nil {
		return nil, fmt.Errorf("page at %d: %w", p.off, err)
	}
	if err := p.checkHeader(pg); err != nil {
		return nil, fmt.Errorf("page at %d: %w", p.off, err)
	}
	b, err := p.peek(n + int(pg.header.CompressedSize))
	if err != nil {
		return nil, fmt.Errorf("page at %d: %w", p.off, err)
	}
	pg.head, pg.body = b[:n], b[n:]
	if crc, ok := pg.header.CRC.Get(); ok && uint32(crc) != crc32.ChecksumIEEE(pg.body) {
		return nil, fmt.Errorf("page at %d: checksum does not match: the file is corrupt", p.off)
	}
	p.pos += len(b)
	p.off += int64(len(b))
	p.left -= int64(pg.entries())
	return pg, nil
}

// header decodes the page header at the read position and gives its length.
func (p *pageReader) header(h *pageHeader) (int, error) {
	for want := int64(512); ; want *= 8 {
		want = min(want, p.limit-p.off)
		b, err := p.peek(int(want))
		if err != nil {
			return 0, err
		}
		n, err := decodeThrift(b, h)
		if err == nil {
			return n, nil
		}
		if !errors.Is(err, errShort) || want > maxHeader || want == p.limit-p.off {
			return 0, fmt.Errorf("header: %w", err)
		}
	}
}

func (p *pageReader) checkHeader(pg *page) error {
	h := &pg.header
	if h.CompressedSize < 0 || h.UncompressedSize < 0 || h.CompressedSize > maxPage || h.UncompressedSize > maxPage {
		return fmt.Errorf("sizes %d and %d are out of range (at most %d)", h.CompressedSize, h.UncompressedSize, maxPage)
	}
	if int64(h.CompressedSize) > p.limit-p.off {
		return fmt.Errorf("%d bytes reach beyond the data", h.CompressedSize)
	}
	if h.Type == format.DataPage && !h.V1.Valid || h.Type == format.DataPageV2 && !h.V2.Valid ||
		h.Type == format.DictionaryPage && !h.Dictionary.Valid {
		return fmt.Errorf("header of a %s lacks its part", h.Type)
	}
	if n := int64(pg.entries()); n < 0 || n > p.left {
		return fmt.Errorf("%d values where the chunk has %d left", n, p.left)
	}
	return nil
}

// peek gives the next n bytes without moving on.
func (p *pageReader) peek(n int) ([]byte, error) {
	if int64(n) > p.limit-p.off {
		return nil, io.ErrUnexpectedEOF
	}
	if have := len(p.buf) - p.pos; have < n {
		rest := p.buf[p.pos:]
		want := int64(n)
		if ahead := min(p.hint-p.off, readAhead); ahead > want {
			want = ahead
		}
		if int64(cap(p.buf)) < want {
			p.buf = append(make([]byte, 0, want), rest...)
		} else {
			p.buf = append(p.buf[:0], rest...)
		}
		p.pos = 0
		p.buf = p.buf[:want]
		got, err := p.r.ReadAt(p.buf[have:], p.off+int64(have))
		if got < n-have {
			p.buf = p.buf[:have]
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		p.buf = p.buf[:have+got]
	}
	return p.buf[p.pos : p.pos+n : p.pos+n], nil
}
