package activities

import (
	"context"

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
	return &FenceDeleteResult{Deleted: true, Delete: deleteResult(done, nil)}, nil
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
