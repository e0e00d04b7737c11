package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The chain. A sealed row names its predecessor by hash, so the order of rows
// lies in the rows and not in the table, which has none. The first sealed row
// names the genesis: a digest of the rows that the table already held when it
// was adopted, whose hash columns are null.
//
// What the chain shows alone: an edited, removed, duplicated or reordered row,
// and two rows with one predecessor. What it cannot show alone: that the last
// rows were cut off, or that somebody wrote the whole chain anew; for that, its
// head must have been kept elsewhere (an anchor). It holds no secret: it proves
// that nothing changed since an anchor, not who wrote a row.

// hashDomain keeps hashes of audit rows apart from any other use of SHA-256 and
// names the version of the encoding.
const hashDomain = "lakewarden audit row v1\n"

// Hash is the row's hash: 64 hexadecimal digits over the canonical JSON of every
// audit column but row_hash. Columns that a table has beside ours do not count.
// A column that came later counts where it is not null: rows from before it was
// added keep their hash, and a value that is set, changed or taken away afterwards
// shows.
func (r AuditRow) Hash() string {
	values := make(map[string]any, len(columns))
	for _, c := range columns {
		v := hashed(c.at(&r))
		if c.name != "row_hash" && (v != nil || !later[c.name]) {
			values[c.name] = v
		}
	}
	data, err := CanonicalJSON(values)
	if err != nil { // strings, integers and nulls always encode
		panic(fmt.Sprintf("evidence: audit row: %v", err))
	}
	return strings.TrimPrefix(Digest(append([]byte(hashDomain), data...)), "sha256:")
}

// hashed is the form in which a field enters the hash: what a table gives back.
func hashed(field any) any {
	switch v := field.(type) {
	case *string:
		if *v == "" {
			return nil
		}
		return strings.ToValidUTF8(*v, "\uFFFD")
	case **int64:
		if *v == nil {
			return nil
		}
		return **v
	case *time.Time:
		return hashedTime(*v)
	case **time.Time:
		if *v == nil {
			return nil
		}
		return hashedTime(**v)
	}
	panic(fmt.Sprintf("evidence: audit column of type %T", field))
}

func hashedTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Truncate(time.Microsecond).Format("2006-01-02T15:04:05.000000Z")
}

// Seal gives the row as the successor of the row, or genesis, with hash prev.
func (r AuditRow) Seal(prev string) AuditRow {
	r.PrevHash = prev
	r.RowHash = r.Hash()
	return r
}

// sealed reports whether the row claims to be part of the chain.
func (r AuditRow) sealed() bool { return r.PrevHash != "" || r.RowHash != "" }

// genesisPrefix begins the prev_hash of a chain's first row.
const genesisPrefix = "genesis:"

// Genesis is what the first sealed row of a table names as its predecessor: the
// number and the digest of the rows that were there before, in any order. Rows
// that are sealed do not count.
func Genesis(rows []AuditRow) string {
	var hashes []string
	for _, r := range rows {
		if !r.sealed() {
			hashes = append(hashes, r.Hash())
		}
	}
	slices.Sort(hashes)
	digest := Digest([]byte(hashDomain + strings.Join(hashes, "\n")))
	return fmt.Sprintf("%s%d:%s", genesisPrefix, len(hashes), strings.TrimPrefix(digest, "sha256:"))
}

// Tip is the hash that the next row of the table names as its predecessor: the
// head of the chain, or the genesis where no row is sealed yet.
//
// A broken chain does not stop recording. Where it has several ends, the newest
// row's is taken (the greatest hash among equals); Verify goes on reporting the
// break.
func Tip(rows []AuditRow) string {
	followed := map[string]bool{}
	for _, r := range rows {
		followed[r.PrevHash] = true
	}
	var ends []AuditRow
	for _, r := range rows {
		if r.RowHash != "" && !followed[r.RowHash] {
			ends = append(ends, r)
		}
	}
	if len(ends) == 0 {
		return Genesis(rows)
	}
	newest := slices.MaxFunc(ends, func(a, b AuditRow) int {
		return cmp.Or(a.ExecTime.Compare(b.ExecTime), cmp.Compare(a.RowHash, b.RowHash))
	})
	return newest.RowHash
}
