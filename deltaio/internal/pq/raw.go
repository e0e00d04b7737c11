package pq

import (
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// rawChunk copies the pages of a chunk as bytes. It walks the page headers
// instead of trusting the footer's lengths: what is copied is pages, all of
// them checked against their CRC, and nothing that lies between or behind.
type rawChunk struct {
	leaf  *outLeaf
	out   *fileWriter
	start int64
	dict  int64 // offset of the dictionary page, -1 when there is none
	data  int64 // offset of the first data page, -1 before it
	pages []rawPage
}

type rawPage struct {
	from, to int64 // offsets in source and output
	size     int32
}

func (c *rawChunk) open(l *outLeaf, out *fileWriter) {
	*c = rawChunk{leaf: l, out: out, start: out.off, dict: -1, data: -1, pages: c.pages[:0]}
}

func (c *rawChunk) page(p *page) error {
	switch p.header.Type {
	case format.DictionaryPage:
		if c.dict >= 0 || c.data >= 0 {
			return fmt.Errorf("a dictionary behind other pages")
		}
		c.dict = c.out.off
	case format.DataPage, format.DataPageV2:
		if c.data < 0 {
			c.data = c.out.off
		}
		c.pages = append(c.pages, rawPage{p.offset, c.out.off, int32(len(p.head) + len(p.body))})
	default: // index pages were never used
		return nil
	}
	if err := c.out.write(p.head); err != nil {
		return err
	}
	return c.out.write(p.body)
}

// finish describes the chunk by the source's footer, with what may be believed
// of its statistics.
func (c *rawChunk) finish(s *source, src *columnChunk) (*chunkResult, error) {
	m := src.Meta.V
	m.Path = c.leaf.path
	m.DictionaryPageOffset = thrift.Null[int64]{}
	if c.dict >= 0 {
		m.DictionaryPageOffset = thrift.New(c.dict)
	}
	if c.data < 0 {
		c.data = c.out.off
	}
	m.DataPageOffset = c.data
	m.TotalCompressedSize = c.out.off - c.start
	m.BloomOffset, m.BloomLength = thrift.Null[int64]{}, thrift.Null[int32]{}
	trusted := false
	m.Statistics, trusted = s.carryStatistics(c.leaf, &src.Meta.V)
	res := &chunkResult{chunk: columnChunk{FileOffset: c.start, Meta: thrift.New(m)}}
	res.bloom = s.bloomSpan(&src.Meta.V)
	return res, c.carryIndex(res, s, src, trusted)
}

// carryStatistics keeps the null count and the bounds that may be believed.
func (s *source) carryStatistics(l *outLeaf, m *columnMeta) (_ thrift.Null[statistics], trusted bool) {
	st, ok := m.Statistics.Get()
	if !ok {
		return thrift.Null[statistics]{}, false
	}
	out := statistics{NullCount: st.NullCount}
	if n := st.NullCount; n.Valid && (n.V < 0 || n.V > m.NumValues) {
		out.NullCount = thrift.Null[int64]{}
	}
	lo, hi, trusted := s.boundsOf(l.src, &st)
	if trusted {
		out.MinValue, out.MaxValue = thrift.New(lo), thrift.New(hi)
		out.MinExact, out.MaxExact = st.MinExact, st.MaxExact
	}
	return thrift.New(out), trusted
}

// carryIndex takes the page index along when it fits the pages that were copied;
// the column index only where the chunk's bounds are believed too.
func (c *rawChunk) carryIndex(res *chunkResult, s *source, src *columnChunk, trusted bool) error {
	if !src.OffsetIndexOffset.Valid || !src.OffsetIndexLength.Valid {
		return nil
	}
	b, err := s.readRange(src.OffsetIndexOffset.V, int64(src.OffsetIndexLength.V))
	if err != nil {
		return fmt.Errorf("offset index: %w", err)
	}
	var oi format.OffsetIndex
	if _, err := decodeThrift(b, &oi); err != nil {
		return fmt.Errorf("offset index: %w", err)
	}
	if len(oi.PageLocations) != len(c.pages) {
		return nil // an index of other pages; readers do without one
	}
	for i := range oi.PageLocations {
		loc := &oi.PageLocations[i]
		if loc.Offset != c.pages[i].from || loc.CompressedPageSize != c.pages[i].size {
			return nil
		}
		loc.Offset = c.pages[i].to
	}
	if res.offsetIndex, err = appendThrift(nil, &oi); err != nil || !trusted {
		return err
	}
	if !src.ColumnIndexOffset.Valid || !src.ColumnIndexLength.Valid {
		return nil
	}
	res.columnIndex, err = s.readColumnIndex(src, len(c.pages))
	return err
}

// readColumnIndex reads an encoded column index that is for n pages.
func (s *source) readColumnIndex(src *columnChunk, n int) ([]byte, error) {
	b, err := s.readRange(src.ColumnIndexOffset.V, int64(src.ColumnIndexLength.V))
	if err != nil {
		return nil, fmt.Errorf("column index: %w", err)
	}
	var ci format.ColumnIndex
	if _, err := decodeThrift(b, &ci); err != nil {
		return nil, fmt.Errorf("column index: %w", err)
	}
	if len(ci.NullPages) != n || len(ci.MinValues) != n || len(ci.MaxValues) != n {
		return nil, nil
	}
	return b, nil
}

// bloomSpan finds the bytes of a chunk's bloom filter, nil when there is none
// or it is malformed: readers do without one.
func (s *source) bloomSpan(m *columnMeta) *span {
	off, ok := m.BloomOffset.Get()
	if !ok || off < int64(len(magic)) || off >= s.dataEnd {
		return nil
	}
	head, err := s.readRange(off, min(256, s.dataEnd-off))
	if err != nil {
		return nil
	}
	var h bloomHeader
	n, err := decodeThrift(head, &h)
	if err != nil || h.NumBytes <= 0 || int64(h.NumBytes) > s.dataEnd-off-int64(n) {
		return nil
	}
	return &span{off, int64(n) + int64(h.NumBytes)}
}

// answer adds to file statistics what the footer of the source says of a chunk
// that is copied as bytes; false when only decoding can tell.
func (s *source) answer(l *outLeaf, m *columnMeta, into *leafStats) bool {
	st := m.Statistics.V
	nulls, known := st.NullCount.Get()
	if l.maxDef == 0 {
		nulls, known = 0, true
	}
	known = known && nulls >= 0 && nulls <= m.NumValues
	if !known && !l.needed {
		into.nullsUnknown, into.unbounded = true, true
		return true
	}
	if !known {
		return false
	}
	if nulls < m.NumValues && l.bounded() {
		lo, hi, ok := s.boundsOf(l.src, &st)
		switch {
		case ok && answersStats(l.order):
			into.stat.addBounds(lo, hi)
		case l.needed:
			return false
		default:
			into.unbounded = true
		}
	}
	into.nulls += nulls
	return true
}
