package deltaio

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// Errors of opening and creating, wrapped with the table's address.
var (
	// ErrNotATable: no Delta log lies under the root.
	ErrNotATable = errors.New("not a Delta table")
	// ErrExists: Create found a table.
	ErrExists = errors.New("table already exists")
	// ErrNoVersion: the log does not reach back (or forward) to the version or
	// time asked for.
	ErrNoVersion = errors.New("version is not available")
)

// Table is a Delta table under the root of a store. It is safe for concurrent
// use. Each call of Snapshot looks at the log; what an earlier call has replayed
// is not replayed again.
type Table struct {
	store storage.Store
	env   Env

	mu   sync.Mutex
	last *log.State   // the newest state replayed so far; states are immutable
	mark storage.Info // the commit file of last: another one means another table
}

// Open finds the table under the store's root: ErrNotATable when there is none.
func Open(ctx context.Context, s storage.Store, env Env) (*Table, error) {
	env, err := env.withDefaults()
	if err != nil {
		return nil, err
	}
	t := &Table{store: s, env: env}
	if _, err := log.Latest(ctx, s); err != nil {
		return nil, t.wrap(err)
	}
	return t, nil
}

// Store is the store under whose root the table lies.
func (t *Table) Store() storage.Store { return t.store }

// Env is what the table was opened with, defaults filled in.
func (t *Table) Env() Env { return t.env }

// URL is the root's address.
func (t *Table) URL() string { return t.store.URL() }

// Snapshot is the newest version. It fails with *UnsupportedError when the table
// may not be read.
func (t *Table) Snapshot(ctx context.Context) (*Snapshot, error) {
	st, err := t.newest(ctx)
	if err != nil {
		return nil, err
	}
	return t.snapshot(st)
}

// newest replays what was committed since the last call.
func (t *Table) newest(ctx context.Context) (*log.State, error) {
	t.mu.Lock()
	last, mark := t.last, t.mark
	t.mu.Unlock()
	st, err := t.replay(ctx, last, mark)
	if err != nil {
		return nil, t.wrap(err)
	}
	if st == last {
		return st, nil
	}
	mark, err = t.store.Stat(ctx, log.CommitKey(st.Version))
	if err != nil {
		return st, nil // a checkpoint may outlive its commit: nothing to remember it by
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last, t.mark = st, mark
	return st, nil
}

// replay goes on from the last state where the log still is the one it came
// from: a table dropped and made anew under the same root has other commits.
func (t *Table) replay(ctx context.Context, last *log.State, mark storage.Info) (*log.State, error) {
	if last != nil {
		info, err := t.store.Stat(ctx, log.CommitKey(last.Version))
		if err == nil && info.Size == mark.Size && info.ModTime.Equal(mark.ModTime) {
			// A failure to advance is no verdict: the full replay gives one.
			if st, err := last.Advance(ctx, t.store, -1); err == nil {
				return st, nil
			}
		}
	}
	return log.Load(ctx, t.store, -1)
}

// SnapshotAt is the given version: ErrNoVersion when the log has lost it.
func (t *Table) SnapshotAt(ctx context.Context, version int64) (*Snapshot, error) {
	if version < 0 {
		return nil, fmt.Errorf("%s: version %d: %w", t.URL(), version, ErrNoVersion)
	}
	st, err := log.Load(ctx, t.store, version)
	if err != nil {
		return nil, t.wrap(err)
	}
	return t.snapshot(st)
}

// SnapshotAsOf is the newest version committed at or before the time.
func (t *Table) SnapshotAsOf(ctx context.Context, at time.Time) (*Snapshot, error) {
	v, err := log.AtTime(ctx, t.store, at.UnixMilli())
	if err != nil {
		return nil, t.wrap(err)
	}
	return t.SnapshotAt(ctx, v)
}

// wrap adds the table's address and the sentinels of this package.
func (t *Table) wrap(err error) error {
	var gone *log.VersionError
	var foreign *log.ProtocolError
	switch {
	case errors.As(err, &foreign):
		return t.refuseLog(foreign)
	case errors.Is(err, log.ErrNoTable):
		return fmt.Errorf("%s: %w", t.URL(), ErrNotATable)
	case errors.As(err, &gone), errors.Is(err, log.ErrTimeBeforeFirst):
		return fmt.Errorf("%s: %w: %w", t.URL(), ErrNoVersion, err)
	}
	return fmt.Errorf("%s: %w", t.URL(), err)
}

// refuseLog says in the gate's words that the log itself must not be read.
func (t *Table) refuseLog(e *log.ProtocolError) error {
	out := &UnsupportedError{
		Table: t.URL(), Feature: e.Feature, Want: WantRead, Why: e.Reason,
		Do: "upgrade lakewarden, or use the engine that raised the protocol",
	}
	if out.Feature == "" {
		out.Feature = "protocol"
		out.Why = fmt.Sprintf("reader version %d: %s", e.MinReaderVersion, e.Reason)
	} else if f := featureNamed(e.Feature); f != nil && f.read != nil {
		if a := f.read(nil); a != nil { // the row of such a feature looks at nothing
			out.Why, out.Do = a.why, a.do
		}
	}
	return out
}
