package scan_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/rowhash"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// sale is a row of a typical Bronze table.
type sale struct {
	ID       int64  `parquet:"id,optional"`
	Date     int32  `parquet:"event_date,optional,date,dict"`
	Time     int64  `parquet:"event_time,optional,timestamp(microsecond:utc)"`
	Customer string `parquet:"customer,optional,dict"`
	Status   string `parquet:"status,optional,dict"`
	Amount   int64  `parquet:"amount,optional,decimal(2:18)"`
	Qty      int32  `parquet:"qty,optional,dict"`
	Note     string `parquet:"note,optional,plain"`
}

const benchRows = 1_000_000

var saleSchema = &schema.Struct{Fields: []schema.Field{
	{Name: "id", Type: schema.Long, Nullable: true}, {Name: "event_date", Type: schema.Date, Nullable: true},
	{Name: "event_time", Type: schema.Timestamp, Nullable: true}, {Name: "customer", Type: schema.String, Nullable: true},
	{Name: "status", Type: schema.String, Nullable: true}, {Name: "amount", Type: schema.Decimal{Precision: 18, Scale: 2}, Nullable: true},
	{Name: "qty", Type: schema.Integer, Nullable: true}, {Name: "note", Type: schema.String, Nullable: true},
}}

var salesFile = sync.OnceValue(func() []byte {
	r := rand.New(rand.NewPCG(1, 42))
	words := make([]string, 2000)
	for i := range words {
		words[i] = strconv.FormatUint(r.Uint64N(1<<30), 36) + " "
	}
	rows := make([]sale, benchRows)
	for i := range rows {
		x := &rows[i]
		x.ID, x.Date = 1+r.Int64N(6_000_000), int32(19000+r.IntN(60))
		x.Time = int64(x.Date)*86400e6 + r.Int64N(86400e6)
		x.Customer = "customer-" + strconv.Itoa(100000+r.IntN(20000))
		x.Status = []string{"delivered", "shipped", "pending", "cancelled", "returned"}[r.IntN(5)]
		x.Amount, x.Qty = 1+r.Int64N(1_000_000), int32(1+r.IntN(100))
		if r.IntN(20) != 0 {
			for len(x.Note) < 20+r.IntN(20) {
				x.Note += words[r.IntN(len(words))]
			}
		}
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[sale](&out, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(125_000))
	if _, err := w.Write(rows); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
})

func BenchmarkRead_all_columns(b *testing.B) {
	data := salesFile()
	b.Run("scan", func(b *testing.B) { benchScan(b, data, saleSchema, nil) })
	b.Run("scan_three_columns", func(b *testing.B) {
		benchScan(b, data, &schema.Struct{Fields: []schema.Field{saleSchema.Fields[0], saleSchema.Fields[1], saleSchema.Fields[5]}}, nil)
	})
	b.Run("scan_and_rowhash", func(b *testing.B) { benchScan(b, data, saleSchema, rowhash.New(saleSchema)) })
	b.Run("pqarrow", func(b *testing.B) {
		defer cpuTime(b)()
		for b.Loop() {
			pf, err := file.NewParquetReader(bytes.NewReader(data))
			require.NoError(b, err)
			fr, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{BatchSize: 64 << 10}, memory.DefaultAllocator)
			require.NoError(b, err)
			rr, err := fr.GetRecordReader(context.Background(), nil, nil)
			require.NoError(b, err)
			n := int64(0)
			for rr.Next() {
				n += rr.Record().NumRows()
			}
			require.EqualValues(b, benchRows, n)
			rr.Release()
		}
	})
	b.Run("parquet_go_generic", func(b *testing.B) {
		buf := make([]sale, 4096)
		defer cpuTime(b)()
		for b.Loop() {
			r := parquet.NewGenericReader[sale](bytes.NewReader(data))
			total := 0
			for {
				n, err := r.Read(buf)
				total += n
				if err != nil {
					break
				}
			}
			require.Equal(b, benchRows, total)
		}
	})
}

func benchScan(b *testing.B, data []byte, s *schema.Struct, h *rowhash.Hasher) {
	defer cpuTime(b)()
	for b.Loop() {
		f, err := scan.Open(inMemory(data))
		require.NoError(b, err)
		n := int64(0)
		for rec, err := range f.Batches(context.Background(), scan.Options{Schema: s}) {
			require.NoError(b, err)
			n += rec.NumRows()
			if h != nil {
				_, err = h.Sum(rec)
				require.NoError(b, err)
			}
			rec.Release()
		}
		require.EqualValues(b, benchRows, n)
	}
}
