package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/page"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

const (
	// batchBytes is the size of a batch aimed at, by the footer's sizes: rows of
	// wide tables come in smaller batches.
	batchBytes = 64 << 20
	// minBatchRows is the smallest batch that sizes alone lead to.
	minBatchRows = 256
	// readAhead is how much is read at once over all columns together; one
	// column reads between minWindow and maxWindow.
	readAhead = 32 << 20
	minWindow = 64 << 10
	maxWindow = 1 << 20
	// wholeGroup is the size up to which a row group's wanted chunks, when they
	// lie close together, are read by one request.
	wholeGroup = 4 << 20
)

// Batches reads the file's rows. The caller releases each record. The sequence
// ends after the first error.
func (f *File) Batches(ctx context.Context, opt Options) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		s, err := f.newScanner(&opt)
		if err != nil {
			yield(nil, fmt.Errorf("%s: %w", f.key, err))
			return
		}
		for _, g := range s.groups {
			if err := s.open(g); err != nil {
				yield(nil, s.wrap(err))
				return
			}
			for s.left > 0 {
				if err := ctx.Err(); err != nil {
					yield(nil, s.wrap(err))
					return
				}
				rec, err := s.next(ctx)
				if err != nil {
					yield(nil, s.wrap(err))
					return
				}
				if !yield(rec, nil) {
					return
				}
			}
		}
	}
}

// scanner reads the chosen row groups of a file, batch by batch.
type scanner struct {
	f      *File
	schema *arrow.Schema
	cols   []column
	all    []*leaf
	groups []int
	limit  int // rows of a batch

	group int
	left  int64 // rows of the group not yet read
	rows  int   // of the next batch
	at    string
}

func (f *File) newScanner(opt *Options) (*scanner, error) {
	s := &scanner{f: f, groups: opt.RowGroups, limit: opt.BatchRows}
	if opt.Schema == nil {
		return nil, errors.New("scan: Options.Schema is missing")
	}
	if s.limit <= 0 {
		s.limit = DefaultBatchRows
	}
	if s.groups == nil {
		for i := range f.foot.RowGroups {
			s.groups = append(s.groups, i)
		}
	}
	for _, g := range s.groups {
		if g < 0 || g >= len(f.foot.RowGroups) {
			return nil, fmt.Errorf("scan: Options.RowGroups names %d, the file has %d row groups", g, len(f.foot.RowGroups))
		}
	}
	var err error
	if s.schema, err = schema.ArrowSchema(opt.Schema); err != nil {
		return nil, err
	}
	m := &matcher{opt: opt, old: f.old}
	for i := range opt.Schema.Fields {
		c, err := f.column(m, &opt.Schema.Fields[i])
		if err != nil {
			return nil, err
		}
		s.cols = append(s.cols, c)
		s.all = append(s.all, c.leaves()...)
	}
	if opt.leafBytes > 0 {
		for _, l := range s.all {
			l.maxBytes = opt.leafBytes
		}
	}
	return s, nil
}

// column builds a top-level column: a constant, or one of the file.
func (f *File) column(m *matcher, field *schema.Field) (column, error) {
	value, ok, err := m.constant(field)
	if err != nil {
		return nil, err
	}
	if ok {
		return newConstant(field, value)
	}
	if m.opt.ByFieldID && !f.hasFieldIDs() {
		return nil, fmt.Errorf("%w: columns are mapped by id, and the file has no field ids", ErrUnsupported)
	}
	return m.field(f.foot.Root, field)
}

func (s *scanner) wrap(err error) error {
	if s.at != "" {
		return fmt.Errorf("%s: row group %d, column %s: %w", s.f.key, s.group, s.at, err)
	}
	return fmt.Errorf("%s: row group %d: %w", s.f.key, s.group, err)
}

// open starts a row group.
func (s *scanner) open(group int) (err error) {
	defer recoverTo(&err, func(e error) error { return e })
	g := &s.f.foot.RowGroups[group]
	s.group, s.left, s.at = group, g.NumRows, ""
	if g.NumRows == 0 {
		return nil
	}
	s.rows = s.batchRows(g)
	r, err := s.source(g)
	if err != nil {
		return err
	}
	window := min(max(readAhead/max(len(s.all), 1), minWindow), maxWindow)
	for _, l := range s.all {
		l.open(r, g, window, s.rows)
	}
	return nil
}

// batchRows sizes the batches of a row group by its bytes.
func (s *scanner) batchRows(g *footer.RowGroup) int {
	bytes := int64(0)
	for _, l := range s.all {
		bytes += g.Chunks[l.node.Leaf].UncompressedSize
	}
	rows := int64(s.limit)
	if perRow := bytes / g.NumRows; perRow > 0 {
		rows = min(rows, max(batchBytes/perRow, minBatchRows))
	}
	return int(rows)
}

// source gives what the row group's columns are read from: the file, or its
// bytes in memory when they are few and lie together.
func (s *scanner) source(g *footer.RowGroup) (io.ReaderAt, error) {
	low, high, sum := int64(1<<62), int64(0), int64(0)
	for _, l := range s.all {
		start, end := g.Chunks[l.node.Leaf].Bounds()
		low, high, sum = min(low, start), max(high, end), sum+end-start
	}
	if len(s.all) < 2 || high-low > wholeGroup || sum < (high-low)/2 {
		return s.f.r, nil
	}
	b := make([]byte, high-low)
	if n, err := s.f.r.ReadAt(b, low); n < len(b) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read %d bytes at %d: %w", len(b), low, err)
	}
	return &tailReader{r: s.f.r, tail: b, offset: low}, nil
}

// next reads a batch. Where a column turns out larger than a batch may be, all
// go back to where they were and fewer rows are read.
func (s *scanner) next(ctx context.Context) (rec arrow.Record, err error) {
	defer recoverTo(&err, func(e error) error { return e })
	n := int(min(int64(s.rows), s.left))
	places := make([]place, len(s.all))
	for i, l := range s.all {
		places[i] = l.mark()
	}
	for {
		rec, err = s.batch(ctx, n)
		if err == nil || !errors.Is(err, page.ErrTooLarge) || n == 1 {
			return rec, err
		}
		n = max(n/4, 1)
		s.rows = n
		for i, l := range s.all {
			s.at = l.node.Path()
			if err := l.restore(places[i]); err != nil {
				return nil, err
			}
		}
	}
}

func (s *scanner) batch(ctx context.Context, n int) (rec arrow.Record, err error) {
	defer recoverTo(&err, func(e error) error { return e })
	for _, l := range s.all {
		s.at = l.node.Path()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := l.load(n); err != nil {
			return nil, err
		}
	}
	arrays := make([]arrow.Array, len(s.cols))
	defer func() {
		for _, a := range arrays {
			if a != nil {
				a.Release()
			}
		}
	}()
	for i, c := range s.cols {
		s.at = s.schema.Field(i).Name
		d, err := c.build(n)
		if err != nil {
			return nil, err
		}
		arrays[i] = array.MakeFromData(d)
		d.Release()
	}
	if int64(n) == s.left {
		for _, l := range s.all {
			s.at = l.node.Path()
			if err := l.finish(); err != nil {
				return nil, err
			}
		}
	}
	s.left -= int64(n)
	s.at = ""
	return array.NewRecord(s.schema, arrays, int64(n)), nil
}
