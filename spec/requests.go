package spec

// PurgeLakehouse runs many policies, a few at a time. It is the input of the
// workflow of the same name.
type PurgeLakehouse struct {
	// Version of the document: lakewarden/v1.
	APIVersion string `json:"apiVersion"`
	// Kind of the document: PurgeLakehouse.
	Kind string `json:"kind"`
	// Name of the list, for people.
	Name string `json:"name"`
	// Policies to run, each for a table of its own.
	Policies []RetentionPolicy `json:"policies"`
	// How many purges run at once; one that waits for approval does not count.
	MaxParallel *int `json:"max_parallel,omitempty"`
	// Whether the remaining policies run after one failed.
	ContinueOnFailure *bool `json:"continue_on_failure,omitempty"`
	// Plan and report every policy, and change nothing.
	DryRun bool `json:"dry_run,omitempty"`
	// Who asks, for policies that do not say it themselves.
	RequestedBy string `json:"requested_by,omitempty"`
}

// RestoreRequest puts archived rows of one run back into their table. It is the
// input of RestorePurge.
type RestoreRequest struct {
	// Version of the document: lakewarden/v1.
	APIVersion string `json:"apiVersion"`
	// Kind of the document: RestoreRequest.
	Kind string `json:"kind"`
	// Run whose rows come back.
	RunID string `json:"run_id"`
	// SQL predicate over the archived rows; without it the whole run comes back.
	Where string `json:"where,omitempty"`
	// Columns that identify a row. The next purge is held off the restored rows by them, and a key that exists in the table is refused. Only dry_run goes without.
	Keys []string `json:"keys,omitempty"`
	// Last day, as yyyy-MM-dd, until which the rows are held, so that the next purge does not take them again.
	HoldUntil string `json:"hold_until"`
	// Why the rows come back, in words.
	Reason string `json:"reason"`
	// Where the run was recorded.
	Audit Audit `json:"audit,omitzero"`
	// Count and report, and change nothing.
	DryRun bool `json:"dry_run,omitempty"`
	// Who asks.
	RequestedBy string `json:"requested_by,omitempty"`
}
