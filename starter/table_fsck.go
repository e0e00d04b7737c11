package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lakewarden/lakewarden/deltaio"
)

// lookError: a check could not be made, which is neither "clean" nor "findings".
type lookError struct{ error }

func (e lookError) Unwrap() error { return e.error }

// ExitCode tells it from findings, which end with 1.
func (e lookError) ExitCode() int { return 2 }

func (a *app) tableFsck() *cobra.Command {
	var at tableAt
	var deep bool
	c := &cobra.Command{
		Use: "fsck TABLE", Short: "Compare a table's log with storage", Args: cobra.ExactArgs(1),
		Long: `Compare a table's log with storage: files that are missing, truncated, of another size
or unreadable, wrong row counts, damaged deletion vectors, objects that nothing refers
to, checkpoints that do not read, .crc files that disagree. --deep also reads every
page of every file, checking its CRC where the writer left one, replays the log between
checkpoints, and compares all .crc files.

The exit code is 0 when nothing was found, 1 when something was, 2 when it could not look.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.fsck(cmd, args[0], &at, deltaio.FsckOptions{Deep: deep})
			if err != nil {
				return lookError{err}
			}
			if err := a.print(r, func(w io.Writer) { printFsck(w, r) }); err != nil {
				return lookError{err}
			}
			if !r.Clean() {
				return quietError{"fsck found something"}
			}
			return nil
		},
	}
	at.flags(c)
	c.Flags().BoolVar(&deep, "deep", false, "read every page of every live file")
	return c
}

func (a *app) fsck(cmd *cobra.Command, arg string, at *tableAt, opt deltaio.FsckOptions) (*deltaio.FsckReport, error) {
	t, done, err := a.openTable(cmd.Context(), arg)
	defer done()
	if err != nil {
		return nil, err
	}
	s, err := at.snapshot(cmd, t)
	if err != nil {
		if r := deltaio.FsckDamaged(t, opt, err); r != nil {
			return r, nil
		}
		return nil, err
	}
	return deltaio.Fsck(cmd.Context(), s, opt)
}

func printFsck(w io.Writer, r *deltaio.FsckReport) {
	fmt.Fprintf(w, "%s, version %d: %d live files of %d bytes, %d objects, %d commits, %d checkpoints, %d checksum files\n",
		r.URL, r.Version, r.Files, r.Bytes, r.Objects, r.Commits, r.Checkpoints, r.Checksums)
	fmt.Fprintf(w, "%d objects of removed files are kept for older versions; %d of them are past the retention of %s, and a vacuum takes them\n", r.Removed, r.Due, r.RetainFor)
	if r.ChecksumsSkipped > 0 {
		fmt.Fprintf(w, "%d checksum files of other versions were not compared\n", r.ChecksumsSkipped)
	}
	if !r.Deep {
		fmt.Fprintln(w, "pages were not read: --deep does")
	}
	if r.Clean() {
		fmt.Fprintln(w, "clean: log and storage agree")
		return
	}
	rows := make([][]string, len(r.Findings))
	for i, f := range r.Findings {
		rows[i] = []string{string(f.Kind), cell(f.Path, 0), f.Age, cell(f.Detail, 0)}
	}
	printGrid(w, []string{"finding", "path", "age", "detail"}, rows)
	for _, k := range slices.Sorted(maps.Keys(r.Counts)) {
		fmt.Fprintf(w, "%s: %d\n", k, r.Counts[k])
	}
}
