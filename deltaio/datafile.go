package deltaio

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/dv"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// DataFile is an open data file of a snapshot.
type DataFile struct {
	snap *Snapshot
	add  *log.Add
	key  string
	r    storage.Reader
	file *scan.File
	live *pq.Bitmap // nil: every row
}

// OpenFile opens a live data file and reads its deletion vector. Close it.
func (s *Snapshot) OpenFile(ctx context.Context, add *log.Add) (*DataFile, error) {
	f, err := s.openFile(ctx, add)
	if isNotExist(err) {
		err = s.table.lost(ctx, add, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: version %d: file %s: %w", s.table.URL(), s.Version(), add.Path, err)
	}
	return f, nil
}

// lost tells a file that others have replaced and vacuumed since, where a newer
// snapshot helps, from one that is live and gone.
func (t *Table) lost(ctx context.Context, add *log.Add, err error) error {
	now, nerr := t.Snapshot(ctx)
	if nerr != nil {
		return err // the newest version is not known: say what is
	}
	for _, f := range now.Files() {
		if f.Key() == add.Key() {
			return &LostFileError{Table: t.URL(), File: add.Path, Err: err}
		}
	}
	return err
}

func (s *Snapshot) openFile(ctx context.Context, add *log.Add) (f *DataFile, err error) {
	key, err := log.ResolvePath(s.table.URL(), add.Path)
	if err != nil {
		return nil, err
	}
	r, err := s.table.store.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = r.Close() // the error at hand says more
		}
	}()
	// The log's size is not compared with the object's: some writers record a
	// wrong one, and Spark reads those tables.
	file, err := scan.Open(r)
	if err != nil {
		return nil, err
	}
	f = &DataFile{snap: s, add: add, key: key, r: r, file: file}
	f.live, err = s.liveRows(ctx, add, file.NumRows())
	return f, err
}

// liveRows turns a deletion vector into the rows it leaves.
func (s *Snapshot) liveRows(ctx context.Context, add *log.Add, rows int64) (*pq.Bitmap, error) {
	if add.DeletionVector == nil {
		return nil, nil
	}
	gone, err := dv.Read(ctx, s.table.store, add.DeletionVector)
	if err != nil {
		return nil, fmt.Errorf("deletion vector: %w", err)
	}
	if gone.IsEmpty() {
		return nil, nil
	}
	if last := gone.Maximum(); last >= uint64(rows) {
		return nil, fmt.Errorf("deletion vector %w: it drops row %d of %d", dv.ErrCorrupt, last, rows)
	}
	live := pq.FullBitmap(int(rows))
	for it := gone.Iterator(); it.HasNext(); {
		live.Unset(int(it.Next()))
	}
	return live, nil
}

// Close the file.
func (f *DataFile) Close() error { return f.r.Close() }

// Add is the file's action in the log. Read only.
func (f *DataFile) Add() *log.Add { return f.add }

// Key is the file's storage key.
func (f *DataFile) Key() string { return f.key }

// NumRows counts the physical rows, deleted ones included.
func (f *DataFile) NumRows() int64 { return f.file.NumRows() }

// LiveRows counts the rows that no deletion vector drops.
func (f *DataFile) LiveRows() int64 {
	if f.live == nil {
		return f.NumRows()
	}
	return int64(f.live.Count())
}

// Live has a bit per physical row, set unless a deletion vector drops the row;
// nil when no row is dropped. Read only.
func (f *DataFile) Live() *pq.Bitmap { return f.live }

// FileBatch is a run of physical rows of a file.
type FileBatch struct {
	Record arrow.Record // by logical names
	First  int64        // physical position of its first row
}

// Batches yields physical rows (deleted ones too: mask by Live), partition
// columns filled in. columns nil: the whole schema. Row groups without a bit in
// rows are skipped; rows nil: all. The consumer releases each record.
func (f *DataFile) Batches(ctx context.Context, columns []string, rows *pq.Bitmap) iter.Seq2[FileBatch, error] {
	return func(yield func(FileBatch, error) bool) {
		sc, err := pick(f.snap.schema, columns)
		if err != nil {
			yield(FileBatch{}, err)
			return
		}
		f.read(ctx, sc, rows, yield)
	}
}

// read goes through the row groups one by one, so that the position of each
// batch is known whatever was skipped.
func (f *DataFile) read(ctx context.Context, sc *schema.Struct, rows *pq.Bitmap, yield func(FileBatch, error) bool) {
	first := int64(0)
	for g, n := range f.file.RowGroupRows() {
		if n == 0 || rows != nil && !rows.Any(int(first), int(first+n)) {
			first += n
			continue
		}
		at := first
		for rec, err := range f.file.Batches(ctx, f.options(sc, []int{g})) {
			if err != nil {
				yield(FileBatch{}, err)
				return
			}
			b := FileBatch{Record: rec, First: at}
			at += rec.NumRows()
			if !yield(b, nil) {
				return
			}
		}
		if first += n; at != first {
			yield(FileBatch{}, fmt.Errorf("%s: row group %d gave %d rows of %d", f.add.Path, g, n-(first-at), n))
			return
		}
	}
}

func (f *DataFile) options(sc *schema.Struct, groups []int) scan.Options {
	return scan.Options{
		Schema: sc, Mapped: f.snap.mapping != mappingNone, ByFieldID: f.snap.mapping == mappingID,
		Partition: f.partitionValues(), RowGroups: groups,
	}
}

// partitionValues makes sure that every partition column is a constant, even
// where a careless writer left the value out: null, as Spark reads it.
func (f *DataFile) partitionValues() map[string]*string {
	cols := f.snap.physicalPartition()
	out := make(map[string]*string, len(cols))
	for _, c := range cols {
		out[c] = f.add.PartitionValues[c]
	}
	return out
}

// Selection are the live rows of a file for which an expression is TRUE, and
// those for which it is NULL.
type Selection struct{ True, Null *pq.Bitmap }

// Select evaluates a boolean expression bound to the snapshot's schema on the
// live rows of the file. Row groups whose statistics decide are not read.
func (f *DataFile) Select(ctx context.Context, b *expr.Bound) (Selection, error) {
	n := int(f.NumRows())
	sel := Selection{True: pq.NewBitmap(n), Null: pq.NewBitmap(n)}
	unknown := f.prune(b, sel.True)
	columns := b.Columns()
	if columns == nil {
		columns = []string{}
	}
	for batch, err := range f.Batches(ctx, columns, unknown) {
		if err != nil {
			return Selection{}, err
		}
		err = evaluate(b, batch, sel)
		batch.Record.Release()
		if err != nil {
			return Selection{}, fmt.Errorf("%s: rows from %d: %w", f.add.Path, batch.First, err)
		}
	}
	if f.live != nil {
		sel.True.And(f.live)
		sel.Null.And(f.live)
	}
	return sel, nil
}

// prune sets the rows of row groups where every row is TRUE, and gives the rows
// that have to be read.
func (f *DataFile) prune(b *expr.Bound, isTrue *pq.Bitmap) *pq.Bitmap {
	unknown := pq.NewBitmap(int(f.NumRows()))
	first := 0
	for g, n := range f.file.RowGroupRows() {
		switch b.Prune(f.groupRanges(g)) {
		case expr.All:
			isTrue.SetRange(first, first+int(n))
		case expr.Some:
			unknown.SetRange(first, first+int(n))
		}
		first += int(n)
	}
	return unknown
}

// groupRanges gives what the footer proves about a row group, and the partition
// values.
func (f *DataFile) groupRanges(group int) func(string) (expr.Range, bool) {
	return func(column string) (expr.Range, bool) {
		field, ok := f.snap.schema.Field(column)
		if !ok {
			return expr.Range{}, false
		}
		if f.snap.isPartition(field.Name) {
			return f.snap.partitionRange(field, f.add, nil)
		}
		if f.snap.mapping == mappingID {
			// Statistics are found by name; in mode id names may lie.
			return expr.Range{}, false
		}
		r, ok := f.file.Range(field, group)
		return expr.Range{
			Min: r.Min, Max: r.Max, NullCount: r.NullCount, NumRows: r.NumRows,
			HasMin: r.HasMin, HasMax: r.HasMax, HasNullCount: r.HasNullCount,
			MinInexact: r.MinInexact, MaxInexact: r.MaxInexact,
		}, ok
	}
}

func evaluate(b *expr.Bound, batch FileBatch, sel Selection) error {
	truth, err := b.Truth(batch.Record)
	if err != nil {
		return err
	}
	if truth.N != int(batch.Record.NumRows()) {
		return errors.New("the expression gave another number of rows")
	}
	orBits(sel.True, truth.True(), int(batch.First), truth.N)
	orBits(sel.Null, truth.Null(), int(batch.First), truth.N)
	return nil
}

// orBits sets bit at+i of b for each set bit i of words.
func orBits(b *pq.Bitmap, words []uint64, at, n int) {
	out, shift := b.Words(), uint(at&63)
	for i, w := range words {
		if w == 0 || i*64 >= n {
			continue
		}
		o := at>>6 + i
		out[o] |= w << shift
		if shift != 0 && o+1 < len(out) {
			out[o+1] |= w >> (64 - shift)
		}
	}
}
