package purge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// RemoveArchived comes after FenceDelete. It fences archiving and takes the run's rows out of the archive in
// the same commit, so that no attempt can add any afterwards. An append-only
// archive keeps them: it is fenced, and the result says how many are left.
func RemoveArchived(ctx context.Context, dst storage.Store, env deltaio.Env, opt RemoveArchivedOptions) (*RemoveArchivedResult, error) {
	if err := opt.Run.check(); err != nil {
		return nil, err
	}
	t, err := deltaio.Open(ctx, dst, env)
	if errors.Is(err, deltaio.ErrNotATable) {
		return &RemoveArchivedResult{Outcome: Nothing}, nil
	}
	if err != nil {
		return nil, err
	}
	step := deltaio.Step{AppID: AppID(opt.ID, StepArchive), Version: int64(2 * max(1, opt.Attempt))}
	res, err := replan(ctx, t, step, func(snap *deltaio.Snapshot) (deltaio.CommitResult, error) {
		return removeArchived(ctx, t, snap, opt.Run, step)
	})
	if err != nil {
		return nil, err
	}
	out := &RemoveArchivedResult{}
	if _, err := committedRecord(ctx, opt.Run, "un"+StepArchive, res, out); err != nil {
		return nil, err
	}
	if out.Version = res.Version; out.Outcome == "" {
		out.Outcome = outcomeOf(res.Outcome)
	}
	out.StagedDeleted, err = sweepListed(ctx, t, opt.Run)
	return out, err
}

func removeArchived(ctx context.Context, t *deltaio.Table, snap *deltaio.Snapshot, r Run, step deltaio.Step) (deltaio.CommitResult, error) {
	have, _ := snap.Txn(step.AppID)
	switch {
	case have%2 == 0 && have >= step.Version: // done before
		step.Version = have
		res, _, err := t.FindStep(ctx, step)
		return res, err
	case have > step.Version: // an attempt beyond those that the caller knew of
		step.Version = have + 1
	}
	out := RemoveArchivedResult{}
	var old *runRows
	if have%2 == 1 {
		var err error
		if v, _ := snap.Property("delta.appendOnly"); strings.EqualFold(v, "true") {
			out.Outcome = ArchiveAppendOnly
			out.RowsLeft, err = countRunRows(ctx, t, snap, r.ID)
		} else if old, err = findRunRows(ctx, t, snap, r, StepArchive); err == nil {
			out.RowsRemoved, out.FilesRemoved = old.rows, old.files()
		}
		if err != nil {
			return deltaio.CommitResult{}, err
		}
	}
	name, _, err := writeRecord(ctx, r, "un"+StepArchive, t.Env().NewID(), out)
	if err != nil {
		return deltaio.CommitResult{}, err
	}
	want := deltaio.WantAppend
	if old.files() > 0 {
		want = deltaio.WantRewrite
	}
	return t.Commit(ctx, snap, deltaio.CommitOptions{
		Operation: "DELETE", Step: &step, Info: r.info("un"+StepArchive, name), Want: want, Rewritten: true,
		Parameters: map[string]any{"predicate": []string{fmt.Sprintf("%s = '%s'", RunIDColumn, r.ID)}},
		Metrics:    map[string]any{"numDeletedRows": out.RowsRemoved, "numRemovedFiles": out.FilesRemoved},
	}, func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
		return old.actions(t.Env().Now().UnixMilli()), nil
	})
}

func countRunRows(ctx context.Context, t *deltaio.Table, snap *deltaio.Snapshot, runID string) (n int64, err error) {
	files, err := findRunFiles(ctx, t, snap, runID)
	for _, f := range files {
		n += f.n
	}
	return n, err
}

// sweepListed deletes the run's files that nothing refers to, found by listing:
// a worker that died while it wrote has told nobody their names. It is called
// after the fence only.
func sweepListed(ctx context.Context, t *deltaio.Table, r Run) (deleted int, err error) {
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	refs := referenced(snap)
	for info, err := range t.Store().List(ctx, "", "") {
		if err != nil {
			return deleted, fmt.Errorf("%s: look for staged files: %w", t.URL(), err)
		}
		if refs[info.Key] || !ownFile(info.Key, r.ID) {
			continue
		}
		if err := deleteStaged(ctx, t, info.Key, &deleted); err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// sweepAttempts deletes what the archiving attempts up to one that is decided wrote
// and nothing refers to: neither the newest version nor keep. It lists the
// archive, as a worker that died has not told the names of its last files.
func sweepAttempts(ctx context.Context, t *deltaio.Table, r Run, attempt int, keep map[string]bool) error {
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return err
	}
	refs := referenced(snap)
	for info, err := range t.Store().List(ctx, "", "") {
		if err != nil {
			return fmt.Errorf("%s: look for staged files: %w", t.URL(), err)
		}
		if keep[info.Key] || refs[info.Key] || !ownFile(info.Key, r.ID) || !ofAttempts(info.Key, r.ID, attempt) {
			continue
		}
		if err := deleteStaged(ctx, t, info.Key, new(int)); err != nil {
			return err
		}
	}
	return nil
}

// ofAttempts says whether an archiving attempt up to the given one named the file.
func ofAttempts(key, runID string, attempt int) bool {
	base := key[strings.LastIndexByte(key, '/')+1:]
	for k := 1; k <= attempt; k++ {
		if strings.HasPrefix(base, filePrefix(runID, fmt.Sprintf("%s%d", StepArchive, k))) {
			return true
		}
	}
	return false
}

// referenced are the keys that the newest version names, live or tombstoned.
func referenced(snap *deltaio.Snapshot) map[string]bool {
	refs := map[string]bool{}
	for _, a := range snap.Files() {
		refs[a.Key().Path] = true
	}
	for _, rm := range snap.State().Tombstones {
		refs[rm.Key().Path] = true
	}
	return refs
}

func deleteStaged(ctx context.Context, t *deltaio.Table, key string, deleted *int) error {
	switch err := t.Store().Delete(ctx, key); {
	case err == nil:
		*deleted++
	case !errors.Is(err, storage.ErrNotExist): // somebody else was faster
		return fmt.Errorf("%s: delete staged file %s: %w", t.URL(), key, err)
	}
	return nil
}
