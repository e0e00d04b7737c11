package deltaio

import (
	"context"
	"errors"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

// Step makes a commit exactly once: a txn action whose version only rises. Odd
// versions mean done, even ones undone (fenced).
type Step struct {
	AppID   string
	Version int64
}

// Outcome is how a commit ended; all of them are values, not errors.
type Outcome int

const (
	Committed   Outcome = iota + 1 // this call wrote the version
	AlreadyDone                    // the table already holds the step's txn entry at this version
	Fenced                         // the step's txn entry has moved past this version: it was undone
	NothingToDo                    // build returned no actions
)

func (o Outcome) String() string {
	switch o {
	case Committed:
		return "committed"
	case AlreadyDone:
		return "already done"
	case Fenced:
		return "fenced"
	case NothingToDo:
		return "nothing to do"
	}
	return fmt.Sprintf("Outcome(%d)", int(o))
}

// FileKey identifies a logical file: decoded path and deletion vector id ("" for
// none).
type FileKey struct{ Path, DV string }

// ReadSet is what a commit's decisions rest on.
type ReadSet struct {
	// All: every file of the table was read.
	All bool
	// Files that were read, beyond those the commit removes.
	Files map[FileKey]struct{}
	// Predicate says whether a file added meanwhile should have been read. Nil:
	// none (with All: every one).
	Predicate func(*log.Add) bool
}

// CommitOptions describe a commit.
type CommitOptions struct {
	Operation  string         // Delta's name of the operation, such as DELETE
	Parameters map[string]any // commitInfo.operationParameters; values are JSON-encoded into strings
	Metrics    map[string]any // commitInfo.operationMetrics; nil: counted from the actions
	Step       *Step
	Info       map[string]any // further members of commitInfo
	Reads      ReadSet
	// BlindAppend: the commit adds files and has read nothing.
	BlindAppend bool
	// IsolationSerializable: appends that won meanwhile conflict with Reads as
	// well. The table property delta.isolationLevel=Serializable implies it.
	IsolationSerializable bool
	// Rebuild: on a conflict load the newest version and call build again, up to
	// this many times. 0: return the ConflictError.
	Rebuild int
	// Want is what the gate judges before anything is written. 0 (WantRead): WantAppend for
	// a blind append, else WantRewrite.
	Want Want
}

// CommitResult is how the commit ended.
type CommitResult struct {
	Outcome Outcome
	Version int64        // the version that holds the commit (Committed, AlreadyDone)
	Actions []log.Action // that version's actions, as written
	Time    int64        // its timestamp in ms: in-commit, or commitInfo.timestamp
	// Warning is a failed checkpoint after the commit: the commit stands.
	Warning error
}

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
)

// ConflictError says which commit excludes ours. Nothing was written: plan again
// on a newer snapshot.
type ConflictError struct {
	Table   string
	Version int64 // the winning commit
	Kind    ConflictKind
	Reason  string
	Path    string // of the file in conflict, if one is
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s: conflict with version %d (%s): %s; plan again on the newest version", e.Table, e.Version, e.Kind, e.Reason)
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

func (e *UncertainError) Unwrap() error { return e.Err }

// Build makes a commit's file, metadata and domain actions for a base version;
// commitInfo, txn, row-tracking and timestamps are added by Commit. attempt
// counts from 0. No actions: nothing to do (unless the commit has a Step).
type Build func(ctx context.Context, base *Snapshot, attempt int) ([]log.Action, error)

// Commit writes one version on top of base or of versions that do not conflict
// with it.
func (t *Table) Commit(ctx context.Context, base *Snapshot, opt CommitOptions, build Build) (CommitResult, error) {
	return CommitResult{}, errors.ErrUnsupported
}
