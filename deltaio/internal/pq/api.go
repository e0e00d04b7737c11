package pq

import (
	"io"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Column is one top-level column of an output file.
type Column struct {
	// Field is the Delta type and the name. Field.Name, of nested fields as
	// well, is the name written; the caller puts the physical name there when
	// the table maps columns. Field.ColumnID() becomes the Parquet field id.
	// A column of type void is left out of the file, as Spark does.
	Field schema.Field

	// Source is the top-level column of the source file to take the values
	// from, by its name in that file. A column that the file lacks is written as
	// nulls. Nested fields are found by Field.PhysicalName(), else by Name.
	Source string
	// SourceID finds the column, and the fields nested in it, by Parquet field
	// id first; names are the fallback for files without ids.
	SourceID *int32

	// Const is the value of every row when IsConst is set: nil for null, else
	// bool, int8 to int64, int, float32, float64, string, []byte,
	// decimal128.Num, a decimal of package expr, days for dates, microseconds
	// for timestamps. Nested types allow null only.
	Const   any
	IsConst bool

	// Fill gives values to rows without one; of Rewrite only.
	Fill *Fill
}

// Output is one file that Rewrite makes.
type Output struct {
	W       io.Writer // receives the file front to back
	Columns []Column
	Rows    *Bitmap // rows of the source that go here; nil: all
	// Codec compresses what is encoded anew: uncompressed, snappy, gzip, brotli,
	// lz4_raw, zstd. Empty keeps each source chunk's codec. Chunks copied as
	// bytes keep theirs in any case, and so do the other chunks of such a column:
	// some readers (parquet-go) take the codec of a column's first chunk for all.
	Codec string
}

// Options of Rewrite and NewWriter.
type Options struct {
	// Created is the footer's created_by, "NAME version V (build B)"; readers
	// parse it. Empty: Created.
	Created string
	// RowGroupRows bounds the row groups of a Writer. 0: 1 Mi rows.
	RowGroupRows int
	// PageBytes bounds the values of a page before compression. 0: 1 MiB. A page
	// holds at most 20,000 rows in any case.
	PageBytes int
	// Clear names columns (Field.Name) that are written as null in every output.
	Clear []string
	// Stats chooses the leaves, by written path, whose bounds FileStats must
	// hold even where that means to decode a chunk which is copied as bytes.
	// Nil: all.
	Stats func(path []string) bool
}

// Result tells what became of one output.
type Result struct {
	Rows, Bytes int64
	Stats       FileStats
	// Row groups by the way they were written: as bytes, split by rows, or whole
	// with a column decoded and encoded again (type conversions, a column whose
	// nulls were cleared).
	RawCopied, Split, Decoded int
	// Fallback names the columns, with the reason, whose encoding takes the slow
	// way, separated by "; ". Empty when there were none.
	Fallback string
}
