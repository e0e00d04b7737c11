package purge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// knownFile is a file that held rows which the run purged.
type knownFile struct {
	key  string // storage key
	what string
}

// history is what a run's records say about its delete.
type history struct {
	files     map[string]knownFile // by key
	deleted   int64                // version of the delete, -1 when the log has lost it
	deletedAt time.Time
}

// loadHistory collects every file that held purged rows: the originals, the
// marked files, what the delete removed, change data files, and files that were
// staged and never committed.
func loadHistory(ctx context.Context, t *deltaio.Table, r Run) (*history, error) {
	h := &history{files: map[string]knownFile{}, deleted: -1}
	stay := map[string]bool{} // written by the run for rows that stay
	marks, _, err := recordsOf[markRecord](ctx, t, r, StepMark)
	if err != nil {
		return nil, err
	}
	for _, m := range marks {
		h.addMark(t, m, stay)
	}
	deletes, res, err := recordsOf[deleteRecord](ctx, t, r, StepDelete)
	if err != nil {
		return nil, err
	}
	if len(deletes) == 0 {
		return nil, fmt.Errorf("%s: run %s has no delete whose record can be found: nothing is to be proved", t.URL(), r.ID)
	}
	if h.deleted = res.Version; h.deleted >= 0 {
		h.deletedAt = msTime(res.Time)
	}
	for _, d := range deletes {
		h.addDelete(t, d, stay)
	}
	for key := range stay { // a kept file may have been removed by the delete as well
		if f, ok := h.files[key]; ok && f.what != removedFile {
			delete(h.files, key)
		}
	}
	return h, h.addStaged(ctx, r, stay)
}

// removedFile is what a file is called that the delete removed.
const removedFile = "file that the delete removed"

func (h *history) addMark(t *deltaio.Table, m *markRecord, stay map[string]bool) {
	for _, f := range m.Files {
		h.add(t, f.Original, "previous file")
		h.add(t, f.Marked, "marked file")
		if f.Kept != nil {
			stay[f.Kept.Key().Path] = true
		}
	}
	h.addChanges(m.Changes)
}

func (h *history) addDelete(t *deltaio.Table, d *deleteRecord, stay map[string]bool) {
	if h.deleted < 0 && d.At.After(h.deletedAt) { // the log has lost the commit
		h.deletedAt = d.At
	}
	for _, a := range d.Removed {
		h.add(t, a, removedFile)
	}
	for _, a := range d.Added {
		stay[a.Key().Path] = true
	}
	h.addChanges(d.Changes)
}

// addStaged adds what attempts staged in vain.
func (h *history) addStaged(ctx context.Context, r Run, stay map[string]bool) error {
	for _, step := range []string{StepMark, StepDelete} {
		staged, err := stagedRecords(ctx, r, step)
		if err != nil {
			return err
		}
		for _, rec := range staged {
			for _, key := range rec.Keys {
				if _, ok := h.files[key]; !ok && !stay[key] {
					h.files[key] = knownFile{key, "file that was staged and never committed"}
				}
			}
		}
	}
	return nil
}

func (h *history) add(t *deltaio.Table, add *log.Add, what string) {
	if add == nil {
		return
	}
	key, err := log.ResolvePath(t.URL(), add.Path)
	if err != nil {
		key = add.Key().Path // never committed by us; looked up as it stands
	}
	h.files[key] = knownFile{key, what}
}

func (h *history) addChanges(changes []*log.AddCDCFile) {
	for _, c := range changes {
		if key, err := log.DecodePath(c.Path); err == nil { // our own paths decode
			h.files[key] = knownFile{key, "change data file"}
		}
	}
}

// recordsOf reads the record of a committed step, or, where the log no longer
// tells which one was committed, all records of the step.
func recordsOf[T any](ctx context.Context, t *deltaio.Table, r Run, step string) ([]*T, deltaio.CommitResult, error) {
	rec := new(T)
	res, _, ok, err := done(ctx, t, r, stepOf(r.ID, step, 1), rec)
	var lost *LostRecordError
	switch {
	case err == nil && ok:
		return []*T{rec}, res, nil
	case err != nil && (!errors.As(err, &lost) || res.Version >= 0):
		return nil, res, err
	}
	res.Version = -1
	if err == nil { // no entry: was it ever there?
		snap, err := t.Snapshot(ctx)
		if err != nil {
			return nil, res, err
		}
		for appID := range snap.State().Txns {
			if run, _, ours := ParseAppID(appID); ours && run == r.ID {
				return nil, res, nil // the run's entries have not expired: the step was never done
			}
		}
	}
	names, err := r.Journal.List(ctx, step+"-")
	if err != nil {
		return nil, res, fmt.Errorf("list run folder %s: %w", r.Journal.URL(), err)
	}
	var out []*T
	for _, name := range names {
		if strings.Contains(name, "/") || !strings.HasSuffix(name, ".json") {
			continue
		}
		rec := new(T)
		if err := readRecord(ctx, r, name, rec); err != nil {
			return nil, res, err
		}
		out = append(out, rec)
	}
	return out, res, nil
}

// ErasureDue is when the last file that held purged rows leaves a retention, and
// how many are still within it. nil: none of them is left in storage.
func ErasureDue(ctx context.Context, t *deltaio.Table, r Run, retention time.Duration) (due *time.Time, young int, err error) {
	h, err := loadHistory(ctx, t, r)
	if err != nil {
		return nil, 0, err
	}
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return nil, 0, err
	}
	ages := tombstoneTimes(snap)
	now := t.Env().Now()
	for key := range h.files {
		info, err := t.Store().Stat(ctx, key)
		if errors.Is(err, storage.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		end := endOfRetention(key, info, ages, retention)
		if due == nil || end.After(*due) {
			due = &end
		}
		if end.After(now) {
			young++
		}
	}
	return due, young, nil
}

// endOfRetention: a tombstoned file ages from its tombstone, one that the log no
// longer knows from its own time.
func endOfRetention(key string, info storage.Info, ages map[string]int64, retention time.Duration) time.Time {
	if ms, ok := ages[key]; ok {
		return msTime(ms).Add(retention)
	}
	return info.ModTime.UTC().Add(retention)
}

func tombstoneTimes(snap *deltaio.Snapshot) map[string]int64 {
	out := map[string]int64{}
	for _, rm := range snap.State().Tombstones {
		var ms int64
		if rm.DeletionTimestamp != nil {
			ms = *rm.DeletionTimestamp
		}
		key := rm.Key().Path
		out[key] = max(out[key], ms)
	}
	return out
}
