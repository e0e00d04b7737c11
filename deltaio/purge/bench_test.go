package purge_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// BenchmarkPurge runs the steps on a local disk: every file mixed, half of the
// rows due. It reports rows a second of each step and the largest heap seen
// between steps.
func BenchmarkPurge(b *testing.B) {
	const files, rowsPerFile = 4, 100_000
	for b.Loop() {
		b.StopTimer()
		w := newWorld(b, setup{})
		local, err := storage.OpenLocal(b.TempDir())
		require.NoError(b, err)
		w.table, err = deltaio.Create(w.ctx, local, w.env(), deltaio.CreateOptions{Schema: baseSchema})
		require.NoError(b, err)
		for f := range files {
			w.append(sample(f*rowsPerFile, rowsPerFile))
		}
		b.StartTimer()
		r := w.run("run-1")
		var plan *purge.PlanResult
		var archive *purge.ArchiveResult
		step := func(name string, do func()) {
			from := time.Now()
			do()
			b.ReportMetric(files*rowsPerFile/time.Since(from).Seconds()/1e6, name+"-Mrow/s")
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapAlloc)/(1<<20), name+"-heap-MiB")
		}
		step("plan", func() { plan = w.plan(r) })
		step("mark", func() { w.mark(r, plan) })
		step("archive", func() { archive = w.archiveRows(r, plan, 1) })
		step("verify", func() { require.True(b, w.verify(r, archive).Agrees) })
		step("delete", func() { require.Equal(b, purge.Done, w.delete(r, plan, archive).Outcome) })
		require.NoError(b, local.Close())
	}
}
