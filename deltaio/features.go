package deltaio

import (
	"errors"
	"fmt"
)

// Want is a kind of access that the feature gate judges.
type Want int

// Kinds of access. Each includes the demands of Read.
const (
	WantRead       Want = iota // read rows
	WantAppend                 // add rows, columns or entries without touching live files
	WantRewrite                // remove or rewrite live files: mark, delete, restore
	WantVacuum                 // delete files that the log no longer refers to
	WantCheckpoint             // write a checkpoint
)

func (w Want) String() string {
	switch w {
	case WantRead:
		return "read"
	case WantAppend:
		return "append"
	case WantRewrite:
		return "rewrite"
	case WantVacuum:
		return "vacuum"
	case WantCheckpoint:
		return "checkpoint"
	}
	return fmt.Sprintf("Want(%d)", int(w))
}

// UnsupportedError refuses an access because of a feature of the table.
type UnsupportedError struct {
	Table   string
	Feature string // the protocol's name of the feature
	Want    Want
	Why     string
	Do      string // what the operator can do
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: %s refused: table feature %s: %s; %s", e.Table, e.Want, e.Feature, e.Why, e.Do)
}

// Check says whether the access is supported: nil or an *UnsupportedError.
func (s *Snapshot) Check(w Want) error { return errors.ErrUnsupported }
