package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

// attempts bounds how often rows are archived anew, as in the workflow.
const attempts = 5

// frozen is the clock of all criteria: a run's steps must agree about it.
var frozen = time.Now()

// purging is a table with what the steps of its purge share.
type purging struct {
	table   *deltaio.Table
	archive storage.Store
	run     purge.Run
}

func openPurge(ctx context.Context, r *request) (*purging, error) {
	t, err := openTable(ctx, r.Table, env())
	if err != nil {
		return nil, err
	}
	p := &purging{table: t, run: purge.Run{ID: r.Run, Column: r.Column}}
	if r.Archive != "" {
		if p.archive, err = openDir(r.Archive); err != nil {
			return nil, err
		}
	}
	if p.run.Journal, err = openRun(r.Folder, r.Run); err != nil {
		return nil, err
	}
	if r.Where != "" {
		where, err := expr.Parse(r.Where)
		if err != nil {
			return nil, err
		}
		p.run.Criteria = purge.Criteria{Match: where, Context: expr.Context{Now: frozen, Zone: time.UTC}}
	}
	return p, nil
}

func openDir(dir string) (storage.Store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return storage.OpenLocal(dir)
}

func openRun(dir, id string) (deltaio.Journal, error) {
	s, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	return evidence.OpenRun(s, id)
}

// step makes an operation of a step.
func step[T any](do func(ctx context.Context, p *purging, r *request) (T, error)) operation {
	return func(ctx context.Context, r *request) (any, error) {
		p, err := openPurge(ctx, r)
		if err != nil {
			return nil, err
		}
		return do(ctx, p, r)
	}
}

var (
	plan = step(func(ctx context.Context, p *purging, _ *request) (*purge.PlanResult, error) {
		snap, err := p.table.Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		if _, err := purge.CheckArchive(ctx, snap, p.archive, env(), p.run.Column); err != nil {
			return nil, err
		}
		return purge.PlanPurge(ctx, p.table, purge.PlanOptions{Run: p.run})
	})
	mark = step(func(ctx context.Context, p *purging, r *request) (*purge.MarkResult, error) {
		return purge.MarkRows(ctx, p.table, purge.MarkOptions{Run: p.run, Plan: r.Plan})
	})
	unmark = step(func(ctx context.Context, p *purging, _ *request) (*purge.UnmarkResult, error) {
		return purge.UnmarkRows(ctx, p.table, purge.UnmarkOptions{Run: p.run})
	})
	archive = step(func(ctx context.Context, p *purging, r *request) (*purge.ArchiveResult, error) {
		return purge.ArchiveRows(ctx, p.table, p.archive, env(), purge.ArchiveOptions{
			Run: p.run, Plan: r.Plan, Attempt: r.Attempt, ArchivedAt: time.Now(),
		})
	})
	unarchive = step(func(ctx context.Context, p *purging, r *request) (*purge.RemoveArchivedResult, error) {
		return purge.RemoveArchived(ctx, p.archive, env(), purge.RemoveArchivedOptions{Run: p.run, Attempt: r.Attempt})
	})
	verifyArchive = step(func(ctx context.Context, p *purging, r *request) (*purge.VerifyResult, error) {
		return purge.VerifyArchive(ctx, p.table, p.archive, env(), purge.VerifyArchiveOptions{Run: p.run, Archive: r.Record})
	})
	deleteRows = step(func(ctx context.Context, p *purging, r *request) (*purge.DeleteResult, error) {
		return purge.DeleteMarked(ctx, p.table, purge.DeleteOptions{
			Run: p.run, Plan: r.Plan, Archive: r.Record, ArchiveStore: p.archive, MatchKeys: r.Keys,
		})
	})
	verify = step(func(ctx context.Context, p *purging, _ *request) (*purge.VerifyPurgeResult, error) {
		return purge.VerifyPurge(ctx, p.table, purge.VerifyPurgeOptions{Run: p.run})
	})
)

// purged is a whole purge in numbers.
type purged struct {
	Outcome  purge.Outcome       `json:"outcome"`
	Plan     *purge.PlanResult   `json:"plan"`
	Mark     *purge.MarkResult   `json:"mark"`
	Delete   *purge.DeleteResult `json:"delete"`
	Attempts int                 `json:"attempts"`
}

// purgeAll runs the steps in the workflow's order, archiving anew while others
// change the flagged rows.
func purgeAll(ctx context.Context, r *request) (any, error) {
	p, err := openPurge(ctx, r)
	if err != nil {
		return nil, err
	}
	snap, err := p.table.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := purge.CheckArchive(ctx, snap, p.archive, env(), p.run.Column); err != nil {
		return nil, err
	}
	var out purged
	if out.Plan, err = purge.PlanPurge(ctx, p.table, purge.PlanOptions{Run: p.run}); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	if p.run.Column != "" {
		if out.Mark, err = purge.MarkRows(ctx, p.table, purge.MarkOptions{Run: p.run, Plan: out.Plan.Record}); err != nil {
			return nil, fmt.Errorf("mark: %w", err)
		}
	}
	for out.Attempts < attempts {
		out.Attempts++
		done, err := p.tryDelete(ctx, &out)
		if err != nil {
			return nil, err
		}
		if done {
			return out, nil
		}
	}
	return out, p.undo(ctx)
}

func (p *purging) tryDelete(ctx context.Context, out *purged) (bool, error) {
	a, err := purge.ArchiveRows(ctx, p.table, p.archive, env(), purge.ArchiveOptions{
		Run: p.run, Plan: out.Plan.Record, Attempt: out.Attempts, ArchivedAt: time.Now(),
	})
	if err != nil {
		return false, fmt.Errorf("archive: %w", err)
	}
	v, err := purge.VerifyArchive(ctx, p.table, p.archive, env(), purge.VerifyArchiveOptions{Run: p.run, Archive: a.Record})
	if err != nil {
		return false, fmt.Errorf("verify archive: %w", err)
	}
	if !v.Agrees {
		return false, fmt.Errorf("archive and table differ: %v", v.Reasons)
	}
	out.Delete, err = purge.DeleteMarked(ctx, p.table, purge.DeleteOptions{
		Run: p.run, Plan: out.Plan.Record, Archive: a.Record, ArchiveStore: p.archive,
	})
	if err != nil {
		return false, fmt.Errorf("delete: %w", err)
	}
	if out.Outcome = out.Delete.Outcome; out.Outcome != purge.Done && out.Outcome != purge.NothingLeft {
		return false, nil
	}
	check, err := purge.VerifyPurge(ctx, p.table, purge.VerifyPurgeOptions{Run: p.run})
	if err != nil {
		return false, fmt.Errorf("verify: %w", err)
	}
	if out.Outcome == purge.Done && !check.Agrees {
		return false, fmt.Errorf("the table is not as it should be: %v", check.Reasons)
	}
	return true, nil
}

// undo is what the workflow does when every attempt found other rows.
func (p *purging) undo(ctx context.Context) error {
	if _, err := purge.FenceDelete(ctx, p.table, p.run); err != nil {
		return fmt.Errorf("fence: %w", err)
	}
	_, err := purge.RemoveArchived(ctx, p.archive, env(), purge.RemoveArchivedOptions{Run: p.run, Attempt: attempts})
	if err == nil && p.run.Column != "" {
		_, err = purge.UnmarkRows(ctx, p.table, purge.UnmarkOptions{Run: p.run})
	}
	if err != nil {
		return fmt.Errorf("undo: %w", err)
	}
	return nil
}

// undoRun takes a run back whose steps failed.
func undoRun(ctx context.Context, r *request) (any, error) {
	p, err := openPurge(ctx, r)
	if err != nil {
		return nil, err
	}
	return nil, p.undo(ctx)
}

// restoreRows puts purged rows back, as a run of its own.
func restoreRows(ctx context.Context, r *request) (any, error) {
	p, err := openPurge(ctx, r)
	if err != nil {
		return nil, err
	}
	archived, err := deltaio.Open(ctx, p.archive, env())
	if err != nil {
		return nil, err
	}
	journal, err := openRun(r.Folder, r.PurgeOf)
	if err != nil {
		return nil, err
	}
	if r.PurgeOf == "" {
		return nil, errors.New("restore_rows: rows of which run?")
	}
	return purge.RestoreRows(ctx, p.table, archived, purge.RestoreOptions{
		Run: p.run, PurgeRunID: r.PurgeOf, PurgeJournal: journal, Keys: r.Keys, Context: expr.Context{Now: frozen, Zone: time.UTC},
	})
}
