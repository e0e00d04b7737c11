package pq

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/format"
)

// way is how a row group gets into an output.
type way uint8

const (
	wayNone  way = iota // no row is wanted
	wayWhole            // all rows are
	waySplit            // some are
)

// outPlan is an output being made.
type outPlan struct {
	out    *Output
	leaves []*outLeaf
	file   *fileWriter
	codec  *format.CompressionCodec // as asked for; nil: the source chunk's
	copies bool                     // some row group is copied as bytes
	stats  []leafStats              // by leaf
	res    Result
	slow   []string

	// the row group at hand
	way     way
	rows    int
	next    int // leaf to write next
	decoded bool

	raw    rawChunk
	chunk  chunkWriter
	census chunkWriter // gathers statistics of what is copied as bytes
	sel    []byte
}

// plan works out an output's schema and starts its file.
func (s *source) plan(out *Output, opt *Options) (*outPlan, error) {
	p := &outPlan{out: out}
	if out.Rows != nil && int64(out.Rows.Len()) != s.meta.NumRows {
		return nil, fmt.Errorf("bitmap has %d rows, the file %d", out.Rows.Len(), s.meta.NumRows)
	}
	if out.Codec != "" {
		c, err := codecOf(out.Codec)
		if err != nil {
			return nil, err
		}
		p.codec = &c
	}
	p.copies = s.copiesAny(out.Rows)
	sch, err := s.outSchema(out.Columns, opt.Clear)
	if err != nil {
		return nil, err
	}
	p.leaves = sch.leaves
	p.stats = newLeafStats(sch.leaves, opt.Stats)
	p.file, err = newFileWriter(out.W, sch, opt.Created, s.calendarKeys())
	return p, err
}

// copiesAny says whether all rows of some row group are wanted.
func (s *source) copiesAny(rows *Bitmap) bool {
	lo := 0
	for g := range s.meta.RowGroups {
		hi := lo + int(s.meta.RowGroups[g].NumRows)
		if hi > lo && (rows == nil || rows.All(lo, hi)) {
			return true
		}
		lo = hi
	}
	return false
}

// codecFor is the codec to encode a leaf's chunk with, the source's being src:
// one codec for all chunks of a column where the source has one.
func (p *outPlan) codecFor(l *outLeaf, src format.CompressionCodec) format.CompressionCodec {
	if p.codec == nil || p.copies && l.src != nil && l.conv == nil {
		return writable(src)
	}
	return *p.codec
}

func (s *source) outSchema(cols []Column, clear []string) (*outSchema, error) {
	var nodes []*outNode
	seen := map[string]bool{}
	for i := range cols {
		c := &cols[i]
		if seen[c.Field.Name] {
			return nil, fmt.Errorf("column %s is there twice", c.Field.Name)
		}
		seen[c.Field.Name] = true
		n, err := s.column(c, slices.Contains(clear, c.Field.Name))
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Field.Name, err)
		}
		if n != nil {
			nodes = append(nodes, n)
		}
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("no columns to write")
	}
	sch := flatten(nodes)
	for _, l := range sch.leaves {
		if l.src != nil && (l.src.maxDef != l.maxDef || l.src.maxRep != l.maxRep) {
			return nil, fmt.Errorf("column %s: nesting of the file does not fit the table's", strings.Join(l.path, "."))
		}
	}
	return sch, nil
}

// begin decides on a row group of rows from lo up to hi.
func (p *outPlan) begin(lo, hi int) {
	p.way, p.rows, p.next, p.decoded = wayWhole, hi-lo, 0, false
	if p.out.Rows != nil {
		p.rows = p.out.Rows.CountRange(lo, hi)
	}
	switch p.rows {
	case 0:
		p.way = wayNone
		return
	case hi - lo:
	default:
		p.way = waySplit
	}
	p.file.startGroup()
}

// source leaf that comes next; nil when the row group is complete.
func (p *outPlan) nextSource() *leaf {
	if p.way == wayNone || p.next == len(p.leaves) {
		return nil
	}
	return p.leaves[p.next].src
}

// constants writes the chunks up to the next one that comes from the source as
// it is, of a row group that begins at the given row.
func (p *outPlan) constants(rw *rewriter, rg *rowGroup, row int, codec format.CompressionCodec) error {
	for p.way != wayNone && p.next < len(p.leaves) && p.leaves[p.next].src == nil {
		l := p.leaves[p.next]
		var err error
		if l.fill != nil {
			err = rw.fillChunk(p, l, rg, row, p.codecFor(l, codec))
		} else {
			err = p.constantChunk(l, codec)
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", strings.Join(l.path, "."), err)
		}
		p.stats[p.next].addChunk(&p.chunk)
		p.next++
	}
	return nil
}

func (p *outPlan) constantChunk(l *outLeaf, codec format.CompressionCodec) error {
	res, err := p.chunk.constantChunk(l, p.file, p.codecFor(l, codec), p.rows)
	if err == nil {
		p.file.add(res)
	}
	return err
}

// end completes the row group.
func (p *outPlan) end(s *source, rg *rowGroup) error {
	switch {
	case p.way == wayNone:
		return nil
	case p.way == waySplit:
		p.res.Split++
	case p.decoded:
		p.res.Decoded++
	default:
		p.res.RawCopied++
	}
	p.res.Rows += int64(p.rows)
	return p.file.endGroup(int64(p.rows), p.sorting(rg), s)
}

// sorting carries the sort order over, as far as its columns are in the output:
// a selection of sorted rows is sorted.
func (p *outPlan) sorting(rg *rowGroup) []format.SortingColumn {
	var out []format.SortingColumn
	for _, sc := range rg.SortingColumns {
		i := slices.IndexFunc(p.leaves, func(l *outLeaf) bool {
			return l.src != nil && l.conv == nil && l.src.index == int(sc.ColumnIdx)
		})
		if i < 0 {
			break
		}
		sc.ColumnIdx = int32(i)
		out = append(out, sc)
	}
	return out
}

// tookSlowWay notes an encoding that is not this package's fast path.
func (p *outPlan) tookSlowWay(l *leaf, enc format.Encoding) {
	switch enc {
	case format.Plain, format.PlainDictionary, format.RLEDictionary, format.RLE:
		return
	}
	if note := l.name() + ": " + enc.String(); !slices.Contains(p.slow, note) {
		p.slow = append(p.slow, note)
	}
}

// close completes the file.
func (p *outPlan) close(s *source) (Result, error) {
	if err := p.file.close(); err != nil {
		return Result{}, err
	}
	p.res.Bytes = p.file.off
	p.res.Fallback = strings.Join(p.slow, "; ")
	p.res.Stats = fileStats(p.res.Rows, p.leaves, p.stats, s.legacyDates())
	return p.res, nil
}
