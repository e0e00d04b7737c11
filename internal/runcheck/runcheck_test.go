package runcheck

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/internal/lake"
	"github.com/lakewarden/lakewarden/internal/sample"
)

const (
	audit = "control.expurgo_audit"
	table = "bronze.vendas"
)

var at = time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)

func env() deltaio.Env { return deltaio.Env{Now: func() time.Time { return at }, Engine: "test"} }

// site writes the table of two loads (versions 1 and 2) and the rows of run r-1.
func site(t *testing.T, rows ...evidence.AuditRow) *lake.Lake {
	t.Helper()
	l, err := lake.New(lake.Config{Roots: []lake.Root{{URL: t.TempDir()}}}, storage.Open)
	require.NoError(t, err)
	s, err := l.Table(t.Context(), table)
	require.NoError(t, err)
	require.NoError(t, sample.Vendas{Rows: 40, Years: 1, Until: at}.Write(t.Context(), s, env()))
	for i, r := range rows {
		r.RunID, r.TargetTable, r.ExecTime, r.Criteria = "r-1", table, at.Add(time.Duration(i)*time.Hour), "TRUE"
		store, err := l.Table(t.Context(), audit)
		require.NoError(t, err)
		_, err = auditlog.New(store, env()).Append(t.Context(), r)
		require.NoError(t, err)
	}
	return l
}

func done(version int64) evidence.AuditRow {
	n := int64(5)
	return evidence.AuditRow{Status: evidence.StatusCompleted, RowsMarked: &n, RowsDeleted: &n, VersionBefore: &version}
}

func check(t *testing.T, l *lake.Lake, name string) Check {
	t.Helper()
	r, err := Verify(t.Context(), l, env(), audit, "r-1")
	require.NoError(t, err)
	for _, c := range r.Checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no check %q in %v", name, r.Checks)
	return Check{}
}

func TestVerify_versionBefore_isReadUntilErased(t *testing.T) {
	t.Parallel()
	require.True(t, check(t, site(t, done(1)), readable).OK)
	require.False(t, check(t, site(t, done(99)), readable).OK)
}

func TestVerify_afterAnErasure_theFilesMustBeGone(t *testing.T) {
	t.Parallel()
	const name = "the files of the version before are erased"
	erased := evidence.AuditRow{Status: evidence.StatusErased}

	require.False(t, check(t, site(t, done(1), erased), name).OK, "they are all there")

	gone := check(t, site(t, done(99), erased), name)
	require.True(t, gone.OK, "the log has lost the version")
	require.Contains(t, gone.Detail, "version 99 is gone from the log")

	l := site(t, done(2), erased)
	s, err := l.Table(t.Context(), table)
	require.NoError(t, err)
	require.NoError(t, s.Put(t.Context(), "_delta_log/00000000000000000002.json", []byte("{broken")))
	require.False(t, check(t, l, name).OK, "a log that cannot be read proves nothing")
}

// plan freezes the plan of a run over every row of the table.
func plan(t *testing.T, l *lake.Lake, runID, column string) {
	t.Helper()
	f, err := l.Run(t.Context(), runID)
	require.NoError(t, err)
	require.NoError(t, f.Put(t.Context(), "plan-1.json", []byte(`{"policy": {"mark": {"column": "`+column+`"}}, "counts": {}}`)))
}

// mark flags every row of the table, as the run does.
func mark(t *testing.T, l *lake.Lake, runID, column string) {
	t.Helper()
	s, err := l.Table(t.Context(), table)
	require.NoError(t, err)
	tab, err := deltaio.Open(t.Context(), s, env())
	require.NoError(t, err)
	f, err := l.Run(t.Context(), runID)
	require.NoError(t, err)
	run := purge.Run{ID: runID, Journal: f, Column: column, Criteria: purge.Criteria{Match: expr.MustParse("TRUE"), Context: expr.Context{Now: at}}}
	p, err := purge.PlanPurge(t.Context(), tab, purge.PlanOptions{Run: run})
	require.NoError(t, err)
	_, err = purge.MarkRows(t.Context(), tab, purge.MarkOptions{Run: run, Plan: p.Record})
	require.NoError(t, err)
}

func TestVerify_flagsOfARunThatHasNotEnded_areNoFailureOfAnother(t *testing.T) {
	t.Parallel()
	flagged := func(runID, column string, lost bool) Check {
		l := site(t, done(1))
		plan(t, l, "r-1", "_flag")
		if !lost {
			plan(t, l, runID, column)
		}
		mark(t, l, runID, "_flag")
		return check(t, l, flagless)
	}
	other := flagged("r-2", "_flag", false)
	require.True(t, other.OK)
	require.Contains(t, other.Detail, "40 rows with _flag")
	require.Contains(t, other.Detail, "flagged by a run that has not ended: r-2")
	require.True(t, flagged("r-2", "_flag", true).OK, "its plan is lost; the log shows it")

	require.False(t, flagged("r-1", "_flag", false).OK, "its own flags")
	require.False(t, flagged("r-2", "_other", false).OK, "that run flags another column")
}

func TestVerify_flagsOfNobody_fail(t *testing.T) {
	t.Parallel()
	l := site(t, done(1))
	plan(t, l, "r-1", "_flag")
	require.True(t, check(t, l, flagless).OK, "there is no such column")
	mark(t, l, "r-2", "_flag")
	s, err := l.Table(t.Context(), table)
	require.NoError(t, err)
	tab, err := deltaio.Open(t.Context(), s, env())
	require.NoError(t, err)
	// The run ended; its flags came back.
	_, err = deltaio.Fence(t.Context(), tab, deltaio.Step{AppID: purge.AppID("r-2", purge.StepMark), Version: 2}, nil)
	require.NoError(t, err)
	require.False(t, check(t, l, flagless).OK)
}

func TestVerify_afterARestore_noErasureIsDue(t *testing.T) {
	t.Parallel()
	due := func(rows ...evidence.AuditRow) string {
		r, err := Verify(t.Context(), site(t, rows...), env(), audit, "r-1")
		require.NoError(t, err)
		return strings.Join(r.Due, "\n")
	}
	purged, when := done(1), at.Add(7*24*time.Hour)
	purged.ErasureDue = &when
	require.Contains(t, due(purged), "physical erasure of the purged files, on 2026-01-08")

	two := int64(2)
	after := due(purged, evidence.AuditRow{Status: evidence.StatusRestored, RowsReleased: &two})
	require.NotContains(t, after, "physical erasure of the purged files")
	require.Contains(t, after, "the proof of its erasure was stopped")
	require.Contains(t, after, "2 of the 5 rows")
}
