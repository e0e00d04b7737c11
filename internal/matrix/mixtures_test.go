package matrix

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/workflows"
)

// chance draws what other writers do. It is no rapid.T, since changes amid a step
// happen on the step's goroutine; its seed is drawn.
type chance struct{ *rand.Rand }

func oneOf[T any](c chance, of ...T) T { return of[c.IntN(len(of))] }

func (m *meddled) someIDs(c chance) []int64 {
	var ids []int64
	for _, i := range c.Perm(len(m.model))[:min(len(m.model), 1+c.IntN(4))] {
		ids = append(ids, m.model[i].id)
	}
	return ids
}

func (m *meddled) someSale(c chance, day string) sale {
	m.next++
	s := newSale(m.next, day, oneOf(c, "Évora", "A/A 50%", "", "new shop"), "CLOSED")
	s.flag = oneOf(c, "", "", "false")
	return s
}

// meddles makes one change. While a commit is being made, late holds the run
// may not see any more, as they are no part of the table's log, and flags that
// others set are theirs: late makes neither.
func (m *meddled) meddles(c chance, late bool) {
	m.t.Helper()
	if late {
		m.changes(c)
		return
	}
	day, flag := someDay(c), oneOf(c, "", "false", "true")
	oneOf(c,
		func() { m.changes(c) }, func() { m.changes(c) }, func() { m.changes(c) },
		func() { m.appends(flagged(m.someSale(c, day)), m.someSale(c, day)) },
		func() { m.updates(func(s *sale) { s.flag = flag }, m.someIDs(c)...) },
		func() { m.holds(m.someIDs(c)...) },
	)()
}

// changes makes one change to rows.
func (m *meddled) changes(c chance) {
	m.t.Helper()
	day, status := someDay(c), oneOf(c, "OPEN", "LITIGATION")
	oneOf(c,
		func() { m.appends(m.someSale(c, day), m.someSale(c, day)) },
		func() { m.updates(func(s *sale) { s.amount *= 3 }, m.someIDs(c)...) },
		func() { m.updates(func(s *sale) { s.day = day }, m.someIDs(c)...) },
		func() { m.updates(func(s *sale) { s.status = status }, m.someIDs(c)...) },
		func() { m.deletes(m.someIDs(c)...) },
		m.optimize,
	)()
}

func someDay(c chance) string {
	return oneOf(c, "2024-01-01", "2025-02-07", "2025-02-08", "2025-03-09", "")
}

// Random changes while a purge waits and before it archives, verifies, deletes
// and undoes, with either answer and workers that die: it ends as the model says.
func TestMixtures_end_as_the_model_says(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMeddled(t)
		c := chance{rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))}
		answer := rapid.SampledFrom([]string{workflows.UpdateApprove, workflows.UpdateApprove, workflows.UpdateReject}).Draw(t, "answer")
		waiting := rapid.IntRange(0, 5).Draw(t, "changes while it waits")
		m.worker.play(m.amid(c, rapid.IntRange(0, 4).Draw(t, "changes amid the steps"), rapid.IntRange(0, 2).Draw(t, "workers killed")))
		decided := decide(answer)
		e := m.purge(policy(asking, holding), func(env *testsuite.TestWorkflowEnvironment, s workflows.Status) {
			for ; s.Stage == workflows.StageApproval && waiting > 0; waiting-- {
				m.meddles(c, false)
			}
			decided(env, s)
		})
		switch {
		case e.Outcome == evidence.StatusCompleted && answer == workflows.UpdateApprove:
			m.settled(e)
		case e.Outcome == evidence.StatusRejected && answer == workflows.UpdateReject, e.Outcome == evidence.StatusRolledBack: // they kept changing
			m.takenBack(e)
		default:
			t.Fatalf("%s after %s: %v", e.Outcome, answer, e.err)
		}
	})
}

// takenBack holds a purge that was undone against the model.
func (m *meddled) takenBack(e ending) {
	m.t.Helper()
	require.Equal(m.t, textsOf(m.model), m.rows())
	require.Empty(m.t, m.archived(""))
	require.Zero(m.t, m.flagged())
	m.verifies(e.RunID)
}

// amid makes changes right before some calls of the steps that follow the mark,
// and kills some workers there and at the mark.
func (m *meddled) amid(c chance, changes, kills int) script {
	return func(_ context.Context, a *attempt, when storage.When, op storage.Op, n int) error {
		if !slices.Contains([]string{"MarkRows", "ArchiveRows", "VerifyArchive", "MergeDelete", "UnmarkRows", "RemoveArchived"}, a.activity) {
			return nil
		}
		if when != storage.BeforeCall || !op.Writes() && n != 1 {
			return nil
		}
		switch draw := c.IntN(8); {
		case draw == 0 && changes > 0 && a.activity != "MarkRows" && !m.deleted():
			changes--
			m.meddles(c, a.activity == "MergeDelete" || a.activity == "UnmarkRows")
		case draw == 1 && kills > 0:
			kills--
			return a.die()
		}
		return nil
	}
}

// deleted says whether a purge has deleted: the model is frozen by then.
func (m *meddled) deleted() bool {
	m.t.Helper()
	for app, txn := range m.snapshot(tableName).State().Txns {
		if strings.HasSuffix(app, "/delete") && txn.Version%2 == 1 {
			return true
		}
	}
	return false
}
