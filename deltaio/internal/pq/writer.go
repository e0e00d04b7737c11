package pq

import (
	"errors"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
)

// Writer writes Arrow records as one Parquet file.
type Writer struct{}

// NewWriter starts a file. Source and SourceID of the columns are ignored;
// constant columns are filled in.
func NewWriter(w io.Writer, cols []Column, opt WriterOptions) (*Writer, error) {
	return nil, errors.New("pq: not there yet")
}

// WriterOptions of NewWriter.
type WriterOptions struct {
	Options
	Codec string // as in Output; empty: zstd
}

// Write appends the rows of rec, which has the columns that are not constant,
// by Field.Name, in any order. It keeps nothing of rec.
func (w *Writer) Write(rec arrow.Record) error { return errors.New("pq: not there yet") }

// Bytes is the size of what lies encoded so far, for callers that cut files by
// size.
func (w *Writer) Bytes() int64 { return 0 }

// Rows is the number of rows written so far.
func (w *Writer) Rows() int64 { return 0 }

// Close writes what is left and the footer. It does not close the io.Writer.
func (w *Writer) Close() (Result, error) { return Result{}, errors.New("pq: not there yet") }
