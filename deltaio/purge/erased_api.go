package purge

import "time"

// ProveOptions describe the proof of physical erasure.
type ProveOptions struct {
	Run
	// Archive tables and copies elsewhere are out of the proof's scope; the
	// certificate says so.

	// Canary is the key of an object that is known to exist: a listing that does
	// not show it proves nothing. "": the newest commit of the log.
	Canary string
	// Retention dates what is left. 0: the table's own.
	Retention time.Duration
	// ScanLive counts live rows that meet the criteria (rows that arrived after
	// the plan). It reads the predicate columns of files that may hold some.
	ScanLive bool
}

// ProveResult accounts for every object under the table's root.
type ProveResult struct {
	Erased  bool      `json:"erased"`
	At      time.Time `json:"at"`
	Version int64     `json:"version"`

	// Known are the files that held purged rows, by the run's records.
	Known     int `json:"known"`
	KnownGone int `json:"known_gone"` // by their own Stat and by the listing

	Live       Objects `json:"live"`
	Tombstoned Objects `json:"tombstoned"`
	Unknown    Objects `json:"unknown"` // data files that neither the log's live files nor its tombstones name
	Log        Objects `json:"log"`
	Other      Objects `json:"other"` // hidden folders and files of other programs

	// KnownSeen of the known files were seen in the listing.
	KnownSeen  int    `json:"known_seen"`
	Canary     string `json:"canary"`
	CanarySeen bool   `json:"canary_seen"`
	// Copies are soft-deleted or noncurrent copies of known files; nil when the
	// store cannot tell.
	Copies *int `json:"copies"`
	// RunRows are rows of this run found in live files: flagged ones, and due ones
	// in files that others brought back. nil: could not be found out.
	RunRows *int64 `json:"run_rows"`
	// LiveMatching are live rows that meet the criteria; nil when not counted.
	LiveMatching *int64 `json:"live_matching"`

	// LogEntries are log files that still name known files; LogStatistics of them
	// hold their statistics; the last of them expires at LogExpires (nil: none).
	LogEntries    int        `json:"log_entries"`
	LogStatistics int        `json:"log_statistics"`
	LogExpires    *time.Time `json:"log_expires"`

	// FilesDue is when the last remaining known file leaves retention; nil: none
	// remains, or its end is not known.
	FilesDue *time.Time `json:"files_due"`
	Residue  []string   `json:"residue,omitempty"` // up to 20 sentences; all of them in Record
	Record   string     `json:"record"`
}

// Objects counts objects and their bytes.
type Objects struct {
	Count int   `json:"count"`
	Bytes int64 `json:"bytes"`
}
