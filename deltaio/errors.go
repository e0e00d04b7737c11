package deltaio

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/internal/dv"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// ConflictKind is why a commit that won meanwhile excludes ours.
type ConflictKind string

// Kinds of conflict, by Spark's names without "Exception".
const (
	ProtocolChanged      ConflictKind = "ProtocolChanged"
	MetadataChanged      ConflictKind = "MetadataChanged"
	ConcurrentAppend     ConflictKind = "ConcurrentAppend"
	ConcurrentDeleteRead ConflictKind = "ConcurrentDeleteRead"
	ConcurrentDelete     ConflictKind = "ConcurrentDeleteDelete"
	ConcurrentTxn        ConflictKind = "ConcurrentTransaction"
	ConcurrentDomain     ConflictKind = "ConcurrentDomainMetadata"
	// ConcurrentFile: a file of the very name that we add was added.
	ConcurrentFile ConflictKind = "ConcurrentFile"
)

// ConflictError says which commit excludes ours. Nothing was written: plan again
// on a newer snapshot.
type ConflictError struct {
	Table     string
	Version   int64 // the winning commit
	Operation string
	Kind      ConflictKind
	Reason    string
	Path      string // of the file in conflict, if one is
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s: conflict with version %d (%s, %s): %s; plan again on the newest version",
		e.Table, e.Version, e.Operation, e.Kind, e.Reason)
}

func isConflict(err error) bool {
	var c *ConflictError
	return errors.As(err, &c)
}

// UncertainError: the store did not say whether the commit was written, and the
// log could not tell. A retry with the same Step finds out.
type UncertainError struct {
	Table   string
	Version int64
	Err     error
}

func (e *UncertainError) Error() string {
	return fmt.Sprintf("%s: version %d: unknown whether the commit was written: %v; retry the same step", e.Table, e.Version, e.Err)
}

// Unwrap gives the store's error.
func (e *UncertainError) Unwrap() error { return e.Err }

// InvalidActionsError refuses a set of actions before anything is written.
type InvalidActionsError struct{ Reason string }

func (e *InvalidActionsError) Error() string {
	return "these actions would damage the table: " + e.Reason
}

// ConstraintError: a row breaks a rule of the table. Nothing was committed.
type ConstraintError struct {
	Table      string
	Constraint string // such as "NOT NULL id" or "CHECK age_ok"
	Expression string // "" where there is none
	Row        string // an offending row, shortened
	Rows       int    // how many of the batch offend
}

func (e *ConstraintError) Error() string {
	s := fmt.Sprintf("%s: %d rows break %s", e.Table, e.Rows, e.Constraint)
	if e.Expression != "" {
		s += " (" + e.Expression + ")"
	}
	if e.Row != "" {
		s += ", such as " + e.Row
	}
	return s
}

// LostFileError: a file that the newest version needs is not in storage. Reading
// again does not help; somebody has to bring it back or drop it from the table.
type LostFileError struct {
	Table string
	File  string
	Err   error
}

func (e *LostFileError) Error() string {
	return fmt.Sprintf("%s: file %s is live in the newest version and not in storage: %v; bring it back, or restore the table to a version that is whole", e.Table, e.File, e.Err)
}

// Unwrap gives the store's error.
func (e *LostFileError) Unwrap() error { return e.Err }

// IsDamaged says whether an error tells of damage in the table's own objects, the
// log, a deletion vector or a data file, or of a path that leads out of the
// table. Trying again meets the same: somebody has to bring the object back, or
// restore the table to a version that is whole.
func IsDamaged(err error) bool {
	var damagedLog *log.CorruptError
	var outside *log.AbsolutePathError
	return errors.As(err, &damagedLog) || errors.As(err, &outside) || errors.Is(err, dv.ErrCorrupt) || errors.Is(err, scan.ErrCorrupt)
}

// IsUnsupported says whether an error tells of a part of Delta or Parquet that
// is not handled.
func IsUnsupported(err error) bool {
	var u *UnsupportedError
	return errors.As(err, &u) || errors.Is(err, scan.ErrUnsupported) || errors.Is(err, schema.ErrUnknownType)
}

func isNotExist(err error) bool { return errors.Is(err, storage.ErrNotExist) }

// unknownColumn names what there is instead.
func unknownColumn(s *schema.Struct, name string) error {
	names := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		names[i] = f.Name
	}
	return fmt.Errorf("column %q is not in the schema: it has %s", name, strings.Join(names, ", "))
}
