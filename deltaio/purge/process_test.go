package purge_test

import (
	"context"
	"errors"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// errDead is what everything answers in a process that was killed.
var errDead = errors.New("the process is dead")

// process is a worker: all its stores die together at one of its writes, or wait
// there for a while.
type process struct {
	mu     sync.Mutex
	writes int
	dead   bool

	dieAt int          // nth write, counted from 1; 0: never
	when  storage.When // before it happens, or after, its answer lost
	hook  func(nth int)
}

func (p *process) wrap(s storage.Store) storage.Store {
	return storage.Hook(s, storage.Hooks{
		Before: func(_ context.Context, op storage.Op) error {
			p.mu.Lock()
			if p.dead {
				p.mu.Unlock()
				return errDead
			}
			var nth int
			if op.Writes() {
				p.writes++
				nth = p.writes
				if p.writes == p.dieAt && p.when == storage.BeforeCall {
					p.dead = true
					p.mu.Unlock()
					return errDead
				}
			}
			p.mu.Unlock()
			if nth > 0 && p.hook != nil {
				p.hook(nth)
			}
			return nil
		},
		After: func(_ context.Context, op storage.Op) error {
			p.mu.Lock()
			defer p.mu.Unlock()
			if op.Writes() && p.when == storage.AfterCall && p.dieAt > 0 && p.writes >= p.dieAt {
				p.dead = true
			}
			if p.dead {
				return errDead
			}
			return nil
		},
	})
}

// in gives the world as a process sees it.
func (w *world) in(p *process) *world {
	w.t.Helper()
	out := *w
	t, err := deltaio.Open(w.ctx, p.wrap(w.data), w.env())
	require.NoError(w.t, err)
	out.table = t
	out.inProcess = p
	return &out
}

// folderOf is the run folder of a run.
func (w *world) folderOf(id string) folder {
	s := storage.Sub(w.folders, id)
	if w.inProcess != nil {
		s = w.inProcess.wrap(s)
	}
	return folder{s}
}

func (w *world) archiveStore() storage.Store {
	if w.archiveVia != nil {
		return w.archiveVia
	}
	if w.inProcess != nil {
		return w.inProcess.wrap(w.archive)
	}
	return w.archive
}

// The steps as a worker calls them: with errors for answers.

func (w *world) tryMark(r purge.Run, plan *purge.PlanResult) (purge.Outcome, error) {
	r.Journal = w.folderOf(r.ID)
	res, err := purge.MarkRows(w.ctx, w.table, purge.MarkOptions{Run: r, Plan: plan.Record})
	if err != nil {
		return "", err
	}
	return res.Outcome, nil
}

func (w *world) tryArchive(r purge.Run, plan *purge.PlanResult, attempt int) (*purge.ArchiveResult, error) {
	r.Journal = w.folderOf(r.ID)
	return purge.ArchiveRows(w.ctx, w.table, w.archiveStore(), w.env(), purge.ArchiveOptions{Run: r, Plan: plan.Record, Attempt: attempt, ArchivedAt: start})
}

func (w *world) tryDelete(r purge.Run, plan *purge.PlanResult, a *purge.ArchiveResult) (*purge.DeleteResult, error) {
	r.Journal = w.folderOf(r.ID)
	return purge.DeleteMarked(w.ctx, w.table, purge.DeleteOptions{Run: r, Plan: plan.Record, Archive: a.Record, ArchiveStore: w.archiveStore()})
}

// tryCompensate undoes a run as the workflow does. deleted: it was too late.
func (w *world) tryCompensate(r purge.Run) (deleted bool, err error) {
	r.Journal = w.folderOf(r.ID)
	done, err := purge.FenceDelete(w.ctx, w.table, r)
	if err != nil || done != nil {
		return done != nil, err
	}
	if _, err := purge.RemoveArchived(w.ctx, w.archiveStore(), w.env(), purge.RemoveArchivedOptions{Run: r, Attempt: 3}); err != nil {
		return false, err
	}
	_, err = purge.UnmarkRows(w.ctx, w.table, purge.UnmarkOptions{Run: r})
	return false, err
}
