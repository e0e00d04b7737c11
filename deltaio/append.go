package deltaio

import (
	"context"
	"errors"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"
)

// AppendOptions say how rows are appended.
type AppendOptions struct {
	Base *Snapshot      // nil: the newest version
	Step *Step          // optional: exactly once
	Info map[string]any // further members of commitInfo
	// FilePrefix starts the data files' names: "part" when empty.
	FilePrefix string
	// Operation for commitInfo. "": WRITE with mode Append.
	Operation string
}

// AppendResult is what was appended.
type AppendResult struct {
	CommitResult
	Files int
	Rows  int64
	Bytes int64
}

// Append writes batches (columns by logical name; nullable ones may be
// missing) into data files and commits them as a blind append. Batches are
// released by their producer.
func Append(ctx context.Context, t *Table, opt AppendOptions, batches iter.Seq2[arrow.Record, error]) (*AppendResult, error) {
	return nil, errors.ErrUnsupported
}
