package deltaio

import (
	"context"
	"errors"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
)

// StagedFile is a data file that lies in storage and is not committed yet.
type StagedFile struct {
	Add  *log.Add // ready for a commit, dataChange true
	Key  string   // storage key
	Rows int64
	// Row groups by the way they were written (rewrites only).
	RawCopied, Split, Decoded int
	Fallback                  string // why the fast way was not taken, if it was not
}

// DataFile is an open data file of a snapshot.
type DataFile struct{}

// OpenFile opens a live data file. Close it.
func (s *Snapshot) OpenFile(ctx context.Context, add *log.Add) (*DataFile, error) {
	return nil, errors.ErrUnsupported
}

// Close the file.
func (f *DataFile) Close() error { return nil }

// NumRows counts the physical rows, deleted ones included.
func (f *DataFile) NumRows() int64 { return 0 }

// Live has a bit per physical row, set unless a deletion vector drops the row;
// nil when no row is dropped.
func (f *DataFile) Live() *pq.Bitmap { return nil }

// FileBatch is a run of physical rows of a file.
type FileBatch struct {
	Record arrow.Record // by logical names
	First  int64        // physical position of its first row
}

// Batches yields physical rows (deleted ones too: mask by Live), partition
// columns filled in. columns nil: the whole schema. Row groups without a bit in
// rows are skipped; rows nil: all. The consumer releases each record.
func (f *DataFile) Batches(ctx context.Context, columns []string, rows *pq.Bitmap) iter.Seq2[FileBatch, error] {
	return func(yield func(FileBatch, error) bool) { yield(FileBatch{}, errors.ErrUnsupported) }
}

// Selection are the live rows of a file for which an expression is TRUE, and
// those for which it is NULL.
type Selection struct{ True, Null *pq.Bitmap }

// Select evaluates a boolean expression bound to the snapshot's schema on the
// live rows of the file.
func (f *DataFile) Select(ctx context.Context, b *expr.Bound) (Selection, error) {
	return Selection{}, errors.ErrUnsupported
}

// RewriteOutput is one of the files that a rewrite makes of a data file.
type RewriteOutput struct {
	Key  string         // storage key, see DataKey
	Rows *pq.Bitmap     // physical rows that go here, all of them live; nil: every live row
	Set  map[string]any // columns (logical names) with one value in every row
	Omit []string       // columns left out of the file: they read as null
}

// Rewrite reads the file once and writes the outputs, each under the snapshot's
// schema, partition values and codec; an output without rows is not written and
// its result is nil. On an error nothing of it is visible.
func (f *DataFile) Rewrite(ctx context.Context, outs []RewriteOutput) ([]*StagedFile, error) {
	return nil, errors.ErrUnsupported
}

// DataKey is the storage key of a data file called name in the directory of its
// partition.
func (s *Snapshot) DataKey(partition map[string]*string, name string) string { return name }

// StageOptions say how rows become data files.
type StageOptions struct {
	// Name makes each file's name. Nil: "part-<id>.parquet".
	Name func() string
	// TargetBytes of a file. 0: delta.targetFileSize, else 256 MiB.
	TargetBytes int64
}

// Stage checks batches against schema and constraints, splits them by partition
// values, and writes data files without committing them.
func (s *Snapshot) Stage(ctx context.Context, opt StageOptions, batches iter.Seq2[arrow.Record, error]) ([]*StagedFile, error) {
	return nil, errors.ErrUnsupported
}

// ChangeType is the _change_type of a row in a change data file.
type ChangeType string

// The change types of the protocol.
const (
	ChangeInsert    ChangeType = "insert"
	ChangePreimage  ChangeType = "update_preimage"
	ChangePostimage ChangeType = "update_postimage"
	ChangeDelete    ChangeType = "delete"
)

// StageChanges writes rows as change data files of one type. They are due in
// any commit that updates rows or deletes some rows of a file when
// ChangeFeed() says so, and must then be complete for that commit.
func (s *Snapshot) StageChanges(ctx context.Context, kind ChangeType, batches iter.Seq2[arrow.Record, error]) ([]*log.CDC, error) {
	return nil, errors.ErrUnsupported
}

// ChangeFeed says whether the change data feed is on.
func (s *Snapshot) ChangeFeed() bool { return false }

// RemoveOf is the remove action for a live file, everything the protocol wants
// of it copied.
func RemoveOf(add *log.Add, deletionTimestamp int64, dataChange bool) *log.Remove { return nil }

// KeyOf is the identity of a logical file.
func KeyOf(add *log.Add) FileKey { return FileKey{} }
