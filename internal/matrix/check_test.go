package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/internal/runcheck"
)

// agrees holds a run that ended against the promises: table, archive and audit
// must tell the same story, and it must be the model's.
func (w *world) agrees(e ending, rows []sale) {
	w.t.Helper()
	stay, gone := dueOf(rows)
	require.NotEmpty(w.t, e.RunID, "%v", e.err)
	require.Contains(w.t, evidence.Statuses, e.Outcome, "a named outcome: %v", e.err)
	if e.Outcome == evidence.StatusCompleted {
		require.NoError(w.t, e.err)
		require.Equal(w.t, textsOf(stay), w.rows(), "the table holds what was not due")
		require.Equal(w.t, textsOf(gone), w.archived(e.RunID), "the archive holds what was due, once")
		require.Empty(w.t, w.liveTraces(gone), "no live file holds a purged row, not even behind its pages")
	} else {
		require.Error(w.t, e.err)
		require.Equal(w.t, textsOf(rows), w.rows(), "the table is as it was")
		require.Empty(w.t, w.archived(e.RunID), "nothing of the run is in the archive")
	}
	require.Equal(w.t, w.archived(""), w.archived(e.RunID), "nobody else archived")
	require.Zero(w.t, w.flagged(), "no row carries a flag")
	w.auditAgrees(e, len(gone))
	w.verifies(e.RunID)
	w.noOrphans(e.RunID)
	require.Empty(w.t, w.worker.stray, "every call to a store belongs to an attempt")
}

// auditAgrees holds the audit rows against the outcome that the workflow gave.
func (w *world) auditAgrees(e ending, due int) {
	w.t.Helper()
	rows := w.audit(e.RunID)
	require.NotEmpty(w.t, rows)
	require.Equal(w.t, e.Outcome, rows[0].Status, "the audit says how the run ended")
	seen := map[string]bool{}
	for _, r := range rows {
		require.False(w.t, seen[r.Status] && r.Status != evidence.StatusErasureIncomplete, "%s is recorded once", r.Status)
		seen[r.Status] = true
		if r.Status != evidence.StatusCompleted {
			require.Nil(w.t, r.RowsDeleted, "%s deleted nothing, or repeats no counts", r.Status)
		}
	}
	if e.Outcome != evidence.StatusCompleted {
		require.Len(w.t, rows, 1)
		require.NotEmpty(w.t, rows[0].Error)
		return
	}
	for name, n := range map[string]*int64{
		"marked": rows[0].RowsMarked, "archived": rows[0].RowsArchived, "deleted": rows[0].RowsDeleted, "result": e.RowsDeleted,
	} {
		require.NotNil(w.t, n, name)
		require.EqualValues(w.t, due, *n, name)
	}
}

// verifies runs the checks that people run.
func (w *world) verifies(runID string) {
	w.t.Helper()
	r, err := runcheck.Verify(w.ctx, w.direct, w.env(), auditName, runID)
	require.NoError(w.t, err)
	for _, c := range r.Checks {
		require.True(w.t, c.OK, "%s: %s", c.Name, c.Detail)
	}
	require.True(w.t, r.OK)
}

// noOrphans: no file of the run lies in storage that no version names.
func (w *world) noOrphans(runID string) {
	w.t.Helper()
	for _, name := range []string{tableName, archiveName} {
		if w.exists(name) {
			require.Empty(w.t, w.orphans(name, runID), name)
		}
	}
}

func (w *world) orphans(name, runID string) []string {
	w.t.Helper()
	named := map[string]bool{}
	state := w.snapshot(name).State()
	for _, a := range state.Files {
		named[a.Key().Path] = true
	}
	for _, r := range state.Tombstones {
		named[r.Key().Path] = true
	}
	var out []string
	for info, err := range w.store(name).List(w.ctx, "", "") {
		require.NoError(w.t, err)
		if strings.Contains(info.Key, runID) && !named[info.Key] {
			out = append(out, info.Key)
		}
	}
	return out
}

// chained sorts audit rows as the chain links them.
func chained(rows []evidence.AuditRow) ([]evidence.AuditRow, error) {
	next := map[string]evidence.AuditRow{}
	for _, r := range rows {
		if other, ok := next[r.PrevHash]; ok {
			return nil, fmt.Errorf("the chain forks after %s: %s and %s", r.PrevHash, other.RowHash, r.RowHash)
		}
		next[r.PrevHash] = r
	}
	var out []evidence.AuditRow
	at := slices.IndexFunc(rows, func(r evidence.AuditRow) bool {
		return !slices.ContainsFunc(rows, func(p evidence.AuditRow) bool { return p.RowHash == r.PrevHash })
	})
	for at >= 0 {
		out = append(out, rows[at])
		at = slices.IndexFunc(rows, func(r evidence.AuditRow) bool { return r.PrevHash == out[len(out)-1].RowHash })
	}
	if len(out) != len(rows) {
		return nil, fmt.Errorf("the chain holds %d of %d rows", len(out), len(rows))
	}
	return out, nil
}
