package purge

import (
	"context"

	"github.com/lakewarden/lakewarden/deltaio"
)

// FenceRestore makes sure that no attempt of a restore can add rows any more. When
// the restore is committed it gives its result instead: then the rows are back.
// Only Run.ID and Run.Journal are used; they are the restore's own.
func FenceRestore(ctx context.Context, t *deltaio.Table, r Run) (*RestoreResult, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	var rec restoreRecord
	at, res, name, err := fenceUnlessDone(ctx, t, r, stepOf(r.ID, StepRestore, 1), &rec)
	if err != nil {
		return nil, err
	}
	if at == committed {
		return rec.result(res, name), nil
	}
	_, err = sweepListed(ctx, t, r)
	return nil, err
}
