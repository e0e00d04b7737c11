package deltaio

import (
	"context"
	"encoding/json"
	"time"
)

// TableDetail describes the newest version.
type TableDetail struct {
	ID, Name, Description, URL string
	Version                    int64
	Created                    *time.Time // when the log says so
	Modified                   time.Time
	PartitionBy                []string
	Properties                 map[string]string
	MinReader, MinWriter       int32
	Features                   []string // supported ones, those implied by versions included
	Mapping                    string
	Files                      int
	Bytes                      int64
	// Rows is nil when a file's statistics do not tell: unknown is not 0.
	Rows *int64
	// FilesWithDeletionVector and RowsDeleted count rows that lie in live files
	// and are not part of the table.
	FilesWithDeletionVector int
	RowsDeleted             int64
	Tombstones              int
	// Refused says for each kind of access why it is refused; absent: it is not.
	Refused map[string]string
}

// Detail describes the newest version.
func Detail(ctx context.Context, t *Table) (*TableDetail, error) {
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return snap.Detail(), nil
}

// Detail describes the snapshot.
func (s *Snapshot) Detail() *TableDetail {
	m := s.state.Metadata
	d := &TableDetail{
		ID: m.ID, URL: s.table.URL(), Version: s.Version(), Modified: s.Time(),
		PartitionBy: s.partition, Properties: m.Configuration, Mapping: s.mapping,
		MinReader: s.state.Protocol.MinReaderVersion, MinWriter: s.state.Protocol.MinWriterVersion,
		Files: len(s.state.Files), Tombstones: len(s.state.Tombstones), Refused: map[string]string{},
	}
	if m.Name != nil {
		d.Name = *m.Name
	}
	if m.Description != nil {
		d.Description = *m.Description
	}
	if m.CreatedTime != nil {
		at := time.UnixMilli(*m.CreatedTime).UTC()
		d.Created = &at
	}
	for i := range featureTable {
		if s.supports(featureTable[i].name) {
			d.Features = append(d.Features, featureTable[i].name)
		}
	}
	for _, w := range []Want{WantAppend, WantRewrite, WantVacuum, WantCheckpoint} {
		if err := s.Check(w); err != nil {
			d.Refused[w.String()] = err.Error()
		}
	}
	s.countFiles(d)
	return d
}

func (s *Snapshot) countFiles(d *TableDetail) {
	rows, known := int64(0), true
	for _, a := range s.state.Files {
		d.Bytes += a.Size
		n, ok := liveRows(a)
		rows, known = rows+n, known && ok
		if a.DeletionVector != nil {
			d.FilesWithDeletionVector++
			d.RowsDeleted += a.DeletionVector.Cardinality
		}
	}
	if known {
		d.Rows = &rows
	}
}

// unquoted shows a JSON string without quotes, all else as it is.
func unquoted(raw jsonRaw) string {
	var s *string
	if json.Unmarshal(raw, &s) == nil && s != nil {
		return *s
	}
	return string(raw)
}
