package expr

// Range is what is known of a column's values in a file.
type Range struct {
	Min, Max               any
	NullCount, NumRows     int64
	HasMin, HasMax         bool
	HasNullCount           bool
	MinInexact, MaxInexact bool
	// Exact says that each row that is not NULL holds Min (a partition value),
	// bit for bit. Min==Max alone does not say so for floats (NaN, -0.0).
	Exact bool
}

// Verdict is what pruning knows of the rows of a file.
type Verdict int

// The verdicts; the zero value is the cautious one.
const (
	Some Verdict = iota // unknown
	None                // no row can be TRUE
	All                 // every row is TRUE
)

// Prune judges a file by its value ranges, asked by column name.
func (b *Bound) Prune(r func(column string) (Range, bool)) Verdict { return Some }

// PrunePaths is Prune that also asks for the leaves of structs, by path.
func (b *Bound) PrunePaths(r func(path []string) (Range, bool)) Verdict { return Some }

func noOverflow32(int64) func(lo, hi *vec) bool { return nil }
func noWrap(*term) func(lo, hi *vec) bool       { return nil }
