package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

// detailShown describes a version of a table.
type detailShown struct {
	ID          string            `json:"id"`
	Name        string            `json:"name,omitempty"`
	Description string            `json:"description,omitempty"`
	URL         string            `json:"url"`
	Version     int64             `json:"version"`
	Created     *time.Time        `json:"created"`
	Modified    time.Time         `json:"modified"`
	PartitionBy []string          `json:"partition_by"`
	Protocol    protocolShown     `json:"protocol"`
	Features    []string          `json:"features"`
	Mapping     string            `json:"column_mapping"`
	Files       int               `json:"files"`
	Bytes       int64             `json:"bytes"`
	Rows        *int64            `json:"rows"` // null: a file's statistics do not tell
	Vectors     int               `json:"files_with_deletion_vector"`
	Deleted     int64             `json:"rows_deleted_by_vectors"`
	Tombstones  int               `json:"tombstones"`
	Properties  map[string]string `json:"properties"`
	Refused     map[string]string `json:"refused"`
}

func (a *app) tableDetail() *cobra.Command {
	var at tableAt
	c := &cobra.Command{
		Use: "detail TABLE", Short: "Describe a table: size, protocol, properties, what is refused", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, done, err := a.openSnapshot(cmd, args[0], &at)
			defer done()
			if err != nil {
				return err
			}
			d := shownDetail(s)
			return a.print(d, func(w io.Writer) { d.text(w) })
		},
	}
	at.flags(c)
	return c
}

func shownDetail(s *deltaio.Snapshot) *detailShown {
	d := s.Detail()
	return &detailShown{
		ID: d.ID, Name: d.Name, Description: d.Description, URL: d.URL, Version: d.Version, Created: d.Created, Modified: d.Modified,
		PartitionBy: slices.Concat([]string{}, d.PartitionBy), Protocol: protocolOf(s), Features: slices.Concat([]string{}, d.Features), Mapping: d.Mapping,
		Files: d.Files, Bytes: d.Bytes, Rows: d.Rows, Vectors: d.FilesWithDeletionVector, Deleted: d.RowsDeleted, Tombstones: d.Tombstones,
		Properties: d.Properties, Refused: d.Refused,
	}
}

func (d *detailShown) text(w io.Writer) {
	line := func(name, format string, args ...any) {
		if text := cell(fmt.Sprintf(format, args...), 0); text != "" {
			fmt.Fprintf(w, "%-14s%s\n", name, text)
		}
	}
	line("table", "%s", d.URL)
	line("name", "%s", d.Name)
	line("description", "%s", d.Description)
	line("id", "%s", d.ID)
	line("version", "%d, %s", d.Version, moment(&d.Modified))
	line("created", "%s", moment(d.Created))
	line("rows", "%s", evidence.Count(d.Rows))
	line("files", "%d, %d bytes; %d removed ones are remembered", d.Files, d.Bytes, d.Tombstones)
	if d.Vectors > 0 {
		line("deleted", "%d rows by deletion vectors of %d files", d.Deleted, d.Vectors)
	}
	line("partitioned", "%s", strings.Join(d.PartitionBy, ", "))
	line("protocol", "reader %d, writer %d", d.Protocol.MinReaderVersion, d.Protocol.MinWriterVersion)
	line("features", "%s", strings.Join(d.Features, ", "))
	if d.Mapping != "none" {
		line("columns", "mapped by %s", d.Mapping)
	}
	for _, k := range slices.Sorted(maps.Keys(d.Properties)) {
		line("property", "%s = %s", k, d.Properties[k])
	}
	for _, k := range slices.Sorted(maps.Keys(d.Refused)) {
		line("refused", "%s", d.Refused[k])
	}
}
