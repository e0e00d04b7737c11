package purge

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
)

func msTime(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// FindLeftovers lists the runs whose steps on the table have no end: the marker
// column was added or rows were flagged, and neither a delete nor an undo
// followed. A run that is still going on is among them.
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
		ended := isDone(StepDelete) || steps[StepMark] > 0 && !isDone(StepMark)
		if !started || ended {
			continue
		}
		out = append(out, Leftover{RunID: run, Steps: steps, Marked: isDone(StepMark)})
	}
	slices.SortFunc(out, func(a, b Leftover) int { return strings.Compare(a.RunID, b.RunID) })
	return out
}
