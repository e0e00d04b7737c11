package deltaio

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// ScanOptions say which rows and columns to read.
type ScanOptions struct {
	Columns []string     // logical names, in output order; nil: all of the schema
	Where   *expr.Expr   // only rows for which it is TRUE; nil: all
	Context expr.Context // clock and session zone of Where
	Files   []*log.Add   // only these files; nil: all live ones
}

// Scan yields the rows in batches of at most 64Ki, in the order of the files.
// Deleted rows (deletion vectors) never appear, partition columns are filled in,
// files and row groups that cannot hold a wanted row are not read. Env.Parallel
// files are read ahead. The consumer releases each batch.
func (s *Snapshot) Scan(ctx context.Context, opt ScanOptions) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		sc, err := s.newScan(opt)
		if err != nil {
			yield(nil, fmt.Errorf("%s: scan: %w", s.table.URL(), err))
			return
		}
		readAhead(ctx, s.table.env.Parallel, sc.files, sc.file, yield)
	}
}

// tableScan is a scan whose names are resolved.
type tableScan struct {
	snap  *Snapshot
	where *expr.Bound
	out   *arrow.Schema
	read  []string // columns to read: those of the output and of where
	files []*log.Add
}

func (s *Snapshot) newScan(opt ScanOptions) (*tableScan, error) {
	outSchema, err := pick(s.schema, opt.Columns)
	if err != nil {
		return nil, err
	}
	sc := &tableScan{snap: s, files: opt.Files}
	if sc.files == nil {
		sc.files = s.state.Files
	}
	sc.read = fieldNames(outSchema)
	if sc.out, err = schema.ArrowSchema(outSchema); err != nil {
		return nil, err
	}
	if opt.Where == nil {
		return sc, nil
	}
	if sc.where, err = opt.Where.Bind(s.schema, opt.Context); err != nil {
		return nil, err
	}
	for _, c := range sc.where.Columns() {
		if !slices.Contains(sc.read, c) {
			sc.read = append(sc.read, c)
		}
	}
	sc.files = slices.DeleteFunc(slices.Clone(sc.files), func(a *log.Add) bool {
		return sc.where.Prune(s.Ranges(a)) == expr.None
	})
	return sc, nil
}

func fieldNames(s *schema.Struct) []string {
	names := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		names[i] = f.Name
	}
	return names
}

// file sends the wanted rows of one file to emit, which says whether to go on.
func (sc *tableScan) file(ctx context.Context, add *log.Add, emit func(arrow.Record) bool) (err error) {
	f, err := sc.snap.OpenFile(ctx, add)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	rows := f.live
	if sc.where != nil {
		isTrue := pq.NewBitmap(int(f.NumRows()))
		unknown := f.prune(sc.where, isTrue)
		unknown.Or(isTrue)
		if rows != nil {
			unknown.And(rows)
		}
		rows = unknown
	}
	for batch, err := range f.Batches(ctx, sc.read, rows) {
		if err != nil {
			return fmt.Errorf("%s: %w", sc.snap.table.URL(), err)
		}
		rec, err := sc.wanted(ctx, f, batch)
		batch.Record.Release()
		if err != nil {
			return fmt.Errorf("%s: file %s: rows from %d: %w", sc.snap.table.URL(), add.Path, batch.First, err)
		}
		if rec.NumRows() == 0 {
			rec.Release()
			continue
		}
		if !emit(rec) {
			return nil
		}
	}
	return nil
}

// wanted masks a batch by deletion vector and predicate, and drops the columns
// that only the predicate needed.
func (sc *tableScan) wanted(ctx context.Context, f *DataFile, batch FileBatch) (arrow.Record, error) {
	n := int(batch.Record.NumRows())
	keep, from := f.live, int(batch.First)
	if sc.where != nil {
		truth, err := sc.where.Truth(batch.Record)
		if err != nil {
			return nil, err
		}
		mask := pq.BitmapOf(slices.Clone(truth.True()), n)
		for i := range n {
			if keep != nil && !keep.Get(from+i) {
				mask.Unset(i)
			}
		}
		keep, from = mask, 0
	}
	out := project(batch.Record, sc.out)
	defer out.Release()
	return filterRecord(ctx, out, keep, from)
}
