package purge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// CriteriaError says that criteria do not fit a table, or are none.
type CriteriaError struct {
	Table string
	Part  string // match, hold, undated, marker column; match, hold or plain keys
	Err   error
}

func (e *CriteriaError) Error() string { return fmt.Sprintf("%s: %s: %v", e.Table, e.Part, e.Err) }

func (e *CriteriaError) Unwrap() error { return e.Err }

// frozen is the part of the criteria that must not change during a run; holds
// are read anew at each step and are not part of it.
type frozen struct {
	Match     string `json:"match,omitempty"`
	MatchKeys string `json:"match_keys,omitempty"`
	Undated   string `json:"undated,omitempty"`
	Now       string `json:"now"`
	Zone      string `json:"zone"`
	Column    string `json:"column,omitempty"`
}

// digest identifies the frozen part of a run's criteria.
func (r Run) digest() string {
	f := frozen{Now: r.Criteria.Context.Now.UTC().Format("2006-01-02T15:04:05.999999999Z"), Zone: "UTC", Column: r.Column}
	if z := r.Criteria.Context.Zone; z != nil {
		f.Zone = z.String()
	}
	if r.Criteria.Match != nil {
		f.Match = r.Criteria.Match.String()
	}
	if r.Criteria.Undated != nil {
		f.Undated = r.Criteria.Undated.String()
	}
	if r.Criteria.MatchKeys != nil {
		f.MatchKeys = r.Criteria.MatchKeys.Digest()
	}
	b, err := json.Marshal(f)
	if err != nil { // strings only
		panic(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// plainID keeps run ids fit for file names, application ids and SQL literals.
var plainID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)

func (r Run) check() error {
	switch {
	case !plainID.MatchString(r.ID):
		return fmt.Errorf("purge: Run.ID is %q: give the run's UUID", r.ID)
	case r.Journal == nil:
		return errors.New("purge: Run.Journal is nil: give the run folder")
	}
	return nil
}

// judge applies criteria to the files of one snapshot. It is safe for concurrent
// use.
type judge struct {
	snap      *deltaio.Snapshot
	match     *predicate
	hold      *predicate
	undated   *predicate
	matchKeys *memberTest
	holdKeys  *memberTest
	marker    string // as the schema spells it; "" when there is no such column
	parts     *partitions
}

type memberTest struct {
	set     *KeySet
	columns []string
}

// predicate is a bound expression, and whether partition values alone decide it.
type predicate struct {
	*expr.Bound
	byPartition bool
}

// newJudge binds the run's criteria. needMatch is false for steps that look at
// flags alone.
func newJudge(snap *deltaio.Snapshot, r Run, needMatch bool) (*judge, error) {
	j := &judge{snap: snap, parts: newPartitions(snap)}
	fail := func(part string, err error) (*judge, error) {
		return nil, &CriteriaError{Table: snap.Table().URL(), Part: part, Err: err}
	}
	if needMatch && r.Criteria.Match == nil && r.Criteria.MatchKeys == nil {
		return fail("match", errors.New("neither an expression nor keys: nothing would say which rows are due"))
	}
	var err error
	if j.marker, err = markerIn(snap, r.Column); err != nil {
		return fail("marker column", err)
	}
	if !needMatch {
		return j, nil
	}
	if j.match, err = j.bind(r.Criteria.Match, r); err != nil {
		return fail("match", err)
	}
	if j.hold, err = j.bind(r.Criteria.Hold, r); err != nil {
		return fail("hold", err)
	}
	if j.undated, err = j.bind(r.Criteria.Undated, r); err != nil {
		return fail("undated", err)
	}
	if j.matchKeys, err = j.bindKeys(r.Criteria.MatchKeys); err != nil {
		return fail("match keys", err)
	}
	if j.holdKeys, err = j.bindKeys(r.Criteria.HoldKeys); err != nil {
		return fail("hold keys", err)
	}
	return j, nil
}

func (j *judge) bind(x *expr.Expr, r Run) (*predicate, error) {
	if x == nil {
		return nil, nil
	}
	b, err := x.Bind(j.snap.Schema(), r.Criteria.Context)
	if err != nil {
		return nil, err
	}
	if b.Type() != schema.Boolean {
		return nil, fmt.Errorf("%s is %s, not a condition", x, b.Type())
	}
	if j.marker != "" && slices.Contains(b.Columns(), j.marker) {
		return nil, fmt.Errorf("%s reads the marker column %s: flags would decide about flags", x, j.marker)
	}
	p := &predicate{Bound: b, byPartition: true}
	for _, c := range b.Columns() {
		p.byPartition = p.byPartition && slices.Contains(j.snap.PartitionBy(), c)
	}
	return p, nil
}

func (j *judge) bindKeys(k *KeySet) (*memberTest, error) {
	if k == nil {
		return nil, nil
	}
	cols, err := k.bind(j.snap.Schema())
	if err != nil {
		return nil, err
	}
	return &memberTest{set: k, columns: cols}, nil
}

// markerIn finds the marker column as the schema spells it: "" when the table
// has none yet.
func markerIn(snap *deltaio.Snapshot, column string) (string, error) {
	if column == "" {
		return "", nil
	}
	f, ok := snap.Schema().Field(column)
	if !ok {
		return "", nil
	}
	switch {
	case f.Type != schema.Boolean:
		return "", fmt.Errorf("column %s is %s; a marker is boolean: choose another name", f.Name, f.Type)
	case !f.Nullable:
		return "", fmt.Errorf("column %s is NOT NULL: a marker must be nullable", f.Name)
	case slices.Contains(snap.PartitionBy(), f.Name):
		return "", fmt.Errorf("column %s partitions the table: flagging would move rows; choose another name", f.Name)
	}
	if _, generated := f.Metadata[schema.KeyGeneration]; generated {
		return "", fmt.Errorf("column %s is generated: choose another name", f.Name)
	}
	return f.Name, nil
}
