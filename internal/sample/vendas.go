// Package sample writes the lakehouse of the demo: bronze.vendas, a sales table
// over three years. The same seed gives the same rows.
package sample

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
)

// Vendas describes the table to write.
type Vendas struct {
	Rows  int       // 0: 2 million
	Years int       // 0: 3
	Until time.Time // the last day; its clock time does not matter
	Seed  uint64
}

const (
	defaultRows  = 2_000_000
	defaultYears = 3
	// secondShare of the rows comes by a second load, which touches the last
	// months only: files of several sizes, as real tables have them.
	secondShare  = 4
	secondMonths = 13
)

var statuses = []string{"CLOSED", "SHIPPED", "OPEN", "RETURNED", "LITIGATION"}

// Schema of bronze.vendas.
func Schema() *schema.Struct {
	return &schema.Struct{Fields: []schema.Field{
		{Name: "id", Type: schema.Long, Nullable: false},
		{Name: "event_date", Type: schema.Date, Nullable: true},
		{Name: "sold_at", Type: schema.Timestamp, Nullable: true},
		{Name: "customer", Type: schema.String, Nullable: true},
		{Name: "status", Type: schema.String, Nullable: true},
		{Name: "amount", Type: schema.Decimal{Precision: 18, Scale: 2}, Nullable: true},
		{Name: "units", Type: schema.Integer, Nullable: true},
		{Name: "note", Type: schema.String, Nullable: true},
		{Name: "month", Type: schema.String, Nullable: true},
	}}
}

// Write creates the table, partitioned by month, and fills it by two loads.
func (v Vendas) Write(ctx context.Context, s storage.Store, env deltaio.Env) error {
	if v.Rows == 0 {
		v.Rows = defaultRows
	}
	if v.Years == 0 {
		v.Years = defaultYears
	}
	t, err := deltaio.Create(ctx, s, env, deltaio.CreateOptions{
		Schema: Schema(), PartitionBy: []string{"month"}, Name: "vendas", Description: "Sales, as the shops sent them",
		Properties: map[string]string{"delta.parquet.compression.codec": "snappy"},
	})
	if err != nil {
		return err
	}
	days := v.days()
	second := v.Rows / secondShare
	recent := days[max(0, len(days)-secondMonths*30):]
	for i, load := range []struct {
		rows int
		days []time.Time
	}{{v.Rows - second, days}, {second, recent}} {
		g := &generator{rnd: rand.New(rand.NewPCG(v.Seed, uint64(i))), next: int64(i) * int64(v.Rows)}
		if _, err := deltaio.Append(ctx, t, deltaio.AppendOptions{}, g.batches(load.rows, load.days)); err != nil {
			return fmt.Errorf("load %d: %w", i+1, err)
		}
	}
	return nil
}

// days lists every day of the years that end with Until.
func (v Vendas) days() []time.Time {
	y, m, d := v.Until.Date()
	last := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	var out []time.Time
	for day := last.AddDate(-v.Years, 0, 1); !day.After(last); day = day.AddDate(0, 0, 1) {
		out = append(out, day)
	}
	return out
}

type generator struct {
	rnd  *rand.Rand
	next int64
}

// batches yields n rows spread over the days, in order of the days.
func (g *generator) batches(n int, days []time.Time) iter.Seq2[arrow.Record, error] {
	return Batches(Schema(), n, func(b *array.RecordBuilder, i int) { g.row(b, days[i*len(days)/n]) })
}

func (g *generator) row(b *array.RecordBuilder, day time.Time) {
	g.next++
	b.Field(0).(*array.Int64Builder).Append(g.next)
	b.Field(1).(*array.Date32Builder).Append(arrow.Date32FromTime(day))
	b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(day.UnixMicro() + g.rnd.Int64N(86_400_000_000)))
	b.Field(3).(*array.StringBuilder).Append(fmt.Sprintf("customer-%06d", g.rnd.IntN(20_000)))
	b.Field(4).(*array.StringBuilder).Append(g.status())
	b.Field(5).(*array.Decimal128Builder).Append(decimal128.FromI64(1 + g.rnd.Int64N(1_000_000)))
	b.Field(6).(*array.Int32Builder).Append(1 + g.rnd.Int32N(100))
	if note := b.Field(7).(*array.StringBuilder); g.rnd.IntN(20) == 0 {
		note.AppendNull()
	} else {
		note.Append(fmt.Sprintf("order %x of shop %d", g.rnd.Uint64(), g.rnd.IntN(500)))
	}
	b.Field(8).(*array.StringBuilder).Append(day.Format("2006-01"))
}

// status is mostly CLOSED; one row in two thousand is in litigation and held.
func (g *generator) status() string {
	n := g.rnd.IntN(2000)
	if n == 0 {
		return statuses[4]
	}
	return statuses[min(n%7, 3)]
}
