package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/lakewarden/lakewarden/deltaio"
)

// checksumShown is the checksum of a version's rows. Its members are compared
// across engines: they do not change.
type checksumShown struct {
	Version  int64         `json:"version"`
	Rows     int64         `json:"rows"`
	Checksum string        `json:"checksum"`
	Protocol protocolShown `json:"protocol"`
}

// protocolShown is a protocol as the log spells it.
type protocolShown struct {
	MinReaderVersion int32    `json:"minReaderVersion"`
	MinWriterVersion int32    `json:"minWriterVersion"`
	ReaderFeatures   []string `json:"readerFeatures,omitempty"`
	WriterFeatures   []string `json:"writerFeatures,omitempty"`
}

func protocolOf(s *deltaio.Snapshot) protocolShown {
	p := s.Protocol()
	return protocolShown{p.MinReaderVersion, p.MinWriterVersion, p.ReaderFeatures, p.WriterFeatures}
}

func (a *app) tableChecksum() *cobra.Command {
	var at tableAt
	c := &cobra.Command{
		Use: "checksum TABLE", Short: "Digest the rows of a version, whatever their order", Args: cobra.ExactArgs(1),
		Long: `Digest the rows of a version: equal tables have equal checksums, in whatever order,
files and encoding their rows lie. It is the SHA-256 of the sorted SHA-256 of each row
in canonical text. Rows are read once and never held; their hashes go to a temporary
file where there are many.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, done, err := a.openSnapshot(cmd, args[0], &at)
			defer done()
			if err != nil {
				return err
			}
			sum, err := s.Checksum(cmd.Context(), deltaio.RowChecksumOptions{TempDir: os.TempDir()})
			if err != nil {
				return err
			}
			shown := checksumShown{s.Version(), sum.Rows, sum.Sum, protocolOf(s)}
			return a.print(shown, func(w io.Writer) {
				fmt.Fprintf(w, "version %d, %d rows\n%s\n", shown.Version, shown.Rows, shown.Checksum)
			})
		},
	}
	at.flags(c)
	return c
}
