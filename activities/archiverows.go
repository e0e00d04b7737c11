package activities

import "time"

// ArchiveRowsInput copies the flagged rows to the archive. Attempt counts from
// 1; a later attempt replaces the files of the one before in one commit.
type ArchiveRowsInput struct {
	Run        Run       `json:"run"`
	Attempt    int       `json:"attempt"`
	ArchivedAt time.Time `json:"archived_at"`
}

// ArchiveRowsResult says what the archive holds of this run.
type ArchiveRowsResult struct {
	Attempt        int    `json:"attempt"`
	ArchiveTable   string `json:"archive_table"`
	Rows           int64  `json:"rows"`
	RowsHeld       int64  `json:"rows_held"` // flagged, but held since
	Files          int    `json:"files"`
	Bytes          int64  `json:"bytes"`
	ArchiveVersion int64  `json:"archive_version"`
	SourceVersion  int64  `json:"source_version"`
	Content        string `json:"content"` // multiset hash over source columns
	Record         string `json:"record"`
	// AppendOnly: the archive forbids replacing; rows changed since the first
	// attempt, so that this run cannot go on.
	AppendOnly bool `json:"append_only,omitempty"`
}

// VerifyArchiveInput re-reads the archive from storage.
type VerifyArchiveInput struct {
	Run     Run               `json:"run"`
	Archive ArchiveRowsResult `json:"archive"`
}

// VerifyArchiveResult is the proof that MergeDelete asks for.
type VerifyArchiveResult struct {
	Rows    int64  `json:"rows"`
	Content string `json:"content"`
	Files   int    `json:"files"`
}

// RemoveArchivedResult says what became of this run's archive files.
type RemoveArchivedResult struct {
	Files int    `json:"files"`
	Rows  int64  `json:"rows"`
	Kept  bool   `json:"kept"` // an append-only archive keeps them
	Note  string `json:"note,omitempty"`
}
