package purge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/dv"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func noActions(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) { return nil, nil }

// UnmarkRows is the way back from marking, and from nothing at all: it fences
// the run's delete, column and mark steps on the table, and in the commit that
// fences the mark takes its flags back. Previous files come back where nobody
// touched what became of them and they are safe from a vacuum; elsewhere the
// flagged rows are rewritten. A delete that is committed is never undone.
func UnmarkRows(ctx context.Context, t *deltaio.Table, opt UnmarkOptions) (*UnmarkResult, error) {
	if err := opt.Run.check(); err != nil {
		return nil, err
	}
	deleted, err := FenceDelete(ctx, t, opt.Run)
	if err != nil {
		return nil, err
	}
	if deleted != nil {
		return &UnmarkResult{Outcome: DeletedBefore, Version: deleted.Version}, nil
	}
	if opt.Column == "" {
		return &UnmarkResult{Outcome: Nothing}, nil
	}
	if err := fenceColumn(ctx, t, opt.Run); err != nil {
		return nil, err
	}
	u := &unmarking{t: t, run: opt.Run}
	if u.stager, err = newStager(ctx, t, opt.Run, "un"+StepMark); err != nil {
		return nil, err
	}
	out, err := u.undo(ctx)
	if err != nil {
		return nil, err
	}
	out.StagedDeleted, err = sweep(ctx, t, opt.Run, nil, StepMark, "un"+StepMark)
	return out, err
}

// fenceColumn keeps a late worker from adding the marker column after the end.
func fenceColumn(ctx context.Context, t *deltaio.Table, r Run) error {
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return err
	}
	if _, there := snap.Schema().Field(r.Column); there {
		return nil // nobody would add it again
	}
	return fenceIf(ctx, t, r, stepOf(r.ID, StepColumn, 1))
}

// unmarking is one call of UnmarkRows.
type unmarking struct {
	t      *deltaio.Table
	run    Run
	mark   *markRecord // nil: not marked, or its record is lost
	at     int64       // version of the mark, -1 unknown
	stager *stager
}

// undo commits the way back, and proves that what it brought back is there. A
// previous file that a vacuum took between the look and the commit is replaced
// by rewriting what became of it.
func (u *unmarking) undo(ctx context.Context) (*UnmarkResult, error) {
	for version := int64(2); version <= 2*maxReplans; version += 2 {
		out, rec, err := u.commitAt(ctx, version)
		if err != nil {
			return nil, err
		}
		lost, err := u.vanished(ctx, rec)
		if err != nil {
			return nil, err
		}
		if len(lost) == 0 {
			return out, nil
		}
	}
	return nil, fmt.Errorf("%s: run %s: files that were brought back keep vanishing: another vacuum deletes live files; stop it, then try again", u.t.URL(), u.run.ID)
}

// commitAt undoes with the even version given, or reads how that was done
// before.
func (u *unmarking) commitAt(ctx context.Context, version int64) (*UnmarkResult, *unmarkRecord, error) {
	step := deltaio.Step{AppID: AppID(u.run.ID, StepMark), Version: version}
	var before *unmarkRecord
	if version > 2 { // repairing what the round before brought back
		before = &unmarkRecord{}
		if _, _, _, err := done(ctx, u.t, u.run, deltaio.Step{AppID: step.AppID, Version: version - 2}, before); err != nil {
			return nil, nil, err
		}
	}
	res, err := replan(ctx, u.t, step, func(snap *deltaio.Snapshot) (deltaio.CommitResult, error) {
		if v, _ := snap.Txn(step.AppID); v >= step.Version {
			return u.put(ctx, snap, step, nil, "")
		}
		if err := u.loadMark(ctx, snap); err != nil {
			return deltaio.CommitResult{}, err
		}
		rec, err := u.prepare(ctx, snap, before)
		if err != nil {
			return deltaio.CommitResult{}, err
		}
		name, _, err := writeRecord(ctx, u.run, "un"+StepMark, u.t.Env().NewID(), rec)
		if err != nil {
			return deltaio.CommitResult{}, err
		}
		return u.put(ctx, snap, step, rec, name)
	})
	if err != nil {
		return nil, nil, err
	}
	if res.Outcome == deltaio.Fenced { // a later round is committed: look at that one
		return &UnmarkResult{Outcome: AlreadyDone, Version: res.Version}, &unmarkRecord{Superseded: true}, nil
	}
	rec := &unmarkRecord{}
	name, err := committedRecord(ctx, u.run, "un"+StepMark, res, rec)
	if err != nil {
		return nil, nil, err
	}
	out := rec.Result
	out.Outcome, out.Version, out.Record = outcomeOf(res.Outcome), res.Version, name
	return &out, rec, nil
}

// loadMark reads what the run marked. A lost record is no obstacle: flags are
// then found by looking at every file.
func (u *unmarking) loadMark(ctx context.Context, snap *deltaio.Snapshot) error {
	u.mark, u.at = nil, -1
	step := stepOf(u.run.ID, StepMark, 1)
	if v, _ := snap.Txn(step.AppID); v != step.Version {
		return nil
	}
	var rec markRecord
	res, _, ok, err := done(ctx, u.t, u.run, step, &rec)
	var lost *LostRecordError
	switch {
	case errors.As(err, &lost):
		u.mark, u.at = &markRecord{}, -1
	case err != nil:
		return err
	case ok:
		u.mark, u.at = &rec, res.Version
	}
	return nil
}

func (u *unmarking) put(ctx context.Context, snap *deltaio.Snapshot, step deltaio.Step, rec *unmarkRecord, record string) (deltaio.CommitResult, error) {
	opt := deltaio.CommitOptions{Operation: "UPDATE", Step: &step, Info: u.run.info("un"+StepMark, record), Rewritten: true}
	if rec != nil {
		opt.Metrics = map[string]any{"numUpdatedRows": rec.Result.RowsCleared, "numAddedFiles": len(rec.Added), "numRemovedFiles": len(rec.Removed)}
		if len(rec.Added)+len(rec.Removed) == 0 {
			opt.Operation = "FENCE"
		}
	}
	return u.t.Commit(ctx, snap, opt, func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
		if rec == nil {
			return nil, fmt.Errorf("step %s moved while it was looked at", step.AppID)
		}
		return rec.actions(u.t.Env().Now().UnixMilli()), nil
	})
}

func (rec *unmarkRecord) actions(now int64) []log.Action {
	var out []log.Action
	for _, a := range rec.Removed {
		out = append(out, log.Action{Remove: a.Remove(now, true)})
	}
	for _, a := range rec.Added {
		b := *a
		b.DataChange = true
		out = append(out, log.Action{Add: &b})
	}
	for _, c := range rec.Changes {
		out = append(out, log.Action{CDC: c})
	}
	return out
}

// vanished are the restored files that are live and no longer in storage.
func (u *unmarking) vanished(ctx context.Context, rec *unmarkRecord) ([]markedFile, error) {
	if rec.Superseded {
		return []markedFile{{}}, nil // go and look at the next round
	}
	if len(rec.Restored) == 0 {
		return nil, nil
	}
	snap, err := u.t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	live := fileSet{}
	for _, a := range snap.Files() {
		live.add(a.Key())
	}
	var lost []markedFile
	for _, f := range rec.Restored {
		there, err := u.inStorage(ctx, f.Original)
		if err != nil {
			return nil, err
		}
		if !there && live.has(f.Original.Key()) {
			lost = append(lost, f)
		}
	}
	return lost, nil
}

// inStorage says whether a file, and its deletion vector, lie in storage whole.
func (u *unmarking) inStorage(ctx context.Context, add *log.Add) (bool, error) {
	key, err := log.ResolvePath(u.t.URL(), add.Path)
	if err != nil {
		return false, err
	}
	info, err := u.t.Store().Stat(ctx, key)
	if errors.Is(err, storage.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if info.Size == 0 {
		return false, nil
	}
	if add.DeletionVector == nil {
		return true, nil
	}
	key, inFile, err := dv.Key(u.t.URL(), add.DeletionVector)
	if err != nil || !inFile {
		return err == nil, err
	}
	_, err = u.t.Store().Stat(ctx, key)
	if errors.Is(err, storage.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// young says whether a tombstone is far from the end of its retention: a vacuum
// that keeps to the table's rules will not take the file.
func young(rm *log.Remove, now time.Time, retention time.Duration) bool {
	return rm.DeletionTimestamp != nil && now.Sub(msTime(*rm.DeletionTimestamp)) < retention/2
}
