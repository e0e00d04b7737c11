package evidence

import (
	"fmt"
	"slices"
	"strings"
)

// Kinds of findings of Verify.
const (
	FindingEdited    = "edited"    // a row does not match its own hash
	FindingMissing   = "missing"   // a row's predecessor is not there
	FindingForked    = "forked"    // several rows have one predecessor
	FindingDuplicate = "duplicate" // a row stands there more than once
	FindingGenesis   = "genesis"   // the rows from before the chain are not those it began with
	FindingAnchor    = "anchor"    // the anchor is not in the chain
)

// Finding is one thing that is wrong with a chain.
type Finding struct {
	Kind    string `json:"kind"`
	RunID   string `json:"run_id,omitempty"`
	RowHash string `json:"row_hash,omitempty"`
	Detail  string `json:"detail"`
}

// String says it to people: "edited: run r-1, row 5f0c…: why".
func (f Finding) String() string {
	var where []string
	if f.RunID != "" {
		where = append(where, "run "+f.RunID)
	}
	if f.RowHash != "" {
		where = append(where, "row "+f.RowHash)
	}
	if len(where) == 0 {
		return f.Kind + ": " + f.Detail
	}
	return f.Kind + ": " + strings.Join(where, ", ") + ": " + f.Detail
}

// ChainReport says what a chain holds and whether it is whole.
type ChainReport struct {
	Sealed   int       `json:"sealed"` // rows in the chain
	Legacy   int       `json:"legacy"` // rows from before it
	Head     string    `json:"head"`   // hash of the last row, or the genesis: keep it as an anchor
	Anchored bool      `json:"anchored"`
	Findings []Finding `json:"findings,omitempty"`
}

// OK reports that nothing is wrong. Without an anchor, rows cut off the end go
// unseen.
func (r ChainReport) OK() bool { return len(r.Findings) == 0 }

// Verify checks the rows of one audit table, given in any order. anchor is a
// head that was kept elsewhere: it must still be in the chain, at or before its
// head; empty leaves that out.
func Verify(rows []AuditRow, anchor string) ChainReport {
	v := &verifier{byHash: map[string]AuditRow{}, byPrev: map[string][]AuditRow{}}
	v.genesis = Genesis(rows)
	for _, r := range rows {
		if !r.sealed() {
			v.report.Legacy++
			continue
		}
		v.row(r)
	}
	v.links()
	v.report.Head = Tip(rows)
	v.anchor(anchor)
	return v.report
}

type verifier struct {
	report  ChainReport
	genesis string
	byHash  map[string]AuditRow
	byPrev  map[string][]AuditRow
	order   []AuditRow // distinct sealed rows, as they came
}

func (v *verifier) add(kind string, r AuditRow, format string, args ...any) {
	v.report.Findings = append(v.report.Findings, Finding{
		Kind: kind, RunID: r.RunID, RowHash: r.RowHash, Detail: fmt.Sprintf(format, args...),
	})
}

// row checks one sealed row by itself and files it under its hashes.
func (v *verifier) row(r AuditRow) {
	v.report.Sealed++
	if want := r.Hash(); r.RowHash != want {
		v.add(FindingEdited, r, "the row's content has hash %s, its row_hash says %q", want, r.RowHash)
	}
	if _, twice := v.byHash[r.RowHash]; twice {
		v.add(FindingDuplicate, r, "the row stands there more than once")
		return
	}
	v.byHash[r.RowHash] = r
	v.byPrev[r.PrevHash] = append(v.byPrev[r.PrevHash], r)
	v.order = append(v.order, r)
}

// links checks that every row follows one that is there, and none follows where
// another does.
func (v *verifier) links() {
	for _, r := range v.order {
		_, known := v.byHash[r.PrevHash]
		switch {
		case r.PrevHash == v.genesis || known:
		case strings.HasPrefix(r.PrevHash, genesisPrefix):
			v.add(FindingGenesis, r, "the chain began with %s rows from before it; now they are %s", legacyOf(r.PrevHash), legacyOf(v.genesis))
		default:
			v.add(FindingMissing, r, "the row before it, %q, is not there", r.PrevHash)
		}
		if others := v.byPrev[r.PrevHash]; len(others) > 1 && others[0].RowHash == r.RowHash {
			v.add(FindingForked, r, "%d rows follow %q", len(others), r.PrevHash)
		}
	}
	if len(v.order) > 0 && !slices.ContainsFunc(v.order, func(r AuditRow) bool { return strings.HasPrefix(r.PrevHash, genesisPrefix) }) {
		v.add(FindingMissing, AuditRow{}, "no row begins the chain")
	}
}

// legacyOf says which rows a genesis stands for: their number and the beginning
// of their digest.
func legacyOf(genesis string) string {
	count, digest, _ := strings.Cut(strings.TrimPrefix(genesis, genesisPrefix), ":")
	return fmt.Sprintf("%s (%.8s…)", count, digest)
}

func (v *verifier) anchor(anchor string) {
	if anchor == "" {
		return
	}
	if v.reachable(anchor) {
		v.report.Anchored = true
		return
	}
	v.add(FindingAnchor, AuditRow{}, "the anchor %q is not in the chain: rows were cut off its end, or it was written anew", anchor)
}

// reachable reports whether the hash stands in the chain that grows from its
// genesis, the right one or (reported by itself) another.
func (v *verifier) reachable(hash string) bool {
	seen := map[string]bool{}
	next := []string{v.genesis}
	for _, r := range v.order {
		if strings.HasPrefix(r.PrevHash, genesisPrefix) {
			next = append(next, r.PrevHash)
		}
	}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		if at == hash {
			return true
		}
		if seen[at] {
			continue
		}
		seen[at] = true
		for _, r := range v.byPrev[at] {
			next = append(next, r.RowHash)
		}
	}
	return false
}
