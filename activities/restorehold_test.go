package activities

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/internal/lake"
	"github.com/lakewarden/lakewarden/internal/sample"
	"github.com/lakewarden/lakewarden/spec"
)

// purgedSite is a lakehouse in which run r-1 has archived and deleted the ids 1 to
// 10 and said so in the audit.
func purgedSite(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.withVendas()
	l := s.began("r-1", old)
	ctx := t.Context()
	run, err := s.purgeRun(ctx, l)
	require.NoError(t, err)
	store, err := s.Lake.Table(ctx, archive)
	require.NoError(t, err)
	record, err := purge.ArchiveRecord(ctx, s.table(archive), run)
	require.NoError(t, err)
	r, err := purge.DeleteMarked(ctx, l.table, purge.DeleteOptions{Run: run, Plan: l.plan.Counts.Record, Archive: record, ArchiveStore: store})
	require.NoError(t, err)
	require.EqualValues(t, 10, r.RowsDeleted)
	n := int64(10)
	audit, err := s.Lake.Table(ctx, endedAudit)
	require.NoError(t, err)
	_, err = auditlog.New(audit, s.env()).Append(ctx, evidence.AuditRow{
		RunID: "r-1", TargetTable: vendas, ArchiveTable: archive, Criteria: "id <= 10", Status: StatusCompleted, RowsDeleted: &n, ExecTime: today,
	})
	require.NoError(t, err)
	return s
}

func restoreIn(id string, change ...func(*RestoreRowsInput)) RestoreRowsInput {
	in := RestoreRowsInput{RestoreID: id, Now: today, Request: spec.RestoreRequest{
		RunID: "r-1", Keys: []string{"id"}, Reason: "a wrong date", HoldUntil: "2026-12-31", Audit: spec.Audit{Table: endedAudit},
	}}
	for _, c := range change {
		c(&in)
	}
	return in
}

// perform runs an activity as a worker does.
func perform[T any](t *testing.T, activity, in any) (out T, err error) {
	t.Helper()
	var s testsuite.WorkflowTestSuite
	env := s.NewTestActivityEnvironment()
	env.RegisterActivity(activity)
	v, err := env.ExecuteActivity(activity, in)
	if err == nil {
		require.NoError(t, v.Get(&out))
	}
	return out, err
}

// heldIDs are how many keys a purge would leave alone.
func (s *site) heldIDs() int {
	s.t.Helper()
	keys, err := s.restoreHolds(s.t.Context(), vendas, s.env())
	require.NoError(s.t, err)
	if keys == nil {
		return 0
	}
	return keys.Len()
}

func TestRestoreRows_asALook_writesAndHoldsNothing(t *testing.T) {
	t.Parallel()
	s := purgedSite(t)
	look := restoreIn("b-1", func(in *RestoreRowsInput) { in.Request.DryRun = true })
	r, err := perform[RestoreRowsResult](t, s.RestoreRows, look)
	require.NoError(t, err)
	require.EqualValues(t, 10, *r.RowsRestored)
	require.Zero(t, s.heldIDs())
	require.EqualValues(t, 30, s.rows(vendas, "TRUE"))

	s.hold("b-0", "", today.AddDate(1, 0, 0), "customer")
	_, err = perform[RestoreRowsResult](t, s.RestoreRows, look)
	require.ErrorContains(t, err, "held by the keys (customer) already", "what would be refused later is refused now")
}

// The store fails when the rows are to be committed: by then they are held.
func TestFenceRestore_afterAFailure_endsTheHold(t *testing.T) {
	t.Parallel()
	s := purgedSite(t)
	in := restoreIn("b-1")
	found, err := s.FindRun(t.Context(), FindRunInput{RunID: "r-1", AuditTable: endedAudit})
	require.NoError(t, err)
	until, err := time.Parse(time.DateOnly, in.Request.HoldUntil)
	require.NoError(t, err)
	require.NoError(t, s.registerHold(t.Context(), in, found, until, s.env())) // and there its worker died
	require.Equal(t, 10, s.heldIDs())

	for range 2 { // once is as good as twice
		f, err := perform[FenceRestoreResult](t, s.FenceRestore, in)
		require.NoError(t, err)
		require.True(t, f.HoldEnded)
		require.Nil(t, f.Restored)
		require.Zero(t, s.heldIDs())
	}

	// The attempt that was thought dead wakes: it neither holds nor restores.
	_, err = s.restore(t.Context(), in, found, s.env())
	var app *temporal.ApplicationError
	require.ErrorAs(t, err, &app)
	require.Equal(t, ErrorFenced, app.Type())
	require.Zero(t, s.heldIDs())
	require.EqualValues(t, 30, s.rows(vendas, "TRUE"))

	// Another restore holds by itself.
	again := restoreIn("b-2")
	_, err = perform[RestoreRowsResult](t, s.RestoreRows, again)
	require.NoError(t, err)
	require.Equal(t, 10, s.heldIDs())
	require.EqualValues(t, 40, s.rows(vendas, "TRUE"))
}

func TestFenceRestore_beforeTheHoldIsRegistered_keepsALateOneOut(t *testing.T) {
	t.Parallel()
	s := purgedSite(t)
	in := restoreIn("b-1")
	f, err := perform[FenceRestoreResult](t, s.FenceRestore, in)
	require.NoError(t, err)
	require.True(t, f.HoldEnded)
	_, err = perform[RestoreRowsResult](t, s.RestoreRows, in)
	require.ErrorContains(t, err, "came too late")
	require.Zero(t, s.heldIDs())
	require.EqualValues(t, 30, s.rows(vendas, "TRUE"))
}

func TestFenceRestore_ofRowsThatAreBack_keepsThemHeld(t *testing.T) {
	t.Parallel()
	s := purgedSite(t)
	in := restoreIn("b-1")
	_, err := perform[RestoreRowsResult](t, s.RestoreRows, in)
	require.NoError(t, err)
	f, err := perform[FenceRestoreResult](t, s.FenceRestore, in)
	require.NoError(t, err)
	require.False(t, f.HoldEnded)
	require.EqualValues(t, 10, *f.Restored.RowsRestored)
	require.Equal(t, 10, s.heldIDs())
}

// A registry of an earlier version lacks the column that ends holds, and joins key
// columns by commas.
func TestRestoreHolds_ofAnEarlierRegistry_holdAndCanEnd(t *testing.T) {
	t.Parallel()
	s := held(t)
	ctx := t.Context()
	store, err := s.Lake.Table(ctx, holdsTable)
	require.NoError(t, err)
	earlier := holdSchema()
	earlier.Fields = earlier.Fields[:len(earlier.Fields)-1]
	tab, err := deltaio.Create(ctx, store, s.env(), deltaio.CreateOptions{Schema: earlier})
	require.NoError(t, err)
	rec, err := holdRecord([]any{"h-0", vendas, "r-old", archive, "id <= 3", "id,customer", "x", "", today, today.AddDate(1, 0, 0), nil})
	require.NoError(t, err)
	defer rec.Release()
	cols := rec.Columns()[:len(earlier.Fields)]
	as, err := schema.ArrowSchema(earlier)
	require.NoError(t, err)
	_, err = deltaio.Append(ctx, tab, deltaio.AppendOptions{FilePrefix: "hold"}, func(yield func(arrow.Record, error) bool) {
		yield(array.NewRecord(as, cols, rec.NumRows()), nil)
	})
	require.NoError(t, err)
	keys, err := s.restoreHolds(ctx, vendas, s.env())
	require.NoError(t, err)
	require.Equal(t, 3, keys.Len())
	require.Equal(t, []string{"id", "customer"}, keys.Columns())

	s.hold("h-1", "id = 7", today.AddDate(1, 0, 0), "id", "customer") // the table gets the column
	require.Equal(t, 4, s.heldIDs())
	require.NoError(t, s.endHold(ctx, restoreIn("h-0"), &FindRunResult{Run: Run{RunID: "r-old", Table: vendas}}, s.env()))
	require.Equal(t, 1, s.heldIDs())
}

func TestKeyColumns_ofAnyName_comeBack(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{{"id"}, {"a,b"}, {"a,b", `c"d`, "[e]", "f g"}, {`["x"]`}} {
		text, err := encodeKeys(keys)
		require.NoError(t, err)
		require.Equal(t, keys, decodeKeys(text))
	}
	require.Equal(t, []string{"id", "day"}, decodeKeys("id,day"))
	require.Equal(t, []string{"[odd", "day"}, decodeKeys("[odd,day"))
}

var errAway = errors.New("connection reset")

func TestSettle_aStoreThatDoesNotAnswer_isTriedAgain(t *testing.T) {
	t.Parallel()
	away := false
	memory := storage.NewFault(storage.NewMemory())
	memory.Fail(func(op storage.Op) error {
		if away && strings.Contains(op.Key, "runs/r-old/plan-") {
			return errAway
		}
		return nil
	})
	l, err := lake.New(lake.Config{Roots: []lake.Root{{URL: "memory"}}}, func(context.Context, string) (storage.Store, error) { return memory, nil })
	require.NoError(t, err)
	s := &site{t: t, Activities: &Activities{Lake: l, Now: func() time.Time { return today }, Engine: "test", Runs: states{"w-old": true}}}
	store, err := s.Lake.Table(t.Context(), vendas)
	require.NoError(t, err)
	require.NoError(t, sample.Vendas{Rows: 40, Years: 1, Until: today}.Write(t.Context(), store, s.env()))
	s.began("r-old", old)
	away = true
	p, _, err := s.settle("r-new")
	require.ErrorIs(t, err, errAway)
	require.Empty(t, p.out.Refusals, "nothing is known to be lost")
	away = false
	_, closed, err := s.settle("r-new")
	require.NoError(t, err)
	require.Equal(t, []string{"r-old"}, closed)
}

func TestLoad_aPlanThatIsGone_asksForAPerson(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.withVendas()
	_, err := s.load(t.Context(), Run{RunID: "r-gone", Table: vendas, PlanDigest: "sha256:0123456789abcdef"}, s.env())
	var app *temporal.ApplicationError
	require.ErrorAs(t, fail(t.Context(), err), &app)
	require.Equal(t, ErrorHalt, app.Type())
	require.ErrorContains(t, err, "put the run folder back")
}

func TestRestoreRows_aHoldThatIsPast_isRefused_andNothingComesBack(t *testing.T) {
	t.Parallel()
	s := purgedSite(t)
	rows := s.rows(vendas, "TRUE")
	_, err := perform[RestoreRowsResult](t, s.RestoreRows, restoreIn("b-1", func(in *RestoreRowsInput) { in.Request.HoldUntil = today.AddDate(0, 0, -1).Format(time.DateOnly) }))
	require.ErrorContains(t, err, "is past: the next purge would take the rows again")
	require.Equal(t, rows, s.rows(vendas, "TRUE"))
	require.Zero(t, s.heldIDs())

	_, err = perform[RestoreRowsResult](t, s.RestoreRows, restoreIn("b-2", func(in *RestoreRowsInput) { in.Request.HoldUntil = today.Format(time.DateOnly) }))
	require.NoError(t, err, "a hold counts through its last day")
}
