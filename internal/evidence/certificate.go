package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// KindCertificate is the kind of an erasure certificate's JSON.
const KindCertificate = "ErasureCertificate"

// Certificate says what is proved about the physical erasure of one run's rows,
// what is not, and where copies may still be. Its status follows from its proof:
// Issue computes it.
type Certificate struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Status     string `json:"status"` // erased or erasure_incomplete

	RunID      string `json:"run_id"`
	Table      string `json:"table"`
	TableID    string `json:"table_id"` // Delta's metaData.id
	TableURL   string `json:"table_url"`
	Policy     string `json:"policy"`
	Owner      string `json:"owner"`
	LegalBasis string `json:"legal_basis"`
	Criteria   string `json:"criteria"`
	Cutoff     string `json:"cutoff,omitempty"` // with its zone

	RowsErased    *int64 `json:"rows_erased"` // null: not known
	VersionBefore *int64 `json:"version_before"`
	VersionAfter  *int64 `json:"version_after"`

	DeletedAt  time.Time `json:"deleted_at"`  // the commit that removed the rows
	DueAt      time.Time `json:"due_at"`      // when the files were past their retention
	VerifiedAt time.Time `json:"verified_at"` // when the proof was taken
	IssuedAt   time.Time `json:"issued_at"`

	Files   FilesProof  `json:"files"`
	Copies  CopiesProof `json:"copies"`
	Log     LogProof    `json:"log"`
	Residue []Residue   `json:"residue,omitempty"` // what is still there
	Scope   Scope       `json:"scope"`

	Manifest      Ref    `json:"manifest"` // the list of the files, in the run folder
	PlanDigest    string `json:"plan_digest"`
	AuditHead     string `json:"audit_head"` // anchor of the audit chain
	WorkflowID    string `json:"workflow_id,omitempty"`
	WorkflowRunID string `json:"workflow_run_id,omitempty"`
}

// FilesProof accounts for the files that held the rows and for every object
// under the table's root.
type FilesProof struct {
	Known      *int64 `json:"known"`       // files that held the rows
	Gone       *int64 `json:"gone"`        // of these, absent by a request of their own
	Listed     *int64 `json:"listed"`      // objects in the listing of the root
	KnownSeen  *int64 `json:"known_seen"`  // files that held the rows, seen in that listing
	Canary     string `json:"canary"`      // object known to exist, which the listing must show
	CanarySeen bool   `json:"canary_seen"` // it did: the listing is not blind
	Live       *int64 `json:"live"`        // live files scanned for the rows
	RowsFound  *int64 `json:"rows_found"`  // rows found in them
	Unknown    *int64 `json:"unknown"`     // objects that the log does not know
}

// CopiesProof accounts for what the store itself keeps of deleted objects.
type CopiesProof struct {
	SoftDeleted *int64 `json:"soft_deleted"` // null: the store could not be asked
	Noncurrent  *int64 `json:"noncurrent"`   // null: the store could not be asked
	How         string `json:"how"`          // how it was found out
}

// LogProof accounts for log entries whose statistics hold values of the rows.
type LogProof struct {
	Entries   *int64     `json:"entries"`              // such entries still there
	ExpiresAt *time.Time `json:"expires_at,omitempty"` // when the last of them goes
}

// Residue is something that still holds the rows, or may.
type Residue struct {
	Path string     `json:"path"`
	What string     `json:"what"` // such as "file still in storage", "object unknown to the log"
	Due  *time.Time `json:"due,omitempty"`
}

// Scope says what a certificate speaks of.
type Scope struct {
	Covers       []string `json:"covers"`
	MayStillHold []Holder `json:"may_still_hold"`
}

// Holder is a place outside the proof that may hold copies of the rows.
type Holder struct {
	Where string `json:"where"`
	Why   string `json:"why"`
}

// TableScope is the scope of a certificate about one table. archive is the
// table that keeps purged rows, empty where none does.
func TableScope(table, archive string) Scope {
	s := Scope{Covers: []string{
		"the data files, change data files and deletion vectors under the root of " + table,
		"the entries of its transaction log, with the statistics in them",
	}}
	if archive != "" {
		s.MayStillHold = append(s.MayStillHold, Holder{archive, "the archive keeps the purged rows on purpose"})
	}
	s.MayStillHold = append(s.MayStillHold,
		Holder{"tables derived from " + table, "Silver tables, their quarantines, aggregates and materialised views were filled from it"},
		Holder{"clones of " + table, "a deep clone has its own copies of the files"},
		Holder{"replicas and backups", "the store, the platform or an administrator may copy files elsewhere"},
		Holder{"exports and caches", "query results, notebooks, extracts and engine caches are outside the table"},
	)
	return s
}

// Shortfalls lists what keeps the proof from showing that the rows are erased.
func (c Certificate) Shortfalls() []string {
	var out []string
	miss := func(wrong bool, format string, args ...any) {
		if wrong {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	f := c.Files
	miss(f.Known == nil, "it is not known which files held the rows")
	miss(f.Known != nil && !is(f.Gone, *f.Known), "%s of %s files are shown to be gone", Count(f.Gone), Count(f.Known))
	miss(!f.CanarySeen || f.Canary == "", "the listing was not shown to be complete: the object known to exist was not in it")
	miss(f.Listed == nil, "the root was not listed")
	miss(!is(f.KnownSeen, 0), "%s of the files were seen in the listing", Count(f.KnownSeen))
	miss(f.Live == nil, "the live files were not scanned for the rows")
	miss(!is(f.RowsFound, 0), "%s rows were found in live files", Count(f.RowsFound))
	miss(!is(f.Unknown, 0), "%s objects under the root are unknown to the log", Count(f.Unknown))
	miss(!is(c.Copies.SoftDeleted, 0), "%s soft-deleted copies", Count(c.Copies.SoftDeleted))
	miss(!is(c.Copies.Noncurrent, 0), "%s noncurrent versions", Count(c.Copies.Noncurrent))
	l := c.Log
	miss(l.Entries == nil, "it is not known whether log entries hold values of the rows")
	miss(l.Entries != nil && *l.Entries > 0 && l.ExpiresAt == nil, "%s log entries hold values of the rows, and nothing says when they go", Count(l.Entries))
	miss(c.VerifiedAt.Before(c.DueAt), "the proof was taken before the files were past their retention")
	for _, r := range c.Residue {
		miss(true, "%s: %s", r.Path, r.What)
	}
	return out
}

func is(n *int64, want int64) bool { return n != nil && *n == want }

// Issue completes a certificate: its status is erased where the proof has no
// shortfall, else erasure_incomplete. It refuses one that does not say what it
// speaks of.
func (c Certificate) Issue(now time.Time) (Certificate, error) {
	var missing []string
	for name, absent := range map[string]bool{
		"run_id": c.RunID == "", "table": c.Table == "", "table_id": c.TableID == "", "criteria": c.Criteria == "",
		"deleted_at": c.DeletedAt.IsZero(), "due_at": c.DueAt.IsZero(), "verified_at": c.VerifiedAt.IsZero(),
		"scope": len(c.Scope.Covers) == 0 || len(c.Scope.MayStillHold) == 0,
	} {
		if absent {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return Certificate{}, errors.New("erasure certificate: missing " + strings.Join(missing, ", "))
	}
	c.APIVersion, c.Kind, c.IssuedAt = "lakewarden/v1", KindCertificate, now.UTC()
	c.Status = StatusErasureIncomplete
	if len(c.Shortfalls()) == 0 {
		c.Status = StatusErased
	}
	return c, nil
}

// JSON is the certificate in canonical form, and its digest.
func (c Certificate) JSON() (data []byte, digest string, err error) {
	data, err = CanonicalJSON(c)
	if err != nil {
		return nil, "", fmt.Errorf("erasure certificate of run %s: %w", c.RunID, err)
	}
	return data, Digest(data), nil
}

// CheckCertificate reads a certificate and refuses one whose status claims more
// than its proof shows, or whose bytes are not those of the digest (where one is
// given).
func CheckCertificate(data []byte, digest string) (Certificate, error) {
	if got := Digest(data); digest != "" && got != digest {
		return Certificate{}, fmt.Errorf("erasure certificate has digest %s, want %s: %w", got, digest, ErrDigest)
	}
	var c Certificate
	if err := json.Unmarshal(data, &c); err != nil {
		return Certificate{}, fmt.Errorf("erasure certificate: %w", err)
	}
	if c.Kind != KindCertificate {
		return Certificate{}, fmt.Errorf("not an erasure certificate: kind is %q", c.Kind)
	}
	if short := c.Shortfalls(); c.Status == StatusErased && len(short) > 0 {
		return Certificate{}, fmt.Errorf("erasure certificate of run %s says erased, but: %s", c.RunID, strings.Join(short, "; "))
	}
	return c, nil
}
