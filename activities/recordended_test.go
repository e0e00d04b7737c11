package activities

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/internal/lake"
	"github.com/lakewarden/lakewarden/internal/sample"
	"github.com/lakewarden/lakewarden/spec"
)

const endedAudit = "control.purge_audit"

var endedCaller = Caller{WorkflowID: "purge:bronze.vendas", WorkflowRunID: "w-ended", RequestedBy: "ana"}

// endedSite is a lakehouse in memory with the table of 40 rows, and the run
// r-ended whose workflow was terminated right after it had deleted 10 of them.
func endedSite(t *testing.T) (a *Activities, table *deltaio.Table, digest string) {
	t.Helper()
	ctx := t.Context()
	memory := storage.NewMemory()
	l, err := lake.New(lake.Config{Roots: []lake.Root{{URL: "memory"}}}, func(context.Context, string) (storage.Store, error) { return memory, nil })
	require.NoError(t, err)
	now := time.Date(2026, 1, 15, 3, 0, 0, 0, time.UTC)
	a = &Activities{Lake: l, Now: func() time.Time { return now }, Engine: "test", Runs: overAll{}}
	store, err := l.Table(ctx, "bronze.vendas")
	require.NoError(t, err)
	require.NoError(t, sample.Vendas{Rows: 40, Years: 1, Until: now}.Write(ctx, store, a.env()))
	table, err = a.open(ctx, "bronze.vendas", a.env())
	require.NoError(t, err)

	prove := true
	folder, err := l.Run(ctx, "r-ended")
	require.NoError(t, err)
	old := &loaded{folder: folder, table: table, env: a.env(), plan: frozenPlan{
		RunID: "r-ended", Caller: endedCaller, Now: now, Zone: "UTC", Match: "id <= 10",
		Policy: spec.RetentionPolicy{
			Name: "vendas", LegalBasis: "law", Table: "bronze.vendas", Mark: spec.Mark{Column: "_flag"}, Criteria: spec.Criteria{Where: "id <= 10"},
			Archive: spec.Archive{Table: spec.None, Reason: "test"}, Audit: spec.Audit{Table: endedAudit}, Erasure: spec.Erasure{Prove: &prove},
		},
	}}
	run, err := a.purgeRun(ctx, old)
	require.NoError(t, err)
	old.plan.Counts, err = purge.PlanPurge(ctx, table, purge.PlanOptions{Run: run})
	require.NoError(t, err)
	digest, err = old.plan.save(ctx, folder)
	require.NoError(t, err)
	_, err = purge.MarkRows(ctx, table, purge.MarkOptions{Run: run, Plan: old.plan.Counts.Record})
	require.NoError(t, err)
	_, err = purge.DeleteMarked(ctx, table, purge.DeleteOptions{Run: run, Plan: old.plan.Counts.Record, NoArchive: true, MaxRows: &old.plan.Counts.RowsDue})
	require.NoError(t, err)
	return a, table, digest
}

// overAll knows every workflow run as closed, underWay none.
type (
	overAll  struct{}
	underWay struct{}
)

func (overAll) Closed(context.Context, string, string) (bool, error)  { return true, nil }
func (underWay) Closed(context.Context, string, string) (bool, error) { return false, nil }

func settleAs(t *testing.T, a *Activities, table *deltaio.Table, runID string) *planner {
	t.Helper()
	p := &planner{a: a, env: a.env(), out: &PlanPurgeResult{}, table: table,
		in: PlanPurgeInput{RunID: runID, Policy: spec.RetentionPolicy{Table: "bronze.vendas", Audit: spec.Audit{Table: endedAudit}}}}
	undone, err := p.settle(t.Context())
	require.NoError(t, err)
	require.Empty(t, undone)
	require.Empty(t, p.out.Refusals)
	return p
}

func auditOf(t *testing.T, a *Activities) []evidence.AuditRow {
	t.Helper()
	store, err := a.Lake.Table(t.Context(), endedAudit)
	require.NoError(t, err)
	rows, err := auditlog.New(store, a.env()).Rows(t.Context())
	require.NoError(t, err)
	return rows
}

func TestSettle_aRunEndedBetweenItsDeleteAndItsAuditRow_isRecordedOnce(t *testing.T) {
	t.Parallel()
	a, table, digest := endedSite(t)
	p := settleAs(t, a, table, "r-new")
	require.Contains(t, p.out.Warnings[0], "r-ended")
	require.Len(t, p.out.Owed, 1)
	for _, again := range []string{"r-new", "r-newer"} { // as a retry, or the next purge, would
		require.Equal(t, p.out.Owed, settleAs(t, a, table, again).out.Owed, "until its proof says otherwise")
	}

	rows := auditOf(t, a)
	require.Len(t, rows, 1)
	r := rows[0]
	require.Equal(t, StatusCompleted, r.Status)
	require.EqualValues(t, 10, *r.RowsMarked)
	require.EqualValues(t, 10, *r.RowsDeleted)
	require.EqualValues(t, 0, *r.RowsReleased)
	require.Less(t, *r.VersionBefore, *r.VersionAfter)
	require.Equal(t, "id <= 10", r.Criteria)
	require.Equal(t, digest, r.PlanDigest)
	require.Equal(t, "w-ended", r.WorkflowRunID)
	require.Equal(t, "ana", r.ExecutedBy)
	require.Contains(t, r.Error, "recorded by run r-new")
	at, ok, err := purge.DeletedAt(t.Context(), table, "r-ended")
	require.NoError(t, err)
	require.True(t, ok)
	require.True(t, at.Equal(r.ExecTime), "a retry writes the same row")
	owed := p.out.Owed[0]
	require.Equal(t, Run{RunID: "r-ended", Table: "bronze.vendas", PlanDigest: digest}, owed.Run)
	require.EqualValues(t, 10, *owed.RowsDeleted)
	require.Equal(t, r.RowHash, owed.AuditHead)
	require.True(t, owed.DeletedAt.Equal(at))
	require.Equal(t, endedAudit, owed.AuditTable)
	require.True(t, owed.Due.Equal(*r.ErasureDue))
	require.WithinDuration(t, at.Add(vacuumFloor), owed.Due, time.Hour)

	found, err := a.FindRun(t.Context(), FindRunInput{RunID: "r-ended", AuditTable: endedAudit})
	require.NoError(t, err)
	require.True(t, found.Completed)
}

func TestSettle_aRunThatDeletedAndIsUnderWay_recordsItself(t *testing.T) {
	t.Parallel()
	a, table, _ := endedSite(t)
	a.Runs = underWay{}
	require.Empty(t, settleAs(t, a, table, "r-new").out.Warnings)
	store, err := a.Lake.Table(t.Context(), endedAudit)
	require.NoError(t, err)
	_, err = auditlog.New(store, a.env()).Rows(t.Context())
	require.ErrorIs(t, err, deltaio.ErrNotATable)
}

func TestSettle_aTerminatedRun_owesItsProofUntilTheAuditShowsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows []evidence.AuditRow
		owes int
	}{
		"terminated before its vacuum": {[]evidence.AuditRow{{Status: StatusCompleted}}, 1},
		"vacuumed":                     {[]evidence.AuditRow{{Status: StatusCompleted}, {Status: StatusVacuumed}}, 0},
		"recorded late, and vacuumed":  {[]evidence.AuditRow{{Status: StatusCompleted, Error: lateNote + "; recorded by run x"}, {Status: StatusVacuumed}}, 1},
		"erased":                       {[]evidence.AuditRow{{Status: StatusCompleted}, {Status: StatusErased}}, 0},
		"residue was found":            {[]evidence.AuditRow{{Status: StatusCompleted}, {Status: StatusErasureIncomplete}}, 0},
		"restored":                     {[]evidence.AuditRow{{Status: StatusCompleted}, {Status: StatusRestored}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, table, _ := endedSite(t)
			store, err := a.Lake.Table(t.Context(), endedAudit)
			require.NoError(t, err)
			ten := int64(10)
			for i, r := range c.rows {
				r.RunID, r.TargetTable, r.Criteria, r.ExecTime = "r-ended", "bronze.vendas", "id <= 10", a.Now().Add(time.Duration(i)*time.Hour)
				if r.Status == StatusCompleted {
					r.RowsDeleted = &ten
				}
				_, err := auditlog.New(store, a.env()).Append(t.Context(), r)
				require.NoError(t, err)
			}
			require.Len(t, settleAs(t, a, table, "r-new").out.Owed, c.owes)
			require.Len(t, auditOf(t, a), len(c.rows), "nothing is recorded twice")
			a.Runs = underWay{}
			require.Empty(t, settleAs(t, a, table, "r-new").out.Owed, "it starts its proof itself")
		})
	}
}
