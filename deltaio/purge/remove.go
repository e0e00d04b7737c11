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
	out := &RemoveArchivedResult{}
	res, err := replan(ctx, t, step, func(snap *deltaio.Snapshot) (deltaio.CommitResult, error) {
		return removeArchived(ctx, t, snap, opt, step, out)
	})
	if err != nil {
		return nil, err
	}
	if out.Outcome == "" {
		out.Outcome = outcomeOf(res.Outcome)
	}
	out.Version = res.Version
	out.StagedDeleted, err = sweepListed(ctx, t, opt.Run)
	return out, err
}

func removeArchived(ctx context.Context, t *deltaio.Table, snap *deltaio.Snapshot, opt RemoveArchivedOptions, step deltaio.Step, out *RemoveArchivedResult) (deltaio.CommitResult, error) {
	*out = RemoveArchivedResult{}
	have, _ := snap.Txn(step.AppID)
	if have%2 == 1 && have > step.Version { // a later attempt than the caller knew of
		step.Version = have + 1
	}
	var old *runRows
	if have%2 == 1 && have < step.Version {
		var err error
		if v, _ := snap.Property("delta.appendOnly"); strings.EqualFold(v, "true") {
			out.Outcome = ArchiveAppendOnly
			out.RowsLeft, err = countRunRows(ctx, t, snap, opt.ID)
		} else {
			old, err = findRunRows(ctx, t, snap, opt.Run, StepArchive)
		}
		if err != nil {
			return deltaio.CommitResult{}, err
		}
	}
	if old != nil {
		out.RowsRemoved, out.FilesRemoved = old.rows, old.files()
	}
	want := deltaio.WantAppend
	if old.files() > 0 {
		want = deltaio.WantRewrite
	}
	return t.Commit(ctx, snap, deltaio.CommitOptions{
		Operation: "DELETE", Step: &step, Info: opt.Run.info(StepArchive, ""), Want: want,
		Parameters: map[string]any{"predicate": []string{fmt.Sprintf("%s = '%s'", RunIDColumn, opt.ID)}},
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
