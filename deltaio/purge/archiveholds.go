package purge

import (
	"context"
	"errors"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// ArchiveHolds says whether the archive still holds what was archived and
// verified, and if not, why. Where nothing touched the run's files since, their
// presence and sizes answer; else the rows are read and compared again.
func ArchiveHolds(ctx context.Context, src *deltaio.Table, dst storage.Store, env deltaio.Env, opt VerifyArchiveOptions) (ok bool, why []string, err error) {
	var rec archiveRecord
	if err := readRecord(ctx, opt.Run, opt.Archive, &rec); err != nil {
		return false, nil, fmt.Errorf("archive: %w", err)
	}
	ok, err = archiveUntouched(ctx, dst, env, opt.Run, &rec)
	if ok || err != nil && !gone(err) {
		return ok, nil, err
	}
	v, err := VerifyArchive(ctx, src, dst, env, opt)
	if gone(err) {
		return false, []string{err.Error()}, nil
	}
	if err != nil {
		return false, nil, err
	}
	return v.Agrees, v.Reasons, nil
}

// gone: the archive, or a file of it, is not there any more.
func gone(err error) bool {
	return errors.Is(err, deltaio.ErrNotATable) || errors.Is(err, storage.ErrNotExist)
}

// archiveUntouched: the step is the table's newest of the run, and every file it
// wrote is live and lies in storage with its size.
func archiveUntouched(ctx context.Context, dst storage.Store, env deltaio.Env, r Run, rec *archiveRecord) (bool, error) {
	t, err := deltaio.Open(ctx, dst, env)
	if err != nil {
		return false, err
	}
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return false, err
	}
	step := stepOf(r.ID, StepArchive, rec.Result.Attempt)
	if v, _ := snap.Txn(step.AppID); v != step.Version {
		return false, nil
	}
	live := fileSet{}
	for _, a := range snap.Files() {
		live.add(a.Key())
	}
	for _, a := range rec.Files {
		if !live.has(a.Key()) {
			return false, nil
		}
		info, err := dst.Stat(ctx, a.Key().Path)
		if err != nil {
			return false, err
		}
		if info.Size != a.Size {
			return false, nil
		}
	}
	return true, nil
}
