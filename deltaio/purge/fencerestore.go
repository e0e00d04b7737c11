package purge

import (
	"context"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio"
)

// FenceRestore makes sure that no attempt of a restore can add rows any more. When
// the restore is committed it gives its result instead: then the rows are back.
// Only Run.ID and Run.Journal are used; they are the restore's own.
func FenceRestore(ctx context.Context, t *deltaio.Table, r Run) (*RestoreResult, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	back := &restoring{t: t, opt: RestoreOptions{Run: r}, step: stepOf(r.ID, StepRestore, 1)}
	for range maxReplans {
		res, err := back.before(ctx)
		switch {
		case err != nil:
			return nil, err
		case res == nil: // neither done nor fenced
		case res.Outcome == Fenced:
			_, err := sweepListed(ctx, t, r)
			return nil, err
		default:
			return res, nil
		}
		if err := fenceIf(ctx, t, r, back.step); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: fence step %s: other writers were faster %d times in a row", t.URL(), back.step.AppID, maxReplans)
}
