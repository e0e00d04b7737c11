package purge

import (
	"context"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

// FlagsError: the marker column already flags rows, which this run did not do.
type FlagsError struct {
	Table  string
	Column string
	Rows   int64
	Files  []string // up to 5 of those that hold them
	// Closed are runs that are over and whose own mark has no end in the log: the
	// flags are theirs. Unmark them and plan again. Empty: the flags are foreign.
	Closed []string
	// Open are runs that the log shows without an end and that are not known to
	// be over.
	Open []string
}

func (e *FlagsError) Error() string {
	s := fmt.Sprintf("%s: %d rows are flagged in column %s already, in %v", e.Table, e.Rows, e.Column, e.Files)
	switch {
	case len(e.Closed) > 0:
		return s + fmt.Sprintf("; they are left over from run %v: unmark it first", e.Closed)
	case len(e.Open) > 0:
		return s + fmt.Sprintf("; run %v is still open: wait for its end", e.Open)
	}
	return s + "; lakewarden did not set them: clear them or choose another marker column"
}

// PlanPurge classifies every file of a version and counts what is due. A table
// that reaches out of its root is refused (*deltaio.OutsideError): its files
// could not be accounted for at the end. It writes nothing but its record in the
// run folder.
func PlanPurge(ctx context.Context, t *deltaio.Table, opt PlanOptions) (*PlanResult, error) {
	if err := opt.Run.check(); err != nil {
		return nil, err
	}
	snap, err := planSnapshot(ctx, t, opt)
	if err != nil {
		return nil, err
	}
	if err := snap.Check(deltaio.WantRewrite); err != nil {
		return nil, err
	}
	if err := snap.CheckConfined(ctx); err != nil {
		return nil, err
	}
	j, err := newJudge(snap, opt.Run, true)
	if err != nil {
		return nil, err
	}
	if opt.Column != "" && j.marker == "" { // the column will have to be added
		if err := snap.Check(deltaio.WantAppend); err != nil {
			return nil, err
		}
	}
	verdicts, err := classifyAll(ctx, t, j, snap.Files(), "plan")
	if err != nil {
		return nil, err
	}
	if err := refuseFlags(ctx, t, j, snap.Files(), verdicts, opt); err != nil {
		return nil, err
	}
	rec := planRecord{Criteria: opt.Run.digest(), Match: text(opt.Criteria.Match), Hold: text(opt.Criteria.Hold), Undated: text(opt.Criteria.Undated)}
	rec.Files, rec.Result = summarise(j, verdicts)
	res := &rec.Result
	res.RunID, res.TableID, res.Version, res.Time = opt.ID, snap.TableID(), snap.Version(), snap.Time()
	res.ColumnMissing = opt.Column != "" && j.marker == ""
	res.ChangeFeed = snap.ChangeFeed()
	if res.Writers, err = recentWriters(ctx, t, opt.RecentCommits); err != nil {
		return nil, err
	}
	out := rec.Result
	out.Record, out.Digest, err = writeRecord(ctx, opt.Run, "planned", t.Env().NewID(), rec)
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// planSnapshot is the version to plan on. A run that has marked already is
// planned on the version before: a repeated plan then finds what it found.
func planSnapshot(ctx context.Context, t *deltaio.Table, opt PlanOptions) (*deltaio.Snapshot, error) {
	if opt.Version != nil {
		return t.SnapshotAt(ctx, *opt.Version)
	}
	res, marked, err := t.FindStep(ctx, stepOf(opt.ID, StepMark, 1))
	if err != nil {
		return nil, err
	}
	if marked && res.Version > 0 {
		return t.SnapshotAt(ctx, res.Version-1)
	}
	return t.Snapshot(ctx)
}

func text(x *expr.Expr) string {
	if x == nil {
		return ""
	}
	return x.String()
}

// classifyAll judges files side by side; verdicts come in the order of the files.
func classifyAll(ctx context.Context, t *deltaio.Table, j *judge, files []*log.Add, phase string) ([]*verdict, error) {
	var bytes int64
	for _, add := range files {
		bytes += add.Size
	}
	m := newMeter(t, phase, len(files), bytes)
	verdicts := make([]*verdict, len(files))
	err := forEach(ctx, t, len(files), func(ctx context.Context, i int) error {
		v, err := j.classify(ctx, files[i])
		if err != nil {
			return fmt.Errorf("%s: %s of version %d: %w", t.URL(), files[i].Path, j.snap.Version(), err)
		}
		verdicts[i] = v
		m.file(v.live, files[i].Size)
		return nil
	})
	return verdicts, err
}

// refuseFlags refuses to plan over flags of others.
func refuseFlags(ctx context.Context, t *deltaio.Table, j *judge, files []*log.Add, verdicts []*verdict, opt PlanOptions) error {
	e := &FlagsError{Table: t.URL(), Column: j.marker}
	for i, v := range verdicts {
		if v.nFlagged == 0 {
			continue
		}
		e.Rows += v.nFlagged
		if len(e.Files) < 5 {
			e.Files = append(e.Files, files[i].Path)
		}
	}
	if e.Rows == 0 {
		return nil
	}
	left, err := FindLeftovers(ctx, t)
	if err != nil {
		return err
	}
	closed := map[string]bool{}
	for _, id := range opt.ClosedRuns {
		closed[id] = true
	}
	for _, l := range left {
		switch {
		case !l.Marked || l.RunID == opt.ID:
		case closed[l.RunID]:
			e.Closed = append(e.Closed, l.RunID)
		default:
			e.Open = append(e.Open, l.RunID)
		}
	}
	if len(e.Open) > 0 {
		e.Closed = nil // whose flags they are cannot be told
	}
	return e
}

// summarise turns verdicts into the plan's lines and figures.
func summarise(j *judge, verdicts []*verdict) ([]planFile, PlanResult) {
	files := make([]planFile, len(verdicts))
	var r PlanResult
	all, due := map[string]bool{}, map[string]bool{}
	for i, v := range verdicts {
		add := j.snap.Files()[i]
		key := add.Key()
		f := planFile{Path: key.Path, DV: key.DV, Reason: v.reason, Bytes: add.Size, Rows: v.live,
			Due: v.nDue, Held: v.nHeld, Undated: v.nUndated, Hidden: v.nHidden}
		f.Verdict = v.kind()
		files[i] = f
		r.add(f)
		part := j.parts.key(add)
		all[part] = true
		if f.Due > 0 || f.Verdict == emptyFile {
			due[part] = true
		}
	}
	r.Partitions, r.PartitionsDue = len(all), len(due)
	if len(j.parts.fields) == 0 {
		r.Partitions, r.PartitionsDue = 0, 0
	}
	return files, r
}

func (r *PlanResult) add(f planFile) {
	r.Files++
	r.Bytes += f.Bytes
	r.Rows += f.Rows
	r.RowsDue += f.Due
	r.RowsHeld += f.Held
	r.RowsUndated += f.Undated
	r.RowsHidden += f.Hidden
	switch f.Verdict {
	case wholeFile, emptyFile:
		r.FilesWhole++
		r.BytesWhole += f.Bytes
	case splitFile, hiddenFile:
		r.FilesSplit++
		r.BytesSplit += f.Bytes
	}
}

// kind is what is to be done with the file.
func (v *verdict) kind() string {
	switch {
	case v.empty:
		return emptyFile
	case v.all && v.nDue > 0:
		return wholeFile
	case v.nDue > 0:
		return splitFile
	case v.nHidden > 0:
		return hiddenFile
	}
	return keepFile
}
