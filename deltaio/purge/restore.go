package purge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/rowhash"
)

// RestoreRows appends archived rows of a purge to the table they came from, with
// the marker null. It refuses the whole restore when the table holds one of the
// keys (without keys: one of the very rows). Columns that the table has lost
// since refuse it as well; columns it has gained are null. Archived rows that are
// not those that the purge archived refuse it with ArchiveChangedError. The archive keeps its
// rows.
func RestoreRows(ctx context.Context, t, archive *deltaio.Table, opt RestoreOptions) (*RestoreResult, error) {
	if err := opt.Run.check(); err != nil {
		return nil, err
	}
	if !plainID.MatchString(opt.PurgeRunID) {
		return nil, fmt.Errorf("purge: RestoreOptions.PurgeRunID is %q: give the purge's run id", opt.PurgeRunID)
	}
	if opt.PurgeJournal == nil {
		return nil, errors.New("purge: RestoreOptions.PurgeJournal is nil: give the purge's run folder")
	}
	r := &restoring{t: t, archive: archive, opt: opt, step: stepOf(opt.ID, StepRestore, 1)}
	var rec restoreRecord
	switch at, res, name, err := stands(ctx, t, opt.Run, r.step, &rec); {
	case err != nil:
		return nil, err
	case at == fenced:
		return &RestoreResult{Outcome: Fenced}, nil
	case at == committed:
		return rec.conclude(ctx, t, opt.Run, res, name)
	}
	var err error
	if r.stager, err = newStager(ctx, t, opt.Run, StepRestore); err != nil {
		return nil, err
	}
	res, err := replan(ctx, t, r.step, func(snap *deltaio.Snapshot) (deltaio.CommitResult, error) { return r.try(ctx, snap) })
	if err != nil {
		return nil, err
	}
	if r.answer != nil {
		return r.answer, nil
	}
	if res.Outcome == deltaio.Fenced { // the fence was before us and could not sweep this
		_, err := sweep(ctx, t, opt.Run, nil, StepRestore)
		return &RestoreResult{Outcome: Fenced}, err
	}
	name, err := committedRecord(ctx, opt.Run, StepRestore, res, &rec)
	if err != nil {
		return nil, err
	}
	return rec.conclude(ctx, t, opt.Run, res, name)
}

// conclude removes what attempts staged in vain.
func (rec *restoreRecord) conclude(ctx context.Context, t *deltaio.Table, r Run, res deltaio.CommitResult, name string) (*RestoreResult, error) {
	_, err := sweep(ctx, t, r, pathsOf(rec.Files...), StepRestore)
	return rec.result(res, name), err
}

// restoreRecord is a restore in full.
type restoreRecord struct {
	Result     RestoreResult `json:"result"` // without Outcome and Version
	PurgeRunID string        `json:"purge_run_id"`
	Where      string        `json:"where,omitempty"`
	Files      []*log.Add    `json:"files"`
}

func (rec *restoreRecord) result(res deltaio.CommitResult, name string) *RestoreResult {
	out := rec.Result
	out.Outcome, out.Version, out.Record = outcomeOf(res.Outcome), res.Version, name
	return &out
}

// restoring is one call of RestoreRows.
type restoring struct {
	t, archive *deltaio.Table
	opt        RestoreOptions
	step       deltaio.Step
	stager     *stager
	answer     *RestoreResult // of a round that wrote nothing
}

func (r *restoring) try(ctx context.Context, snap *deltaio.Snapshot) (deltaio.CommitResult, error) {
	r.answer = nil
	if err := snap.Check(deltaio.WantAppend); err != nil {
		return deltaio.CommitResult{}, err
	}
	from, err := r.source(ctx, snap)
	if err != nil {
		return deltaio.CommitResult{}, err
	}
	if err := r.unchanged(ctx, from.snap); err != nil {
		return deltaio.CommitResult{}, err
	}
	rec := &restoreRecord{PurgeRunID: r.opt.PurgeRunID, Where: text(r.opt.Where)}
	hit, err := r.collisions(ctx, snap, from, rec)
	if err != nil {
		return deltaio.CommitResult{}, err
	}
	switch {
	case hit:
		rec.Result.Outcome = KeysExist
	case r.opt.DryRun || rec.Result.Rows == 0:
		rec.Result.Outcome = Nothing
	}
	if rec.Result.Outcome != "" {
		r.answer = &rec.Result
		return deltaio.CommitResult{}, nil
	}
	if err := r.stage(ctx, snap, from, rec); err != nil {
		return deltaio.CommitResult{}, err
	}
	return r.commit(ctx, snap, rec)
}

// collisions counts the rows to restore and finds those that the table has.
func (r *restoring) collisions(ctx context.Context, snap *deltaio.Snapshot, from *restoreSource, rec *restoreRecord) (bool, error) {
	id, err := newIdentity(snap, from.content, r.opt.Keys)
	if err != nil {
		return false, &CriteriaError{Table: r.t.URL(), Part: "restore keys", Err: err}
	}
	for rows, err := range from.rows(ctx, r.opt.Context) {
		if err != nil {
			return false, fmt.Errorf("archive %s: %w", r.archive.URL(), err)
		}
		s, err := from.content.hasher.Sum(rows)
		if err == nil {
			err = id.collect(rows)
		}
		rows.Release()
		if err != nil {
			return false, fmt.Errorf("archive %s: %w", r.archive.URL(), err)
		}
		rec.Result.Sum = rec.Result.Sum.Add(s)
	}
	rec.Result.Rows = int64(rec.Result.Sum.Count)
	if rec.Result.Rows == 0 {
		return false, nil
	}
	if id.repeated(rec.Result.Rows) {
		return false, &CriteriaError{Table: r.t.URL(), Part: "restore keys",
			Err: fmt.Errorf("the archived rows hold %d different keys in %d rows: %v is no key", id.set.Len(), rec.Result.Rows, r.opt.Keys)}
	}
	examples := &hitRows{}
	for rows, err := range snap.Scan(ctx, deltaio.ScanOptions{Columns: id.columns}) {
		if err != nil {
			return false, err
		}
		err = id.find(rows, examples)
		rows.Release()
		if err != nil {
			return false, fmt.Errorf("%s: %w", r.t.URL(), err)
		}
	}
	if examples.Rows == 0 {
		return false, nil
	}
	rec.Result.Existing = examples.Rows
	rec.Result.Examples, _, err = writeRecord(ctx, r.opt.Run, "keys-exist", r.t.Env().NewID(), examples)
	return true, err
}

func (r *restoring) stage(ctx context.Context, snap *deltaio.Snapshot, from *restoreSource, rec *restoreRecord) error {
	var sum rowhash.Sum
	hashed := func(yield func(arrow.Record, error) bool) {
		for rows, err := range from.rows(ctx, r.opt.Context) {
			if err == nil {
				var s rowhash.Sum
				s, err = from.content.hasher.Sum(rows)
				sum = sum.Add(s)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(rows, nil) {
				return
			}
		}
	}
	files, err := snap.Stage(ctx, deltaio.StageOptions{Name: r.stager.fileName}, hashed)
	if err != nil {
		return fmt.Errorf("restore into %s: %w", r.t.URL(), err)
	}
	// Not used again: what the archive and the table hold may differ next time.
	h := sha256.Sum256([]byte("restore " + r.t.Env().NewID()))
	staged := stagedRecord{Digest: hex.EncodeToString(h[:]), Files: files, Done: true}
	for _, f := range files {
		staged.Keys = append(staged.Keys, f.Key)
		rec.Files = append(rec.Files, f.Add)
		rec.Result.Files++
		rec.Result.Bytes += f.Add.Size
	}
	if _, err := r.stager.tell(ctx, "", staged); err != nil {
		return err
	}
	if sum != rec.Result.Sum {
		return fmt.Errorf("archive %s changed while it was read: restore again", r.archive.URL())
	}
	return nil
}

func (r *restoring) commit(ctx context.Context, snap *deltaio.Snapshot, rec *restoreRecord) (deltaio.CommitResult, error) {
	name, _, err := writeRecord(ctx, r.opt.Run, StepRestore, r.t.Env().NewID(), rec)
	if err != nil {
		return deltaio.CommitResult{}, err
	}
	step := r.step
	return r.t.Commit(ctx, snap, deltaio.CommitOptions{
		Operation: "WRITE", Parameters: map[string]any{"mode": "Append", "partitionBy": snap.PartitionBy()},
		Metrics: map[string]any{"numFiles": rec.Result.Files, "numOutputRows": rec.Result.Rows, "numOutputBytes": rec.Result.Bytes},
		Step:    &step, Info: r.opt.Run.info(StepRestore, name), Want: deltaio.WantAppend,
		// No row with one of the keys may come in between.
		Reads: deltaio.ReadSet{All: true}, IsolationSerializable: true,
	}, func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
		var actions []log.Action
		for _, f := range rec.Files {
			actions = append(actions, log.Action{Add: f})
		}
		return actions, nil
	})
}
