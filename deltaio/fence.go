package deltaio

import (
	"context"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

// fenceRetries bounds how often a fence steps behind commits that change schema
// or protocol: it depends on neither.
const fenceRetries = 100

// Fence commits an even version of a step's application id, so that a worker
// that wakes late cannot apply the step (or any attempt up to that version).
// AlreadyDone: the fence stands. Fenced: a higher version stands.
func Fence(ctx context.Context, t *Table, step Step, info map[string]any) (CommitResult, error) {
	if step.Version%2 != 0 {
		return CommitResult{}, fmt.Errorf("%s: fence %s: version %d is odd; odd versions mean done", t.URL(), step.AppID, step.Version)
	}
	return t.Commit(ctx, nil, CommitOptions{
		Operation: "FENCE", Parameters: map[string]any{"appId": step.AppID, "version": step.Version},
		Step: &step, Info: info, Rebuild: fenceRetries, Want: WantAppend,
	}, func(context.Context, *Snapshot, int) ([]log.Action, error) { return nil, nil })
}
