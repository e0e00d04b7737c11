package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/internal/lake"
	"github.com/lakewarden/lakewarden/internal/sample"
	"github.com/lakewarden/lakewarden/spec"
)

const table = "bronze.vendas"

// house is a lakehouse in a folder, with what runs left there.
type house struct {
	t    *testing.T
	dir  string
	lake *lake.Lake
	env  deltaio.Env
	at   time.Time
}

func newHouse(t *testing.T) *house {
	t.Helper()
	dir := t.TempDir()
	l, err := lake.New(lake.Config{Roots: []lake.Root{{URL: dir}}}, storage.Open)
	require.NoError(t, err)
	at := time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)
	return &house{t: t, dir: dir, lake: l, at: at, env: deltaio.Env{Now: func() time.Time { return at }, Engine: "test"}}
}

func (h *house) store(name string) storage.Store {
	h.t.Helper()
	s, err := h.lake.Table(h.t.Context(), name)
	require.NoError(h.t, err)
	return s
}

// record appends an audit row, an hour after the one before, and gives its hash.
func (h *house) record(row evidence.AuditRow) string {
	h.t.Helper()
	h.at = h.at.Add(time.Hour)
	row.TargetTable, row.ExecTime, row.Criteria = table, h.at, "event_date < DATE'2025-01-01'"
	done, err := auditlog.New(h.store(spec.DefaultAuditTable), h.env).Append(h.t.Context(), row)
	require.NoError(h.t, err)
	return done.Row.RowHash
}

func (h *house) verb(args ...string) said {
	h.t.Helper()
	return verb(h.t, "", append(args, "--root", h.dir)...)
}

func TestAuditList_showsRunsOldestFirst_andTellsUnknownFromZero(t *testing.T) {
	h := newHouse(t)
	h.record(evidence.AuditRow{RunID: "r-1", Status: evidence.StatusRefused})
	h.record(evidence.AuditRow{RunID: "r-2", Status: evidence.StatusCompleted, RowsDeleted: count(0), ApprovedBy: "dpo"})

	s := h.verb("audit", "list")
	require.NoError(t, s.err)
	require.Regexp(t, `(?s)r-1.*r-2`, s.out)
	require.Regexp(t, `refused.*unknown`, s.out)
	require.Regexp(t, `completed.* 0 .*dpo`, s.out)

	var rows []evidence.AuditRow
	s = h.verb("audit", "list", "--run", "r-2", "--json")
	require.NoError(t, s.err)
	require.NoError(t, json.Unmarshal([]byte(s.out), &rows))
	require.Len(t, rows, 1)
	require.Equal(t, "r-2", rows[0].RunID)

	s = h.verb("audit", "list", "--table", "bronze.other", "--json")
	require.NoError(t, s.err)
	require.JSONEq(t, "[]", s.out)
}

func TestAuditList_withoutATable_saysSo(t *testing.T) {
	require.ErrorIs(t, newHouse(t).verb("audit", "list").err, deltaio.ErrNotATable)
	require.ErrorContains(t, verb(t, "", "audit", "list").err, "no lakehouse root is configured")
}

func TestAuditVerify_findsACutTailByItsAnchorOnly(t *testing.T) {
	h := newHouse(t)
	h.record(evidence.AuditRow{RunID: "r-1", Status: evidence.StatusDryRun})
	before := snapshotOf(t, h.dir)
	anchor := h.record(evidence.AuditRow{RunID: "r-2", Status: evidence.StatusDryRun})

	s := h.verb("audit", "verify", "--anchor", anchor)
	require.NoError(t, s.err)
	require.Contains(t, s.out, "the audit chain is whole: 2 rows, head "+anchor)

	cut(t, h.dir, before)
	s = h.verb("audit", "verify")
	require.NoError(t, s.err)
	require.Contains(t, s.out, "1 rows")
	s = h.verb("audit", "verify", "--anchor", anchor)
	require.True(t, s.quiet(), "%v", s.err)
	require.Contains(t, s.out, "the audit chain is broken")
	require.Contains(t, s.out, anchor)
}

// snapshotOf lists the files below a folder.
func snapshotOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		seen[path] = err == nil && !d.IsDir()
		return err
	}))
	return seen
}

// cut removes the files that came after the snapshot.
func cut(t *testing.T, dir string, before map[string]bool) {
	t.Helper()
	for path, file := range snapshotOf(t, dir) {
		if file && !before[path] {
			require.NoError(t, os.Remove(path))
		}
	}
}

func TestVerify_ofARunThatIsAsItSays_passes(t *testing.T) {
	h := newHouse(t)
	require.NoError(t, sample.Vendas{Rows: 50, Years: 1, Until: h.at}.Write(t.Context(), h.store(table), h.env))
	h.plan("r-1", "_expurgo_flag")
	head := h.record(evidence.AuditRow{RunID: "r-1", Status: evidence.StatusCompleted, RowsMarked: count(0), RowsDeleted: count(0)})

	s := h.verb("verify", "r-1")
	require.NoError(t, s.err, s.out)
	require.Contains(t, s.out, "run r-1 of "+table+": completed")
	require.Contains(t, s.out, head)
	require.Contains(t, s.out, "there is no column _expurgo_flag")
	require.NotContains(t, s.out, "FAIL")
}

func TestVerify_ofARunWhoseFiguresAreMissing_fails(t *testing.T) {
	h := newHouse(t)
	require.NoError(t, sample.Vendas{Rows: 50, Years: 1, Until: h.at}.Write(t.Context(), h.store(table), h.env))
	h.record(evidence.AuditRow{
		RunID: "r-1", Status: evidence.StatusCompleted, RowsDeleted: count(5), VersionBefore: count(99),
	})
	s := h.verb("verify", "r-1")
	require.True(t, s.quiet(), "%v", s.err)
	require.Contains(t, s.out, "FAIL  rows marked, archived and deleted agree")
	require.Contains(t, s.out, "FAIL  the version before is still readable")

	require.ErrorContains(t, h.verb("verify", "r-9").err, "lakewarden audit list")
}

// plan leaves the part of a run's plan that names the marker.
func (h *house) plan(runID, column string) {
	h.t.Helper()
	folder, err := h.lake.Run(h.t.Context(), runID)
	require.NoError(h.t, err)
	data, err := json.Marshal(map[string]any{"policy": map[string]any{"mark": map[string]any{"column": column}}})
	require.NoError(h.t, err)
	require.NoError(h.t, folder.Put(h.t.Context(), "plan-0123456789abcdef.json", data))
}

func TestDoctor_withoutAServer_stillLooksAtTheLakehouse(t *testing.T) {
	h := newHouse(t)
	s := h.verb("doctor", "--json", "--address", "127.0.0.1:1")
	require.True(t, s.quiet(), "%v", s.err)
	ok := map[string]bool{}
	var findings []finding
	require.NoError(t, json.Unmarshal([]byte(s.out), &findings))
	for _, f := range findings {
		ok[f.What] = f.State == stateOK
		require.True(t, ok[f.What] || f.Do != "", "%s: what to do", f.What)
	}
	require.Equal(t, map[string]bool{
		"configuration": true, "lakehouse roots": true, "root " + h.dir: true, "clock of file://" + h.dir: true,
		"run folders": true, "Temporal server": false,
	}, ok)
	require.Empty(t, cleanEntries(t, h.dir), "the doctor leaves nothing behind")
}

func cleanEntries(t *testing.T, dir string) (files []string) {
	t.Helper()
	for path, file := range snapshotOf(t, dir) {
		if file {
			files = append(files, path)
		}
	}
	return files
}

func TestDoctor_ofAMissingRoot_saysWhatToDo(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	s := verb(t, "", "doctor", "--root", missing, "--address", "127.0.0.1:1")
	require.True(t, s.quiet(), "%v", s.err)
	require.Contains(t, s.out, "FAIL  root "+missing)
	require.Contains(t, s.out, "Create it, or give the worker rights on it.")
}
