package deltaio

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Snapshot is a version of a table. It is immutable and safe for concurrent use.
type Snapshot struct {
	table     *Table
	state     *log.State
	schema    *schema.Struct // mapping metadata stripped in mode none
	mapping   string
	partition []string // logical names as the schema spells them
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

// Protocol of the table.
func (s *Snapshot) Protocol() log.Protocol { return s.state.Protocol }

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

// ScanOptions say which rows and columns to read.
type ScanOptions struct {
	Columns []string     // logical names, in output order; nil: all of the schema
	Where   *expr.Expr   // only rows for which it is TRUE; nil: all
	Context expr.Context // clock and session zone of Where
	Files   []*log.Add   // only these files; nil: all live ones
}

// Scan yields the rows in batches of at most 64Ki. Deleted rows (deletion
// vectors) never appear, partition columns are filled in, files and row groups
// that cannot hold a wanted row are not read. The consumer releases each batch.
func (s *Snapshot) Scan(ctx context.Context, opt ScanOptions) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) { yield(nil, errors.ErrUnsupported) }
}
