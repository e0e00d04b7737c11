package pq

import (
	"context"
	"fmt"

	"github.com/parquet-go/parquet-go/format"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// Rewrite reads src once and writes every output. Results are in the order of
// the outputs. An output without rows is a valid file without row groups. After
// an error what was written to the outputs is worthless.
func Rewrite(ctx context.Context, src storage.Reader, outs []Output, opt Options) (_ []Result, err error) {
	defer recoverAs(&err)
	s, err := openSource(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Info().Key, err)
	}
	rw := &rewriter{src: s, pageBytes: opt.PageBytes}
	if rw.pageBytes <= 0 {
		rw.pageBytes = defaultPageBytes
	}
	for i := range outs {
		p, err := s.plan(&outs[i], &opt)
		if err != nil {
			return nil, fmt.Errorf("%s: output %d: %w", s.key, i, err)
		}
		rw.plans = append(rw.plans, p)
	}
	row := 0
	for g := range s.meta.RowGroups {
		if err := rw.rowGroup(ctx, g, row); err != nil {
			return nil, fmt.Errorf("%s: row group %d: %w", s.key, g, err)
		}
		row += int(s.meta.RowGroups[g].NumRows)
	}
	results := make([]Result, len(rw.plans))
	for i, p := range rw.plans {
		if results[i], err = p.close(s); err != nil {
			return nil, fmt.Errorf("%s: output %d: %w", s.key, i, err)
		}
	}
	return results, nil
}

// rewriter holds what one Rewrite needs. Its buffers are reused from chunk to
// chunk.
type rewriter struct {
	src       *source
	pageBytes int
	plans     []*outPlan
	pages     pageReader
	dec       pageDecoder
	it        batches
	converted []byte
}

// rowGroup writes one row group of the source, which begins at the given row,
// column by column.
func (rw *rewriter) rowGroup(ctx context.Context, g, row int) error {
	rg := &rw.src.meta.RowGroups[g]
	if rg.NumRows == 0 {
		return nil
	}
	codec := format.Snappy // of constants, the same in every row group
	if first := rw.src.meta.RowGroups[0].Columns; len(first) > 0 {
		codec = first[0].Meta.V.Codec
	}
	for _, p := range rw.plans {
		p.begin(row, row+int(rg.NumRows))
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var next *leaf
		for _, p := range rw.plans {
			if err := p.constants(rw, rg, row, codec); err != nil {
				return err
			}
			if next == nil {
				next = p.nextSource()
			}
		}
		if next == nil {
			break
		}
		if err := rw.column(rg, next, row); err != nil {
			return fmt.Errorf("column %s: %w", next.name(), err)
		}
	}
	for _, p := range rw.plans {
		if err := p.end(rw.src, rg); err != nil {
			return err
		}
	}
	return nil
}

// column writes a chunk of the source to every output that wants it next.
func (rw *rewriter) column(rg *rowGroup, l *leaf, row int) (err error) {
	defer recoverAs(&err)
	cc := &rg.Columns[l.index]
	job := chunkJob{rw: rw, leaf: l, chunk: cc, firstRow: row, rows: int(rg.NumRows)}
	for _, p := range rw.plans {
		if p.nextSource() == l {
			job.add(p)
		}
	}
	if err := job.run(); err != nil {
		return err
	}
	return job.finish()
}
