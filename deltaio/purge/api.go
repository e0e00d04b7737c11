package purge

import (
	"context"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/rowhash"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// Run is what all steps of one purge share. The caller builds it anew for each
// step from the same policy: criteria and clock are frozen, holds are read again.
type Run struct {
	// ID is the run's UUID.
	ID string
	// Journal is the run folder.
	Journal deltaio.Journal
	// Column is the marker column; "" plans without flagging (mode none).
	Column string
	// Criteria decide which rows are due.
	Criteria Criteria
}

// Criteria decide about rows. due = Match TRUE (where given) and key in MatchKeys
// (where given); at least one must be given. held = due and (Hold TRUE or key in
// HoldKeys). undated = Undated TRUE: counted, never due.
type Criteria struct {
	Match     *expr.Expr
	MatchKeys *KeySet
	Hold      *expr.Expr
	HoldKeys  *KeySet
	Undated   *expr.Expr
	// Context freezes the clock and the zone of all expressions.
	Context expr.Context
}

// Outcome is how a step ended. All of them are values, not errors.
type Outcome string

// Outcomes.
const (
	// Done: this call committed.
	Done Outcome = "done"
	// AlreadyDone: an earlier call committed; the result is that call's.
	AlreadyDone Outcome = "already_done"
	// Fenced: the step was undone meanwhile; nothing was written.
	Fenced Outcome = "fenced"
	// Nothing: there was nothing to do.
	Nothing Outcome = "nothing_to_do"
	// Changed: the rows to delete are not the rows that were archived. Archive
	// anew; if there are more than approved, ask again.
	Changed Outcome = "changed"
	// KeysHitUnflagged: deleting by key would hit rows that were never flagged,
	// hence never archived.
	KeysHitUnflagged Outcome = "keys_hit_unflagged"
	// NothingLeft: others cleared every flag of the run, or removed its rows, before
	// the delete; nothing was written.
	NothingLeft Outcome = "nothing_left"
	// ArchiveAppendOnly: the archive would have to drop rows of an earlier
	// attempt, and its table forbids that.
	ArchiveAppendOnly Outcome = "archive_append_only"
	// DeletedBefore: the run's delete is committed; nothing is undone after it.
	DeletedBefore Outcome = "deleted_before"
	// KeysExist: rows to restore collide with rows of the table.
	KeysExist Outcome = "keys_exist"
)

// PlanOptions describe a plan.
type PlanOptions struct {
	Run
	// Version to plan on. Nil: the newest.
	Version *int64
	// ClosedRuns are runs known to be over: flags they left behind are named in
	// FlagsError.Closed so that the caller can unmark them and plan again.
	ClosedRuns []string
	// RecentCommits is how many commits are searched for other writers. 0: 100.
	RecentCommits int
}

// PlanResult is a plan in numbers. All counts are exact.
type PlanResult struct {
	RunID   string    `json:"run_id"`
	TableID string    `json:"table_id"`
	Version int64     `json:"version"`
	Time    time.Time `json:"time"` // of the version
	// Record is the plan in the run folder, with a reason for each file touched.
	Record string `json:"record"`
	Digest string `json:"digest"` // SHA-256 of the record

	Rows        int64 `json:"rows"`
	RowsDue     int64 `json:"rows_due"`     // to be purged: held ones are not among them
	RowsHeld    int64 `json:"rows_held"`    // meet the criteria but are held
	RowsUndated int64 `json:"rows_undated"` // never due
	// RowsHidden meet the criteria and were deleted earlier, but their values
	// still lie in live files, behind deletion vectors.
	RowsHidden int64 `json:"rows_hidden"`

	Files         int   `json:"files"`
	FilesWhole    int   `json:"files_whole"` // every row is due
	FilesSplit    int   `json:"files_split"` // to be rewritten
	Bytes         int64 `json:"bytes"`
	BytesWhole    int64 `json:"bytes_whole"`
	BytesSplit    int64 `json:"bytes_split"`
	Partitions    int   `json:"partitions"`
	PartitionsDue int   `json:"partitions_due"`

	ColumnMissing bool     `json:"column_missing"` // marking adds the marker column
	ChangeFeed    bool     `json:"change_feed"`    // marking writes change data
	Writers       []Writer `json:"writers,omitempty"`
}

// Writer is another program seen in the table's recent commits.
type Writer struct {
	Engine   string    `json:"engine"`
	Commits  int       `json:"commits"`
	Last     time.Time `json:"last"`
	Streams  []string  `json:"streams,omitempty"` // application ids of streaming writers
	Versions []int64   `json:"versions,omitempty"`
}

// MarkOptions describe marking.
type MarkOptions struct {
	Run
	Plan string // PlanResult.Record
}

// MarkResult is a mark in numbers.
type MarkResult struct {
	Outcome       Outcome     `json:"outcome"`
	Version       int64       `json:"version"`        // of the mark commit
	VersionBefore int64       `json:"version_before"` // the version just before the mark commit
	ColumnAdded   bool        `json:"column_added"`
	Record        string      `json:"record"` // lists every file
	RowsMarked    int64       `json:"rows_marked"`
	Sum           rowhash.Sum `json:"sum"` // of the marked rows, marker column excluded
	FilesReplaced int         `json:"files_replaced"`
	FilesMarked   int         `json:"files_marked"`
	FilesKept     int         `json:"files_kept"`
	BytesMarked   int64       `json:"bytes_marked"`
	BytesWritten  int64       `json:"bytes_written"`
	Replanned     bool        `json:"replanned"` // others had replaced planned files
}

// UnmarkOptions describe the way back from marking.
type UnmarkOptions struct{ Run }

// UnmarkResult is how the mark was undone.
type UnmarkResult struct {
	Outcome Outcome `json:"outcome"`
	Version int64   `json:"version"`
	Record  string  `json:"record,omitempty"`
	// FilesRestored are previous files put back, FilesRewritten files rewritten
	// with the flag cleared.
	FilesRestored  int   `json:"files_restored"`
	FilesRewritten int   `json:"files_rewritten"`
	RowsCleared    int64 `json:"rows_cleared"`
	StagedDeleted  int   `json:"staged_deleted"`
}

// ArchiveCheck is what CheckArchive found.
type ArchiveCheck struct {
	Exists     bool     `json:"exists"`
	AppendOnly bool     `json:"append_only"`
	Adds       []string `json:"adds,omitempty"` // columns that archiving would add
}

// ArchiveOptions describe archiving.
type ArchiveOptions struct {
	Run
	Plan string // PlanResult.Record; used in mode none
	// Attempt counts from 1. A later attempt replaces the earlier one's rows.
	Attempt    int
	ArchivedAt time.Time
}

// ArchiveResult is an archived set of rows in numbers.
type ArchiveResult struct {
	Outcome       Outcome     `json:"outcome"`
	Attempt       int         `json:"attempt"`
	Version       int64       `json:"version"`        // of the archive
	SourceVersion int64       `json:"source_version"` // the rows are those of this version
	Record        string      `json:"record"`
	Rows          int64       `json:"rows"`
	Sum           rowhash.Sum `json:"sum"` // over the source's columns without the marker
	Files         int         `json:"files"`
	Bytes         int64       `json:"bytes"`
	FilesReplaced int         `json:"files_replaced"` // of earlier attempts
	RowsHeld      int64       `json:"rows_held"`      // flagged, but held by now
}

// VerifyArchiveOptions describe the verification of an archive.
type VerifyArchiveOptions struct {
	Run
	Archive string // ArchiveResult.Record
}

// VerifyResult is what lies in storage, compared with what should.
type VerifyResult struct {
	Agrees   bool        `json:"agrees"`
	Version  int64       `json:"version"` // of the archive, as read
	Rows     int64       `json:"rows"`
	Sum      rowhash.Sum `json:"sum"`
	Expected rowhash.Sum `json:"expected"`
	Files    int         `json:"files"`
	Reasons  []string    `json:"reasons,omitempty"` // why not
}

// RemoveArchivedOptions describe the way back from archiving.
type RemoveArchivedOptions struct {
	Run
	// Attempt is the highest attempt that may have started. 0: 1.
	Attempt int
}

// RemoveArchivedResult is how the archived rows were taken back.
type RemoveArchivedResult struct {
	Outcome       Outcome `json:"outcome"` // archive_append_only: fenced, rows stay
	Version       int64   `json:"version"`
	RowsRemoved   int64   `json:"rows_removed"`
	RowsLeft      int64   `json:"rows_left"` // in an append-only archive
	FilesRemoved  int     `json:"files_removed"`
	StagedDeleted int     `json:"staged_deleted"`
}

// DeleteOptions describe the delete.
type DeleteOptions struct {
	Run
	Plan string // PlanResult.Record; used in mode none
	// Archive is the verified ArchiveResult.Record. "" needs NoArchive.
	Archive string
	// ArchiveStore is where the archive lies: right before the commit it is looked
	// at once more. Needed with Archive.
	ArchiveStore storage.Store
	// NoArchive deletes rows of which no copy is kept; MaxRows bounds it.
	NoArchive bool
	// MaxRows is how many rows were approved: more of them end as Changed. Nil:
	// no bound (never with NoArchive).
	MaxRows *int64
	// MatchKeys are the key columns of the MERGE-on-key form. Empty: by flag.
	MatchKeys []string
	// Guard is asked right before each try to commit, after each race that was lost
	// to another writer too: an error stops the delete
	// before anything is written. It is for what the decision rests on and the
	// table's log does not hold, such as a table of holds. Nil: nothing.
	Guard func(context.Context) error
}

// DeleteResult is the delete in numbers.
type DeleteResult struct {
	Outcome      Outcome `json:"outcome"`
	Version      int64   `json:"version"`
	ReadVersion  int64   `json:"read_version"` // the version the decision rests on
	Record       string  `json:"record,omitempty"`
	RowsDeleted  int64   `json:"rows_deleted"`
	RowsReleased int64   `json:"rows_released"` // flagged rows that stay, flag cleared
	RowsHeld     int64   `json:"rows_held"`     // of these, held
	FilesRemoved int     `json:"files_removed"`
	FilesAdded   int     `json:"files_added"`
	BytesRemoved int64   `json:"bytes_removed"`
	BytesAdded   int64   `json:"bytes_added"`
	RowsFound    int64   `json:"rows_found"` // rows that would go now (also when Changed)
	// MoreThanMax: Changed because RowsFound is beyond MaxRows. Ask again.
	MoreThanMax bool        `json:"more_than_max,omitempty"`
	Sum         rowhash.Sum `json:"sum"`      // of these
	Expected    rowhash.Sum `json:"expected"` // of the archive
	// ArchiveDiffers says, when Changed, why the archive no longer holds what was
	// archived.
	ArchiveDiffers []string `json:"archive_differs,omitempty"`
	// Examples is a record with up to 100 rows hit by key but not flagged;
	// RowsUnflagged counts all of them.
	Examples      string `json:"examples,omitempty"`
	RowsUnflagged int64  `json:"rows_unflagged,omitempty"`
}

// VerifyPurgeOptions describe the check after the delete.
type VerifyPurgeOptions struct{ Run }

// VerifyPurgeResult is the state after the delete. Counts that could not be
// found out are nil.
type VerifyPurgeResult struct {
	Agrees          bool     `json:"agrees"`
	Version         int64    `json:"version"`
	RowsFlagged     *int64   `json:"rows_flagged"`      // flagged rows left: must be 0
	RowsDeleted     *int64   `json:"rows_deleted"`      // by the delete commit's own actions
	RowsBefore      *int64   `json:"rows_before"`       // of the version before the delete
	RowsAfter       *int64   `json:"rows_after"`        // of the delete's version
	BeforeReadable  bool     `json:"before_readable"`   // the version before the mark still has its files
	VersionBefore   *int64   `json:"version_before"`    // that version
	Reasons         []string `json:"reasons,omitempty"` // why not
	Notes           []string `json:"notes,omitempty"`   // what others did that is no failure of the run
	BytesBefore     *int64   `json:"bytes_before"`      // live bytes before the run
	BytesAfterPurge *int64   `json:"bytes_after"`       // live bytes at the delete's version
}

// RestoreOptions describe putting archived rows back.
type RestoreOptions struct {
	// Run is the restoring run: its own ID and folder. Column is the marker
	// column, cleared in restored rows; criteria are not used.
	Run
	// PurgeRunID is the run whose archived rows come back.
	PurgeRunID string
	// PurgeJournal is that run's folder: it says what was archived.
	PurgeJournal deltaio.Journal
	// Where narrows the rows. Nil: all of the run.
	Where   *expr.Expr
	Context expr.Context
	// Keys are the table's key columns: a key that exists refuses the restore.
	// Empty: rows are compared as a whole.
	Keys   []string
	DryRun bool
}

// RestoreResult is what came back.
type RestoreResult struct {
	Outcome  Outcome     `json:"outcome"` // nothing_to_do for a dry run or no rows
	Version  int64       `json:"version"`
	Rows     int64       `json:"rows"`
	Sum      rowhash.Sum `json:"sum"`
	Files    int         `json:"files"`
	Bytes    int64       `json:"bytes"`
	Record   string      `json:"record,omitempty"`
	Existing int64       `json:"existing"`           // rows whose key the table holds
	Examples string      `json:"examples,omitempty"` // record with up to 100 of them
}

// Leftover is a run of lakewarden that a table's log shows without an end.
type Leftover struct {
	RunID string           `json:"run_id"`
	Steps map[string]int64 `json:"steps"` // txn versions by step
	// Marked: its flags lie in the table.
	Marked bool `json:"marked"`
	// Deleted: its delete is committed, and nothing of it is undone.
	Deleted bool `json:"deleted"`
	// MarkVersion is the version of the mark commit, nil when the log no longer
	// holds it.
	MarkVersion *int64 `json:"mark_version"`
}
