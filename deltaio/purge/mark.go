package purge

import (
	"context"
	"fmt"
	"slices"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// MarkRows flags the due rows of the planned files: each file becomes one file
// of due rows with the flag TRUE and one of the rest. Files that others replaced
// since the plan are judged anew, files that were only appended are not: their
// rows belong to the next run.
func MarkRows(ctx context.Context, t *deltaio.Table, opt MarkOptions) (*MarkResult, error) {
	if err := opt.Run.check(); err != nil {
		return nil, err
	}
	plan, err := loadPlan(ctx, opt.Run, opt.Plan)
	if err != nil {
		return nil, err
	}
	if opt.Column == "" {
		return &MarkResult{Outcome: Nothing, Version: plan.Result.Version, VersionBefore: plan.Result.Version, RowsMarked: plan.Result.RowsDue}, nil
	}
	step := stepOf(opt.ID, StepMark, 1)
	var rec markRecord
	switch at, res, name, err := stands(ctx, t, opt.Run, step, &rec); {
	case err != nil:
		return nil, err
	case at == fenced:
		return &MarkResult{Outcome: Fenced}, nil
	case at == committed:
		return rec.conclude(ctx, t, opt.Run, res, name)
	}
	added, undone, err := ensureColumn(ctx, t, opt.Run)
	if err != nil {
		return nil, err
	}
	if undone {
		return &MarkResult{Outcome: Fenced}, nil
	}
	m := &marking{t: t, run: opt.Run, plan: plan, columnAdded: added, step: step}
	if m.stager, err = newStager(ctx, t, opt.Run, StepMark); err != nil {
		return nil, err
	}
	res, err := replan(ctx, t, step, func(snap *deltaio.Snapshot) (deltaio.CommitResult, error) { return m.try(ctx, snap) })
	if err != nil {
		return nil, err
	}
	if res.Outcome == deltaio.Fenced { // the undo was before us and could not sweep this
		_, err := sweep(ctx, t, opt.Run, nil, StepMark)
		return &MarkResult{Outcome: Fenced}, err
	}
	name, err := committedRecord(ctx, opt.Run, StepMark, res, &rec)
	if err != nil {
		return nil, err
	}
	return rec.conclude(ctx, t, opt.Run, res, name)
}

// conclude removes what attempts staged in vain.
func (rec *markRecord) conclude(ctx context.Context, t *deltaio.Table, r Run, res deltaio.CommitResult, name string) (*MarkResult, error) {
	_, err := sweep(ctx, t, r, rec.keys(), StepMark)
	return rec.result(res, name), err
}

func loadPlan(ctx context.Context, r Run, name string) (*planRecord, error) {
	var plan planRecord
	if err := readRecord(ctx, r, name, &plan); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if plan.Criteria != r.digest() {
		return nil, fmt.Errorf("run %s: criteria, clock, keys or marker column differ from those of the plan %s: a run acts on what was planned", r.ID, name)
	}
	return &plan, nil
}

// result adds to the record what only the commit knows.
func (rec *markRecord) result(res deltaio.CommitResult, name string) *MarkResult {
	out := rec.Result
	out.Outcome, out.Version, out.Record = outcomeOf(res.Outcome), res.Version, name
	out.VersionBefore = res.Version - 1
	return &out
}

// keys are the storage keys that the committed mark refers to.
func (rec *markRecord) keys() map[string]bool {
	var files []*log.Add
	for _, f := range rec.Files {
		files = append(files, f.Original, f.Marked, f.Kept)
	}
	return pathsOf(files...)
}

// ensureColumn adds the marker column where it is missing.
func ensureColumn(ctx context.Context, t *deltaio.Table, r Run) (added, fenced bool, err error) {
	step := stepOf(r.ID, StepColumn, 1)
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return false, false, err
	}
	if v, _ := snap.Txn(step.AppID); v > step.Version {
		return false, true, nil
	}
	if name, err := markerIn(snap, r.Column); err != nil {
		return false, false, &CriteriaError{Table: t.URL(), Part: "marker column", Err: err}
	} else if name != "" {
		v, _ := snap.Txn(step.AppID)
		return v == step.Version, false, nil
	}
	res, err := deltaio.AddColumn(ctx, t, deltaio.AddColumnOptions{
		Name: r.Column, Type: schema.Boolean, Step: &step, Info: r.info(StepColumn, ""),
		Comment: "set by lakewarden on rows that are about to be purged",
	})
	if err != nil {
		return false, false, err
	}
	return res.Outcome == deltaio.Committed || res.Outcome == deltaio.AlreadyDone, res.Outcome == deltaio.Fenced, nil
}

// marking is one call of MarkRows.
type marking struct {
	t           *deltaio.Table
	run         Run
	plan        *planRecord
	columnAdded bool
	step        deltaio.Step
	stager      *stager
}

func (m *marking) try(ctx context.Context, snap *deltaio.Snapshot) (deltaio.CommitResult, error) {
	if err := sameTable(snap, m.plan.Result.TableID); err != nil {
		return deltaio.CommitResult{}, err
	}
	if err := snap.Check(deltaio.WantRewrite); err != nil {
		return deltaio.CommitResult{}, err
	}
	if v, _ := snap.Txn(m.step.AppID); v >= m.step.Version { // do not stage in vain
		return m.commit(ctx, snap, nil, "")
	}
	files, moved, err := m.scope(ctx, snap)
	if err != nil {
		return deltaio.CommitResult{}, err
	}
	rec, err := m.stageAll(ctx, snap, files)
	if err != nil {
		return deltaio.CommitResult{}, err
	}
	rec.Result.Replanned, rec.Result.ColumnAdded = moved, m.columnAdded
	name, _, err := writeRecord(ctx, m.run, StepMark, m.t.Env().NewID(), rec)
	if err != nil {
		return deltaio.CommitResult{}, err
	}
	return m.commit(ctx, snap, rec, name)
}

// sameTable refuses a table that was dropped and made anew under the old address.
func sameTable(snap *deltaio.Snapshot, id string) error {
	if snap.TableID() != id {
		return fmt.Errorf("%s: it is another table (id %s) than the one that was planned (id %s): plan anew", snap.Table().URL(), snap.TableID(), id)
	}
	return nil
}

// scope are the live files that hold, or may have taken over, rows of the
// planned files that were to be touched.
func (m *marking) scope(ctx context.Context, snap *deltaio.Snapshot) (files []*log.Add, moved bool, err error) {
	touched, kept := fileSet{}, fileSet{}
	for _, f := range m.plan.Files {
		if f.Verdict == keepFile {
			kept.add(f.key())
		} else {
			touched.add(f.key())
		}
	}
	return inScope(ctx, m.t, snap, touched, kept, m.plan.Result.Version)
}

// inScope follows files since a version. Where the log no longer tells, every
// live file that was not known then counts as well.
func inScope(ctx context.Context, t *deltaio.Table, snap *deltaio.Snapshot, touched, others fileSet, since int64) (files []*log.Add, moved bool, err error) {
	line, whole, err := follow(ctx, t, touched, since, snap.Version())
	if err != nil {
		return nil, false, err
	}
	found := 0
	for _, add := range snap.Files() {
		k := add.Key()
		if touched.has(k) {
			found++
		}
		if line.has(k) || !whole && !others.has(k) {
			files = append(files, add)
		}
	}
	return files, found < len(touched), nil
}

func (m *marking) stageAll(ctx context.Context, snap *deltaio.Snapshot, files []*log.Add) (*markRecord, error) {
	j, err := newJudge(snap, m.run, true)
	if err != nil {
		return nil, err
	}
	if j.marker == "" {
		return nil, &CriteriaError{Table: m.t.URL(), Part: "marker column", Err: fmt.Errorf("column %s was dropped by another writer", m.run.Column)}
	}
	w := &markFiles{judge: j, content: newContent(snap.Schema(), j.marker), stager: m.stager, snap: snap}
	var bytes int64
	for _, f := range files {
		bytes += f.Size
	}
	meter := newMeter(m.t, "mark", len(files), bytes)
	marked := make([]*markedFile, len(files))
	changes := make([][]*log.AddCDCFile, len(files))
	err = forEach(ctx, m.t, len(files), func(ctx context.Context, i int) error {
		var err error
		marked[i], changes[i], err = w.one(ctx, files[i])
		if err != nil {
			return fmt.Errorf("%s: mark %s: %w", m.t.URL(), files[i].Path, err)
		}
		meter.file(0, files[i].Size)
		return nil
	})
	if err != nil {
		return nil, err
	}
	rec := &markRecord{Criteria: m.run.digest(), Schema: w.content.schema.JSON(), Changes: slices.Concat(changes...)}
	for _, f := range marked {
		if f != nil {
			rec.take(*f)
		}
	}
	return rec, nil
}

func (rec *markRecord) take(f markedFile) {
	rec.Files = append(rec.Files, f)
	r := &rec.Result
	r.RowsMarked += f.Rows
	r.Sum = r.Sum.Add(f.Sum)
	r.FilesReplaced++
	if f.Marked != nil {
		r.FilesMarked++
		r.BytesMarked += f.Marked.Size
		r.BytesWritten += f.Marked.Size
	}
	if f.Kept != nil {
		r.FilesKept++
		r.BytesWritten += f.Kept.Size
	}
}

func (m *marking) commit(ctx context.Context, snap *deltaio.Snapshot, rec *markRecord, record string) (deltaio.CommitResult, error) {
	step := m.step
	return m.t.Commit(ctx, snap, deltaio.CommitOptions{
		Operation: "UPDATE", Step: &step, Info: m.run.info(StepMark, record), Rewritten: true,
		Parameters: map[string]any{"predicate": []string{text(m.run.Criteria.Match)}},
	}, func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
		if rec == nil {
			return nil, fmt.Errorf("step %s moved while it was looked at", step.AppID)
		}
		return rec.actions(m.t.Env().Now().UnixMilli()), nil
	})
}

// actions replace each source file. A file whose live rows all stay (only rows
// behind its deletion vector went) is no change of data.
func (rec *markRecord) actions(now int64) []log.Action {
	var out []log.Action
	for _, f := range rec.Files {
		changes := f.Verdict != hiddenFile
		out = append(out, log.Action{Remove: f.Original.Remove(now, changes)})
		for _, add := range []*log.Add{f.Marked, f.Kept} {
			if add != nil {
				a := *add
				a.DataChange = changes
				out = append(out, log.Action{Add: &a})
			}
		}
	}
	for _, c := range rec.Changes {
		out = append(out, log.Action{CDC: c})
	}
	return out
}
