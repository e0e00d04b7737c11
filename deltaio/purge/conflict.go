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
// conflict.
func replan(ctx context.Context, t *deltaio.Table, step string, try func(snap *deltaio.Snapshot) (deltaio.CommitResult, error)) (deltaio.CommitResult, error) {
	var last error
	for range maxReplans {
		if err := ctx.Err(); err != nil {
			return deltaio.CommitResult{}, fmt.Errorf("%s: step %s: %w", t.URL(), step, err)
		}
		snap, err := t.Snapshot(ctx)
		if err != nil {
			return deltaio.CommitResult{}, err
		}
		res, err := try(snap)
		var conflict *deltaio.ConflictError
		if !errors.As(err, &conflict) {
			return res, err
		}
		last = err
	}
	return deltaio.CommitResult{}, fmt.Errorf("%s: step %s: other writers were faster %d times in a row: %w", t.URL(), step, maxReplans, last)
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
