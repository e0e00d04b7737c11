package activities

import (
	"time"

	"github.com/lakewarden/lakewarden/spec"
)

// VacuumTableInput removes files past retention from storage.
type VacuumTableInput struct {
	Run    Run  `json:"run"`
	DryRun bool `json:"dry_run"`
}

// VacuumTableResult: only proven deletions count as deleted.
type VacuumTableResult struct {
	FilesDeleted int64         `json:"files_deleted"`
	BytesDeleted int64         `json:"bytes_deleted"`
	FilesPending int64         `json:"files_pending"` // may go, but could not be deleted
	FilesYoung   int64         `json:"files_young"`   // tombstoned, not past retention yet
	Retention    spec.Duration `json:"retention"`
	// ErasureDue is when the last file this run removed is past retention.
	ErasureDue *time.Time `json:"erasure_due"`
	Record     string     `json:"record"`
	Note       string     `json:"note,omitempty"`
}

// ProveErasedInput accounts for every object under the table's root.
type ProveErasedInput struct {
	Run Run `json:"run"`
}

// ProveErasedResult: Erased only when each known path is proven gone.
type ProveErasedResult struct {
	Erased       bool       `json:"erased"`
	PathsKnown   int64      `json:"paths_known"`
	PathsGone    int64      `json:"paths_gone"`
	PathsLeft    int64      `json:"paths_left"`
	UnknownFiles int64      `json:"unknown_files"`
	LogEntries   int64      `json:"log_entries"` // commits and checkpoints that still name the files
	LogExpires   *time.Time `json:"log_expires"`
	NextDue      *time.Time `json:"next_due"`          // when to look again, if not erased
	Residue      []string   `json:"residue,omitempty"` // at most 10 lines; the rest in Record
	Certificate  string     `json:"certificate"`       // name in the run folder
	CertDigest   string     `json:"certificate_digest"`
	Record       string     `json:"record"`
}
