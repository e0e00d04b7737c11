package activities

import (
	"context"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

// settle looks for runs that the table's log shows without an end. What a closed
// one left is undone, or recorded where it had deleted; an open one refuses the
// plan. It gives the runs that were undone.
func (p *planner) settle(ctx context.Context) ([]string, error) {
	found, err := purge.FindLeftovers(ctx, p.table)
	if err != nil {
		return nil, err
	}
	if err := p.recordEnded(ctx, found); err != nil {
		return nil, err
	}
	var closed []string
	for _, l := range found {
		if l.RunID == p.in.RunID || l.Deleted {
			continue
		}
		old, err := p.a.oldPlan(ctx, l.RunID)
		if _, retry := classify(err); err != nil && retry { // a store that does not answer is no plan that is lost
			return nil, err
		}
		if err != nil {
			p.refuse("leftover_unknown", "Compare the run folders; clear what it left by hand, then start again.",
				"run %s began on this table and did not end, and its plan cannot be read: %v", l.RunID, err)
			continue
		}
		over, err := p.a.closed(ctx, old.Caller)
		if err != nil {
			return nil, err
		}
		if !over {
			p.refuse("run_open", "Wait for it, or cancel it.", "run %s of workflow %s is under way on this table", l.RunID, old.Caller.WorkflowID)
			continue
		}
		if err := p.undoLeftover(ctx, old); err != nil {
			return nil, fmt.Errorf("undo what run %s left: %w", l.RunID, err)
		}
		closed = append(closed, l.RunID)
		p.out.Warnings = append(p.out.Warnings, "run "+l.RunID+" had ended without undoing its steps; that was done now")
	}
	if len(closed) > 0 { // the table has moved
		p.snap, err = p.table.Snapshot(ctx)
	}
	return closed, err
}

// undoLeftover takes the flags of a closed run back, and its rows out of the archive.
func (p *planner) undoLeftover(ctx context.Context, old *frozenPlan) error {
	folder, err := p.a.Lake.Run(ctx, old.RunID)
	if err != nil {
		return err
	}
	run, err := p.a.purgeRun(ctx, &loaded{plan: *old, folder: folder, table: p.table, env: p.env})
	if err != nil {
		return err
	}
	if err := fenceFirst(ctx, p.table, run); err != nil {
		return err
	}
	if old.Policy.Archive.On() {
		store, err := p.a.Lake.Table(ctx, old.Policy.Archive.Table)
		if err != nil {
			return err
		}
		if _, err := purge.RemoveArchived(ctx, store, p.env, purge.RemoveArchivedOptions{Run: run, Attempt: MaxArchiveAttempts}); err != nil {
			return err
		}
	}
	_, err = purge.UnmarkRows(ctx, p.table, purge.UnmarkOptions{Run: run})
	return err
}

// MaxArchiveAttempts is the last attempt of ArchiveRows that an undo fences. A
// runbook that tried more often could be overtaken by an attempt that wakes after
// its undo; workflows checks its own bound against this one at compile time.
const MaxArchiveAttempts = 8

func (a *Activities) closed(ctx context.Context, c Caller) (bool, error) {
	if a.Runs == nil || c.WorkflowRunID == "" {
		return false, nil
	}
	return a.Runs.Closed(ctx, c.WorkflowID, c.WorkflowRunID)
}

// oldPlan reads the plan of a run of which only the id is known.
func (a *Activities) oldPlan(ctx context.Context, runID string) (*frozenPlan, error) {
	folder, err := a.Lake.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	var f frozenPlan
	return &f, evidence.ReadPlan(ctx, folder, &f)
}
