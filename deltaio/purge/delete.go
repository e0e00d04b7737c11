package purge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

// DeleteMarked removes the rows whose archived copies were verified, and clears
// the flags of those that stay. It decides at the version it commits on: the rows
// that are flagged, due and not held there must be, as a multiset, the archived
// ones, or nothing is written.
func DeleteMarked(ctx context.Context, t *deltaio.Table, opt DeleteOptions) (*DeleteResult, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	d := &deleting{t: t, opt: opt, step: stepOf(opt.ID, StepDelete, 1)}
	var rec deleteRecord
	switch at, res, name, err := stands(ctx, t, opt.Run, d.step, &rec); {
	case err != nil:
		return nil, err
	case at == fenced:
		return &DeleteResult{Outcome: Fenced}, nil
	case at == committed:
		return rec.conclude(ctx, t, opt.Run, res, name)
	}
	var err error
	var undone bool
	if d.from, undone, err = loadSource(ctx, t, opt.Run, opt.Plan); err != nil {
		return nil, err
	}
	if undone {
		return &DeleteResult{Outcome: Fenced}, nil
	}
	if err := d.loadArchive(ctx); err != nil {
		return nil, err
	}
	if d.stager, err = newStager(ctx, t, opt.Run, StepDelete); err != nil {
		return nil, err
	}
	res, err := replan(ctx, t, d.step, func(snap *deltaio.Snapshot) (deltaio.CommitResult, error) { return d.try(ctx, snap) })
	if err != nil {
		return nil, err
	}
	if d.refused != nil {
		return d.refused, nil
	}
	if res.Outcome == deltaio.Fenced { // the undo was before us and could not sweep this
		_, err := sweep(ctx, t, opt.Run, nil, StepDelete)
		return &DeleteResult{Outcome: Fenced}, err
	}
	name, err := committedRecord(ctx, opt.Run, StepDelete, res, &rec)
	if err != nil {
		return nil, err
	}
	return rec.conclude(ctx, t, opt.Run, res, name)
}

// conclude removes what attempts staged in vain, and the values of purged rows
// that the run folder holds.
func (rec *deleteRecord) conclude(ctx context.Context, t *deltaio.Table, r Run, res deltaio.CommitResult, name string) (*DeleteResult, error) {
	if _, err := sweep(ctx, t, r, pathsOf(rec.Added...), StepDelete); err != nil {
		return nil, err
	}
	return rec.result(res, name), forgetStatistics(ctx, r)
}

func (o DeleteOptions) check() error {
	if err := o.Run.check(); err != nil {
		return err
	}
	switch {
	case o.Archive == "" && !o.NoArchive:
		return errors.New("purge: DeleteOptions.Archive is empty: rows are deleted only against a verified archive (or NoArchive)")
	case o.Archive != "" && o.ArchiveStore == nil:
		return errors.New("purge: DeleteOptions.ArchiveStore is nil: the archive is looked at once more before the delete")
	case o.NoArchive && o.MaxRows == nil:
		return errors.New("purge: DeleteOptions.NoArchive needs MaxRows: nothing else would bound the delete")
	}
	return nil
}

// deleting is one call of DeleteMarked.
type deleting struct {
	t       *deltaio.Table
	opt     DeleteOptions
	step    deltaio.Step
	from    *source
	archive *archiveRecord // nil without an archive
	stager  *stager
	refused *DeleteResult // the answer of a round that wrote nothing
}

func (rec *deleteRecord) result(res deltaio.CommitResult, name string) *DeleteResult {
	out := rec.Result
	out.Outcome, out.Version, out.Record = outcomeOf(res.Outcome), res.Version, name
	return &out
}

func (d *deleting) loadArchive(ctx context.Context) error {
	if d.opt.NoArchive {
		return nil
	}
	d.archive = &archiveRecord{}
	if err := readRecord(ctx, d.opt.Run, d.opt.Archive, d.archive); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	if d.archive.Criteria != d.opt.Run.digest() {
		return fmt.Errorf("run %s: criteria, clock, keys or marker column differ from those it archived with", d.opt.ID)
	}
	return nil
}

func (d *deleting) try(ctx context.Context, snap *deltaio.Snapshot) (deltaio.CommitResult, error) {
	d.refused = nil
	if d.archive != nil {
		if err := sameTable(snap, d.archive.SourceID); err != nil {
			return deltaio.CommitResult{}, err
		}
	}
	if err := snap.Check(deltaio.WantRewrite); err != nil {
		return deltaio.CommitResult{}, err
	}
	if v, _ := snap.Txn(d.step.AppID); v >= d.step.Version { // do not stage in vain
		return d.commit(ctx, snap, nil, "")
	}
	if d.markFenced(snap) {
		return deltaio.CommitResult{Outcome: deltaio.Fenced}, nil
	}
	set, err := d.from.collect(ctx, d.t, snap, "delete: find rows")
	if err != nil {
		return deltaio.CommitResult{}, err
	}
	rec := &deleteRecord{At: d.t.Env().Now().UTC(), Result: DeleteResult{ReadVersion: snap.Version(), RowsFound: set.rows, RowsHeld: set.held, RowsReleased: set.released}}
	if d.archive != nil {
		rec.Result.Expected = d.archive.Result.Sum
	}
	if d.opt.MaxRows != nil && set.rows > *d.opt.MaxRows {
		rec.Result.MoreThanMax = true
		return d.refuse(rec, Changed)
	}
	same, err := d.compare(ctx, set, rec)
	if err != nil {
		return deltaio.CommitResult{}, err
	}
	if !same {
		return d.refuse(rec, Changed)
	}
	if m := d.from.mark; m != nil && m.Result.RowsMarked > 0 && len(set.files) == 0 {
		return d.refuse(rec, NothingLeft)
	}
	if hit, err := d.keysHit(ctx, set, rec); err != nil || hit {
		if err != nil {
			return deltaio.CommitResult{}, err
		}
		return d.refuse(rec, KeysHitUnflagged)
	}
	if err := d.stage(ctx, set, rec); err != nil {
		return deltaio.CommitResult{}, err
	}
	// Last, since the archive may be touched while files are rewritten here.
	if holds, err := d.archiveHolds(ctx, rec); err != nil || !holds {
		if err != nil {
			return deltaio.CommitResult{}, err
		}
		return d.changedOrFenced(ctx, rec)
	}
	name, _, err := writeRecord(ctx, d.opt.Run, StepDelete, d.t.Env().NewID(), rec)
	if err != nil {
		return deltaio.CommitResult{}, err
	}
	return d.commit(ctx, snap, rec, name)
}

// changedOrFenced: where the run was undone meanwhile, its archive is empty for
// that reason.
func (d *deleting) changedOrFenced(ctx context.Context, rec *deleteRecord) (deltaio.CommitResult, error) {
	snap, err := d.t.Snapshot(ctx)
	if err != nil {
		return deltaio.CommitResult{}, err
	}
	if v, _ := snap.Txn(d.step.AppID); v > d.step.Version {
		return deltaio.CommitResult{Outcome: deltaio.Fenced}, nil
	}
	return d.refuse(rec, Changed)
}

// archiveHolds looks at the archive once more, right before the commit.
func (d *deleting) archiveHolds(ctx context.Context, rec *deleteRecord) (bool, error) {
	if d.archive == nil {
		return true, nil
	}
	ok, why, err := ArchiveHolds(ctx, d.t, d.opt.ArchiveStore, d.t.Env(), VerifyArchiveOptions{Run: d.opt.Run, Archive: d.opt.Archive})
	rec.Result.ArchiveDiffers = why
	return ok, err
}

func (d *deleting) refuse(rec *deleteRecord, o Outcome) (deltaio.CommitResult, error) {
	rec.Result.Outcome = o
	d.refused = &rec.Result
	return deltaio.CommitResult{}, nil
}

// markFenced says whether the run's mark was undone since.
func (d *deleting) markFenced(snap *deltaio.Snapshot) bool {
	v, _ := snap.Txn(AppID(d.opt.ID, StepMark))
	return d.opt.Column != "" && v%2 == 0
}

// stage rewrites the files of which something stays.
func (d *deleting) stage(ctx context.Context, set *leaving, rec *deleteRecord) error {
	w := &dropper{snap: set.snap, content: set.content, stager: d.stager, marker: set.judge.marker}
	all := make([]*dropped, len(set.files))
	m := newMeter(d.t, "delete", len(set.files), 0)
	err := forEach(ctx, d.t, len(set.files), func(ctx context.Context, i int) error {
		f := set.files[i]
		var err error
		if all[i], err = d.one(ctx, w, f); err != nil {
			return fmt.Errorf("%s: delete from %s: %w", d.t.URL(), f.add.Path, err)
		}
		m.file(f.rows, f.add.Size)
		return nil
	})
	if err != nil {
		return err
	}
	if rec.Changes, err = w.changes(ctx, all); err != nil {
		return err
	}
	rec.dropped = all
	return rec.count(set.rows)
}

func (d *deleting) one(ctx context.Context, w *dropper, f *leavingFile) (*dropped, error) {
	order := dropOrder{add: f.add, drop: f.mask, plain: f.plain > 0}
	if f.all() && f.mask == nil { // by metadata alone
		return &dropped{removed: f.add, rows: f.rows, live: f.live, order: order}, nil
	}
	if f.flagged != nil && f.flags > f.rows {
		order.clear = without(f.flagged, f.mask)
	}
	return w.file(ctx, order)
}

// count takes the figures from the actions themselves and refuses to commit
// where they do not add up.
func (rec *deleteRecord) count(want int64) error {
	r := &rec.Result
	for _, d := range rec.dropped {
		rec.Removed = append(rec.Removed, d.removed)
		rec.RowsLive = append(rec.RowsLive, d.live)
		r.RowsDeleted += d.live
		r.BytesRemoved += d.removed.Size
		for _, a := range d.added {
			n, ok := a.NumRecords()
			if !ok {
				return fmt.Errorf("file %s was written without a row count", a.Path)
			}
			rec.Added = append(rec.Added, a)
			r.RowsDeleted -= n
			r.BytesAdded += a.Size
		}
	}
	r.FilesRemoved, r.FilesAdded = len(rec.Removed), len(rec.Added)
	if r.RowsDeleted != want {
		return fmt.Errorf("the actions delete %d rows where %d are due: nothing was committed", r.RowsDeleted, want)
	}
	return nil
}

func (d *deleting) commit(ctx context.Context, snap *deltaio.Snapshot, rec *deleteRecord, record string) (deltaio.CommitResult, error) {
	step := d.step
	opt := deltaio.CommitOptions{
		Operation: "DELETE", Step: &step, Info: d.opt.Run.info(StepDelete, record), Guard: d.opt.Guard, Rewritten: true,
		Parameters: map[string]any{"predicate": []string{text(d.opt.Criteria.Match)}},
	}
	if rec != nil {
		opt.Metrics = map[string]any{
			"numDeletedRows": rec.Result.RowsDeleted, "numRemovedFiles": rec.Result.FilesRemoved, "numAddedFiles": rec.Result.FilesAdded,
			"numRemovedBytes": rec.Result.BytesRemoved, "numAddedBytes": rec.Result.BytesAdded, "numAddedChangeFiles": len(rec.Changes),
		}
	}
	if len(d.opt.MatchKeys) > 0 { // the decision rests on every row of the table
		opt.Reads, opt.IsolationSerializable = deltaio.ReadSet{All: true}, true
	}
	return d.t.Commit(ctx, snap, opt, func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
		if rec == nil {
			return nil, fmt.Errorf("step %s moved while it was looked at", step.AppID)
		}
		now := d.t.Env().Now().UnixMilli()
		var actions []log.Action
		for _, f := range rec.dropped {
			actions = append(actions, f.actions(now)...)
		}
		for _, c := range rec.Changes {
			actions = append(actions, log.Action{CDC: c})
		}
		return slices.Clip(actions), nil
	})
}
