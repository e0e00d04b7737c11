package deltaio

import (
	"fmt"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Modes of column mapping.
const (
	mappingNone = "none"
	mappingName = "name"
	mappingID   = "id"
)

// Snapshot is a version of a table. It is immutable and safe for concurrent use.
type Snapshot struct {
	table     *Table
	state     *log.State
	schema    *schema.Struct // mapping metadata left out in mode none
	mapping   string
	partition []string // logical names as the schema spells them
	checks    *constraintSet
}

func (t *Table) snapshot(st *log.State) (*Snapshot, error) {
	s := &Snapshot{table: t, state: st, mapping: st.MappingMode()}
	// The protocol comes first: a table that asks for more than we know may hold
	// a schema that we cannot even parse.
	if a := s.judgeVersions(WantRead); a != nil {
		return nil, s.refuse("protocol", WantRead, a)
	}
	if p := st.Metadata.Format.Provider; p != "" && !strings.EqualFold(p, "parquet") {
		return nil, s.refuse("format", WantRead, &answer{"data files are " + p + ", not parquet", "use the engine that wrote them"})
	}
	sc, schemaErr := st.Schema()
	if schemaErr != nil {
		sc = &schema.Struct{}
	}
	s.schema = sc
	if err := s.Check(WantRead); err != nil {
		return nil, err
	}
	if schemaErr != nil {
		return nil, fmt.Errorf("%s: version %d: %w", t.URL(), st.Version, schemaErr)
	}
	for _, name := range st.Metadata.PartitionColumns {
		f, ok := s.schema.Field(name)
		if !ok {
			return nil, fmt.Errorf("%s: version %d: partition column %q is not in the schema", t.URL(), st.Version, name)
		}
		s.partition = append(s.partition, f.Name)
	}
	s.checks = newConstraintSet(s)
	return s, nil
}

// Table is the table the snapshot belongs to.
func (s *Snapshot) Table() *Table { return s.table }

// Version of the table.
func (s *Snapshot) Version() int64 { return s.state.Version }

// Time the version was committed: in-commit where enabled, else by the store.
func (s *Snapshot) Time() time.Time { return time.UnixMilli(s.state.Timestamp).UTC() }

// TableID is metaData.id.
func (s *Snapshot) TableID() string { return s.state.Metadata.ID }

// Schema of the table's rows, partition columns included.
func (s *Snapshot) Schema() *schema.Struct { return s.schema }

// PartitionBy gives the partition columns' logical names, in order.
func (s *Snapshot) PartitionBy() []string { return s.partition }

// Property is a table property as it was written.
func (s *Snapshot) Property(key string) (string, bool) {
	v, ok := s.state.Metadata.Configuration[key]
	return v, ok
}

// Protocol of the table. Read only.
func (s *Snapshot) Protocol() *log.Protocol { return s.state.Protocol }

// State is the replayed log. Read only.
func (s *Snapshot) State() *log.State { return s.state }

// Files are the live data files, by path. Read only.
func (s *Snapshot) Files() []*log.Add { return s.state.Files }

// Txn is the version recorded for an application id.
func (s *Snapshot) Txn(appID string) (int64, bool) {
	t, ok := s.state.Txns[appID]
	return t.Version, ok
}

// Mapping is the column mapping mode in force: none, name or id.
func (s *Snapshot) Mapping() string { return s.mapping }

// PhysicalName is the name of a top-level column in data files, statistics and
// partition values.
func (s *Snapshot) PhysicalName(f *schema.Field) string {
	if s.mapping == mappingNone {
		return f.Name
	}
	return f.PhysicalName()
}

// physicalPartition gives the partition columns' physical names, in order.
func (s *Snapshot) physicalPartition() []string {
	out := make([]string, len(s.partition))
	for i, name := range s.partition {
		f, _ := s.schema.Field(name)
		out[i] = s.PhysicalName(f)
	}
	return out
}

func (s *Snapshot) isPartition(name string) bool {
	for _, p := range s.partition {
		if p == name {
			return true
		}
	}
	return false
}
