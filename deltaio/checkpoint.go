package deltaio

import (
	"context"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

// Checkpoint writes a checkpoint of the newest version and gives that version.
func Checkpoint(ctx context.Context, t *Table) (int64, error) {
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return 0, err
	}
	return snap.Version(), snap.checkpoint(ctx)
}

func (s *Snapshot) checkpoint(ctx context.Context) error {
	if err := s.Check(WantCheckpoint); err != nil {
		return err
	}
	if err := log.WriteCheckpoint(ctx, s.table.store, s.state, s.table.env.nowMillis()); err != nil {
		return fmt.Errorf("%s: checkpoint of version %d: %w", s.table.URL(), s.Version(), err)
	}
	return nil
}

// checkpointIfDue writes the checkpoint that delta.checkpointInterval asks for.
// Its failure is told and changes nothing: the commit stands, and the next
// commit that is due tries again.
func (t *Table) checkpointIfDue(ctx context.Context, base *Snapshot, version int64) error {
	every, err := base.integer(propCheckpointEvery, defaultCheckpointEvery)
	if err != nil || every <= 0 {
		return err
	}
	if version == 0 || version%every != 0 {
		return nil
	}
	st, err := base.state.Advance(ctx, t.store, version)
	if err != nil {
		return fmt.Errorf("%s: checkpoint of version %d: %w", t.URL(), version, err)
	}
	snap, err := t.snapshot(st)
	if err != nil {
		return err
	}
	return snap.checkpoint(ctx)
}

// CleanLog deletes log files past delta.logRetentionDuration that a checkpoint
// replaces. It does nothing when delta.enableExpiredLogCleanup is false.
func CleanLog(ctx context.Context, t *Table) (log.Cleanup, error) {
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return log.Cleanup{}, err
	}
	if err := snap.Check(WantVacuum); err != nil {
		return log.Cleanup{}, err
	}
	if v, ok := snap.Property("delta.enableExpiredLogCleanup"); ok && v == "false" {
		return log.Cleanup{Skipped: "delta.enableExpiredLogCleanup is false"}, nil
	}
	c, err := log.CleanExpired(ctx, t.store, snap.state, t.env.nowMillis())
	if err != nil {
		return c, fmt.Errorf("%s: clean the log: %w", t.URL(), err)
	}
	return c, nil
}
