package pq

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// sale is a row of the benchmark: a wide mix of cardinalities.
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

var saleSchema = &schema.Struct{Fields: []schema.Field{
	{Name: "id", Type: schema.Long, Nullable: true},
	{Name: "event_date", Type: schema.Date, Nullable: true},
	{Name: "event_time", Type: schema.Timestamp, Nullable: true},
	{Name: "customer", Type: schema.String, Nullable: true},
	{Name: "status", Type: schema.String, Nullable: true},
	{Name: "amount", Type: schema.Decimal{Precision: 18, Scale: 2}, Nullable: true},
	{Name: "qty", Type: schema.Integer, Nullable: true},
	{Name: "note", Type: schema.String, Nullable: true},
}}

// sales makes rows, a quarter of them before the cutoff.
func sales(n int) (rows []sale, old *Bitmap) {
	r := rand.New(rand.NewPCG(1, 42))
	words := make([]string, 2000)
	for i := range words {
		words[i] = fmt.Sprintf("%x ", r.Uint32N(1<<(4+r.IntN(28))))
	}
	states := []string{"delivered", "shipped", "pending", "cancelled", "returned"}
	rows, old = make([]sale, n), NewBitmap(n)
	for i := range rows {
		x := &rows[i]
		x.ID = 1 + r.Int64N(6_000_000)
		x.Date = int32(19_000 + r.IntN(60))
		x.Time = int64(x.Date)*microsPerDay + r.Int64N(microsPerDay)
		x.Customer = fmt.Sprintf("customer-%d", 100_000+r.IntN(20_000))
		x.Status = states[min(r.IntN(5), r.IntN(5))]
		x.Amount = 1 + r.Int64N(1_000_000)
		x.Qty = int32(1 + r.IntN(100))
		for len(x.Note) < 20 && i%20 != 0 {
			x.Note += words[r.IntN(len(words))]
		}
		if x.Date < 19_015 {
			old.Set(i)
		}
	}
	return rows, old
}

func saleFile(b require.TestingT, rows []sale, codec compress.Codec) []byte {
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[sale](&buf, parquet.Compression(codec), parquet.DataPageVersion(1), parquet.PageBufferSize(256<<10))
	for len(rows) > 0 {
		n := min(125_000, len(rows))
		_, err := w.Write(rows[:n])
		require.NoError(b, err)
		require.NoError(b, w.Flush())
		rows = rows[n:]
	}
	require.NoError(b, w.Close())
	return buf.Bytes()
}

func BenchmarkRewrite(b *testing.B) {
	const n = 500_000
	rows, old := sales(n)
	young := FullBitmap(n)
	young.AndNot(old)
	for _, codec := range []compress.Codec{&parquet.Snappy, &parquet.Zstd} {
		data := saleFile(b, rows, codec)
		b.Run("split/"+codec.String(), func(b *testing.B) {
			benchmarkRewrite(b, data, n, Output{Rows: young}, Output{Rows: old})
		})
		b.Run("copy/"+codec.String(), func(b *testing.B) { benchmarkRewrite(b, data, n, Output{}) })
	}
}

// cpuSeconds is what the process has used: neighbours on the machine do not
// count.
func cpuSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func benchmarkRewrite(b *testing.B, data []byte, n int, outs ...Output) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for i := range outs {
		outs[i].W, outs[i].Columns = io.Discard, columnsOf(saleSchema)
	}
	start := cpuSeconds(b)
	for b.Loop() {
		_, err := Rewrite(b.Context(), inMemory(data), outs, Options{})
		require.NoError(b, err)
	}
	b.ReportMetric((cpuSeconds(b)-start)/float64(b.N)*10_000_000/float64(n), "cpu-s/10Mrows")
}
