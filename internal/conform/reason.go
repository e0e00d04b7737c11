package conform

import "fmt"

// Codes of reasons. Casts are cast:TYPE, rules are rule:NAME.
const (
	CodeRequired     = "required"
	CodeKeyNull      = "key:null"
	CodeSequenceNull = "sequence:null"
	CodeAmbiguous    = "cast:ambiguous"
	CodeOutOfRange   = "cast:out_of_range"
	CodeScale        = "cast:scale"
	CodeEncoding     = "structure:encoding"
	CodeRagged       = "structure:ragged"
	CodeQuote        = "structure:quote"
	CodeTooLong      = "structure:too_long"
	CodeJSON         = "structure:json"
	CodeTwice        = "structure:duplicate_column"
)

// Reason says why a row is rejected.
type Reason struct {
	Code string `json:"code"`
	// Column of the Silver table; empty for the record as a whole.
	Column string `json:"column,omitempty"`
	// Value as it was read, before cleaning, shortened.
	Value string `json:"value,omitempty"`
	// Detail says what was tried.
	Detail string `json:"detail,omitempty"`
}

// String gives the reason on one line.
func (r Reason) String() string {
	s := r.Code
	if r.Column != "" {
		s += " " + r.Column
	}
	if r.Value != "" {
		s += fmt.Sprintf(" %q", r.Value)
	}
	if r.Detail != "" {
		s += ": " + r.Detail
	}
	return s
}

// shortest bounds the value in a reason: the raw record has all of it.
func shorten(s string) string {
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "…"
	}
	return s
}
