package matrix

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

// Steps of the runbook by what their failure means.
var (
	beforeMark  = []string{"PlanPurge"}
	undoable    = []string{"MarkRows", "ArchiveRows", "VerifyArchive"}
	afterDelete = []string{"VerifyPurge", "VacuumTable", "RecordAudit"}
)

// allowed are the outcomes that a fate may lead to in a purge that nobody asked
// to undo. Where the delete is under way both are right; which of them it was,
// the table says.
func allowed(f *fate, p point) []string {
	switch {
	case f == nil, !f.broken && !f.cancelled, slices.Contains(afterDelete, p.activity):
		return []string{evidence.StatusCompleted}
	case f.cancelled && p.activity == "MergeDelete":
		return []string{evidence.StatusCancelled, evidence.StatusCompleted}
	case f.cancelled:
		return []string{evidence.StatusCancelled}
	case slices.Contains(beforeMark, p.activity):
		return []string{evidence.StatusFailed}
	case slices.Contains(undoable, p.activity):
		return []string{evidence.StatusRolledBack}
	}
	return []string{evidence.StatusRolledBack, evidence.StatusCompleted}
}

func runPurge(change ...func(*spec.RetentionPolicy)) func(*testing.T, *world) ending {
	return func(_ *testing.T, w *world) ending { return w.purge(policy(change...), mender(w)) }
}

func checkPurge(t *testing.T, w *world, f *fate, p point, e ending) {
	t.Helper()
	require.Contains(t, allowed(f, p), e.Outcome, "%v", e.err)
	w.agrees(e, flat(fixture()))
}

func TestPurge_any_fate_at_any_call_to_a_store_keeps_the_promises(t *testing.T) {
	t.Parallel()
	scenario{name: "purge", run: runPurge(), check: checkPurge}.try(t)
}

func TestPurge_an_attempt_that_wakes_amid_others_keeps_the_promises(t *testing.T) {
	t.Parallel()
	scenario{
		name: "purge", run: runPurge(), check: checkPurge, only: []string{"MarkRows", "ArchiveRows", "MergeDelete"},
	}.tryWakes(t, 24, 6)
}

// breaking is a base that breaks an activity at its first call to a store, after
// something else has happened.
func breaking(activity string, first func(*world)) func(*world) script {
	return func(w *world) script {
		var once sync.Once
		return func(_ context.Context, a *attempt, _ storage.When, _ storage.Op, _ int) error {
			if a.activity != activity {
				return nil
			}
			once.Do(func() { first(w) })
			return a.breaks()
		}
	}
}

var undoing = []string{"FenceDelete", "RemoveArchived", "UnmarkRows", "RecordAudit"}

// checkUndo holds the undo of a purge whose delete broke against the promises.
func checkUndo(t *testing.T, w *world, f *fate, p point, e ending) {
	t.Helper()
	switch {
	case f == nil || !f.broken:
		require.Equal(t, evidence.StatusRolledBack, e.Outcome, "%v", e.err)
		w.agrees(e, flat(fixture()))
	case p.activity == "RecordAudit":
		require.Equal(t, evidence.StatusRolledBack, e.Outcome)
		require.ErrorContains(t, e.err, "the audit row could not be written")
		require.Equal(t, textsOf(flat(fixture())), w.rows())
		require.Empty(t, w.archived(""))
		require.Zero(t, w.flagged())
	default:
		// The undo itself broke: a person must look, and no row is lost.
		require.Equal(t, evidence.StatusFailed, e.Outcome)
		require.Equal(t, workflows.TypeHalt, errorType(e.err))
		require.Equal(t, textsOf(flat(fixture())), w.rows())
	}
	if f == nil || f.broken {
		w.nextPurgeCompletes()
	}
}

// nextPurgeCompletes starts a purge on what a former one left; it must undo that
// and do its own work.
func (w *world) nextPurgeCompletes() {
	w.t.Helper()
	w.worker.mend()
	e := w.purge(policy(), nil)
	require.Equal(w.t, evidence.StatusCompleted, e.Outcome, "%v", e.err)
	w.agrees(e, flat(fixture()))
}

func TestUndo_any_fate_at_any_call_to_a_store_keeps_the_promises(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(*world){
		"undo":                func(*world) {},
		"undo after OPTIMIZE": func(w *world) { w.optimize() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario{name: name, run: runPurge(), base: breaking("MergeDelete", first), only: undoing, check: checkUndo}.try(t)
		})
	}
}
