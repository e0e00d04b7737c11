package purge

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
)

// prepare decides file by file how the flags go: bring the previous file back, or
// rewrite. before is a round whose restored files may have vanished.
func (u *unmarking) prepare(ctx context.Context, snap *deltaio.Snapshot, before *unmarkRecord) (*unmarkRecord, error) {
	rec := &unmarkRecord{}
	if u.mark == nil && before == nil {
		return rec, nil // nothing was marked: the fence is all
	}
	if err := snap.Check(deltaio.WantRewrite); err != nil {
		return nil, err
	}
	j, err := newJudge(snap, u.run, false)
	if err != nil {
		return nil, err
	}
	w := &dropper{snap: snap, content: newContent(snap.Schema(), j.marker), stager: u.stager, marker: j.marker}
	if before != nil {
		return rec, u.repair(ctx, w, before, rec)
	}
	covered, err := u.restore(ctx, w, rec)
	if err != nil {
		return nil, err
	}
	if j.marker == "" {
		return rec, nil // somebody dropped the column, and the flags with it
	}
	src := &source{run: u.run, mark: u.mark, markVersion: u.at}
	files, _, err := src.candidates(ctx, u.t, snap)
	if err != nil {
		return nil, err
	}
	var todo []*log.Add
	for _, f := range files {
		if !covered.has(f.Key()) {
			todo = append(todo, f)
		}
	}
	return rec, u.clear(ctx, w, j, todo, rec)
}

// restore brings previous files back where that is safe. covered are the live
// files that go in exchange.
func (u *unmarking) restore(ctx context.Context, w *dropper, rec *unmarkRecord) (covered fileSet, err error) {
	live, tombstones := fileSet{}, map[deltaio.FileKey]*log.Remove{}
	for _, a := range w.snap.Files() {
		live.add(a.Key())
	}
	for _, rm := range w.snap.State().Tombstones {
		tombstones[rm.Key()] = rm
	}
	retention, err := w.snap.FileRetention()
	if err != nil {
		return nil, err
	}
	covered = fileSet{}
	for _, f := range u.mark.Files {
		if f.Verdict == hiddenFile || f.Marked != nil && !live.has(f.Marked.Key()) || f.Kept != nil && !live.has(f.Kept.Key()) {
			continue
		}
		rm := tombstones[f.Original.Key()]
		if rm == nil || live.has(f.Original.Key()) || !young(rm, u.t.Env().Now(), retention) {
			continue
		}
		there, err := u.inStorage(ctx, f.Original)
		if err != nil {
			return nil, err
		}
		if !there {
			continue
		}
		if err := u.exchange(ctx, w, f, rec); err != nil {
			return nil, fmt.Errorf("%s: unmark %s: %w", u.t.URL(), f.Original.Path, err)
		}
		for _, a := range rec.Removed {
			covered.add(a.Key())
		}
	}
	return covered, nil
}

func (u *unmarking) exchange(ctx context.Context, w *dropper, f markedFile, rec *unmarkRecord) error {
	for _, a := range []*log.Add{f.Marked, f.Kept} {
		if a != nil {
			rec.Removed = append(rec.Removed, a)
		}
	}
	rec.Added = append(rec.Added, f.Original)
	rec.Restored = append(rec.Restored, f)
	rec.Result.FilesRestored++
	rec.Result.RowsCleared += f.Rows
	if f.Marked == nil || !w.snap.ChangeFeed() {
		return nil
	}
	m, err := w.snap.OpenFile(ctx, f.Marked)
	if err != nil {
		return err
	}
	defer m.Close() // nothing was written
	before, err := w.snap.StageChanges(ctx, deltaio.ChangePreimage, chosen(ctx, m, nil, nil))
	if err != nil {
		return err
	}
	cleared := withConst(chosen(ctx, m, nil, nil), w.marker, arrow.FixedWidthTypes.Boolean, nil)
	after, err := w.snap.StageChanges(ctx, deltaio.ChangePostimage, cleared)
	if err != nil {
		return err
	}
	rec.Changes = append(append(rec.Changes, before...), after...)
	return nil
}

// clear rewrites files in which rows are flagged.
func (u *unmarking) clear(ctx context.Context, w *dropper, j *judge, files []*log.Add, rec *unmarkRecord) error {
	found := make([]*dropped, len(files))
	m := newMeter(u.t, "unmark", len(files), 0)
	err := forEach(ctx, u.t, len(files), func(ctx context.Context, i int) error {
		v, err := j.classify(ctx, files[i])
		if err == nil && v.nFlagged > 0 {
			order := dropOrder{add: files[i], drop: pq.NewBitmap(int(v.rows)), clear: v.flagged, plain: v.nPlain > 0}
			found[i], err = w.file(ctx, order)
		}
		if err != nil {
			return fmt.Errorf("%s: unmark %s: %w", u.t.URL(), files[i].Path, err)
		}
		m.file(v.nFlagged, files[i].Size)
		return nil
	})
	if err != nil {
		return err
	}
	var done []*dropped
	for _, d := range found {
		if d == nil {
			continue
		}
		done = append(done, d)
		rec.Removed = append(rec.Removed, d.removed)
		rec.Added = append(rec.Added, d.added...)
		rec.Result.FilesRewritten++
		rec.Result.RowsCleared += d.cleared
	}
	changes, err := w.changes(ctx, done)
	rec.Changes = append(rec.Changes, changes...)
	return err
}

// repair replaces restored files that a vacuum took by what marking had made of
// them, the flag cleared. The rows do not change, and no reader of the change
// feed is told: the files that it would read are the ones that vanished.
func (u *unmarking) repair(ctx context.Context, w *dropper, before, rec *unmarkRecord) error {
	lost, err := u.vanished(ctx, before)
	if err != nil {
		return err
	}
	rec.Result = before.Result
	rec.Result.FilesRestored -= len(lost)
	live := fileSet{}
	for _, a := range w.snap.Files() {
		live.add(a.Key())
	}
	for _, f := range before.Restored {
		if !containsOriginal(lost, f) {
			if live.has(f.Original.Key()) {
				rec.Restored = append(rec.Restored, f) // to be looked at again
			}
			continue
		}
		rec.Removed = append(rec.Removed, f.Original)
		if f.Kept != nil {
			rec.Added = append(rec.Added, f.Kept)
		}
		if f.Marked == nil {
			continue
		}
		m, err := w.snap.OpenFile(ctx, f.Marked)
		if err != nil {
			return fmt.Errorf("%s: run %s: the previous file %s is gone and so is what was made of it: %w", u.t.URL(), u.run.ID, f.Original.Path, err)
		}
		out := deltaio.RewriteOutput{Rows: liveRows(m)}
		if w.marker != "" {
			out.Omit, out.Updated = []string{w.marker}, out.Rows
		}
		staged, err := w.stager.rewrite(ctx, w.snap, f.Marked, m, []deltaio.RewriteOutput{out})
		if cerr := m.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
		if err := u.same(ctx, w, f.Marked, staged[0].Add); err != nil {
			return err
		}
		rec.Added = append(rec.Added, staged[0].Add)
		rec.Result.FilesRewritten++
	}
	return nil
}

// same reads a rewritten file back and compares it with its source.
func (u *unmarking) same(ctx context.Context, w *dropper, from, to *log.Add) error {
	want, err := w.content.fileSum(ctx, w.snap, from)
	if err != nil {
		return err
	}
	got, err := w.content.fileSum(ctx, w.snap, to)
	if err == nil && got != want {
		err = &CorruptionError{File: to.Path, Got: got, Want: want}
	}
	return err
}

func containsOriginal(list []markedFile, f markedFile) bool {
	for _, l := range list {
		if l.Original != nil && l.Original.Key() == f.Original.Key() {
			return true
		}
	}
	return false
}
