package activities

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.temporal.io/sdk/temporal"

	"github.com/lakewarden/lakewarden/deltaio"
)

// Holds lie in tables of their own, and no commit spans two tables. So the
// delete notes the versions of these tables before it reads them, and looks
// again right before its commit. What remains is a hold that is committed
// between that look and the delete's commit: it came as late as one that comes
// after the delete.

// holdVersions are the newest versions of the tables that hold rows of a run's
// table, by name; -1 for one that does not exist (yet).
func (a *Activities) holdVersions(ctx context.Context, l *loaded, env deltaio.Env) (map[string]int64, error) {
	tables := []string{holdsTable}
	if h := l.plan.Policy.Hold; h != nil && h.Table != "" {
		tables = append(tables, h.Table)
	}
	out := map[string]int64{}
	for _, name := range tables {
		version, err := a.newestVersion(ctx, name, env)
		if err != nil {
			return nil, fmt.Errorf("holds: %w", err)
		}
		out[name] = version
	}
	return out, nil
}

func (a *Activities) newestVersion(ctx context.Context, name string, env deltaio.Env) (int64, error) {
	t, err := a.open(ctx, name, env)
	if errors.Is(err, deltaio.ErrNotATable) {
		return -1, nil
	}
	if err != nil {
		return 0, err
	}
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	return snap.Version(), nil
}

// sameHolds stops a delete whose holds may have changed since they were read;
// the next attempt reads them anew.
func (a *Activities) sameHolds(ctx context.Context, l *loaded, then map[string]int64, env deltaio.Env) error {
	now, err := a.holdVersions(ctx, l, env)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(then)) {
		if now[name] != then[name] {
			return temporal.NewApplicationErrorWithOptions(
				fmt.Sprintf("%s changed (version %d to %d) while the delete of run %s was prepared: its holds are read again", name, then[name], now[name], l.plan.RunID),
				ErrorConflict, temporal.ApplicationErrorOptions{})
		}
	}
	return nil
}
