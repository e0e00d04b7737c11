package matrix

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

func restoreOf(runID string, change ...func(*spec.RestoreRequest)) spec.RestoreRequest {
	r := spec.RestoreRequest{
		APIVersion: spec.APIVersion, Kind: spec.KindRestoreRequest, RunID: runID, Keys: []string{"id"},
		HoldUntil: "2025-12-31", Reason: "purged by a wrong date", Audit: spec.Audit{Table: auditName},
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

// noErasure: no proof of erasure waits.
func noErasure(env *testsuite.TestWorkflowEnvironment) {
	env.OnRequestCancelExternalWorkflow(mock.Anything, mock.Anything, mock.Anything).Return(nil).Maybe()
}

// restore runs RestorePurge.
func (w *world) restore(r spec.RestoreRequest) ending {
	w.t.Helper()
	env := w.execute(workflows.PurgeID(tableName), workflows.TypeRestorePurge, r, nil, noErasure)
	e := ending{err: env.GetWorkflowError(), env: env}
	e.RunID = r.RunID
	if e.err == nil {
		var out workflows.RestoreResult
		require.NoError(w.t, env.GetWorkflowResult(&out))
		e.Outcome = out.Outcome
		e.RowsReleased = out.Rows.RowsRestored
	}
	return e
}

// purged gives a lakehouse after a purge, an hour later.
func purgedWorld(t tb) (*world, ending) {
	t.Helper()
	w := salesWorld(t)
	e := w.purge(policy(), nil)
	require.NoError(t, e.err)
	w.clock.advance(time.Hour)
	return w, e
}

func TestRestore_rows_come_back_and_the_next_purge_holds_them(t *testing.T) {
	t.Parallel()
	w, e := purgedWorld(t)
	_, gone := dueOf(flat(fixture()))
	r := w.restore(restoreOf(e.RunID))
	require.NoError(t, r.err)
	require.Equal(t, evidence.StatusRestored, r.Outcome)
	require.EqualValues(t, len(gone), *r.RowsReleased)
	require.Equal(t, textsOf(flat(fixture())), w.rows())
	require.Zero(t, w.flagged())
	require.Equal(t, textsOf(gone), w.archived(e.RunID), "the archive keeps its copies")
	require.Contains(t, w.statuses(e.RunID), evidence.StatusRestored)
	w.verifies(e.RunID)

	w.clock.advance(time.Hour)
	next := w.purge(policy(), nil)
	require.NoError(t, next.err)
	require.Zero(t, *next.RowsDeleted)
	require.EqualValues(t, len(gone)+1, *next.RowsHeld, "what was restored, and what is in litigation")
	require.Equal(t, textsOf(flat(fixture())), w.rows())

	w.clock.set(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	last := w.purge(policy(), nil)
	require.NoError(t, last.err, "after the hold they are due again")
	require.GreaterOrEqual(t, *last.RowsDeleted, int64(len(gone)))
}

func TestRestore_a_part_comes_back_by_where(t *testing.T) {
	t.Parallel()
	w, e := purgedWorld(t)
	r := w.restore(restoreOf(e.RunID, func(r *spec.RestoreRequest) { r.Where = "shop = 'Évora'" }))
	require.NoError(t, r.err)
	back, _ := split(flat(fixture()), func(s sale) bool { return s.due() && s.shop != "Évora" })
	require.Equal(t, textsOf(back), w.rows())
}

func TestRestore_dry_run_counts_and_changes_nothing(t *testing.T) {
	t.Parallel()
	w, e := purgedWorld(t)
	before := w.listing("", "control/", "_lakewarden/")
	r := w.restore(restoreOf(e.RunID, func(r *spec.RestoreRequest) { r.DryRun = true }))
	require.NoError(t, r.err)
	require.Equal(t, evidence.StatusDryRun, r.Outcome)
	require.EqualValues(t, 6, *r.RowsReleased)
	require.Equal(t, before, w.listing("", "control/", "_lakewarden/"))
	require.False(t, w.exists("control.lakewarden_holds"), "no hold without a restore")
}

func TestRestore_a_key_that_exists_refuses_and_holds_nothing(t *testing.T) {
	t.Parallel()
	w, e := purgedWorld(t)
	again := newSale(10, "2024-12-03", "Évora", "CLOSED")
	again.name = "the same key, sold again"
	w.append(tableName, []sale{again})
	before := w.listing("", "control/", "_lakewarden/")
	r := w.restore(restoreOf(e.RunID))
	require.Equal(t, workflows.TypeRefused, errorType(r.err))
	require.ErrorContains(t, r.err, "1 of the archived rows exist in the table")
	require.Equal(t, before, w.listing("", "control/", "_lakewarden/"))
	next := w.purge(policy(), nil)
	require.NoError(t, next.err)
	require.EqualValues(t, 1, *next.RowsDeleted, "a restore that was refused holds nothing")
}

func TestRestore_an_unknown_run_is_refused(t *testing.T) {
	t.Parallel()
	w, _ := purgedWorld(t)
	before := w.listing("")
	r := w.restore(restoreOf("2f1c9d5e-6f0e-4a3b-9a57-1c1d7a2b3c4d"))
	require.Equal(t, workflows.TypeRefused, errorType(r.err))
	require.Equal(t, before, w.listing(""))
}

func TestRestore_a_run_that_deleted_nothing_is_refused(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	e := w.purge(policy(asking), decide(workflows.UpdateReject))
	require.Equal(t, evidence.StatusRejected, e.Outcome)
	before := w.listing("", "_lakewarden/")
	r := w.restore(restoreOf(e.RunID))
	require.Equal(t, workflows.TypeRefused, errorType(r.err))
	require.Equal(t, before, w.listing("", "_lakewarden/"))
}

// restores runs the restore of a purge that nothing disturbs.
func restores(t *testing.T, w *world) ending {
	t.Helper()
	played := w.worker.swap(nil)
	e := w.purge(policy(), nil)
	require.NoError(t, e.err)
	w.worker.play(played)
	return w.restore(restoreOf(e.RunID))
}

// openHolds are the holds that were registered and not ended.
func (w *world) openHolds() (open []string) {
	w.t.Helper()
	const registry = "control.lakewarden_holds"
	if !w.exists(registry) {
		return nil
	}
	read := func(where string) []string {
		ids, err := texts(w.ctx, w.snapshot(registry), []string{"hold_id"}, where)
		require.NoError(w.t, err)
		return ids
	}
	ended := read("ended_at IS NOT NULL")
	for _, id := range read("ended_at IS NULL") {
		if !slices.Contains(ended, id) {
			open = append(open, id)
		}
	}
	return open
}

// checkRestore: the rows are back once and recorded, or not at all.
func checkRestore(t *testing.T, w *world, f *fate, p point, e ending) {
	t.Helper()
	stay, gone := dueOf(flat(fixture()))
	require.Equal(t, textsOf(gone), w.archived(e.RunID))
	require.Zero(t, w.flagged())
	back := slices.Equal(textsOf(flat(fixture())), w.rows())
	if !back {
		require.Equal(t, textsOf(stay), w.rows(), "all or nothing")
	}
	require.Equal(t, back, len(w.openHolds()) == 1, "what is back is held, and nothing else")
	switch {
	case f == nil || !f.broken && !f.cancelled:
		require.NoError(t, e.err)
		require.True(t, back)
	case f.broken && p.activity == "RecordAudit":
		require.Error(t, e.err)
		require.True(t, back)
		return
	case e.err == nil:
		require.True(t, back)
	default:
		require.False(t, back, "a restore that fails leaves the table as it was: %v", e.err)
	}
	require.Equal(t, back, slices.Contains(w.statuses(e.RunID), evidence.StatusRestored), "the audit agrees with the table")
	w.verifies(e.RunID)
}

func TestRestore_any_fate_at_any_call_to_a_store_keeps_the_promises(t *testing.T) {
	t.Parallel()
	scenario{name: "restore", run: restores, check: checkRestore}.try(t)
}

// purgeThenRestore purges, and two days later restores, while the proof of erasure
// waits.
func purgeThenRestore(ctx workflow.Context, p spec.RetentionPolicy) (workflows.RestoreResult, error) {
	under := func(id string) workflow.Context {
		return workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: id})
	}
	var purged workflows.PurgeResult
	var out workflows.RestoreResult
	if err := workflow.ExecuteChildWorkflow(under(workflows.PurgeID(p.Table)), workflows.TypePurgeTable, p).Get(ctx, &purged); err != nil {
		return out, err
	}
	if err := workflow.Sleep(ctx, 48*time.Hour); err != nil {
		return out, err
	}
	err := workflow.ExecuteChildWorkflow(under(workflows.RestoreID(purged.RunID)), workflows.TypeRestorePurge, restoreOf(purged.RunID)).Get(ctx, &out)
	return out, err
}

func TestRestore_stops_the_pending_proof_of_erasure(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	env := w.newEnv("both")
	w.worker.cancelWorkflow = env.CancelWorkflow
	w.clock.follow(env.Now)
	env.RegisterWorkflow(purgeThenRestore)
	env.ExecuteWorkflow(purgeThenRestore, policy(proving))
	w.clock.set(env.Now())
	require.NoError(t, env.GetWorkflowError())
	var r workflows.RestoreResult
	require.NoError(t, env.GetWorkflowResult(&r))
	require.Equal(t, evidence.StatusRestored, r.Outcome)
	require.Equal(t, []string{evidence.StatusCompleted, evidence.StatusVacuumed, evidence.StatusRestored}, w.statuses(r.RunID))
	require.True(t, temporal.IsCanceledError(env.GetWorkflowErrorByID(workflows.ErasureID(r.RunID))))
	require.Equal(t, textsOf(flat(fixture())), w.rows())
	require.Less(t, w.clock.Now().Sub(start), 7*24*time.Hour, "nothing waits any more")
}
