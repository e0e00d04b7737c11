package log

import (
	"bytes"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// pageAllowance is what a page may unpack to whatever its column chunk says of
// its size.
const pageAllowance = 64 << 20

// checkPages walks the page headers of a file before the Parquet library trusts
// them: neither they nor the footer carry checksums, and the library allocates
// what they say. A damaged count would cost gigabytes, a page that is no LZ4
// although it says so all memory there is.
func checkPages(data []byte, meta *format.FileMetaData) error {
	for i := range meta.RowGroups {
		for j := range meta.RowGroups[i].Columns {
			m := &meta.RowGroups[i].Columns[j].MetaData
			if err := checkChunk(data, m); err != nil {
				return fmt.Errorf("row group %d, column %v: %w", i, m.PathInSchema, err)
			}
		}
	}
	return nil
}

func checkChunk(data []byte, m *format.ColumnMetaData) error {
	start := m.DataPageOffset
	if m.DictionaryPageOffset > 0 && m.DictionaryPageOffset < start {
		start = m.DictionaryPageOffset
	}
	if start < 0 || m.TotalCompressedSize < 0 || start > int64(len(data)) || m.TotalCompressedSize > int64(len(data))-start {
		return fmt.Errorf("bytes %d+%d of %d", start, m.TotalCompressedSize, len(data))
	}
	chunk := data[start : start+m.TotalCompressedSize]
	limit := max(m.TotalUncompressedSize, pageAllowance)
	var values int64
	for values < m.NumValues {
		header, page, rest, err := nextPage(chunk)
		if err != nil {
			return err
		}
		if int64(header.UncompressedPageSize) > limit {
			return fmt.Errorf("page of %d bytes", header.UncompressedPageSize)
		}
		if m.Codec == format.Lz4Raw {
			if err := checkLZ4(header, page); err != nil {
				return err
			}
		}
		values += pageValues(header)
		chunk = rest
	}
	if values != m.NumValues {
		return fmt.Errorf("%d values in its pages, the footer says %d", values, m.NumValues)
	}
	return nil
}

// nextPage splits the first page off a column chunk.
func nextPage(chunk []byte) (header *format.PageHeader, page, rest []byte, err error) {
	r := bytes.NewReader(chunk)
	header = new(format.PageHeader)
	if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(byteReader{r})).Decode(header); err != nil {
		return nil, nil, nil, fmt.Errorf("page header: %w", err)
	}
	n := int64(header.CompressedPageSize)
	if n < 0 || header.UncompressedPageSize < 0 || n > int64(r.Len()) {
		return nil, nil, nil, fmt.Errorf("page of %d bytes where %d are left", n, r.Len())
	}
	body := chunk[len(chunk)-r.Len():]
	return header, body[:n], body[n:], nil
}

// byteReader hides what would let the decoder read ahead.
type byteReader struct{ *bytes.Reader }

var _ io.ByteReader = byteReader{}

func pageValues(h *format.PageHeader) int64 {
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		return int64(h.DataPageHeader.V.NumValues)
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		return int64(h.DataPageHeaderV2.V.NumValues)
	}
	return 0
}

// checkLZ4 unpacks a page into the room it says it needs.
func checkLZ4(h *format.PageHeader, page []byte) error {
	size := int(h.UncompressedPageSize)
	if h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid {
		v2 := h.DataPageHeaderV2.V
		if v2.IsCompressed.Valid && !v2.IsCompressed.V {
			return nil
		}
		levels := int(v2.RepetitionLevelsByteLength) + int(v2.DefinitionLevelsByteLength)
		if v2.RepetitionLevelsByteLength < 0 || v2.DefinitionLevelsByteLength < 0 || levels > len(page) || levels > size {
			return fmt.Errorf("page of %d bytes with %d bytes of levels", len(page), levels)
		}
		page, size = page[levels:], size-levels
	}
	if size == 0 && len(page) == 0 {
		return nil
	}
	if n, err := lz4.UncompressBlock(page, make([]byte, size)); err != nil || n != size {
		return fmt.Errorf("page is no LZ4 block of %d bytes", size)
	}
	return nil
}
