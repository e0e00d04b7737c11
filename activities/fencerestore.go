package activities

import (
	"context"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/purge"
)

// FenceRestoreResult says whether the rows were back before the fence could be
// set.
type FenceRestoreResult struct {
	Restored *RestoreRowsResult `json:"restored,omitempty"`
	// HoldEnded: the rows are not back, and nothing is held for them any more.
	HoldEnded bool `json:"hold_ended,omitempty"`
}

// FenceRestore makes sure that no attempt of a restore adds rows any more, and
// says whether one had. Where none had, it then ends the restore's hold: in this
// order, since rows that are back must never be without one. Its input is that of
// the restore.
func (a *Activities) FenceRestore(ctx context.Context, in RestoreRowsInput) (*FenceRestoreResult, error) {
	env, stop := a.beat(ctx, "fence restore")
	defer stop()
	found, err := a.FindRun(ctx, FindRunInput{RunID: in.Request.RunID, AuditTable: in.Request.Audit.Table})
	if err != nil {
		return nil, err
	}
	table, err := a.open(ctx, found.Run.Table, env)
	if err != nil {
		return nil, fail(ctx, err)
	}
	folder, err := a.Lake.Run(ctx, in.RestoreID)
	if err != nil {
		return nil, fail(ctx, err)
	}
	done, err := purge.FenceRestore(ctx, table, purge.Run{ID: in.RestoreID, Journal: folder})
	if err != nil {
		return nil, fail(ctx, err)
	}
	if done == nil {
		if err := a.endHold(ctx, in, found, env); err != nil {
			return nil, fail(ctx, err)
		}
		return &FenceRestoreResult{HoldEnded: true}, nil
	}
	until, err := time.Parse(time.DateOnly, in.Request.HoldUntil)
	if err != nil {
		return nil, refused("hold_until %q: want a day as yyyy-MM-dd", in.Request.HoldUntil)
	}
	r, err := restoreResult(done, in, until)
	return &FenceRestoreResult{Restored: r}, err
}
