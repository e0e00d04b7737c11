package scan

import "github.com/lakewarden/lakewarden/deltaio/schema"

// DefaultBatchRows is the number of rows in a batch when Options.BatchRows is
// not set.
const DefaultBatchRows = 64 << 10

// Options choose what Batches reads.
type Options struct {
	// Schema lists the logical fields wanted, in order; the batches have exactly
	// these columns, under their logical names.
	Schema *schema.Struct
	// Mapped finds columns by Field.PhysicalName (column mapping modes name and
	// id); otherwise by Field.Name. It holds for nested fields as well.
	Mapped bool
	// ByFieldID finds columns by their Parquet field id (column mapping mode
	// id). A file without any field id is refused, as the protocol asks; an id
	// that a file lacks is a column of nulls. Members of a variant have no ids.
	ByFieldID bool
	// Partition holds the partition values of the file as in the log (nil =
	// null), by physical name. A field named here is filled with the constant
	// and not looked for in the file.
	Partition map[string]*string
	// Const fills further columns, by physical name, with a Go value as
	// expr.Range describes them; nil is null.
	Const map[string]any
	// ByName are columns that are none of the table's own, such as _change_type in
	// change files: found by their name even where ByFieldID is set.
	ByName []string
	// RowGroups are the row groups to read, ascending; nil means all.
	RowGroups []int
	// BatchRows bounds the rows of a batch; 0 means DefaultBatchRows. Batches
	// get smaller on their own where rows are wide.
	BatchRows int

	leafBytes int // for tests: what one column of a batch may take
}
