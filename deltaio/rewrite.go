package deltaio

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// RewriteOutput is one of the files that a rewrite makes of a data file.
type RewriteOutput struct {
	Key  string         // storage key, see DataKey
	Rows *pq.Bitmap     // physical rows that go here, all of them live; nil: every live row
	Set  map[string]any // columns (logical names) with one value in every row, as pq.Column.Const
	Omit []string       // columns left out of the file: they read as null
	// Updated are the rows whose values change hereby, which matters where the
	// table tracks rows: they keep their ids and get a new commit version. Nil:
	// all when Set says anything, else none.
	Updated *pq.Bitmap
}

// Rewrite reads the file once and writes the outputs, each under the snapshot's
// schema, partition values and codec; an output without rows is not written and
// its result is nil. Values of columns that are not Set or Omitted stay as they
// are, so that constraints on them hold as before. Rows keep the ids by which the
// table tracks them. After an error it has taken
// back what it wrote, as far as the store let it.
func (f *DataFile) Rewrite(ctx context.Context, outs []RewriteOutput) ([]*StagedFile, error) {
	staged, err := f.rewrite(ctx, outs)
	if err != nil {
		f.snap.table.Discard(ctx, staged)
		return nil, fmt.Errorf("%s: rewrite %s: %w", f.snap.table.URL(), f.add.Path, err)
	}
	return staged, nil
}

func (f *DataFile) rewrite(ctx context.Context, outs []RewriteOutput) (staged []*StagedFile, err error) {
	if err := f.snap.Check(WantRewrite); err != nil {
		return nil, err
	}
	indexed, err := f.snap.indexed()
	if err != nil {
		return nil, err
	}
	writers := make([]storage.Writer, len(outs))
	defer func() {
		for _, w := range writers {
			if w != nil {
				w.Abort() // does nothing after Commit
			}
		}
	}()
	pqOuts := make([]pq.Output, len(outs))
	for i, o := range outs {
		if pqOuts[i], err = f.output(o); err != nil {
			return nil, err
		}
		if writers[i], err = f.snap.table.store.Create(ctx, o.Key); err != nil {
			return nil, err
		}
		pqOuts[i].W = writers[i]
	}
	results, err := pq.Rewrite(ctx, f.r, pqOuts, pq.Options{Stats: indexed})
	if err != nil {
		return nil, err
	}
	staged = make([]*StagedFile, len(outs))
	for i, res := range results {
		if want := f.rowsOf(outs[i]); res.Rows != want {
			return staged, fmt.Errorf("output %s holds %d rows of %d", outs[i].Key, res.Rows, want)
		}
		if res.Rows == 0 {
			continue
		}
		info, err := writers[i].Commit(ctx)
		if err != nil {
			staged[i] = &StagedFile{Key: outs[i].Key} // may lie there all the same
			return staged, err
		}
		staged[i] = f.snap.staged(outs[i].Key, info, f.partitionValues(), res, indexed)
	}
	return staged, nil
}

func (f *DataFile) rowsOf(o RewriteOutput) int64 {
	if o.Rows == nil {
		return f.LiveRows()
	}
	return int64(o.Rows.Count())
}

// output checks an output's rows and columns.
func (f *DataFile) output(o RewriteOutput) (pq.Output, error) {
	codec, err := f.snap.codec("") // unless the table names one, each chunk keeps its own
	if err != nil {
		return pq.Output{}, err
	}
	rows := o.Rows
	if rows == nil {
		rows = f.live
	}
	if err := f.checkRows(rows); err != nil {
		return pq.Output{}, err
	}
	columns, err := f.outputColumns(o)
	if err != nil {
		return pq.Output{}, err
	}
	return pq.Output{Columns: columns, Rows: rows, Codec: codec}, nil
}

// checkRows refuses rows that are deleted: writing them would bring them back.
func (f *DataFile) checkRows(rows *pq.Bitmap) error {
	if rows == nil {
		return nil
	}
	if int64(rows.Len()) != f.NumRows() {
		return fmt.Errorf("a selection of %d rows for a file of %d", rows.Len(), f.NumRows())
	}
	if f.live == nil || rows == f.live {
		return nil
	}
	back := rows.Clone()
	back.AndNot(f.live)
	if back.Count() > 0 {
		return errors.New("the selection holds deleted rows")
	}
	return nil
}

func (f *DataFile) outputColumns(o RewriteOutput) ([]pq.Column, error) {
	for name := range o.Set {
		if err := f.mayChange(name, o.Set[name] == nil); err != nil {
			return nil, err
		}
	}
	for _, name := range o.Omit {
		if err := f.mayChange(name, true); err != nil {
			return nil, err
		}
	}
	var out []pq.Column
	fields := slices.DeleteFunc(fieldNames(f.snap.schema), f.snap.isPartition)
	for i, c := range f.snap.writtenColumns() {
		if slices.Contains(o.Omit, fields[i]) {
			continue
		}
		if v, set := o.Set[fields[i]]; set {
			c.IsConst, c.Const = true, v
		}
		out = append(out, c)
	}
	updated := o.Updated
	if updated == nil && len(o.Set) > 0 {
		updated = pq.FullBitmap(int(f.NumRows()))
	}
	out = append(out, f.materialized(updated)...)
	return f.snap.withPartitionColumns(out, f.partitionValues())
}

// mayChange refuses to set a column where that could break a rule: partition
// columns, NOT NULL, columns that a constraint or a generated column reads.
func (f *DataFile) mayChange(name string, toNull bool) error {
	field, ok := f.snap.schema.Field(name)
	switch {
	case !ok || field.Name != name:
		return unknownColumn(f.snap.schema, name)
	case f.snap.isPartition(name):
		return fmt.Errorf("column %s partitions the table", name)
	case toNull && !field.Nullable:
		return fmt.Errorf("column %s is NOT NULL", name)
	}
	for i := range f.snap.constraints() {
		c := &f.snap.checks.list[i]
		if c.kind == kindDefault {
			continue
		}
		if c.err != nil {
			return fmt.Errorf("%s may depend on column %s: %w", c, name, c.err)
		}
		if slices.Contains(c.bound.Columns(), name) {
			return fmt.Errorf("%s (%s) depends on column %s", c, c.text, name)
		}
	}
	return nil
}
