package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

func (a *app) tableSchema() *cobra.Command {
	var at tableAt
	c := &cobra.Command{
		Use: "schema TABLE", Short: "Print columns, their types and metadata", Args: cobra.ExactArgs(1),
		Long: "Print columns, their types and metadata. --json prints the schema as the log has it, and the partition columns.",
		RunE: func(cmd *cobra.Command, args []string) error {
			s, done, err := a.openSnapshot(cmd, args[0], &at)
			defer done()
			if err != nil {
				return err
			}
			shown := struct {
				Version     int64           `json:"version"`
				PartitionBy []string        `json:"partition_by"`
				Schema      json.RawMessage `json:"schema"`
			}{s.Version(), slices.Concat([]string{}, s.PartitionBy()), json.RawMessage(s.Schema().JSON())}
			return a.print(shown, func(w io.Writer) { printSchema(w, s) })
		},
	}
	at.flags(c)
	return c
}

func printSchema(w io.Writer, s *deltaio.Snapshot) {
	var rows [][]string
	var walk func(prefix string, t schema.Type)
	walk = func(prefix string, t schema.Type) {
		switch x := t.(type) {
		case *schema.Array:
			walk(prefix+".element", x.Element)
		case *schema.Map:
			walk(prefix+".key", x.Key)
			walk(prefix+".value", x.Value)
		case *schema.Struct:
			for _, f := range x.Fields {
				name := strings.TrimPrefix(prefix+"."+f.Name, ".")
				rows = append(rows, []string{cell(name, 0), cell(f.Type.String(), cellWidth), nullable(f), cell(metadataText(f, prefix == "" && slices.Contains(s.PartitionBy(), f.Name)), 0)})
				walk(name, f.Type)
			}
		}
	}
	walk("", s.Schema())
	printGrid(w, []string{"column", "type", "nullable", "metadata"}, rows)
	fmt.Fprintf(w, "version %d\n", s.Version())
}

func nullable(f schema.Field) string {
	if f.Nullable {
		return "yes"
	}
	return "no"
}

func metadataText(f schema.Field, partition bool) string {
	var out []string
	if partition {
		out = append(out, "partition column")
	}
	for _, k := range slices.Sorted(maps.Keys(f.Metadata)) {
		out = append(out, k+": "+string(f.Metadata[k]))
	}
	return strings.Join(out, ", ")
}
