package deltaio

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// MergeDeletes is what a source row that says "deleted" does.
type MergeDeletes string

// Values of MergeDeletes.
const (
	// SoftDeletes keep the row: DeletedColumn is a column of the table, and a
	// deleted row is one in which it is true. Deletes of keys that the table does
	// not have are inserted, so that older rows that come later stay out.
	SoftDeletes MergeDeletes = "soft"
	// HardDeletes remove the row. An older row of the key that comes later is
	// inserted again: nothing remembers the delete.
	HardDeletes MergeDeletes = "hard"
)

// MergeDuplicates is what is done about keys that the table holds more than once.
type MergeDuplicates string

// Values of MergeDuplicates.
const (
	DuplicatesFail   MergeDuplicates = "fail"   // *DuplicateKeysError, and nothing is written
	DuplicatesRepair MergeDuplicates = "repair" // the greatest row stays, the others go
)

// MergeOptions say how source rows meet those of the table.
//
// The rows of a key are in a total order: SequenceBy, column by column; then a
// deleted row is greater than one that is not; then the content decides, column
// by column (package roworder). A source row replaces the table's row where it is
// greater. Where the two are equal nothing is written, and where it is smaller it
// is stale. Without SequenceBy there is no order: the source row replaces any row
// that differs from it.
type MergeOptions struct {
	Base *Snapshot // nil: the newest version
	// Keys tell rows apart, by equality of their values: strings byte for byte,
	// of floating point all NaN are one key and 0.0 is -0.0. Null is refused in
	// the source, and matched by nothing in the table. Required.
	Keys []string
	// SequenceBy orders the rows of a key, the most significant column first;
	// null is the smallest value.
	SequenceBy []string
	// Content are the columns that decide whether, and in which direction, rows of
	// equal sequence differ. Nil: every column that the source brings, except
	// those of Keys, SequenceBy, DeletedColumn and Ignore.
	Content []string
	// Ignore are columns in which rows may differ and still be the same, such as
	// the time of loading.
	Ignore []string
	// DeletedColumn is a boolean column of the source; true says that the key is
	// deleted. "": nothing is deleted. With HardDeletes the table need not have it.
	DeletedColumn string
	Deletes       MergeDeletes // "": SoftDeletes
	// OnDuplicates is about keys of the source that the table holds more than
	// once; other keys are not looked at. "": DuplicatesFail.
	OnDuplicates MergeDuplicates

	Step *Step // optional: exactly once
	// Journal keeps the result of a Step before it is committed, for the time when
	// the log has forgotten it. Nil: the commit alone tells.
	Journal Journal
	Info    map[string]any // further members of commitInfo
	Guard   func(context.Context) error
	// SkipEmpty commits nothing where no row changes, not even the Step.
	SkipEmpty bool
	// Rebuild is how often the merge is planned anew after a conflict. 0: 10;
	// negative: never.
	Rebuild int

	// FilePrefix starts the names of new files: "part" when empty.
	FilePrefix  string
	TargetBytes int64 // of a file, as StageOptions
	// TempDir is where source rows and their matches lie while they do not fit
	// into MemoryBytes. "": the host's.
	TempDir string
	// MemoryBytes bounds the rows of the source and of the table that are held in
	// memory at once; writers of files come on top. 0: 256 MiB.
	MemoryBytes int64
}

// MergeResult counts what a merge did. Source rows add up:
// Rows = Inserted + Updated + Deleted + Unchanged + Stale.
type MergeResult struct {
	CommitResult `json:"-"`

	Rows      int64 `json:"rows"`      // of the source
	Inserted  int64 `json:"inserted"`  // keys that the table did not have, tombstones included
	Updated   int64 `json:"updated"`   // rows replaced
	Deleted   int64 `json:"deleted"`   // rows that were not deleted and are now, softly or hard
	Unchanged int64 `json:"unchanged"` // rows that are as the source says; hard deletes of keys that are not there
	Stale     int64 `json:"stale"`     // source rows that are smaller than the table's
	Moved     int64 `json:"moved"`     // of Updated and Deleted: rows that changed their partition
	// Tombstones are, of Inserted, soft deletes of keys that the table did not have.
	Tombstones int64 `json:"tombstones"`
	// DuplicateKeys are keys of the source that the table held more than once, and
	// Duplicates the rows beyond the greatest of each, which were removed.
	DuplicateKeys int64 `json:"duplicate_keys"`
	Duplicates    int64 `json:"duplicates"`

	FilesTotal     int `json:"files_total"`     // live before
	FilesRead      int `json:"files_read"`      // whose keys were read: the others cannot hold a key of the source
	FilesRewritten int `json:"files_rewritten"` // replaced by a file without the rows that changed
	FilesMarked    int `json:"files_marked"`    // given a deletion vector instead
	FilesRemoved   int `json:"files_removed"`   // in which every row changed
	FilesAdded     int `json:"files_added"`     // with rows of the source

	SpilledBytes int64 `json:"spilled_bytes"` // written to TempDir
	Attempts     int   `json:"attempts"`      // plans made, conflicts included
	// ResultLost: the step is done, and neither the log nor the journal tells any
	// more what it did; all counts are 0 then.
	ResultLost bool `json:"-"`
}

// Changed counts the rows of the table that are others than before.
func (r *MergeResult) Changed() int64 { return r.Inserted + r.Updated + r.Deleted + r.Duplicates }

// DuplicateKeysError: keys stand more than once where they must not. Nothing was
// written.
type DuplicateKeysError struct {
	Table    string
	InSource bool // else in the table
	Keys     int64
	Rows     int64    // beyond one for each key
	Examples []string // some of the keys, as column=value
}

func (e *DuplicateKeysError) Error() string {
	where, do := "the table", "ask for repair, which keeps the greatest row of each, or remove them"
	if e.InSource {
		where, do = "the source", "keep one row of each key"
	}
	return fmt.Sprintf("%s: merge: %d keys stand more than once in %s, such as %s; %s", e.Table, e.Keys, where, strings.Join(e.Examples, "; "), do)
}

// resultKey is the member of commitInfo that holds the result of a merge.
const mergeResultKey = "mergeResult"

// fromCommit reads the result that a commit carries.
func (r *MergeResult) fromCommit(res CommitResult) bool {
	for _, a := range res.Actions {
		var raw json.RawMessage
		if a.CommitInfo != nil && a.CommitInfo.Get(mergeResultKey, &raw) && json.Unmarshal(raw, r) == nil {
			return true
		}
	}
	return false
}
