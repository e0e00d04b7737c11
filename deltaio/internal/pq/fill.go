package pq

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Fill gives values to the rows that have none in the source: Base plus Step
// times the row's position in the source file. It is for columns of type long
// that Rewrite takes over, such as the ids that rows had before.
type Fill struct {
	Base, Step int64
	// Null are rows of the source that are written as null, whatever they hold;
	// nil: none.
	Null *Bitmap
}

// filled plans a column whose gaps are filled.
func (s *source) filled(c *Column) (*outNode, error) {
	if c.Field.Type != schema.Long || !c.Field.Nullable {
		return nil, fmt.Errorf("only nullable columns of type long can be filled")
	}
	if b := c.Fill.Null; b != nil && int64(b.Len()) != s.meta.NumRows {
		return nil, fmt.Errorf("null rows are of %d rows, the file has %d", b.Len(), s.meta.NumRows)
	}
	out, err := canonical(&c.Field)
	if err != nil {
		return nil, err
	}
	n, err := s.find(c)
	if err != nil {
		return nil, err
	}
	out.leaf.fill = c.Fill
	if n == nil {
		return out, nil
	}
	if n.leaf == nil || n.repetition() == format.Repeated || !asIs(schema.Long, meaningOf(n.leaf).kind) {
		return nil, fmt.Errorf("the file has %s where the table has %s", nodeKind(n), c.Field.Type)
	}
	out.leaf.fillFrom = n.leaf
	return out, nil
}

// fillChunk writes the chunk of a filled column for the row group at hand, which
// begins at the given row of the source.
func (rw *rewriter) fillChunk(p *outPlan, l *outLeaf, rg *rowGroup, row int, codec format.CompressionCodec) error {
	rows := int(rg.NumRows)
	all := make([]int64, rows)
	for i := range all {
		all[i] = l.fill.Base + l.fill.Step*int64(row+i)
	}
	if l.fillFrom != nil {
		if err := rw.longs(&rg.Columns[l.fillFrom.index], l.fillFrom, all); err != nil {
			return err
		}
	}
	page := dataPage{n: rows, def: make([]byte, rows), vals: values{enc: format.Plain, fixed: make([]byte, 0, 8*rows)}}
	for i, v := range all {
		if l.fill.Null != nil && l.fill.Null.Get(row+i) {
			continue
		}
		page.def[i] = 1
		page.vals.fixed = binary.LittleEndian.AppendUint64(page.vals.fixed, uint64(v))
		page.vals.n++
	}
	p.chunk.open(l, p.file, codec, rw.pageBytes)
	rw.it.cut(&page, &leaf{typ: format.Int64, width: 8, maxDef: 1}, 0, rw.pageBytes)
	for b := rw.it.next(); b != nil; b = rw.it.next() {
		sel, some := p.choose(row+b.row, b.rows)
		if !some {
			continue
		}
		if err := p.chunk.append(b, sel); err != nil {
			return err
		}
	}
	res, err := p.chunk.finish()
	if err != nil {
		return err
	}
	p.file.add(res)
	return nil
}

// longs decodes a chunk of long values into dst, which keeps its own where the
// chunk has null.
func (rw *rewriter) longs(cc *columnChunk, l *leaf, dst []int64) error {
	m := &cc.Meta.V
	rw.pages.open(rw.src, m)
	rw.dec.open(l, m.Codec)
	at := 0
	for {
		p, err := rw.pages.next()
		if err == io.EOF {
			break
		}
		if err == nil {
			at, err = rw.longsOf(p, l, dst, at)
		}
		if err != nil {
			return err
		}
	}
	if at != len(dst) {
		return fmt.Errorf("chunk holds %d rows, the row group %d", at, len(dst))
	}
	return nil
}

func (rw *rewriter) longsOf(p *page, l *leaf, dst []int64, at int) (int, error) {
	switch p.header.Type {
	case format.DictionaryPage:
		_, err := rw.dec.dictionary(p)
		return at, err
	case format.DataPage, format.DataPageV2:
	default:
		return at, nil
	}
	dp, err := rw.dec.data(p)
	if err != nil {
		return at, fmt.Errorf("page at %d: %w", p.offset, err)
	}
	if dp.n > len(dst)-at {
		return at, fmt.Errorf("chunk holds more rows than the %d of the row group", len(dst))
	}
	vals := dp.vals
	if vals.coded {
		vals = rw.dec.dict.expand(&vals)
	}
	b := vals.fixed
	for i := range dp.n {
		if dp.def == nil || int(dp.def[i]) == l.maxDef {
			dst[at+i], b = int64(le64(b)), b[8:]
		}
	}
	return at + dp.n, nil
}
