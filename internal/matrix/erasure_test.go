package matrix

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/workflows"
)

// proves runs a purge and, after its retention, the proof of erasure. What breaks
// is mended a few days later.
func proves(_ *testing.T, w *world) ending {
	return w.purge(policy(proving), mender(w), func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(w.worker.mend, 10*24*time.Hour)
	})
}

// checkErasure: the purge is completed whatever happens to the proof, a proof that
// breaks says so, and what is called erased is.
func checkErasure(t *testing.T, w *world, f *fate, p point, e ending) {
	t.Helper()
	require.Equal(t, evidence.StatusCompleted, e.Outcome, "%v", e.err)
	w.agrees(e, flat(fixture()))
	_, gone := dueOf(flat(fixture()))
	want := []string{evidence.StatusCompleted, evidence.StatusVacuumed}
	if f != nil && f.broken && p.activity != "RecordAudit" {
		want = append(want, evidence.StatusErasureIncomplete)
	}
	if f != nil && f.broken && p.activity == "RecordAudit" {
		return // the proof is made and cannot be told: its workflow fails
	}
	require.Equal(t, append(want, evidence.StatusErased), w.statuses(e.RunID))
	require.Empty(t, w.dataTraces(tablePath, gone), "erased means that no file of the table holds a purged row")
}

func TestErasure_any_fate_at_any_call_to_a_store_keeps_the_promises(t *testing.T) {
	t.Parallel()
	scenario{
		name: "proof of erasure", run: proves, only: []string{"VacuumTable 2", "ProveErased", "RecordAudit 3"}, check: checkErasure,
		fates: func(f fate) bool { return !f.cancelled },
	}.try(t)
}

func TestErasure_past_retention_no_byte_of_a_purged_row_is_left_but_what_the_certificate_says(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	stay, gone := dueOf(flat(fixture()))
	before := w.clock.Now()
	e := w.purge(policy(proving), nil)
	require.NoError(t, e.err)
	require.Equal(t, []string{evidence.StatusCompleted, evidence.StatusVacuumed, evidence.StatusErased}, w.statuses(e.RunID))
	require.GreaterOrEqual(t, w.clock.Now().Sub(before), 7*24*time.Hour, "it waited for the retention")
	require.Empty(t, w.dataTraces(tablePath, gone))
	require.NotEmpty(t, w.dataTraces(tablePath, stay), "the search finds what is there")
	w.agrees(e, flat(fixture()))
	c := w.certificate(e.RunID)
	require.Equal(t, evidence.StatusErased, c.Status)
	require.EqualValues(t, len(gone), *c.RowsErased)
	require.NotNil(t, c.Log.ExpiresAt, "log entries that still hold values are dated")
	require.NotZero(t, *c.Log.Entries)
	logs := w.traces(tablePath+"_delta_log/", gone)
	require.NotEmpty(t, logs, "statistics in the log name values until the log expires, as the certificate says")
}

// certificate reads the newest certificate of a run.
func (w *world) certificate(runID string) evidence.Certificate {
	w.t.Helper()
	folder, err := w.direct.Run(w.ctx, runID)
	require.NoError(w.t, err)
	names, err := folder.List(w.ctx, "certificate-")
	require.NoError(w.t, err)
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, ".json") })
	require.NotEmpty(w.t, names)
	data, err := folder.Get(w.ctx, names[len(names)-1])
	require.NoError(w.t, err)
	var c evidence.Certificate
	require.NoError(w.t, json.Unmarshal(data, &c))
	return c
}

// denyDeletes lets a file under the lake stay whatever is asked.
func denyDeletes(until func(*attempt) bool) script {
	return func(_ context.Context, a *attempt, when storage.When, op storage.Op, _ int) error {
		if when == storage.BeforeCall && op.Kind == storage.OpDelete && strings.HasPrefix(op.Key, tablePath) &&
			strings.HasSuffix(op.Key, ".parquet") && a.activity == "VacuumTable" && until(a) {
			return storage.ErrPermission
		}
		return nil
	}
}

func TestErasure_a_file_that_cannot_be_deleted_is_named_until_it_is_gone(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	_, gone := dueOf(flat(fixture()))
	w.worker.play(denyDeletes(func(a *attempt) bool { return a.call < 5 }))
	e := w.purge(policy(proving), nil)
	require.NoError(t, e.err)
	require.Equal(t, []string{evidence.StatusCompleted, evidence.StatusVacuumed, evidence.StatusErasureIncomplete, evidence.StatusErased}, w.statuses(e.RunID))
	require.Empty(t, w.dataTraces(tablePath, gone))
}

func TestErasure_a_file_that_stays_for_good_ends_as_incomplete(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	w.worker.play(denyDeletes(func(*attempt) bool { return true }))
	e := w.purge(policy(proving), nil)
	require.NoError(t, e.err)
	all := w.statuses(e.RunID)
	require.Equal(t, evidence.StatusErasureIncomplete, all[len(all)-1])
	require.NotContains(t, all, evidence.StatusErased)
	c := w.certificate(e.RunID)
	require.Equal(t, evidence.StatusErasureIncomplete, c.Status)
	require.NotEmpty(t, c.Shortfalls())
	err := e.env.GetWorkflowErrorByID(workflows.ErasureID(e.RunID))
	require.Equal(t, "ErasureIncomplete", errorType(err))
}

func TestErasure_rows_that_another_writer_brought_back_keep_it_incomplete(t *testing.T) {
	t.Parallel()
	w := salesWorld(t)
	_, gone := dueOf(flat(fixture()))
	original := w.snapshot(tableName)
	e := w.purge(policy(proving), nil, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() { w.bringBack(original) }, 24*time.Hour)
	})
	require.NoError(t, e.err)
	all := w.statuses(e.RunID)
	require.Contains(t, all, evidence.StatusErasureIncomplete)
	require.NotContains(t, all, evidence.StatusErased)
	require.NotEmpty(t, w.liveTraces(gone))
}

// bringBack is another engine's RESTORE to a version: its files are live again.
func (w *world) bringBack(to *deltaio.Snapshot) {
	w.t.Helper()
	now := w.clock.Now().UnixMilli()
	snap := w.snapshot(tableName)
	var actions []any
	before, after := map[string]bool{}, map[string]bool{}
	for _, f := range to.Files() {
		before[f.Path] = true
	}
	for _, f := range snap.Files() {
		after[f.Path] = true
	}
	for _, f := range snap.Files() {
		if before[f.Path] {
			continue
		}
		actions = append(actions, map[string]any{"remove": map[string]any{
			"path": f.Path, "deletionTimestamp": now, "dataChange": true, "extendedFileMetadata": true, "partitionValues": f.PartitionValues, "size": f.Size,
		}})
	}
	for _, f := range to.Files() {
		if after[f.Path] {
			continue
		}
		actions = append(actions, map[string]any{"add": map[string]any{
			"path": f.Path, "partitionValues": f.PartitionValues, "size": f.Size, "modificationTime": now, "dataChange": true, "stats": f.Stats,
		}})
	}
	w.commit(tableName, snap.Version()+1, actions...)
}
