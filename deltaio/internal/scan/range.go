package scan

// Range describes the values of one column in a set of rows. It converts to
// expr.Range, which has the same fields.
type Range struct {
	// Min and Max are bounds in the Go values of package expr; NaN lies outside
	// of them, and so do nulls.
	Min, Max                     any
	NullCount, NumRows           int64
	HasMin, HasMax, HasNullCount bool
	// MinInexact and MaxInexact: the bound may not occur in the rows.
	MinInexact, MaxInexact bool
}
