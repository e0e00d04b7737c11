package activities

// MergeDeleteInput deletes what was archived, and only that. With archive
// "none" Verified is nil.
type MergeDeleteInput struct {
	Run          Run                  `json:"run"`
	Attempt      int                  `json:"attempt"`
	Verified     *VerifyArchiveResult `json:"verified,omitempty"`
	RowsApproved *int64               `json:"rows_approved,omitempty"` // nil: no approval was asked
}

// Outcomes of MergeDelete.
const (
	Deleted          = "deleted"
	RowsChanged      = "rows_changed"       // archive anew: the table's flagged rows differ from the archive
	KeysHitUnflagged = "keys_hit_unflagged" // match: keys would delete rows that were never archived
	MoreThanApproved = "more_than_approved" // ask again
)

// MergeDeleteResult: counts come from the commit's own actions.
type MergeDeleteResult struct {
	Outcome        string `json:"outcome"`
	RowsDeleted    *int64 `json:"rows_deleted"`
	RowsReleased   *int64 `json:"rows_released"` // flagged once, kept: held, changed or no longer due
	RowsHeld       *int64 `json:"rows_held"`
	RowsDue        int64  `json:"rows_due"` // that a delete would remove now
	FilesRemoved   int    `json:"files_removed"`
	FilesRewritten int    `json:"files_rewritten"`
	BytesRemoved   int64  `json:"bytes_removed"`
	BytesAdded     int64  `json:"bytes_added"`
	Version        int64  `json:"version"`
	Record         string `json:"record"`
	Detail         string `json:"detail,omitempty"`
}

// VerifyPurgeInput checks the table after the delete.
type VerifyPurgeInput struct {
	Run     Run                `json:"run"`
	Mark    MarkRowsResult     `json:"mark"`
	Archive *ArchiveRowsResult `json:"archive,omitempty"`
	Delete  MergeDeleteResult  `json:"delete"`
}

// Check is one line of a verification.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// VerifyPurgeResult lists the checks; the activity fails unless all are OK.
type VerifyPurgeResult struct {
	Checks []Check `json:"checks"`
}
