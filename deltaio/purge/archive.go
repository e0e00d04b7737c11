package purge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// ArchiveRows appends the rows that are to be deleted, as they are now, to the
// archive under dst, which it creates when missing and to which it adds missing
// columns. A later attempt replaces the rows of earlier ones in the same commit.
func ArchiveRows(ctx context.Context, src *deltaio.Table, dst storage.Store, env deltaio.Env, opt ArchiveOptions) (*ArchiveResult, error) {
	if err := opt.Run.check(); err != nil {
		return nil, err
	}
	opt.Attempt = max(1, opt.Attempt)
	if opt.ArchivedAt.IsZero() {
		return nil, errors.New("purge: ArchiveOptions.ArchivedAt is not set")
	}
	from, fenced, err := loadSource(ctx, src, opt.Run, opt.Plan)
	if err != nil {
		return nil, err
	}
	if fenced {
		return &ArchiveResult{Outcome: Fenced, Attempt: opt.Attempt}, nil
	}
	snap, err := src.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	to, fit, err := ensureArchive(ctx, snap, dst, env, opt.Run)
	if err != nil {
		return nil, err
	}
	a := &archiving{src: src, dst: to, opt: opt, from: from, fit: fit, step: stepOf(opt.ID, StepArchive, opt.Attempt)}
	if res, err := a.before(ctx); res != nil || err != nil {
		return res, err
	}
	if a.stager, err = newStager(ctx, to, opt.Run, fmt.Sprintf("%s%d", StepArchive, opt.Attempt)); err != nil {
		return nil, err
	}
	if a.again, err = begun(ctx, opt.Run, to.Env().NewID()); err != nil {
		return nil, err
	}
	return a.run(ctx)
}

// archiving is one call of ArchiveRows.
type archiving struct {
	src, dst *deltaio.Table
	opt      ArchiveOptions
	from     *source
	fit      *archiveFit
	step     deltaio.Step
	stager   *stager
	again    bool // an earlier call may have died in the middle
}

// begun notes a call of archiving in the run folder, and says whether it is not
// the first.
func begun(ctx context.Context, r Run, id string) (again bool, err error) {
	const prefix = "archiving/"
	names, err := r.Journal.List(ctx, prefix)
	if err == nil {
		err = r.Journal.Put(ctx, prefix+id+".json", []byte("{}"))
	}
	if err != nil {
		return false, fmt.Errorf("note in run folder %s that archiving begins: %w", r.Journal.URL(), err)
	}
	return len(names) > 0, nil
}

// before answers for an attempt that the archive shows as done or undone, and
// for one that an append-only archive forbids.
func (a *archiving) before(ctx context.Context) (*ArchiveResult, error) {
	var rec archiveRecord
	switch at, res, name, err := stands(ctx, a.dst, a.opt.Run, a.step, &rec); {
	case err != nil:
		return nil, err
	case at == fenced:
		return &ArchiveResult{Outcome: Fenced, Attempt: a.opt.Attempt}, nil
	case at == committed:
		return rec.result(res, name), sweepAttempts(ctx, a.dst, a.opt.Run, a.opt.Attempt, pathsOf(rec.Files...))
	case !a.fit.appendOnly:
		return nil, nil
	}
	snap, err := a.dst.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if v, _ := snap.Txn(a.step.AppID); v < a.step.Version && v%2 == 1 { // an earlier attempt's rows could not be replaced
		return &ArchiveResult{Outcome: ArchiveAppendOnly, Attempt: a.opt.Attempt}, nil
	}
	return nil, nil
}

func (rec *archiveRecord) result(res deltaio.CommitResult, name string) *ArchiveResult {
	out := rec.Result
	out.Outcome, out.Version, out.Record = outcomeOf(res.Outcome), res.Version, name
	return &out
}

// undone says whether the run's delete or mark is fenced on its table.
func undone(src *deltaio.Snapshot, runID string) bool {
	for _, step := range []string{StepDelete, StepMark} {
		if v, _ := src.Txn(AppID(runID, step)); v > 0 && v%2 == 0 {
			return true
		}
	}
	return false
}

func (a *archiving) run(ctx context.Context) (*ArchiveResult, error) {
	snap, err := a.src.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	// The archive exists by now. An undo that came before that had no table to
	// fence; but it has fenced the source first, and that is seen here.
	if undone(snap, a.opt.ID) {
		return &ArchiveResult{Outcome: Fenced, Attempt: a.opt.Attempt}, nil
	}
	set, err := a.from.collect(ctx, a.src, snap, "archive: find rows")
	if err != nil {
		return nil, err
	}
	base, err := a.dst.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	rec, err := a.stage(ctx, set, base)
	if err != nil {
		if res, berr := a.before(ctx); res != nil && berr == nil {
			return res, nil // another attempt did or undid it, and swept our files
		}
		return nil, err
	}
	res, err := replan(ctx, a.dst, a.step, func(now *deltaio.Snapshot) (deltaio.CommitResult, error) { return a.commit(ctx, now, rec) })
	if err != nil {
		return nil, err
	}
	if res.Outcome == deltaio.Fenced { // the undo was before us and could not sweep this
		return &ArchiveResult{Outcome: Fenced, Attempt: a.opt.Attempt}, sweepAttempts(ctx, a.dst, a.opt.Run, a.opt.Attempt, nil)
	}
	var stored archiveRecord
	name, err := committedRecord(ctx, a.opt.Run, StepArchive, res, &stored)
	if err != nil {
		return nil, err
	}
	if a.again {
		return stored.result(res, name), sweepAttempts(ctx, a.dst, a.opt.Run, a.opt.Attempt, pathsOf(stored.Files...))
	}
	_, err = sweep(ctx, a.dst, a.opt.Run, pathsOf(stored.Files...), a.stager.step)
	return stored.result(res, name), err
}

// stage writes the rows that leave into data files of the archive.
func (a *archiving) stage(ctx context.Context, set *leaving, base *deltaio.Snapshot) (*archiveRecord, error) {
	bins := makeBins(set)
	rec := &archiveRecord{Criteria: a.opt.Run.digest(), SourceID: set.snap.TableID(), Schema: set.content.schema.JSON()}
	r := &rec.Result
	r.Attempt, r.SourceVersion, r.RowsHeld = a.opt.Attempt, set.snap.Version(), set.held
	var bytes int64
	for _, b := range bins {
		bytes += b.bytes
	}
	m := newMeter(a.src, "archive", len(bins), bytes)
	staged := make([]stagedRecord, len(bins))
	err := forEach(ctx, a.src, len(bins), func(ctx context.Context, i int) error {
		var err error
		if staged[i], err = a.bin(ctx, set, base, bins[i]); err != nil {
			return fmt.Errorf("%s: archive into %s: %w", a.src.URL(), a.dst.URL(), err)
		}
		m.file(bins[i].rows, bins[i].bytes)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, s := range staged {
		var sources []archivedFile
		if err := json.Unmarshal(s.Note, &sources); err != nil {
			return nil, fmt.Errorf("staging record of %s: %w", a.dst.URL(), err)
		}
		for _, f := range sources {
			r.Sum = r.Sum.Add(f.Sum)
		}
		rec.Sources = append(rec.Sources, sources...)
		for _, f := range s.Files {
			rec.Files = append(rec.Files, f.Add)
			r.Rows += f.Rows
			r.Files++
			r.Bytes += f.Add.Size
		}
	}
	if r.Rows != set.rows || r.Sum.Count != uint64(set.rows) {
		return nil, fmt.Errorf("%s: staged %d rows (%s) of %d that leave %s", a.dst.URL(), r.Rows, r.Sum, set.rows, a.src.URL())
	}
	return rec, nil
}

// commit adds the staged files and takes out what earlier attempts left.
func (a *archiving) commit(ctx context.Context, now *deltaio.Snapshot, rec *archiveRecord) (deltaio.CommitResult, error) {
	step := a.step
	opt := deltaio.CommitOptions{
		Operation: "WRITE", Parameters: map[string]any{"mode": "Append", "partitionBy": now.PartitionBy()},
		Metrics: map[string]any{"numFiles": rec.Result.Files, "numOutputRows": rec.Result.Rows, "numOutputBytes": rec.Result.Bytes},
		Step:    &step, BlindAppend: true,
	}
	var old *runRows
	var err error
	if v, _ := now.Txn(a.step.AppID); v%2 == 1 && v < step.Version {
		if old, err = findRunRows(ctx, a.dst, now, a.opt.Run, StepArchive); err != nil {
			return deltaio.CommitResult{}, err
		}
		opt.BlindAppend = false
	}
	rec.Result.FilesReplaced = old.files()
	name, _, err := writeRecord(ctx, a.opt.Run, StepArchive, a.dst.Env().NewID(), rec)
	if err != nil {
		return deltaio.CommitResult{}, err
	}
	opt.Info = a.opt.Run.info(StepArchive, name)
	return a.dst.Commit(ctx, now, opt, func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
		actions := old.actions(a.dst.Env().Now().UnixMilli())
		for _, f := range rec.Files {
			actions = append(actions, log.Action{Add: f})
		}
		return actions, nil
	})
}
