package purge

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
)

// verdict is what the criteria say about one file.
type verdict struct {
	rows int64 // physical rows
	live int64 // rows that no deletion vector hides
	// due are the live rows that are due and not held; nil means none, or, with
	// all, every live row.
	due *pq.Bitmap
	all bool
	// held are the live rows that would be due but are held, flagged those whose
	// marker is TRUE; nil: none, or not read.
	held, flagged *pq.Bitmap

	nDue, nHeld, nUndated, nFlagged int64
	// nHidden are due rows behind the deletion vector: deleted, not erased.
	nHidden int64
	// nPlain are live rows whose marker is FALSE.
	nPlain int64
	// empty: no row at all, in a partition whose rows would be due.
	empty  bool
	reason string
}

// needs are the parts of the criteria that a file's rows must be read for; the
// others hold for all of its rows alike.
type needs struct {
	match, hold, undated, flag         bool
	allMatch, allHold, allUndated      bool
	matchKeys, holdKeys, matchPossible bool
	statsRows                          int64
	statsRowsKnown                     bool
}

func (n needs) read() bool {
	return n.match || n.hold || n.undated || n.flag || n.matchKeys || n.holdKeys
}

// classify judges a file: by partition values and statistics where they decide,
// else by reading the columns in question.
func (j *judge) classify(ctx context.Context, add *log.Add) (*verdict, error) {
	n, err := j.needs(add)
	if err != nil {
		return nil, err
	}
	if !n.read() && n.statsRowsKnown {
		return n.decided(add), nil
	}
	f, err := j.snap.OpenFile(ctx, add)
	if err != nil {
		return nil, err
	}
	defer f.Close() // nothing was written
	return j.look(ctx, f, n)
}

// open is classify for a file that is open already.
func (j *judge) open(ctx context.Context, f *deltaio.DataFile, add *log.Add) (*verdict, error) {
	n, err := j.needs(add)
	if err != nil {
		return nil, err
	}
	return j.look(ctx, f, n)
}

func (j *judge) look(ctx context.Context, f *deltaio.DataFile, n needs) (*verdict, error) {
	if !n.read() {
		n.statsRows = f.NumRows() // the file knows better than the log
		return n.decided(f.Add()), nil
	}
	return j.read(ctx, f, n)
}

func (j *judge) needs(add *log.Add) (needs, error) {
	var n needs
	ranges := j.snap.Ranges(add)
	n.statsRows, n.statsRowsKnown = add.NumRecords()
	ask := func(p *predicate) (expr.Verdict, error) {
		switch {
		case p == nil:
			return expr.None, nil
		case p.byPartition:
			return j.parts.verdict(p, add)
		}
		return p.Prune(ranges), nil
	}
	match, err := expr.All, error(nil)
	if j.match != nil {
		if match, err = ask(j.match); err != nil {
			return n, err
		}
	}
	undated, err := ask(j.undated)
	if err != nil {
		return n, err
	}
	n.undated, n.allUndated = undated == expr.Some, undated == expr.All
	if j.match == nil && j.matchKeys == nil { // a judge of flags alone
		match = expr.None
	}
	n.matchPossible = match != expr.None && undated != expr.All && (j.matchKeys == nil || j.matchKeys.set.Len() > 0)
	if n.matchPossible {
		n.match, n.allMatch = match == expr.Some, match == expr.All
		n.matchKeys = j.matchKeys != nil
		hold, err := ask(j.hold)
		if err != nil {
			return n, err
		}
		n.hold, n.allHold = hold == expr.Some, hold == expr.All
		n.holdKeys = !n.allHold && j.holdKeys != nil && j.holdKeys.set.Len() > 0
	}
	n.flag = j.marker != "" && flagPossible(ranges, j.marker)
	return n, nil
}

// flagPossible says whether a row of the file may carry a marker value that
// matters: TRUE, or FALSE, which is preserved.
func flagPossible(ranges func(string) (expr.Range, bool), marker string) bool {
	r, ok := ranges(marker)
	return !ok || !r.HasNullCount || r.NullCount < r.NumRows
}

// decided is the verdict where no row had to be read.
func (n needs) decided(add *log.Add) *verdict {
	v := &verdict{rows: n.statsRows, live: n.statsRows, reason: "partition values and statistics"}
	if dv := add.DeletionVector; dv != nil {
		v.live -= dv.Cardinality
	}
	switch {
	case n.allUndated:
		v.nUndated = v.live
	case !n.matchPossible:
	case n.allHold:
		v.nHeld = v.live
	case n.allMatch:
		v.all, v.nDue, v.nHidden = true, v.live, v.rows-v.live
		v.empty = v.rows == 0
	}
	return v
}

// read evaluates what is open on the file's rows.
func (j *judge) read(ctx context.Context, f *deltaio.DataFile, n needs) (*verdict, error) {
	v := &verdict{rows: f.NumRows(), reason: "rows read"}
	live := f.Live()
	v.live = v.rows
	if live != nil {
		v.live = int64(live.Count())
	}
	n0 := int(v.rows)
	v.due, v.held, v.flagged = pq.NewBitmap(n0), pq.NewBitmap(n0), pq.NewBitmap(n0)
	seen := int64(0)
	for b, err := range f.Batches(ctx, j.columns(n), nil) {
		if err != nil {
			return nil, err
		}
		seen += b.Record.NumRows()
		err = j.rows(b, live, n, v)
		b.Record.Release()
		if err != nil {
			return nil, err
		}
	}
	if seen != v.rows {
		return nil, fmt.Errorf("read %d of %d rows", seen, v.rows)
	}
	v.all = v.nDue == v.live && v.live > 0
	v.empty = v.rows == 0 && n.matchPossible && n.allMatch && !n.matchKeys && !n.allHold
	return v, nil
}

func (j *judge) columns(n needs) []string {
	var cols []string
	take := func(use bool, names []string) {
		for _, c := range names {
			if use && !slices.Contains(cols, c) {
				cols = append(cols, c)
			}
		}
	}
	if j.match != nil {
		take(n.match, j.match.Columns())
	}
	if j.hold != nil {
		take(n.hold, j.hold.Columns())
	}
	if j.undated != nil {
		take(n.undated, j.undated.Columns())
	}
	if j.matchKeys != nil {
		take(n.matchKeys, j.matchKeys.columns)
	}
	if j.holdKeys != nil {
		take(n.holdKeys, j.holdKeys.columns)
	}
	take(n.flag, []string{j.marker})
	if len(cols) == 0 { // a condition without columns still needs the row count
		cols = append(cols, j.snap.Schema().Fields[0].Name)
	}
	return cols
}

// rowTests are the tests of one batch; a nil truth or reader means that the part
// holds alike for all rows.
type rowTests struct {
	match, hold, undated *expr.Truth
	matchKeys, holdKeys  *keyReader
	flags                *array.Boolean
}

func (j *judge) tests(rec arrow.Record, n needs) (t rowTests, err error) {
	truth := func(use bool, p *predicate) *expr.Truth {
		if !use || err != nil {
			return nil
		}
		var x *expr.Truth
		x, err = p.Truth(rec)
		return x
	}
	keys := func(use bool, m *memberTest) *keyReader {
		if !use || err != nil {
			return nil
		}
		var x *keyReader
		x, err = newKeyReader(rec, m.columns)
		return x
	}
	t.match, t.hold, t.undated = truth(n.match, j.match), truth(n.hold, j.hold), truth(n.undated, j.undated)
	t.matchKeys, t.holdKeys = keys(n.matchKeys, j.matchKeys), keys(n.holdKeys, j.holdKeys)
	if n.flag && err == nil {
		t.flags, err = flagColumn(rec, j.marker)
	}
	return t, err
}

func flagColumn(rec arrow.Record, marker string) (*array.Boolean, error) {
	at := rec.Schema().FieldIndices(marker)
	if len(at) != 1 {
		return nil, fmt.Errorf("marker column %s was not read", marker)
	}
	b, ok := rec.Column(at[0]).(*array.Boolean)
	if !ok {
		return nil, fmt.Errorf("marker column %s came as %s", marker, rec.Column(at[0]).DataType())
	}
	return b, nil
}

func (j *judge) rows(b deltaio.FileBatch, live *pq.Bitmap, n needs, v *verdict) error {
	t, err := j.tests(b.Record, n)
	if err != nil {
		return err
	}
	member := func(r *keyReader, m *memberTest, i int) bool {
		key, ok := r.key(i)
		return ok && m.set.has(key)
	}
	for i := range int(b.Record.NumRows()) {
		at := int(b.First) + i
		isLive := live == nil || live.Get(at)
		if isLive && t.flags != nil && t.flags.IsValid(i) {
			if t.flags.Value(i) {
				v.flagged.Set(at)
				v.nFlagged++
			} else {
				v.nPlain++
			}
		}
		undated := n.allUndated || t.undated != nil && t.undated.IsTrue(i)
		if undated {
			if isLive {
				v.nUndated++
			}
			continue // never due
		}
		due := n.matchPossible && (n.allMatch || t.match != nil && t.match.IsTrue(i)) &&
			(t.matchKeys == nil || member(t.matchKeys, j.matchKeys, i))
		if !due {
			continue
		}
		held := n.allHold || t.hold != nil && t.hold.IsTrue(i) ||
			t.holdKeys != nil && member(t.holdKeys, j.holdKeys, i)
		switch {
		case held && isLive:
			v.held.Set(at)
			v.nHeld++
		case held:
		case isLive:
			v.due.Set(at)
			v.nDue++
		default:
			v.nHidden++
		}
	}
	return nil
}
