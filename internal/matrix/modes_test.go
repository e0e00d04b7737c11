package matrix

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

func byKeys(p *spec.RetentionPolicy) {
	p.Delete = spec.Delete{Match: spec.MatchKeys, Keys: []string{"id"}}
}
func unmarked(p *spec.RetentionPolicy) { p.Mark.Column = spec.None }
func unarchived(p *spec.RetentionPolicy) {
	p.Archive = spec.Archive{Table: spec.None, Reason: "the law forbids keeping it"}
}

func TestKeys_a_key_that_hits_an_unflagged_row_refuses_and_takes_the_flags_back(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	twin := newSale(12, "2025-03-01", "Évora", "OPEN") // the key of a due row, not due itself
	twin.name = "the twin of a due row"
	w.append(tableName, []sale{twin})
	rows := append(flat(fixture()), twin)
	e := w.purge(policy(byKeys), nil)
	require.Equal(t, evidence.StatusRolledBack, e.Outcome, "%v", e.err)
	require.ErrorContains(t, e.err, "1 rows that are not flagged")
	require.NotContains(t, e.err.Error(), twin.name, "examples lie in the run folder, not in history")
	require.Equal(t, textsOf(rows), w.rows())
	require.Zero(t, w.flagged())
	require.Empty(t, w.archived(""))
	w.verifies(e.RunID)
	found := false
	for key := range w.listing("_lakewarden/runs/" + e.RunID + "/") {
		data, err := storage.ReadAll(w.ctx, w.disk, key, 0)
		require.NoError(t, err)
		found = found || strings.Contains(key, "keys-hit") && strings.Contains(string(data), `"id":"12"`)
	}
	require.True(t, found, "the run folder shows the key")
}

func TestKeys_without_twins_deletes_like_flags_do(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	e := w.purge(policy(byKeys), nil)
	require.Equal(t, evidence.StatusCompleted, e.Outcome, "%v", e.err)
	w.agrees(e, flat(fixture()))
}

func TestUnmarked_nobody_sees_a_column_and_the_rows_go(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	e := w.purge(policy(unmarked), nil)
	require.Equal(t, evidence.StatusCompleted, e.Outcome, "%v", e.err)
	w.agrees(e, flat(fixture()))
	for v := range w.snapshot(tableName).Version() + 1 {
		snap, err := w.table(tableName).SnapshotAt(w.ctx, v)
		require.NoError(t, err)
		_, there := snap.Schema().Field(flagColumn)
		require.False(t, there, "version %d", v)
	}
}

func TestUnmarked_approval_of_the_plan_rejected_leaves_no_commit(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	before := w.untouched()
	e := w.purge(policy(unmarked, asking, func(p *spec.RetentionPolicy) { p.Approval.On = spec.ApprovalPlan }), decide(workflows.UpdateReject))
	require.Equal(t, evidence.StatusRejected, e.Outcome, "%v", e.err)
	require.Equal(t, before, w.untouched())
}

func TestUnarchived_rows_go_and_no_archive_comes(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	stay, gone := dueOf(flat(fixture()))
	e := w.purge(policy(unarchived), nil)
	require.Equal(t, evidence.StatusCompleted, e.Outcome, "%v", e.err)
	require.Equal(t, textsOf(stay), w.rows())
	require.False(t, w.exists(archiveName))
	require.EqualValues(t, len(gone), *e.RowsDeleted)
	require.Nil(t, e.RowsArchived, "unknown is null: nothing was archived")
	require.Nil(t, w.audit(e.RunID)[0].RowsArchived)
	w.verifies(e.RunID)
	r := w.restore(restoreOf(e.RunID))
	require.Equal(t, workflows.TypeRefused, errorType(r.err), "nothing is there to restore")
}

// The other modes are broken everywhere too; only writes, as the steps are shared.
func TestModes_any_fate_at_any_write_keeps_the_promises(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*spec.RetentionPolicy){"keys": byKeys, "unmarked": unmarked} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario{
				name: name, run: runPurge(change), check: checkPurge, writes: true,
				only: []string{"MarkRows", "ArchiveRows", "MergeDelete"},
			}.try(t)
		})
	}
}

func TestNothingDue_completes_with_zeros_and_touches_nothing(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	before := w.untouched()
	e := w.purge(policy(proving, func(p *spec.RetentionPolicy) { p.Criteria = spec.Criteria{Where: "id > 1000"} }), nil)
	require.NoError(t, e.err)
	require.Equal(t, evidence.StatusCompleted, e.Outcome)
	require.Zero(t, *e.RowsMarked)
	require.Zero(t, *e.RowsDeleted)
	require.Empty(t, e.ErasureID, "nothing is to be proved")
	require.Empty(t, e.Message)
	require.Equal(t, before, w.untouched())
	require.Equal(t, []string{evidence.StatusCompleted, evidence.StatusVacuumed}, w.statuses(e.RunID))
	w.verifies(e.RunID)
}

func TestDryRun_reports_and_touches_nothing(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	before := w.untouched()
	e := w.purge(policy(func(p *spec.RetentionPolicy) { p.DryRun = true }), nil)
	require.NoError(t, e.err)
	require.Equal(t, evidence.StatusDryRun, e.Outcome)
	require.Equal(t, before, w.untouched())
	require.EqualValues(t, 6, *e.state.Plan.RowsDue)
	require.EqualValues(t, 1, *e.state.Plan.RowsHeld)
	require.EqualValues(t, 1, *e.state.Plan.RowsUndated)
	require.EqualValues(t, 13, *e.state.Plan.RowsTotal)
	require.Contains(t, e.state.Plan.Report, "before 2025-02-08 in UTC")
	require.Nil(t, e.RowsDeleted)
	w.verifies(e.RunID)
}

func TestSecondRun_finds_nothing_and_a_day_later_the_next_day(t *testing.T) {
	t.Parallel()
	w, first := purgedWorld(t)
	again := w.purge(policy(), nil)
	require.NoError(t, again.err)
	require.Zero(t, *again.RowsDeleted)
	w.clock.advance(24 * time.Hour)
	next := w.purge(policy(), nil)
	require.NoError(t, next.err)
	require.EqualValues(t, 1, *next.RowsDeleted, "2025-02-08 is due on 2025-03-11")
	require.Len(t, w.archived(""), 7)
	require.Len(t, w.archived(first.RunID), 6, "the first run's rows stay as they were")
	for _, id := range []string{first.RunID, again.RunID, next.RunID} {
		w.verifies(id)
	}
}

// Dates in strings: what cannot be read as a date is counted and kept.
func TestStringDates_bad_values_are_kept_and_counted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := salesSchema()
	s.Fields[1].Type = schema.String
	var rows []sale
	for i, day := range []string{"2025-01-05", "2025-1-6", "20250107", "n/a", "2025-02-30", "2025-03-09", ""} {
		rows = append(rows, newSale(int64(i+1), day, "", "CLOSED"))
	}
	w.create(tableName, deltaio.CreateOptions{Schema: s, PartitionBy: []string{"day"}}, rows)
	e := w.purge(policy(func(p *spec.RetentionPolicy) { p.Criteria.OlderThan.Format = "yyyy-MM-dd" }), nil)
	require.Equal(t, evidence.StatusCompleted, e.Outcome, "%v", e.err)
	require.EqualValues(t, 1, *e.RowsDeleted)
	require.EqualValues(t, 5, *e.RowsUndated)
	require.Equal(t, textsOf(rows[1:]), w.rows())
	require.Equal(t, textsOf(rows[:1]), w.archived(e.RunID))
}

func TestArchive_with_fewer_columns_gets_them_and_keeps_its_rows(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	old := &schema.Struct{Fields: []schema.Field{field("id", schema.Long), field("name", schema.String), field("note", schema.String)}}
	stamped(old)
	w.create(archiveName, deltaio.CreateOptions{Schema: old})
	w.append(archiveName, []sale{newSale(900, "", "", "")})
	e := w.purge(policy(), nil)
	require.Equal(t, evidence.StatusCompleted, e.Outcome, "%v", e.err)
	stay, gone := dueOf(flat(fixture()))
	require.Equal(t, textsOf(stay), w.rows())
	require.Equal(t, textsOf(gone), w.archived(e.RunID))
	all, err := texts(w.ctx, w.snapshot(archiveName), []string{"id", "name", "amount"}, "id = 900")
	require.NoError(t, err)
	require.Equal(t, []string{"900|marker-0900-of-one-row|(null)"}, all)
}

func TestArchive_append_only_is_kept_and_a_later_failure_says_so(t *testing.T) {
	t.Parallel()
	appendOnly := deltaio.CreateOptions{Properties: map[string]string{"delta.appendOnly": "true"}}
	appendOnly.Schema = salesSchema()
	stamped(appendOnly.Schema)

	w := salesWorld(t)
	w.create(archiveName, appendOnly)
	e := w.purge(policy(), nil)
	require.Equal(t, evidence.StatusCompleted, e.Outcome, "%v", e.err)
	w.agrees(e, flat(fixture()))

	w = salesWorld(t)
	w.create(archiveName, appendOnly)
	w.worker.play(breaking("MergeDelete", func(*world) {})(w))
	e = w.purge(policy(), nil)
	require.Equal(t, evidence.StatusRolledBack, e.Outcome, "%v", e.err)
	require.Equal(t, textsOf(flat(fixture())), w.rows())
	require.Zero(t, w.flagged())
	require.Len(t, w.archived(e.RunID), 6, "an append-only archive keeps the rows")
	require.Contains(t, strings.Join(e.state.Undone, "\n"), "append-only")
}

func TestMoreThanTheMedian_is_refused(t *testing.T) {
	t.Parallel()
	w, _ := purgedWorld(t)
	var rows []sale
	for i := range int64(100) {
		rows = append(rows, newSale(2000+i, "2024-05-05", "Évora", "CLOSED"))
	}
	w.append(tableName, rows)
	before := w.untouched()
	e := w.purge(policy(func(p *spec.RetentionPolicy) { p.Limits.MaxShareOfRows = "100%" }), nil)
	require.Equal(t, evidence.StatusRefused, e.Outcome, "%v", e.err)
	require.ErrorContains(t, e.err, "limit_median")
	require.Equal(t, before, w.untouched())
}

func TestTwoPurgesAtOnce_the_second_start_is_skipped(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	env := w.newEnv("nightly-2025-03-10T12:00:00Z")
	w.worker.cancelWorkflow = env.CancelWorkflow
	w.clock.follow(env.Now)
	// A workflow that starts the purge twice: once as the manual start would be
	// named, once under the schedule's name.
	env.RegisterWorkflow(startTwice)
	env.ExecuteWorkflow(startTwice, policy())
	w.clock.set(env.Now())
	require.NoError(t, env.GetWorkflowError())
	var both []workflows.PurgeResult
	require.NoError(t, env.GetWorkflowResult(&both))
	require.Equal(t, evidence.StatusCompleted, both[0].Outcome)
	require.Equal(t, workflows.OutcomeSkipped, both[1].Outcome)
	require.Contains(t, both[1].Message, workflows.PurgeID(tableName))
	stay, gone := dueOf(flat(fixture()))
	require.Equal(t, textsOf(stay), w.rows())
	require.Equal(t, textsOf(gone), w.archived(""))
}

// startTwice starts a purge under its own name and, while that runs, another
// under a schedule's.
func startTwice(ctx workflow.Context, p spec.RetentionPolicy) ([]workflows.PurgeResult, error) {
	under := func(id string) workflow.ChildWorkflowFuture {
		return workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: id}), workflows.TypePurgeTable, p)
	}
	first := under(workflows.PurgeID(p.Table))
	if err := first.GetChildWorkflowExecution().Get(ctx, nil); err != nil {
		return nil, err
	}
	second := under("nightly-2025-03-10T12:00:00Z-child")
	out := make([]workflows.PurgeResult, 2)
	if err := first.Get(ctx, &out[0]); err != nil {
		return nil, err
	}
	return out, second.Get(ctx, &out[1])
}

// A reset delivers old updates again: they are bound to what was shown.
func TestReset_an_old_approval_does_not_approve_other_rows(t *testing.T) {
	t.Parallel()
	old := ""
	w := salesWorld(t)
	e := w.purge(policy(asking), func(env *testsuite.TestWorkflowEnvironment, s workflows.Status) {
		if s.Stage == workflows.StageApproval {
			old = s.Approval.Digest
			env.CancelWorkflow()
		}
	})
	require.Equal(t, evidence.StatusCancelled, e.Outcome)
	w.append(tableName, []sale{newSale(50, "2024-06-06", "Évora", "CLOSED")})
	var answers []*reply
	e = w.purge(policy(asking), func(env *testsuite.TestWorkflowEnvironment, s workflows.Status) {
		if s.Stage != workflows.StageApproval {
			return
		}
		if len(answers) == 0 {
			for _, d := range []workflows.Decision{{By: "dpo", Digest: old}, {By: "ana", Digest: s.Approval.Digest}, {By: "eve", Digest: s.Approval.Digest}, {Digest: s.Approval.Digest}, {By: "dpo"}} {
				answers = append(answers, send(env, workflows.UpdateApprove, d))
			}
			return
		}
		send(env, workflows.UpdateReject, workflows.Decision{By: "dpo", Digest: s.Approval.Digest})
	})
	require.Equal(t, evidence.StatusRejected, e.Outcome)
	for i, want := range []string{"what was shown has changed", "asked for this purge", "not an approver", "who decides", "what was shown has changed"} {
		require.ErrorContains(t, answers[i].rejected, want)
	}
	require.Len(t, w.rows(), 14)
	require.Zero(t, w.flagged())
}

func TestApproval_nobody_answers_expires_and_takes_the_flags_back(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	before := w.clock.Now()
	e := w.purge(policy(asking), nil)
	require.Equal(t, evidence.StatusExpired, e.Outcome, "%v", e.err)
	require.Equal(t, 72*time.Hour, w.clock.Now().Sub(before))
	w.agrees(e, flat(fixture()))
}

// A table that is dropped and made anew while a purge waits is another table.
func TestApproval_a_table_made_anew_is_left_alone(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	yes := decide(workflows.UpdateApprove)
	var before map[string]string
	e := w.purge(policy(asking), func(env *testsuite.TestWorkflowEnvironment, s workflows.Status) {
		if s.Stage == workflows.StageApproval && before == nil {
			for key := range w.listing(tablePath) {
				require.NoError(t, w.disk.Delete(w.ctx, key))
			}
			w.create(tableName, deltaio.CreateOptions{PartitionBy: []string{"shop"}}, fixture()...)
			before = w.listing(tablePath)
		}
		yes(env, s)
	})
	require.Equal(t, workflows.TypeHalt, errorType(e.err), "%v", e.err)
	require.ErrorContains(t, e.err, "another table now")
	require.Equal(t, before, w.listing(tablePath))
	require.Empty(t, w.archived(""))
}
