package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

func (a *app) tableFiles() *cobra.Command {
	var at tableAt
	c := &cobra.Command{
		Use: "files TABLE", Short: "List the live data files: size, rows, partition, bounds, deletion vector", Args: cobra.ExactArgs(1),
		Long: "List the live data files, by path. Rows are those that no deletion vector drops. --json adds bounds and null\ncounts of every column and where deletion vectors lie.",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, done, err := a.openSnapshot(cmd, args[0], &at)
			defer done()
			if err != nil {
				return err
			}
			if a.json {
				return filesJSON(a.out, s)
			}
			printFiles(a.out, s)
			return nil
		},
	}
	at.flags(c)
	return c
}

// filesJSON writes one file after another: statistics of a million files are not
// held at once.
func filesJSON(w io.Writer, s *deltaio.Snapshot) error {
	if _, err := io.WriteString(w, "["); err != nil {
		return err
	}
	for i, add := range s.Files() {
		sep := ",\n"
		if i == 0 {
			sep = "\n"
		}
		if _, err := io.WriteString(w, sep); err != nil {
			return err
		}
		var line strings.Builder
		if err := writeLine(&line, s.DescribeFile(add)); err != nil {
			return err
		}
		if _, err := io.WriteString(w, strings.TrimSuffix(line.String(), "\n")); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "\n]\n")
	return err
}

func printFiles(w io.Writer, s *deltaio.Snapshot) {
	head := []string{"path", "bytes", "rows"}
	head = append(head, s.PartitionBy()...)
	head = append(head, "bounds", "deletion vector")
	rows := make([][]string, len(s.Files()))
	for i, add := range s.Files() {
		f := s.DescribeFile(add)
		row := []string{cell(f.Path, 0), strconv.FormatInt(f.Size, 10), evidence.Count(f.LiveRows)}
		for _, c := range s.PartitionBy() {
			row = append(row, cell(orNull(f.Partition[c]), cellWidth))
		}
		rows[i] = append(row, cell(boundsText(&f), 2*cellWidth), vectorText(f.Deleted))
	}
	printGrid(w, head, rows)
	fmt.Fprintf(w, "%d files of version %d\n", len(rows), s.Version())
}

func boundsText(f *deltaio.FileInfo) string {
	if f.BadStats != "" {
		return f.BadStats
	}
	var out []string
	for _, b := range f.Bounds {
		text := b.Column
		if b.Min != nil || b.Max != nil {
			text += fmt.Sprintf(" %s..%s", b.Min, b.Max)
		}
		if b.Nulls != nil && *b.Nulls > 0 {
			text += fmt.Sprintf(" (%d null)", *b.Nulls)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func vectorText(d *deltaio.DeletionVectorInfo) string {
	if d == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%d rows, %s %s", d.Rows, d.Storage, d.Path))
}
