package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/internal/sample"
)

// BenchmarkPurge runs plan, mark, archive, verification, delete and the check
// after it on the sample sales table: about half of the rows are due, in whole
// files and, for the month of the cutoff, in mixed ones; with holds, most files
// are mixed. It reports peak resident memory, which must not grow with the table.
func BenchmarkPurge(b *testing.B) {
	for _, rows := range []int{1_000_000, 10_000_000} {
		for _, hold := range []string{"", "status = 'LITIGATION'"} {
			name := fmt.Sprintf("rows=%dM/mixed=%t", rows/1_000_000, hold != "")
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					dir := write(b, rows)
					b.StartTimer()
					run(b, dir, hold)
				}
				b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrow/s")
			})
		}
	}
}

func env() deltaio.Env { return deltaio.Env{Now: time.Now, Engine: "bench"} }

func write(b *testing.B, rows int) string {
	b.Helper()
	dir := b.TempDir()
	s, err := storage.OpenLocal(dir)
	require.NoError(b, err)
	require.NoError(b, sample.Vendas{Rows: rows, Until: until(), Seed: 1}.Write(b.Context(), storage.Sub(s, "table"), env()))
	return dir
}

func until() time.Time { return time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC) }

func run(b *testing.B, dir, hold string) {
	b.Helper()
	ctx := b.Context()
	s, err := storage.OpenLocal(dir)
	require.NoError(b, err)
	folder, err := evidence.OpenRun(s, "bench")
	require.NoError(b, err)
	r := purge.Run{ID: "bench", Journal: folder, Column: "_expurgo_flag", Criteria: purge.Criteria{
		Match: expr.MustParse("event_date < DATE'2025-11-30'"), Undated: expr.MustParse("event_date IS NULL"), Context: expr.Context{Now: until(), Zone: time.UTC},
	}}
	if hold != "" {
		r.Criteria.Hold = expr.MustParse(hold)
	}
	archive := storage.Sub(s, "archive")
	debug.FreeOSMemory()
	resetPeak()
	cpu := cpuTime()
	t, err := deltaio.Open(ctx, storage.Sub(s, "table"), env())
	require.NoError(b, err)
	plan, err := purge.PlanPurge(ctx, t, purge.PlanOptions{Run: r})
	require.NoError(b, err)
	m, err := purge.MarkRows(ctx, t, purge.MarkOptions{Run: r, Plan: plan.Record})
	require.NoError(b, err)
	a, err := purge.ArchiveRows(ctx, t, archive, env(), purge.ArchiveOptions{Run: r, Plan: plan.Record, Attempt: 1, ArchivedAt: until()})
	require.NoError(b, err)
	v, err := purge.VerifyArchive(ctx, t, archive, env(), purge.VerifyArchiveOptions{Run: r, Archive: a.Record})
	require.NoError(b, err)
	require.True(b, v.Agrees, "%v", v.Reasons)
	d, err := purge.DeleteMarked(ctx, t, purge.DeleteOptions{Run: r, Plan: plan.Record, Archive: a.Record, ArchiveStore: archive})
	require.NoError(b, err)
	require.Equal(b, m.RowsMarked, d.RowsDeleted)
	b.ReportMetric(peakMiB(b), "peak-MiB")
	b.ReportMetric((cpuTime() - cpu).Seconds(), "cpu-s")
}

// resetPeak sets the kernel's high-water mark of resident memory to what is
// resident now (Linux; elsewhere the figure covers the whole process).
func resetPeak() {
	runtime.GC()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // without it the peak is an upper bound
}

func peakMiB(b *testing.B) float64 {
	b.Helper()
	data, err := os.ReadFile(filepath.Clean("/proc/self/status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			kib, err := strconv.ParseFloat(f[1], 64)
			require.NoError(b, err)
			return kib / 1024
		}
	}
	return 0
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
