package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/lakewarden/lakewarden/internal/evidence"
)

func (a *app) tablePartitions() *cobra.Command {
	var at tableAt
	c := &cobra.Command{
		Use: "partitions TABLE", Short: "List the partitions with their files, bytes and rows", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, done, err := a.openSnapshot(cmd, args[0], &at)
			defer done()
			if err != nil {
				return err
			}
			if len(s.PartitionBy()) == 0 && !a.json {
				fmt.Fprintln(a.out, "the table is not partitioned")
			}
			parts := s.Partitions()
			return a.print(parts, func(w io.Writer) {
				rows := make([][]string, len(parts))
				for i, p := range parts {
					for _, c := range s.PartitionBy() {
						rows[i] = append(rows[i], cell(orNull(p.Values[c]), 0))
					}
					rows[i] = append(rows[i], strconv.Itoa(p.Files), strconv.FormatInt(p.Bytes, 10), evidence.Count(p.Rows), strconv.FormatInt(p.Deleted, 10))
				}
				printGrid(w, append(append([]string{}, s.PartitionBy()...), "files", "bytes", "rows", "deleted by vectors"), rows)
				fmt.Fprintf(w, "%d partitions of version %d\n", len(parts), s.Version())
			})
		},
	}
	at.flags(c)
	return c
}
