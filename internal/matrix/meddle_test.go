package matrix

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

const holdsName = "control.legal_holds"

// holding lets a table of keys hold rows, besides the litigation.
func holding(p *spec.RetentionPolicy) {
	p.Hold.Table, p.Hold.Keys = holdsName, []string{"id"}
}

// meddled is a lakehouse whose table other programs change while a purge is under
// way, and a model of the table: its rows with the flags they should carry.
type meddled struct {
	*world
	model []sale
	held  []int64
	next  int64 // the last id given to a new row
}

func newMeddled(t tb) *meddled {
	t.Helper()
	w := salesWorld(t)
	w.create(holdsName, deltaio.CreateOptions{Schema: &schema.Struct{Fields: []schema.Field{{Name: "id", Type: schema.Long, Nullable: true}}}})
	m := &meddled{world: w, model: flat(fixture()), next: 1000}
	for i := range m.model { // as the mark will leave it
		if m.model[i].due() {
			m.model[i].flag = "true"
		}
	}
	return m
}

// The changes, each to the table and to the model.

func (m *meddled) appends(rows ...sale) {
	m.t.Helper()
	m.append(tableName, rows)
	m.model = append(m.model, rows...)
}

func (m *meddled) updates(change func(*sale), ids ...int64) {
	m.t.Helper()
	m.update(change, ids...)
	for i := range m.model {
		if slices.Contains(ids, m.model[i].id) {
			change(&m.model[i])
		}
	}
}

func (m *meddled) deletes(ids ...int64) {
	m.t.Helper()
	m.remove(ids...)
	m.model = slices.DeleteFunc(m.model, hasID(ids...))
}

func (m *meddled) holds(ids ...int64) {
	m.t.Helper()
	var rows []sale
	for _, id := range ids {
		rows = append(rows, sale{id: id})
	}
	m.append(holdsName, rows)
	m.held = append(m.held, ids...)
}

// vacuums is another program's vacuum without mercy: every file that is not live
// goes.
func (m *meddled) vacuums() {
	m.t.Helper()
	live := map[string]bool{}
	for _, f := range m.snapshot(tableName).Files() {
		live[f.Key().Path] = true
	}
	s := m.store(tableName)
	var gone []string
	for info, err := range s.List(m.ctx, "", "") {
		require.NoError(m.t, err)
		if !live[info.Key] && !isHidden(info.Key) {
			gone = append(gone, info.Key)
		}
	}
	for _, key := range gone {
		require.NoError(m.t, s.Delete(m.ctx, key))
	}
}

func isHidden(key string) bool { return key[0] == '_' || key[0] == '.' }

// goes is the model's judgement at the time of the delete: what was flagged, is
// due and is not held.
func (m *meddled) goes(s sale) bool {
	return s.flag == "true" && s.due() && !slices.Contains(m.held, s.id)
}

// purges runs a purge that waits for approval; meddle happens while it waits the
// first time, and everything that is asked is approved.
func (m *meddled) purges(meddle func()) ending {
	m.t.Helper()
	approve := decide(workflows.UpdateApprove)
	first := true
	return m.purge(policy(asking, holding), func(env *testsuite.TestWorkflowEnvironment, s workflows.Status) {
		if s.Stage == workflows.StageApproval && first {
			first = false
			require.Equal(m.t, len(textsOf(slices.DeleteFunc(slices.Clone(m.model), func(s sale) bool { return s.flag != "true" }))), m.flagged())
			meddle()
		}
		approve(env, s)
	})
}

// settled holds a completed purge against the model.
func (m *meddled) settled(e ending) {
	m.t.Helper()
	require.NoError(m.t, e.err)
	require.Equal(m.t, evidence.StatusCompleted, e.Outcome)
	stay, gone := split(m.model, m.goes)
	require.Equal(m.t, textsOf(stay), m.rows(), "the table holds what was to stay")
	require.Equal(m.t, textsOf(gone), m.archived(e.RunID), "the archive holds what went, once")
	require.Zero(m.t, m.flagged())
	require.EqualValues(m.t, len(gone), *e.RowsDeleted)
	require.EqualValues(m.t, len(gone), *e.RowsArchived)
	require.Empty(m.t, m.liveTraces(onlyIn(gone, stay)))
	m.verifies(e.RunID)
	m.noOrphans(e.RunID)
}

// onlyIn are the rows whose marker string no row of the others has.
func onlyIn(rows, others []sale) []sale {
	return slices.DeleteFunc(slices.Clone(rows), func(r sale) bool {
		return slices.ContainsFunc(others, func(o sale) bool { return o.name == r.name })
	})
}

// Each change alone, while the purge waits for approval.
func TestApproval_other_writers_meanwhile_end_as_the_model_says(t *testing.T) {
	t.Parallel()
	dearer := func(s *sale) { s.amount *= 100 }
	for name, meddle := range map[string]func(m *meddled){
		"nothing":              func(*meddled) {},
		"append of due rows":   func(m *meddled) { m.appends(newSale(100, "2024-01-01", "Évora", "CLOSED")) },
		"append of other rows": func(m *meddled) { m.appends(newSale(101, "2025-03-09", "new shop", "OPEN")) },
		"update of flagged rows": func(m *meddled) {
			m.updates(dearer, 1, 6)
		},
		"update of unflagged rows in flagged rows' files": func(m *meddled) { m.optimize(); m.updates(dearer, 7, 13) },
		"update out of the criteria": func(m *meddled) {
			m.updates(func(s *sale) { s.day = "2025-03-01" }, 2, 10)
		},
		"update into the criteria": func(m *meddled) {
			m.updates(func(s *sale) { s.day = "2024-03-01" }, 5, 13)
		},
		"update into litigation": func(m *meddled) {
			m.updates(func(s *sale) { s.status = "LITIGATION" }, 3)
		},
		"delete of flagged rows":           func(m *meddled) { m.deletes(1, 12) },
		"delete of unflagged rows":         func(m *meddled) { m.deletes(5, 9) },
		"OPTIMIZE that mixes":              func(m *meddled) { m.optimize() },
		"OPTIMIZE, update, OPTIMIZE":       func(m *meddled) { m.optimize(); m.updates(dearer, 2, 7); m.optimize() },
		"new hold":                         func(m *meddled) { m.holds(2, 6, 999) },
		"new hold on all":                  func(m *meddled) { m.holds(1, 2, 3, 6, 10, 12) },
		"new hold on mixed files":          func(m *meddled) { m.optimize(); m.holds(2, 6) },
		"flagged row copied by another":    func(m *meddled) { m.appends(copyOf(m.model[0], 50)) },
		"many flagged rows copied":         func(m *meddled) { m.appends(copyOf(m.model[0], 50), copyOf(m.model[5], 51), copyOf(m.model[5], 6)) },
		"rows that are equal to flagged":   func(m *meddled) { m.appends(unflagged(m.model[0]), unflagged(m.model[0])) },
		"flag taken off by another writer": func(m *meddled) { m.updates(func(s *sale) { s.flag = "" }, 1, 6) },
		"flag set to false by another":     func(m *meddled) { m.updates(func(s *sale) { s.flag = "false" }, 1, 6) },
		"flag set on rows that are due":    func(m *meddled) { m.appends(flagged(newSale(60, "2024-02-02", "Évora", "CLOSED"))) },
		"flag set on rows that are not":    func(m *meddled) { m.updates(func(s *sale) { s.flag = "true" }, 5, 7) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMeddled(t)
			m.settled(m.purges(func() { meddle(m) }))
		})
	}
}

func copyOf(s sale, id int64) sale {
	c := newSale(id, s.day, s.shop, s.status)
	c.flag = s.flag
	return c
}

func unflagged(s sale) sale { s.flag = ""; return s }
func flagged(s sale) sale   { s.flag = "true"; return s }

func TestApproval_more_rows_than_approved_are_asked_for_again(t *testing.T) {
	t.Parallel()
	m := newMeddled(t)
	asked := 0
	approve := decide(workflows.UpdateApprove)
	e := m.purge(policy(asking, holding), func(env *testsuite.TestWorkflowEnvironment, s workflows.Status) {
		if s.Stage == workflows.StageApproval && s.Approval.Attempt > asked {
			asked = s.Approval.Attempt
			if asked == 1 {
				require.EqualValues(t, 6, s.Approval.Rows)
				m.appends(copyOf(m.model[0], 50))
			} else {
				require.EqualValues(t, 7, s.Approval.Rows)
			}
		}
		approve(env, s)
	})
	require.Equal(t, 2, asked)
	m.settled(e)
}

func TestApproval_more_rows_than_approved_and_the_second_answer_is_no(t *testing.T) {
	t.Parallel()
	m := newMeddled(t)
	yes, no := decide(workflows.UpdateApprove), decide(workflows.UpdateReject)
	first := true
	e := m.purge(policy(asking, holding), func(env *testsuite.TestWorkflowEnvironment, s workflows.Status) {
		switch {
		case s.Stage != workflows.StageApproval:
		case s.Approval.Attempt == 1:
			if first {
				first = false
				m.appends(copyOf(m.model[0], 50))
			}
			yes(env, s)
		default:
			no(env, s)
		}
	})
	require.Equal(t, evidence.StatusRejected, e.Outcome)
	require.Equal(t, textsOf(m.model), m.rows())
	require.Empty(t, m.archived(""))
	require.Zero(t, m.flagged(), "the flag that was copied too")
	m.verifies(e.RunID)
}

// What others do between the archive and the delete is archived anew.
func TestArchive_other_writers_before_the_delete_are_archived_anew(t *testing.T) {
	t.Parallel()
	for name, meddle := range map[string]func(m *meddled){
		"update": func(m *meddled) { m.updates(func(s *sale) { s.amount *= 7 }, 1, 6) },
		"delete": func(m *meddled) { m.deletes(1, 12) },
		"hold":   func(m *meddled) { m.holds(3) },
		"mix":    func(m *meddled) { m.optimize() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMeddled(t)
			m.worker.play(onFirst("MergeDelete", func() { meddle(m) }))
			m.settled(m.purge(policy(holding), nil))
		})
	}
}

// A hold that comes while the delete is made ready, after it has read the holds,
// keeps its row: the holds are looked at once more right before the commit.
func TestDelete_a_hold_that_comes_while_it_is_prepared_keeps_the_row(t *testing.T) {
	t.Parallel()
	m := newMeddled(t)
	var once sync.Once
	m.worker.play(func(_ context.Context, a *attempt, when storage.When, op storage.Op, _ int) error {
		if a.activity == "MergeDelete" && when == storage.BeforeCall && op.Writes() {
			once.Do(func() { m.holds(3) })
		}
		return nil
	})
	m.settled(m.purge(policy(holding), nil))
	require.Contains(t, m.rows(), m.model[slices.IndexFunc(m.model, hasID(3))].text())
}

// onFirst does something right before an activity's first call to a store.
func onFirst(activity string, do func()) script {
	var once sync.Once
	return func(_ context.Context, a *attempt, _ storage.When, _ storage.Op, _ int) error {
		if a.activity == activity {
			once.Do(do)
		}
		return nil
	}
}

// Others vacuum the files from before the mark: nothing is lost, whatever the
// answer is.
func TestApproval_originals_vacuumed_by_others_rejected_takes_the_flags_back(t *testing.T) {
	t.Parallel()
	m := newMeddled(t)
	no := decide(workflows.UpdateReject)
	first := true
	e := m.purge(policy(asking, holding), func(env *testsuite.TestWorkflowEnvironment, s workflows.Status) {
		if s.Stage == workflows.StageApproval && first {
			first = false
			m.vacuums()
		}
		no(env, s)
	})
	require.Equal(t, evidence.StatusRejected, e.Outcome)
	require.Equal(t, textsOf(m.model), m.rows())
	require.Zero(t, m.flagged())
	m.verifies(e.RunID)
}

func TestApproval_originals_vacuumed_by_others_approved_completes_and_says_so(t *testing.T) {
	t.Parallel()
	m := newMeddled(t)
	e := m.purges(m.vacuums)
	require.NoError(t, e.err)
	require.Equal(t, evidence.StatusCompleted, e.Outcome)
	stay, gone := split(m.model, m.goes)
	require.Equal(t, textsOf(stay), m.rows())
	require.Equal(t, textsOf(gone), m.archived(e.RunID))
	require.True(t, slices.ContainsFunc(e.state.Checks, func(c activities.Check) bool {
		return strings.Contains(c.Name, "no longer readable")
	}), "%v", e.state.Checks)
	r := m.restore(restoreOf(e.RunID))
	require.NoError(t, r.err, "the archive brings them back all the same")
	require.Equal(t, textsOf(m.model), m.rows())
}

// Others remove every flagged row: nothing is left to delete, and that is said.
func TestApproval_all_flagged_rows_deleted_by_others_ends_as_rolled_back(t *testing.T) {
	t.Parallel()
	m := newMeddled(t)
	e := m.purges(func() { m.deletes(1, 2, 3, 6, 10, 12) })
	require.Equal(t, evidence.StatusRolledBack, e.Outcome, "%v", e.err)
	require.ErrorContains(t, e.err, "nothing was deleted")
	m.takenBack(e)
}

// A run whose verification never succeeds is held, and cancelled by a person: the
// audit says that the rows went all the same, and they can be brought back.
func TestVerify_that_never_succeeds_holds_until_a_person_ends_it(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	w.worker.play(breaking("VerifyPurge", func(*world) {})(w))
	held := 0
	e := w.purge(policy(), func(env *testsuite.TestWorkflowEnvironment, s workflows.Status) {
		if held++; held == 3 {
			require.Equal(t, workflows.StageHeld, s.Stage)
			require.Contains(t, s.Error, "the verification failed")
			env.CancelWorkflow()
		}
	})
	stay, gone := dueOf(flat(fixture()))
	require.Equal(t, textsOf(stay), w.rows())
	require.Equal(t, textsOf(gone), w.archived(e.RunID))
	require.Equal(t, evidence.StatusFailed, e.Outcome)
	require.Equal(t, workflows.TypeHalt, errorType(e.err))
	require.EqualValues(t, len(gone), *w.audit(e.RunID)[0].RowsDeleted)
	w.worker.mend()
	w.verifies(e.RunID)
	r := w.restore(restoreOf(e.RunID))
	require.NoError(t, r.err)
	require.Equal(t, textsOf(flat(fixture())), w.rows())
}
