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

// conclude writes what belongs to a version beside its commit: the checksum, and
// the checkpoint that delta.checkpointInterval asks for. A checkpoint's failure
// is told and changes nothing: the commit stands, and the next commit that is
// due tries again.
func (c *committer) conclude(ctx context.Context, version int64) error {
	every, err := c.base.integer(propCheckpointEvery, defaultCheckpointEvery)
	if err != nil {
		return err
	}
	due := every > 0 && version > 0 && version%every == 0
	if !due && !c.continuesChecksums(ctx, version) {
		return nil
	}
	st, err := c.base.state.Advance(ctx, c.t.store, version)
	if err != nil {
		if !due {
			return nil // as where the checksum cannot be written
		}
		return fmt.Errorf("%s: checkpoint of version %d: %w", c.t.URL(), version, err)
	}
	// Checksums are for those who look for damage; readers do without. One that
	// cannot be written ends the row of them until the next checkpoint.
	_ = log.WriteChecksum(ctx, c.t.store, st, c.txnID)
	if !due {
		return nil
	}
	snap, err := c.t.snapshot(st)
	if err != nil {
		return err
	}
	return snap.checkpoint(ctx)
}

// continuesChecksums says whether the version before has a checksum, as every
// version of a table has whose writers write them. Tables of engines that write
// none get theirs with our checkpoints.
func (c *committer) continuesChecksums(ctx context.Context, version int64) bool {
	if version == 0 {
		return true
	}
	_, err := c.t.store.Stat(ctx, log.ChecksumKey(version-1))
	return err == nil
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
