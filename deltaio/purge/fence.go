package purge

import (
	"context"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// FenceDelete makes sure that no attempt of the run can delete any more, and
// deletes what such attempts staged. When the delete is committed it gives its
// result instead: then nothing may be undone. Only Run.ID and Run.Journal are
// used.
func FenceDelete(ctx context.Context, t *deltaio.Table, r Run) (*DeleteResult, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	var rec deleteRecord
	at, res, name, err := fenceUnlessDone(ctx, t, r, stepOf(r.ID, StepDelete, 1), &rec)
	if err != nil {
		return nil, err
	}
	if at == committed {
		return rec.result(res, name), nil
	}
	_, err = sweep(ctx, t, r, nil, StepDelete)
	return nil, err
}

// fenceUnlessDone fences a step, or finds it committed and reads its record.
func fenceUnlessDone(ctx context.Context, t *deltaio.Table, r Run, step deltaio.Step, v any) (at standing, res deltaio.CommitResult, name string, err error) {
	for range maxReplans {
		at, res, name, err = stands(ctx, t, r, step, v)
		if err != nil || at != pending {
			return at, res, name, err
		}
		if err := fenceIf(ctx, t, r, step); err != nil {
			return pending, res, "", err
		}
	}
	return pending, res, "", fmt.Errorf("%s: fence step %s: other writers were faster %d times in a row", t.URL(), step.AppID, maxReplans)
}

// fenceIf commits the version behind a step unless the step's entry has moved
// meanwhile: a fence must not cover up that the step was done.
func fenceIf(ctx context.Context, t *deltaio.Table, r Run, step deltaio.Step) error {
	_, name, _ := ParseAppID(step.AppID)
	_, err := replan(ctx, t, step, func(snap *deltaio.Snapshot) (deltaio.CommitResult, error) {
		if v, _ := snap.Txn(step.AppID); v >= step.Version {
			return deltaio.CommitResult{Outcome: deltaio.NothingToDo}, nil
		}
		fence := deltaio.Step{AppID: step.AppID, Version: step.Version + 1}
		return t.Commit(ctx, snap, deltaio.CommitOptions{
			Operation: "FENCE", Parameters: map[string]any{"appId": fence.AppID, "version": fence.Version},
			Step: &fence, Info: r.info(name, ""),
		}, noActions)
	})
	return err
}

// ProbeRights checks that objects can be listed, written and deleted under the
// root.
func ProbeRights(ctx context.Context, s storage.Store, _ string) error { return storage.Probe(ctx, s) }
