package expr

import (
	"errors"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Expr is a parsed expression. It is immutable and safe for concurrent use.
type Expr struct{}

// SyntaxError says where a text is not an expression.
type SyntaxError struct {
	Pos    int    // byte offset in Text
	Line   int    // 1-based
	Column int    // 1-based, in characters of its line
	Msg    string // what was expected or found
	Text   string // the whole text
}

func (e *SyntaxError) Error() string { return e.Msg }

// BindError says why an expression does not fit a schema.
type BindError struct {
	Pos        int
	Line       int
	Column     int
	Msg        string
	Text       string
	Candidates []string // names that come near an unknown one
}

func (e *BindError) Error() string { return e.Msg }

// Parse reads an expression. The error is a *SyntaxError.
func Parse(text string) (*Expr, error) { return nil, errors.New("expr: not ready") }

// MustParse is Parse for constant texts; it panics on an error.
func MustParse(text string) *Expr { return nil }

// String gives the expression as SQL; parsing it yields the same tree.
func (e *Expr) String() string { return "" }

// Columns lists the top-level columns referenced, as written, sorted.
func (e *Expr) Columns() []string { return nil }

// ClockDependent says whether the value depends on Context.Now.
func (e *Expr) ClockDependent() bool { return false }

// Freeze replaces clock calls and zone-less timestamp literals by literals.
func (e *Expr) Freeze(c Context) *Expr { return e }

// And joins expressions; nils are left out, and And() is TRUE.
func And(xs ...*Expr) *Expr { return nil }

// Or joins expressions; nils are left out, and Or() is FALSE.
func Or(xs ...*Expr) *Expr { return nil }

// Not negates an expression in three-valued logic.
func Not(x *Expr) *Expr { return nil }

// Context is what evaluation may know of the world: a frozen clock and the
// session time zone of casts, dates and zone-less literals. Zone nil is UTC.
type Context struct {
	Now  time.Time
	Zone *time.Location
}

// Bind resolves names and types against a schema. The error is a *BindError.
func (e *Expr) Bind(s *schema.Struct, c Context) (*Bound, error) {
	return nil, errors.New("expr: not ready")
}

// Bound is an expression bound to a schema; safe for concurrent use.
type Bound struct{}

// Type is the type of the value.
func (b *Bound) Type() schema.Type { return nil }

// Columns lists the top-level columns it reads by their names in the schema, sorted.
func (b *Bound) Columns() []string { return nil }

// Eval computes the expression for each row; the caller releases the array.
func (b *Bound) Eval(rec arrow.Record) (arrow.Array, error) {
	return nil, errors.New("expr: not ready")
}

// Truth evaluates a boolean expression to bit masks.
func (b *Bound) Truth(rec arrow.Record) (*Truth, error) { return nil, errors.New("expr: not ready") }

// Truth holds the truth value of each row: TRUE, FALSE or NULL.
type Truth struct{ N int }

// IsTrue says whether row i is TRUE.
func (t *Truth) IsTrue(i int) bool { return false }

// IsNull says whether row i is NULL.
func (t *Truth) IsNull(i int) bool { return false }

// CountTrue counts the rows that are TRUE.
func (t *Truth) CountTrue() int { return 0 }

// CountNull counts the rows that are NULL.
func (t *Truth) CountNull() int { return 0 }

// True gives the TRUE rows as little-endian bit words; bits at N and above are 0.
func (t *Truth) True() []uint64 { return nil }

// Null gives the NULL rows as little-endian bit words.
func (t *Truth) Null() []uint64 { return nil }

// Decimal is an unscaled value and its scale.
type Decimal struct {
	V     decimal128.Num
	Scale int
}

// Date counts days since 1970-01-01.
type Date int32

// Timestamp counts microseconds since 1970-01-01: UTC for timestamp, local for timestamp_ntz.
type Timestamp int64

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
