package purge_test

import (
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/purge"
)

// purged is a purge that ran to its end.
type purged struct {
	plan    *purge.PlanResult
	mark    *purge.MarkResult
	archive *purge.ArchiveResult
	verify  *purge.VerifyResult
	del     *purge.DeleteResult
	checked *purge.VerifyPurgeResult
}

func (w *world) plan(r purge.Run) *purge.PlanResult {
	w.t.Helper()
	res, err := purge.PlanPurge(w.ctx, w.table, purge.PlanOptions{Run: r})
	require.NoError(w.t, err)
	return res
}

func (w *world) mark(r purge.Run, plan *purge.PlanResult) *purge.MarkResult {
	w.t.Helper()
	res, err := purge.MarkRows(w.ctx, w.table, purge.MarkOptions{Run: r, Plan: plan.Record})
	require.NoError(w.t, err)
	return res
}

func (w *world) archiveRows(r purge.Run, plan *purge.PlanResult, attempt int) *purge.ArchiveResult {
	w.t.Helper()
	res, err := purge.ArchiveRows(w.ctx, w.table, w.archive, w.env(), purge.ArchiveOptions{Run: r, Plan: plan.Record, Attempt: attempt, ArchivedAt: start})
	require.NoError(w.t, err)
	return res
}

func (w *world) verify(r purge.Run, a *purge.ArchiveResult) *purge.VerifyResult {
	w.t.Helper()
	res, err := purge.VerifyArchive(w.ctx, w.table, w.archive, w.env(), purge.VerifyArchiveOptions{Run: r, Archive: a.Record})
	require.NoError(w.t, err)
	return res
}

func (w *world) delete(r purge.Run, plan *purge.PlanResult, a *purge.ArchiveResult) *purge.DeleteResult {
	w.t.Helper()
	res, err := purge.DeleteMarked(w.ctx, w.table, purge.DeleteOptions{Run: r, Plan: plan.Record, Archive: a.Record, ArchiveStore: w.archive})
	require.NoError(w.t, err)
	return res
}

func (w *world) check(r purge.Run) *purge.VerifyPurgeResult {
	w.t.Helper()
	res, err := purge.VerifyPurge(w.ctx, w.table, purge.VerifyPurgeOptions{Run: r})
	require.NoError(w.t, err)
	return res
}

func (w *world) unmark(r purge.Run) *purge.UnmarkResult {
	w.t.Helper()
	res, err := purge.UnmarkRows(w.ctx, w.table, purge.UnmarkOptions{Run: r})
	require.NoError(w.t, err)
	return res
}

func (w *world) removeArchived(r purge.Run) *purge.RemoveArchivedResult {
	w.t.Helper()
	res, err := purge.RemoveArchived(w.ctx, w.archive, w.env(), purge.RemoveArchivedOptions{Run: r, Attempt: 3})
	require.NoError(w.t, err)
	return res
}

// purge runs all steps and expects each to succeed.
func (w *world) purge(r purge.Run) purged {
	w.t.Helper()
	var p purged
	p.plan = w.plan(r)
	p.mark = w.mark(r, p.plan)
	p.archive = w.archiveRows(r, p.plan, 1)
	p.verify = w.verify(r, p.archive)
	require.True(w.t, p.verify.Agrees, "%v", p.verify.Reasons)
	p.del = w.delete(r, p.plan, p.archive)
	require.Equal(w.t, purge.Done, p.del.Outcome)
	p.checked = w.check(r)
	require.True(w.t, p.checked.Agrees, "%v", p.checked.Reasons)
	return p
}
