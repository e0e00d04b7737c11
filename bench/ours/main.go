// Command ours is lakewarden's side of the comparison with its peers: it writes
// the tables that all of them work on, and runs the steps of a purge on a copy.
// Each call measures one piece of work in a process of its own and prints its
// figures as one line of JSON, as the peers do (see peers.py).
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// cutoff is the day before which rows are due: a quarter of them.
const cutoff = "2024-09-01"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) < 3 {
		return fmt.Errorf("usage: ours gen|purge|mark|scan DIR [flags]")
	}
	verb, dir := os.Args[1], os.Args[2]
	flags := flag.NewFlagSet(verb, flag.ExitOnError)
	rows := flags.Int("rows", 10_000_000, "gen: rows of the table")
	files := flags.Int("files", 20, "gen: data files of the table")
	layout := flags.String("layout", "unsorted", "gen: unsorted, sorted (by date) or skewed (few days hold most rows)")
	codec := flags.String("codec", "snappy", "gen: Parquet codec")
	mark := flags.String("mark", "_expurgo_flag", "purge: marker column, or none")
	if err := flags.Parse(os.Args[3:]); err != nil {
		return err
	}
	s, err := storage.OpenLocal(dir)
	if err != nil {
		return fmt.Errorf("%s: %w; make the folder first", dir, err)
	}
	ctx := context.Background()
	switch verb {
	case "gen":
		return generate(ctx, storage.Sub(s, "table"), *rows, *files, *layout, *codec)
	case "purge", "mark":
		marker := *mark
		if marker == "none" {
			marker = ""
		}
		return measured(verb, func() (any, error) { return purgeTable(ctx, s, marker, verb == "mark") })
	case "scan":
		return measured(verb, func() (any, error) { return scanTable(ctx, s) })
	}
	return fmt.Errorf("%q: want gen, purge, mark or scan", verb)
}

func env() deltaio.Env { return deltaio.Env{Now: time.Now, Engine: "bench"} }

// figures are what every side of a comparison reports.
type figures struct {
	Work    string  `json:"work"`
	Wall    float64 `json:"wall_s"`
	CPU     float64 `json:"cpu_s"`
	PeakMiB float64 `json:"peak_mib"`
	Detail  any     `json:"detail,omitempty"`
}

func measured(work string, do func() (any, error)) error {
	cpu, start := cpuTime(), time.Now()
	detail, err := do()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(figures{
		Work: work, Wall: time.Since(start).Seconds(), CPU: (cpuTime() - cpu).Seconds(), PeakMiB: peakMiB(), Detail: detail,
	})
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakMiB is the process's peak of resident memory.
func peakMiB() float64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		var kib float64
		if _, err := fmt.Sscanf(line, "VmHWM: %f", &kib); err == nil {
			return kib / 1024
		}
	}
	return 0
}
