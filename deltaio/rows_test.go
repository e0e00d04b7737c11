package deltaio_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/rowtext"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// row is a row of the sales table.
type row struct {
	id     int64
	date   *string // yyyy-MM-dd
	amount float64
}

func date(s string) *string { return &s }

func days(t tb, s string) arrow.Date32 {
	d, err := time.Parse(time.DateOnly, s)
	require.NoError(t, err)
	return arrow.Date32FromTime(d)
}

// batch makes a record of sales rows.
func batch(t tb, rows ...row) arrow.Record {
	t.Helper()
	sc, err := schema.ArrowSchema(sales)
	require.NoError(t, err)
	b := array.NewRecordBuilder(memory.DefaultAllocator, sc)
	defer b.Release()
	for _, r := range rows {
		b.Field(0).(*array.Int64Builder).Append(r.id)
		if r.date == nil {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.Date32Builder).Append(days(t, *r.date))
		}
		b.Field(2).(*array.Float64Builder).Append(r.amount)
	}
	return b.NewRecord()
}

// once yields records and releases them.
func once(recs ...arrow.Record) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		for _, r := range recs {
			if !yield(r, nil) {
				return
			}
		}
		for _, r := range recs {
			r.Release()
		}
	}
}

// texts are the rows of a scan as canonical text, sorted.
func texts(t tb, snap *deltaio.Snapshot, opt deltaio.ScanOptions) []string {
	t.Helper()
	out := []string{}
	for rec, err := range snap.Scan(context.Background(), opt) {
		require.NoError(t, err)
		sc := snap.Schema()
		if opt.Columns != nil {
			sc = &schema.Struct{}
			for _, c := range opt.Columns {
				f, ok := snap.Schema().Field(c)
				require.True(t, ok)
				sc.Fields = append(sc.Fields, *f)
			}
		}
		require.NoError(t, rowtext.New(sc).Rows(rec, func(_ int, b []byte) error {
			out = append(out, string(b))
			return nil
		}))
		rec.Release()
	}
	slices.Sort(out)
	return out
}

// textOf is a sales row as canonical text.
func textOf(t tb, r row, more ...string) string {
	d := "null"
	if r.date != nil {
		d = fmt.Sprintf("D%d", days(t, *r.date))
	}
	sc, err := schema.ArrowSchema(fields(col("amount", schema.Double)))
	require.NoError(t, err)
	b := array.NewRecordBuilder(memory.DefaultAllocator, sc)
	defer b.Release()
	b.Field(0).(*array.Float64Builder).Append(r.amount)
	rec := b.NewRecord()
	defer rec.Release()
	var amount string
	require.NoError(t, rowtext.New(fields(col("amount", schema.Double))).Rows(rec, func(_ int, b []byte) error {
		amount = string(b[1 : len(b)-1])
		return nil
	}))
	s := fmt.Sprintf("(%d,%s,%s", r.id, d, amount)
	for _, m := range more {
		s += "," + m
	}
	return s + ")"
}

func sortedTexts(t tb, rows []row, more ...string) []string {
	out := []string{}
	for _, r := range rows {
		out = append(out, textOf(t, r, more...))
	}
	slices.Sort(out)
	return out
}

// arrayRecord reads rows written as a JSON array.
func arrayRecord(as *arrow.Schema, text string) (arrow.Record, int64, error) {
	return array.RecordFromJSON(memory.DefaultAllocator, as, strings.NewReader(text))
}
