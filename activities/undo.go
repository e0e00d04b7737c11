package activities

import (
	"context"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
)

// FenceDelete makes sure that no attempt can delete any more, and says whether
// one had.
func (a *Activities) FenceDelete(ctx context.Context, in UndoInput) (*FenceDeleteResult, error) {
	env, stop := a.beat(ctx, "fence")
	defer stop()
	l, err := a.load(ctx, in.Run, env)
	if err != nil {
		return nil, fail(ctx, err)
	}
	done, err := purge.FenceDelete(ctx, l.table, purge.Run{ID: l.plan.RunID, Journal: l.folder})
	if err != nil {
		return nil, fail(ctx, err)
	}
	if done == nil {
		return &FenceDeleteResult{}, nil
	}
	r, err := deleteResult(done, nil, in.Run)
	if err != nil {
		return nil, err
	}
	return &FenceDeleteResult{Deleted: true, Delete: r}, nil
}

// UnmarkRows fences the mark and takes the flags back.
func (a *Activities) UnmarkRows(ctx context.Context, in UndoInput) (*UnmarkRowsResult, error) {
	env, stop := a.beat(ctx, "unmark")
	defer stop()
	l, err := a.load(ctx, in.Run, env)
	if err != nil {
		return nil, fail(ctx, err)
	}
	if !l.plan.Policy.Mark.On() {
		return &UnmarkRowsResult{Note: "nothing was flagged"}, nil
	}
	run, err := a.purgeRun(ctx, l)
	if err != nil {
		return nil, fail(ctx, err)
	}
	r, err := purge.UnmarkRows(ctx, l.table, purge.UnmarkOptions{Run: run})
	if err != nil {
		return nil, fail(ctx, err)
	}
	if r.Outcome == purge.DeletedBefore {
		return nil, halt("the delete of run %s is committed; its marks are not taken back", in.Run.RunID)
	}
	return &UnmarkRowsResult{RowsUnmarked: r.RowsCleared, FilesRestored: r.FilesRestored, FilesRewritten: r.FilesRewritten, Version: r.Version}, nil
}

// fenceFirst fences the delete before anything else of a run is undone: a late
// attempt to archive recognises the undo by it, and a delete that is committed
// stops the undo.
func fenceFirst(ctx context.Context, t *deltaio.Table, run purge.Run) error {
	done, err := purge.FenceDelete(ctx, t, run)
	if err != nil {
		return err
	}
	if done != nil {
		return halt("the delete of run %s is committed; nothing of it is undone", run.ID)
	}
	return nil
}
