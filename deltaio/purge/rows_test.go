package purge_test

import (
	"context"
	"fmt"
	"iter"
	"sort"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// row is a row of the fixture; flag is the marker, when the table has one.
type row struct {
	id     int64
	date   string // "" is null
	name   string
	amount float64
	flag   *bool
}

func (r row) text(flags bool) string {
	s := fmt.Sprintf("%d|%s|%s|%v", r.id, r.date, r.name, r.amount)
	if flags && r.flag != nil && *r.flag {
		s += "|flagged"
	}
	return s
}

// texts is the multiset of rows, flags aside.
func texts(rows []row) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.text(false)
	}
	sort.Strings(out)
	return out
}

// sample makes n rows from id first, one a day backwards from the clock.
func sample(first, n int) []row {
	out := make([]row, n)
	for i := range out {
		id := first + i
		day := start.AddDate(0, 0, -id%60).Format(time.DateOnly)
		out[i] = row{id: int64(id), date: day, name: fmt.Sprintf("marker-%04d-%s", id, strings.Repeat("x", id%5)), amount: float64(id) / 4}
	}
	return out
}

func due(r row) bool { return r.date != "" && r.date < "2025-02-08" }

// record builds a batch in the snapshot's schema.
func (w *world) record(s *schema.Struct, rows []row) arrow.Record {
	w.t.Helper()
	as, err := schema.ArrowSchema(s)
	require.NoError(w.t, err)
	b := array.NewRecordBuilder(memory.DefaultAllocator, as)
	defer b.Release()
	for _, r := range rows {
		for i, f := range as.Fields() {
			appendCell(b.Field(i), f.Name, r)
		}
	}
	return b.NewRecord()
}

func appendCell(b array.Builder, name string, r row) {
	switch name {
	case "id":
		b.(*array.Int64Builder).Append(r.id)
	case "event_date":
		switch d := b.(type) {
		case *array.Date32Builder:
			if at, err := time.Parse(time.DateOnly, r.date); err == nil {
				d.Append(arrow.Date32FromTime(at))
				return
			}
		case *array.StringBuilder:
			if r.date != "" {
				d.Append(r.date)
				return
			}
		}
		b.AppendNull()
	case "name":
		b.(*array.StringBuilder).Append(r.name)
	case "amount":
		b.(*array.Float64Builder).Append(r.amount)
	case flagColumn:
		if r.flag == nil {
			b.AppendNull()
		} else {
			b.(*array.BooleanBuilder).Append(*r.flag)
		}
	default:
		b.AppendNull()
	}
}

func one(rec arrow.Record) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		rec.Retain()
		yield(rec, nil)
	}
}

// rowsOf reads rows of a table.
func rowsOf(ctx context.Context, s *deltaio.Snapshot, opt deltaio.ScanOptions) ([]row, error) {
	var out []row
	for rec, err := range s.Scan(ctx, opt) {
		if err != nil {
			return nil, err
		}
		out = append(out, rowsOfRecord(rec)...)
		rec.Release()
	}
	return out, nil
}

func rowsOfRecord(rec arrow.Record) []row {
	out := make([]row, rec.NumRows())
	for c, f := range rec.Schema().Fields() {
		for i := range out {
			col := rec.Column(c)
			if col.IsNull(i) {
				continue
			}
			switch f.Name {
			case "id":
				out[i].id = col.(*array.Int64).Value(i)
			case "event_date":
				out[i].date = col.ValueStr(i)
			case "name":
				out[i].name = col.(*array.String).Value(i)
			case "amount":
				out[i].amount = col.(*array.Float64).Value(i)
			case flagColumn:
				v := col.(*array.Boolean).Value(i)
				out[i].flag = &v
			}
		}
	}
	return out
}

// split is the model's arithmetic: what stays and what goes.
func split(rows []row, goes func(row) bool) (stay, gone []row) {
	for _, r := range rows {
		if goes(r) {
			gone = append(gone, r)
		} else {
			stay = append(stay, r)
		}
	}
	return stay, gone
}
