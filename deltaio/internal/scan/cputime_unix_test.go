//go:build unix

package scan_test

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime reports the processor time of the loop: on a busy machine the clock
// on the wall says little.
func cpuTime(b *testing.B) func() {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	return func() { b.ReportMetric(float64((used()-before).Milliseconds())/float64(b.N), "cpu-ms/op") }
}
