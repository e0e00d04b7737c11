package main

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/sample"
)

const days = 3 * 365

// first is the oldest day; the cutoff lies a quarter of the days behind it.
var first = time.Date(2023, 12, 2, 0, 0, 0, 0, time.UTC)

// sales has a column of each kind that sales tables have; names are those of the
// peers' statements.
func sales() *schema.Struct {
	return &schema.Struct{Fields: []schema.Field{
		{Name: "id", Type: schema.Long, Nullable: true},
		{Name: "event_date", Type: schema.Date, Nullable: true},
		{Name: "sold_at", Type: schema.Timestamp, Nullable: true},
		{Name: "customer", Type: schema.String, Nullable: true},
		{Name: "status", Type: schema.String, Nullable: true},
		{Name: "note", Type: schema.String, Nullable: true},
		{Name: "amount", Type: schema.Decimal{Precision: 18, Scale: 2}, Nullable: true},
		{Name: "units", Type: schema.Integer, Nullable: true},
	}}
}

// generate writes the table: the same arguments give the same rows.
func generate(ctx context.Context, s storage.Store, rows, files int, layout, codec string) error {
	t, err := deltaio.Create(ctx, s, env(), deltaio.CreateOptions{
		Schema: sales(), Name: "sales", Properties: map[string]string{"delta.parquet.compression.codec": codec},
	})
	if err != nil {
		return err
	}
	for f := range files {
		n := rows/files + min(1, max(0, rows%files-f))
		g := &generator{rnd: rand.New(rand.NewPCG(1, uint64(f))), next: int64(f) * int64(rows), layout: layout, from: f * days / files, to: (f + 1) * days / files}
		if _, err := deltaio.Append(ctx, t, deltaio.AppendOptions{TargetBytes: 1 << 40}, g.batches(n)); err != nil {
			return fmt.Errorf("file %d: %w", f, err)
		}
	}
	return nil
}

type generator struct {
	rnd      *rand.Rand
	next     int64
	layout   string
	from, to int // days of this file where the layout is sorted
}

func (g *generator) batches(n int) iter.Seq2[arrow.Record, error] {
	return sample.Batches(sales(), n, func(b *array.RecordBuilder, i int) { g.row(b, g.day(i, n)) })
}

// day draws a row's day.
func (g *generator) day(i, n int) int {
	switch g.layout {
	case "sorted":
		return g.from + i*(g.to-g.from)/n
	case "skewed": // half of the rows on a hundredth of the days
		if g.rnd.IntN(2) == 0 {
			return 100 * g.rnd.IntN(days/100)
		}
	}
	return g.rnd.IntN(days)
}

func (g *generator) row(b *array.RecordBuilder, day int) {
	at := first.AddDate(0, 0, day)
	g.next++
	b.Field(0).(*array.Int64Builder).Append(g.next)
	b.Field(1).(*array.Date32Builder).Append(arrow.Date32FromTime(at))
	b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(at.UnixMicro() + g.rnd.Int64N(86_400_000_000)))
	b.Field(3).(*array.StringBuilder).Append(fmt.Sprintf("customer-%07d", g.rnd.IntN(500_000)))
	b.Field(4).(*array.StringBuilder).Append([]string{"CLOSED", "SHIPPED", "OPEN", "RETURNED"}[g.rnd.IntN(4)])
	b.Field(5).(*array.StringBuilder).Append(fmt.Sprintf("order %08x of shop %d", g.rnd.Uint32(), g.rnd.IntN(500)))
	b.Field(6).(*array.Decimal128Builder).Append(decimal128.FromI64(g.rnd.Int64N(2_000_000) - 1_000_000))
	b.Field(7).(*array.Int32Builder).Append(1 + g.rnd.Int32N(100))
}
