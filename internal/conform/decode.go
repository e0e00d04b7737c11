package conform

import (
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/spec"
)

// Decoder makes records of the Silver table from rows. It serves one goroutine.
type Decoder struct {
	table *Table
	b     *array.RecordBuilder
	place []int // of each column of table.full in the record
	files func(uint32) string
	rows  int
}

// NewDecoder makes one. files gives the name of a file by its number.
func (t *Table) NewDecoder(files func(uint32) string) *Decoder {
	d := &Decoder{table: t, b: array.NewRecordBuilder(memory.DefaultAllocator, t.arrow), files: files}
	for _, f := range t.full.Fields {
		d.place = append(d.place, slices.IndexFunc(t.schema.Fields, func(o schema.Field) bool { return o.Name == f.Name }))
	}
	return d
}

// Rows counts those of the record under way.
func (d *Decoder) Rows() int { return d.rows }

// Release lets the builders go.
func (d *Decoder) Release() { d.b.Release() }

// Add appends a row.
func (d *Decoder) Add(row Row) error {
	var err error
	rest := row.Key
	for _, c := range d.table.keys {
		if rest, err = decodeValue(rest, d.b.Field(d.place[c])); err != nil {
			return err
		}
	}
	rest = row.Order
	for _, c := range d.table.seq {
		if rest, err = decodeValue(rest, d.b.Field(d.place[c])); err != nil {
			return err
		}
	}
	rest = rest[1:]
	for _, c := range d.table.content {
		if rest, err = decodeValue(rest, d.b.Field(d.place[c])); err != nil {
			return err
		}
	}
	if len(rest) != 0 {
		return fmt.Errorf("a row of %s has %d bytes too many", d.table.spec.Name, len(rest))
	}
	return d.technical(row)
}

func (d *Decoder) technical(row Row) error {
	d.rows++
	for i, f := range d.table.schema.Fields {
		switch f.Name {
		case spec.ColumnSourceFile:
			d.b.Field(i).(*array.StringBuilder).Append(d.files(row.File))
		case spec.ColumnLoadTime:
			d.b.Field(i).(*array.TimestampBuilder).Append(arrow.Timestamp(d.table.opt.Now.UnixMicro()))
		case spec.ColumnIsDeleted:
			d.b.Field(i).(*array.BooleanBuilder).Append(row.Deleted())
		case spec.ColumnValidFrom:
			if err := d.validFrom(row, d.b.Field(i).(*array.TimestampBuilder)); err != nil {
				return err
			}
		}
	}
	return nil
}

// validFrom repeats the first column of the sequence; a date is its midnight.
func (d *Decoder) validFrom(row Row, b *array.TimestampBuilder) error {
	if d.table.full.Fields[d.table.seq[0]].Type != schema.Date {
		_, err := decodeValue(row.Order, b)
		return err
	}
	days := array.NewDate32Builder(memory.DefaultAllocator)
	defer days.Release()
	if _, err := decodeValue(row.Order, days); err != nil {
		return err
	}
	a := days.NewDate32Array()
	defer a.Release()
	b.Append(arrow.Timestamp(time.Unix(int64(a.Value(0))*86400, 0).UnixMicro()))
	return nil
}

// Record gives the rows added since the last one. The caller releases it.
func (d *Decoder) Record() arrow.Record {
	d.rows = 0
	return d.b.NewRecord()
}

// Encoder makes rows from records of the Silver table, to compare them with
// others.
type Encoder struct {
	table *Table
	cols  []arrow.Array
	del   *array.Boolean
}

// Encode prepares a record of the table, whose columns are found by name.
func (t *Table) Encode(rec arrow.Record) (*Encoder, error) {
	e := &Encoder{table: t}
	for _, f := range t.full.Fields {
		at := rec.Schema().FieldIndices(f.Name)
		if len(at) == 0 {
			return nil, fmt.Errorf("the table has no column %s", f.Name)
		}
		e.cols = append(e.cols, rec.Column(at[0]))
	}
	at := rec.Schema().FieldIndices(spec.ColumnIsDeleted)
	if len(at) == 0 {
		return nil, fmt.Errorf("the table has no column %s", spec.ColumnIsDeleted)
	}
	e.del, _ = rec.Column(at[0]).(*array.Boolean)
	return e, nil
}

// Row encodes row i into row, whose memory is used again.
func (e *Encoder) Row(row *Row, i int) error {
	deleted := e.del != nil && e.del.IsValid(i) && e.del.Value(i)
	return e.table.encodeRow(row, e.cols, i, deleted)
}
