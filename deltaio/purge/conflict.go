package purge

import (
	"context"
	"errors"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio"
)

// maxReplans bounds how often a step is planned anew because another writer was
// faster. Files staged before are used again, so that a round costs little.
const maxReplans = 12

// replan runs a step against the newest version until it commits without a
// conflict. A try that fails because another attempt did the step meanwhile, or
// undid it, and swept the staged files away, is repeated to find that out.
func replan(ctx context.Context, t *deltaio.Table, step deltaio.Step, try func(snap *deltaio.Snapshot) (deltaio.CommitResult, error)) (deltaio.CommitResult, error) {
	var last error
	for range maxReplans {
		if err := ctx.Err(); err != nil {
			return deltaio.CommitResult{}, fmt.Errorf("%s: step %s: %w", t.URL(), step.AppID, err)
		}
		snap, err := t.Snapshot(ctx)
		if err != nil {
			return deltaio.CommitResult{}, err
		}
		res, err := try(snap)
		var conflict *deltaio.ConflictError
		if !errors.As(err, &conflict) {
			if err == nil || !movedMeanwhile(ctx, t, step) {
				return res, err
			}
		}
		last = err
	}
	return deltaio.CommitResult{}, fmt.Errorf("%s: step %s: gave up after %d tries against other writers: %w", t.URL(), step.AppID, maxReplans, last)
}

// movedMeanwhile says whether the table shows a step as done or undone. When the
// table cannot be read the answer is no: the error at hand says more.
func movedMeanwhile(ctx context.Context, t *deltaio.Table, step deltaio.Step) bool {
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return false
	}
	v, _ := snap.Txn(step.AppID)
	return v >= step.Version
}

// outcomeOf translates how a commit ended.
func outcomeOf(o deltaio.Outcome) Outcome {
	switch o {
	case deltaio.Committed:
		return Done
	case deltaio.AlreadyDone:
		return AlreadyDone
	case deltaio.Fenced:
		return Fenced
	}
	return Nothing
}
