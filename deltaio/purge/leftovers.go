package purge

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
)

// CommittedMark gives the result of a run's mark; nil when none is committed.
// Only Run.ID and Run.Journal are used.
func CommittedMark(ctx context.Context, t *deltaio.Table, r Run) (*MarkResult, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	var rec markRecord
	at, res, name, err := stands(ctx, t, r, stepOf(r.ID, StepMark, 1), &rec)
	if err != nil || at != committed {
		return nil, err
	}
	return rec.result(res, name), nil
}

// DeletedAt is the time of the commit that deleted the run's rows, as the commit
// itself says it; ok is false when the log does not hold that commit.
func DeletedAt(ctx context.Context, t *deltaio.Table, runID string) (at time.Time, ok bool, err error) {
	res, ok, err := t.FindStep(ctx, stepOf(runID, StepDelete, 1))
	if err != nil || !ok {
		return time.Time{}, false, err
	}
	for _, a := range res.Actions {
		var ms int64
		if a.CommitInfo.Get("timestamp", &ms) {
			return msTime(ms), true, nil
		}
	}
	return time.Time{}, false, nil
}

func msTime(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// FindLeftovers lists the runs whose steps on the table no undo followed: the
// marker column was added, rows were flagged, or (Deleted) the delete is
// committed. Runs that are still going on are among them, and so is every run
// that deleted, since the table does not know what was recorded.
func FindLeftovers(ctx context.Context, t *deltaio.Table) ([]Leftover, error) {
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	txns := map[string]int64{}
	for id, txn := range snap.State().Txns {
		txns[id] = txn.Version
	}
	left := leftoversOf(txns)
	for i := range left {
		if !left[i].Marked {
			continue
		}
		step := deltaio.Step{AppID: AppID(left[i].RunID, StepMark), Version: left[i].Steps[StepMark]}
		res, ok, err := t.FindStep(ctx, step)
		if err != nil {
			return nil, err
		}
		if ok && res.Version >= 0 {
			left[i].MarkVersion = &res.Version
		}
	}
	return left, nil
}

// leftoversOf reads the state of runs from a table's txn versions.
func leftoversOf(txns map[string]int64) []Leftover {
	runs := map[string]map[string]int64{}
	for appID, version := range txns {
		run, step, ok := ParseAppID(appID)
		if !ok {
			continue
		}
		if runs[run] == nil {
			runs[run] = map[string]int64{}
		}
		runs[run][step] = version
	}
	var out []Leftover
	for run, steps := range runs {
		isDone := func(step string) bool { return steps[step]%2 == 1 }
		started := isDone(StepMark) || isDone(StepColumn)
		deleted := isDone(StepDelete)
		undone := steps[StepMark] > 0 && !isDone(StepMark)
		if !deleted && (!started || undone) {
			continue
		}
		out = append(out, Leftover{RunID: run, Steps: steps, Marked: isDone(StepMark) && !deleted, Deleted: deleted})
	}
	slices.SortFunc(out, func(a, b Leftover) int { return strings.Compare(a.RunID, b.RunID) })
	return out
}
