package deltaio_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmem "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

var wide = fields(col("id", schema.Long), col("month", schema.Date), col("customer", schema.String), col("status", schema.String), col("amount", schema.Double))

// wideBatch makes n rows; scattered ones go through all months in turn.
func wideBatch(b testing.TB, from, n int, scattered bool) arrow.Record {
	as, err := schema.ArrowSchema(wide)
	require.NoError(b, err)
	rb := array.NewRecordBuilder(arrowmem.DefaultAllocator, as)
	defer rb.Release()
	for i := from; i < from+n; i++ {
		month := from / n % 36
		if scattered {
			month = i % 36
		}
		rb.Field(0).(*array.Int64Builder).Append(int64(i))
		rb.Field(1).(*array.Date32Builder).Append(arrow.Date32(19000 + 30*month))
		rb.Field(2).(*array.StringBuilder).Append(fmt.Sprintf("customer-%07d", i*7919%1000003))
		rb.Field(3).(*array.StringBuilder).Append([]string{"OPEN", "CLOSED", "LITIGATION"}[i%3])
		rb.Field(4).(*array.Float64Builder).Append(float64(i) * 1.25)
	}
	return rb.NewRecord()
}

func benchTable(b testing.TB) *deltaio.Table {
	table, err := deltaio.Create(context.Background(), storage.NewMemory(), env(newClock()), deltaio.CreateOptions{Schema: wide, PartitionBy: []string{"month"}})
	require.NoError(b, err)
	return table
}

const benchRows, benchBatches = 32 << 10, 16

func BenchmarkAppend(b *testing.B) {
	for _, scattered := range []bool{false, true} {
		b.Run(fmt.Sprintf("scattered=%v", scattered), func(b *testing.B) {
			var recs []arrow.Record
			for i := range benchBatches {
				recs = append(recs, wideBatch(b, i*benchRows, benchRows, scattered))
			}
			b.ReportAllocs()
			for b.Loop() {
				_, err := deltaio.Append(context.Background(), benchTable(b), deltaio.AppendOptions{}, func(yield func(arrow.Record, error) bool) {
					for _, r := range recs {
						if !yield(r, nil) {
							return
						}
					}
				})
				require.NoError(b, err)
			}
			b.ReportMetric(float64(benchRows*benchBatches*b.N)/b.Elapsed().Seconds()/1e6, "Mrow/s")
		})
	}
}

func BenchmarkScan(b *testing.B) {
	table := benchTable(b)
	for i := range benchBatches {
		_, err := deltaio.Append(context.Background(), table, deltaio.AppendOptions{}, once(wideBatch(b, i*benchRows, benchRows, false)))
		require.NoError(b, err)
	}
	snap, err := table.Snapshot(context.Background())
	require.NoError(b, err)
	for name, opt := range map[string]deltaio.ScanOptions{
		"all": {}, "some columns": {Columns: []string{"id", "amount"}},
		"a third of the rows": where("status = 'CLOSED'"), "one partition": where("month = DATE'2022-01-08'"),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for rec, err := range snap.Scan(context.Background(), opt) {
					require.NoError(b, err)
					rec.Release()
				}
			}
			b.ReportMetric(float64(benchRows*benchBatches*b.N)/b.Elapsed().Seconds()/1e6, "Mrow/s")
		})
	}
}
