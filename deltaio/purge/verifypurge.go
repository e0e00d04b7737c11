package purge

import (
	"context"
	"errors"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// VerifyPurge checks the table after the delete: no flagged row is left, the
// delete's own actions add up to what it reported, and the version before the
// run is still readable. It writes nothing.
func VerifyPurge(ctx context.Context, t *deltaio.Table, opt VerifyPurgeOptions) (*VerifyPurgeResult, error) {
	if err := opt.Run.check(); err != nil {
		return nil, err
	}
	out := &VerifyPurgeResult{}
	fail := func(format string, args ...any) { out.Reasons = append(out.Reasons, fmt.Sprintf(format, args...)) }
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	out.Version = snap.Version()
	var rec deleteRecord
	res, _, ok, err := done(ctx, t, opt.Run, stepOf(opt.ID, StepDelete, 1), &rec)
	if err != nil {
		return nil, err
	}
	if !ok {
		fail("the log shows no delete of run %s", opt.ID)
		return out, nil
	}
	if err := countFlags(ctx, t, snap, opt.Run, out, fail); err != nil {
		return nil, err
	}
	checkActions(res.Actions, &rec, out, fail)
	if err := checkRows(ctx, t, res.Version, &rec, out, fail); err != nil {
		return nil, err
	}
	if err := checkBefore(ctx, t, opt.Run, res.Version, out); err != nil {
		return nil, err
	}
	out.Agrees = len(out.Reasons) == 0
	return out, nil
}

func countFlags(ctx context.Context, t *deltaio.Table, snap *deltaio.Snapshot, r Run, out *VerifyPurgeResult, fail func(string, ...any)) error {
	n, err := flaggedRows(ctx, t, snap, r)
	if err != nil {
		return err
	}
	out.RowsFlagged = &n
	if n > 0 {
		fail("%d rows are still flagged in column %s", n, r.Column)
	}
	return nil
}

// flaggedRows counts the live rows whose marker is TRUE.
func flaggedRows(ctx context.Context, t *deltaio.Table, snap *deltaio.Snapshot, r Run) (n int64, err error) {
	if r.Column == "" {
		return 0, nil
	}
	j, err := newJudge(snap, r, false)
	if err != nil || j.marker == "" {
		return 0, err
	}
	verdicts, err := classifyAll(ctx, t, j, snap.Files(), "verify: flags")
	for _, v := range verdicts {
		if v != nil {
			n += v.nFlagged
		}
	}
	return n, err
}

// checkActions counts what the delete commit itself says it did.
func checkActions(actions []log.Action, rec *deleteRecord, out *VerifyPurgeResult, fail func(string, ...any)) {
	live := map[deltaio.FileKey]int64{}
	for i, a := range rec.Removed {
		live[a.Key()] = rec.RowsLive[i]
	}
	var n int64
	for _, a := range actions {
		switch {
		case a.Remove != nil:
			rows, ok := live[a.Remove.Key()]
			if !ok {
				fail("the delete commit removes %s, which its record does not know", a.Remove.Path)
				return
			}
			n += rows
		case a.Add != nil:
			rows, ok := a.Add.NumRecords()
			if !ok {
				fail("the delete commit adds %s without a row count", a.Add.Path)
				return
			}
			n -= rows
		}
	}
	out.RowsDeleted = &n
	if n != rec.Result.RowsDeleted {
		fail("the delete commit's actions remove %d rows, its record says %d", n, rec.Result.RowsDeleted)
	}
}

// checkRows compares the table's rows right before and after the delete commit.
func checkRows(ctx context.Context, t *deltaio.Table, version int64, rec *deleteRecord, out *VerifyPurgeResult, fail func(string, ...any)) error {
	if version < 1 {
		return nil
	}
	count := func(v int64) (rows, bytes *int64, err error) {
		snap, err := t.SnapshotAt(ctx, v)
		if errors.Is(err, deltaio.ErrNoVersion) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		return countRows(snap)
	}
	var err error
	if out.RowsBefore, _, err = count(version - 1); err != nil {
		return err
	}
	if out.RowsAfter, out.BytesAfterPurge, err = count(version); err != nil {
		return err
	}
	if out.RowsBefore != nil && out.RowsAfter != nil && *out.RowsBefore-*out.RowsAfter != rec.Result.RowsDeleted {
		fail("the table had %d rows before the delete and %d after; the delete says %d", *out.RowsBefore, *out.RowsAfter, rec.Result.RowsDeleted)
	}
	return nil
}

// countRows adds up what the log knows; rows are nil when a file does not tell.
func countRows(snap *deltaio.Snapshot) (rows, bytes *int64, err error) {
	var n, b int64
	known := true
	for _, a := range snap.Files() {
		r, ok := a.NumRecords()
		if a.DeletionVector != nil {
			r -= a.DeletionVector.Cardinality
		}
		known = known && ok
		n, b = n+r, b+a.Size
	}
	if !known {
		return nil, &b, nil
	}
	return &n, &b, nil
}

// checkBefore: whether the version before the run can still be read. The files
// that are live now are as good as read; the others are looked up one by one. A
// no is a note: this run removes no file before it verifies, so that another
// program's vacuum or log clean-up was here, and no retry brings them back.
func checkBefore(ctx context.Context, t *deltaio.Table, r Run, deleted int64, out *VerifyPurgeResult) error {
	note := func(format string, args ...any) { out.Notes = append(out.Notes, fmt.Sprintf(format, args...)) }
	before := deleted - 1
	res, ok, err := t.FindStep(ctx, stepOf(r.ID, StepMark, 1))
	if err != nil {
		return err
	}
	if ok && res.Version > 0 {
		before = res.Version - 1
	}
	if before < 0 {
		return nil
	}
	out.VersionBefore = &before
	snap, err := t.SnapshotAt(ctx, before)
	if errors.Is(err, deltaio.ErrNoVersion) {
		note("version %d, from before the run, is no longer in the log: another program cleaned it up", before)
		return nil
	}
	if err != nil {
		return err
	}
	_, out.BytesBefore, _ = countRows(snap) // never fails
	now, err := t.Snapshot(ctx)
	if err != nil {
		return err
	}
	live := fileSet{}
	for _, a := range now.Files() {
		live.add(a.Key())
	}
	missing, err := missingFiles(ctx, t, snap, live)
	if err != nil {
		return err
	}
	if out.BeforeReadable = len(missing) == 0; !out.BeforeReadable {
		note("version %d, from before the run, cannot be read any more: another program removed %d of its files, such as %s", before, len(missing), missing[0])
	}
	return nil
}

func missingFiles(ctx context.Context, t *deltaio.Table, snap *deltaio.Snapshot, live fileSet) ([]string, error) {
	files := snap.Files()
	gone := make([]bool, len(files))
	err := forEach(ctx, t, len(files), func(ctx context.Context, i int) error {
		if live.has(files[i].Key()) {
			return nil
		}
		key, err := log.ResolvePath(t.URL(), files[i].Path)
		if err != nil {
			return err
		}
		_, err = t.Store().Stat(ctx, key)
		if gone[i] = errors.Is(err, storage.ErrNotExist); gone[i] {
			return nil
		}
		return err
	})
	var out []string
	for i, g := range gone {
		if g {
			out = append(out, files[i].Path)
		}
	}
	return out, err
}
