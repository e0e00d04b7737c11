package partitions_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/partitions"
	"github.com/lakewarden/lakewarden/spec"
)

// wideTable is a log of days daily partitions with files each, without the files.
func wideTable(tb testing.TB, days, files int) storage.Store {
	tb.Helper()
	var b bytes.Buffer
	fmt.Fprintln(&b, `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}`)
	fmt.Fprintf(&b, `{"metaData":{"id":"11111111-2222-3333-4444-555555555555","format":{"provider":"parquet","options":{}},"schemaString":%q,"partitionColumns":["dt"],"configuration":{}}}`+"\n", columns(schema.Date).JSON())
	first := time.Date(2012, 12, 1, 0, 0, 0, 0, time.UTC)
	for d := range days {
		day := first.AddDate(0, 0, d).Format(time.DateOnly)
		for f := range files {
			fmt.Fprintf(&b, `{"add":{"path":"dt=%s/part-%05d.parquet","partitionValues":{"dt":"%s"},"size":%d,"modificationTime":1700000000000,"dataChange":true,"stats":"{\"numRecords\":1000,\"minValues\":{\"id\":1,\"importe\":0.5,\"fecha\":\"%s\"},\"maxValues\":{\"id\":1000,\"importe\":99.5,\"fecha\":\"%s\"},\"nullCount\":{\"id\":0,\"importe\":0,\"fecha\":0,\"hora\":0}}"}}`+"\n", day, f, day, 100000+f, day, day)
		}
	}
	s := storage.NewMemory()
	require.NoError(tb, s.Put(tb.Context(), "_delta_log/00000000000000000000.json", b.Bytes()))
	return s
}

const fromLog = `apiVersion: lakewarden/v1
kind: PartitionCheck
name: x
table: silver.ventas
expected: {last: 4900 days, deadline: "09:00"}
checks:
  - {metric: missing_partitions, must_be: 0}
  - {metric: invalid_partitions, must_be: 0}
  - {metric: row_count, must_be_greater_than: 0}
  - {metric: row_count_change, baseline: median 7, must_be_between: [-50%, 200%]}
  - {metric: file_count, must_be_less_than: 200}
  - {metric: file_bytes, must_be_greater_than: 128}
  - {metric: null_values, column: id, must_be: 0}
  - {metric: min, column: importe, must_be_greater_than: -0.01}
  - {metric: values_outside_partition, column: fecha, must_be: 0}
`

func BenchmarkLog_5000_partitions_50000_files(b *testing.B) {
	s := wideTable(b, 5000, 10)
	c, err := spec.ParsePartitionCheck([]byte(fromLog))
	require.NoError(b, err)
	c = c.Defaults()
	now := time.Date(2012, 12, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, 5000)
	var peak uint64
	for b.Loop() {
		v, err := partitions.Look(b.Context(), s, deltaio.Env{Now: func() time.Time { return now }}, partitions.Ask{Check: c, Now: now, Zones: time.LoadLocation})
		require.NoError(b, err)
		require.Empty(b, v.Bins, "nothing is read but the log")
		d := partitions.Judge(c, v, nil, nil)
		require.Equal(b, partitions.OutcomePassed, d.Outcome, "%+v", d.Findings[:min(3, len(d.Findings))])
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapInuse)
	}
	b.ReportMetric(float64(peak)/(1<<20), "heap-MiB")
}

func TestLog_thousands_of_partitions_are_judged_from_the_log_alone(t *testing.T) {
	t.Parallel()
	c, err := spec.ParsePartitionCheck([]byte(fromLog))
	require.NoError(t, err)
	now := time.Date(2012, 12, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, 500)
	s := wideTable(t, 500, 3)
	c.Expected.Last = "499 days"
	v, d := validate(t, s, now, c.Defaults())
	require.Empty(t, v.Reads)
	require.Equal(t, partitions.OutcomePassed, d.Outcome, "%+v", d.Findings)
	require.Equal(t, 499, d.Rules[3].Judged)
}
