package pq

import "github.com/lakewarden/lakewarden/deltaio/schema"

// FileStats describe the rows of a written file for the log.
type FileStats struct {
	NumRecords int64
	// Columns are the leaves outside of lists and maps, in file order.
	Columns []ColumnStats
}

// ColumnStats are the statistics of one leaf.
type ColumnStats struct {
	Path []string    // names as written
	Type schema.Type // primitive or decimal
	// Min and Max are bounds: bool, int64 (integers, days, microseconds),
	// float64, string, []byte, decimal128.Num. HasMin and HasMax are false when
	// there is no value, or none that may be told (NaN among the values, bounds
	// that cannot be trusted).
	Min, Max       any
	HasMin, HasMax bool
	NullCount      int64
	HasNullCount   bool
}

// JSON is the stats string of an add action for the leaves that indexed admits
// (nil: all).
func (s FileStats) JSON(indexed func(path []string) bool) string { return "" }
