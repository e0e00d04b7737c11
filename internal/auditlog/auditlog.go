// Package auditlog keeps the audit chain (internal/evidence) in a Delta table:
// it creates or adopts the table, appends rows one after another, and reads them
// back. It never changes a row that is there.
//
// Invariants:
//  1. The chain never forks: each append carries the next version of one txn
//     application id, so that of two writers at once one has to hash anew.
//  2. A row is appended once per run, status and execution time.
package auditlog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

// appID is the writer's application id: one for all runs, so that the table's
// txn entries do not grow with them.
const appID = "lakewarden/audit"

// maxAttempts bounds how often an append gives way to other writers.
const maxAttempts = 100

// An append that gave way waits at most giveWayFirst, then twice as long each
// time up to giveWayMost.
const (
	giveWayFirst = 5 * time.Millisecond
	giveWayMost  = time.Second
)

// Log is the audit table under a store.
type Log struct {
	store storage.Store
	env   deltaio.Env
	cache *Cache // nil: none
}

// Appended says where a row stands.
type Appended struct {
	Row     evidence.AuditRow // as it is in the table, hashes included
	Version int64             // of the audit table that shows it
	Existed bool              // the row had been written before
}

// New gives the audit log under a store; it does no I/O.
func New(store storage.Store, env deltaio.Env) *Log { return &Log{store: store, env: env} }

// With gives the log with a cache that it shares with others; nil is none.
func (l *Log) With(c *Cache) *Log { return &Log{store: l.store, env: l.env, cache: c} }

// Check says, without writing, whether rows can be appended: the table is
// missing, ours, or of a shape that can be adopted.
func (l *Log) Check(ctx context.Context) error {
	t, err := deltaio.Open(ctx, l.store, l.env)
	if errors.Is(err, deltaio.ErrNotATable) {
		return nil
	}
	if err != nil {
		return err
	}
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return err
	}
	if err := snap.Check(deltaio.WantAppend); err != nil {
		return err
	}
	if _, err := evidence.CheckAuditTable(snap.Schema()); err != nil {
		return fmt.Errorf("%s: %w", l.store.URL(), err)
	}
	return nil
}

// Append adds a row at the end of the chain. A row of the same run, status and
// execution time that is there already is returned instead.
func (l *Log) Append(ctx context.Context, row evidence.AuditRow) (Appended, error) {
	leave, err := l.cache.enter(ctx, l.store.URL())
	if err != nil {
		return Appended{}, err
	}
	defer leave()
	t, err := l.ensure(ctx)
	if err != nil {
		return Appended{}, err
	}
	for attempt := range maxAttempts {
		done, err := l.tryAppend(ctx, t, row)
		if err != nil || done != nil {
			return deref(done), err
		}
		if err := giveWay(ctx, attempt); err != nil {
			return Appended{}, err
		}
	}
	return Appended{}, fmt.Errorf("%s: other writers were faster %d times; try again", l.store.URL(), maxAttempts)
}

// giveWay waits a little before the next attempt, longer the more there were:
// each waits another time, so that writers do not meet again.
func giveWay(ctx context.Context, attempt int) error {
	most := min(giveWayFirst<<min(attempt, 10), giveWayMost)
	timer := time.NewTimer(rand.N(most)) //nolint:gosec // spreads writers, guards nothing
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tryAppend gives nil when another writer was faster.
func (l *Log) tryAppend(ctx context.Context, t *deltaio.Table, row evidence.AuditRow) (*Appended, error) {
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := l.rows(ctx, snap)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.RunID == row.RunID && r.Status == row.Status && r.ExecTime.UnixMicro() == row.ExecTime.UnixMicro() {
			return &Appended{Row: r, Version: snap.Version(), Existed: true}, nil
		}
	}
	sealed := row.Seal(evidence.Tip(rows))
	rec, err := evidence.AuditRecord(snap.Schema(), []evidence.AuditRow{sealed})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.store.URL(), err)
	}
	defer rec.Release()
	current, _ := snap.Txn(appID)
	res, err := deltaio.Append(ctx, t, deltaio.AppendOptions{
		Base: snap, Step: &deltaio.Step{AppID: appID, Version: current + 1}, FilePrefix: "audit",
	}, once(rec))
	var conflict *deltaio.ConflictError
	switch {
	case errors.As(err, &conflict):
		return nil, nil
	case err != nil:
		return nil, err
	case res.Outcome == deltaio.Committed:
		return &Appended{Row: sealed, Version: res.Version}, nil
	}
	// AlreadyDone and Fenced: the txn version was taken, by another writer or by
	// ourselves with a lost answer; the rows tell.
	return nil, nil
}

// ensure opens the table, creating or adopting it first.
func (l *Log) ensure(ctx context.Context) (*deltaio.Table, error) {
	t, err := deltaio.OpenOrCreate(ctx, l.store, l.env, deltaio.CreateOptions{
		Schema: evidence.AuditSchema(), Properties: map[string]string{"delta.appendOnly": "true"},
		Description: "Purge runs and their outcomes, append-only and hash-chained",
	})
	if err != nil {
		return nil, err
	}
	return t, l.adopt(ctx, t)
}

// adopt adds the columns that a table of the older shape lacks.
func (l *Log) adopt(ctx context.Context, t *deltaio.Table) error {
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return err
	}
	missing, err := evidence.CheckAuditTable(snap.Schema())
	if err != nil {
		return fmt.Errorf("%s: %w", l.store.URL(), err)
	}
	for _, f := range missing {
		if _, err := deltaio.AddColumn(ctx, t, deltaio.AddColumnOptions{Name: f.Name, Type: f.Type}); err != nil {
			return err
		}
	}
	return nil
}

func once(rec arrow.Record) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) { yield(rec, nil) }
}

func deref(a *Appended) Appended {
	if a == nil {
		return Appended{}
	}
	return *a
}
