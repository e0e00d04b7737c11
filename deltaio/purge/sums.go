package purge

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/rowhash"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// content hashes rows over all columns of a schema but the marker.
type content struct {
	schema  *schema.Struct // without the marker
	columns []string
	hasher  *rowhash.Hasher
}

func newContent(s *schema.Struct, marker string) *content {
	c := &content{schema: &schema.Struct{}}
	for _, f := range s.Fields {
		if f.Name != marker {
			c.schema.Fields = append(c.schema.Fields, f)
			c.columns = append(c.columns, f.Name)
		}
	}
	c.hasher = rowhash.New(c.schema)
	return c
}

// covers says whether sums recorded over a schema may be compared with ours.
func (c *content) covers(schemaJSON string) bool {
	s, err := schema.Parse(schemaJSON)
	return err == nil && schema.Equal(s, c.schema) // a schema that does not parse is none of ours
}

// sum hashes the live rows of a file that are in mask (nil: all live ones), and
// those that are not.
func (c *content) sum(ctx context.Context, f *deltaio.DataFile, mask *pq.Bitmap, rest bool) (in, out rowhash.Sum, err error) {
	live := f.Live()
	readRows := mask
	if rest {
		readRows = live
	}
	for b, err := range f.Batches(ctx, c.columns, readRows) {
		if err != nil {
			return in, out, err
		}
		first := int(b.First)
		isIn := func(i int) bool { return mask == nil || mask.Get(first+i) }
		isLive := func(i int) bool { return live == nil || live.Get(first+i) }
		s, err := c.hasher.Masked(b.Record, func(i int) bool { return isLive(i) && isIn(i) })
		if err == nil && rest {
			var o rowhash.Sum
			o, err = c.hasher.Masked(b.Record, func(i int) bool { return isLive(i) && !isIn(i) })
			out = out.Add(o)
		}
		b.Record.Release()
		if err != nil {
			return in, out, err
		}
		in = in.Add(s)
	}
	return in, out, nil
}

// fileSum hashes all live rows of a file that may not be part of a version yet.
func (c *content) fileSum(ctx context.Context, snap *deltaio.Snapshot, add *log.Add) (rowhash.Sum, error) {
	f, err := snap.OpenFile(ctx, add)
	if err != nil {
		return rowhash.Sum{}, err
	}
	defer f.Close() // nothing was written
	sum, _, err := c.sum(ctx, f, nil, false)
	return sum, err
}

// chosen yields the rows of a file that are in mask, in batches of their own.
// The consumer releases them.
func chosen(ctx context.Context, f *deltaio.DataFile, columns []string, mask *pq.Bitmap) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		for b, err := range f.Batches(ctx, columns, mask) {
			if err != nil {
				yield(nil, err)
				return
			}
			rec, err := filterRecord(b.Record, func(i int) bool { return mask == nil || mask.Get(int(b.First)+i) })
			b.Record.Release()
			if err != nil {
				yield(nil, err)
				return
			}
			if rec.NumRows() == 0 {
				rec.Release()
				continue
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// filterRecord copies the rows that keep admits. Runs of rows are copied as a
// whole, whatever the column's type.
func filterRecord(rec arrow.Record, keep func(int) bool) (arrow.Record, error) {
	type run struct{ from, to int64 }
	var runs []run
	n := int64(0)
	for i := range int(rec.NumRows()) {
		if !keep(i) {
			continue
		}
		n++
		if k := len(runs) - 1; k >= 0 && runs[k].to == int64(i) {
			runs[k].to++
		} else {
			runs = append(runs, run{int64(i), int64(i) + 1})
		}
	}
	switch {
	case n == rec.NumRows():
		rec.Retain()
		return rec, nil
	case n == 0:
		return rec.NewSlice(0, 0), nil
	case len(runs) == 1:
		return rec.NewSlice(runs[0].from, runs[0].to), nil
	}
	cols := make([]arrow.Array, rec.NumCols())
	defer func() {
		for _, c := range cols {
			if c != nil {
				c.Release()
			}
		}
	}()
	for c := range cols {
		parts := make([]arrow.Array, len(runs))
		for k, r := range runs {
			parts[k] = array.NewSlice(rec.Column(c), r.from, r.to)
		}
		joined, err := array.Concatenate(parts, memory.DefaultAllocator)
		for _, p := range parts {
			p.Release()
		}
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", rec.ColumnName(c), err)
		}
		cols[c] = joined
	}
	return array.NewRecord(rec.Schema(), cols, n), nil
}

// withConst yields the records with one column replaced (or added at the end) by
// a constant.
func withConst(in iter.Seq2[arrow.Record, error], name string, dt arrow.DataType, value any) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		for rec, err := range in {
			if err != nil {
				yield(nil, err)
				return
			}
			out, err := setColumn(rec, name, dt, value)
			rec.Release()
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}

func setColumn(rec arrow.Record, name string, dt arrow.DataType, value any) (arrow.Record, error) {
	c, err := constArray(dt, value, int(rec.NumRows()))
	if err != nil {
		return nil, fmt.Errorf("column %s: %w", name, err)
	}
	defer c.Release()
	fields, cols := slices.Clone(rec.Schema().Fields()), slices.Clone(rec.Columns())
	field := arrow.Field{Name: name, Type: dt, Nullable: true}
	if at := rec.Schema().FieldIndices(name); len(at) == 1 {
		fields[at[0]], cols[at[0]] = field, c
	} else {
		fields, cols = append(fields, field), append(cols, c)
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), cols, rec.NumRows()), nil
}
