package matrix

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
)

// Other programs write to the table by putting commits of their own into its log,
// as Spark would: they know nothing of purges.

// rewrite replaces the files that hold a row for which touch is true by what
// change makes of their rows, in one commit. dataChange is false for OPTIMIZE.
func (w *world) rewrite(operation string, dataChange bool, touch func(sale) bool, change func([]sale) []sale) {
	w.t.Helper()
	snap := w.snapshot(tableName)
	now := w.clock.Now().UnixMilli()
	actions := []any{map[string]any{"commitInfo": map[string]any{
		"timestamp": now, "operation": operation, "operationParameters": map[string]any{}, "engineInfo": "Other-Engine/3.1",
	}}}
	var rows []sale
	files := snap.Files()
	for i, f := range files {
		have := w.salesIn(snap, deltaio.ScanOptions{Files: files[i : i+1]})
		if !slices.ContainsFunc(have, touch) {
			continue
		}
		rows = append(rows, have...)
		actions = append(actions, map[string]any{"remove": map[string]any{
			"path": f.Path, "deletionTimestamp": now, "dataChange": dataChange, "extendedFileMetadata": true,
			"partitionValues": f.PartitionValues, "size": f.Size,
		}})
	}
	if len(actions) == 1 {
		return
	}
	if rows = change(rows); len(rows) > 0 {
		rec := salesRecord(w.t, snap.Schema(), rows)
		defer rec.Release()
		staged, err := snap.Stage(w.ctx, deltaio.StageOptions{}, one(rec))
		require.NoError(w.t, err)
		for _, f := range staged {
			actions = append(actions, map[string]any{"add": map[string]any{
				"path": f.Add.Path, "partitionValues": f.Add.PartitionValues, "size": f.Add.Size, "modificationTime": now,
				"dataChange": dataChange, "stats": f.Add.Stats,
			}})
		}
	}
	w.commit(tableName, snap.Version()+1, actions...)
}

// salesIn reads rows with their flags.
func (w *world) salesIn(snap *deltaio.Snapshot, opt deltaio.ScanOptions) []sale {
	w.t.Helper()
	var out []sale
	for rec, err := range snap.Scan(w.ctx, opt) {
		require.NoError(w.t, err)
		out = append(out, salesOf(rec)...)
		rec.Release()
	}
	return out
}

// commit puts a commit into a table's log.
func (w *world) commit(name string, version int64, actions ...any) {
	w.t.Helper()
	var b bytes.Buffer
	for _, a := range actions {
		line, err := json.Marshal(a)
		require.NoError(w.t, err)
		b.Write(append(line, '\n'))
	}
	require.NoError(w.t, w.store(name).PutIfAbsent(w.ctx, fmt.Sprintf("_delta_log/%020d.json", version), b.Bytes()))
}

func anyRow(sale) bool { return true }

// optimize puts the rows of all files together, one file a partition: flagged and
// unflagged ones mix.
func (w *world) optimize() {
	w.t.Helper()
	w.rewrite("OPTIMIZE", false, anyRow, func(rows []sale) []sale { return rows })
}

func hasID(ids ...int64) func(sale) bool {
	return func(s sale) bool { return slices.Contains(ids, s.id) }
}

// remove deletes rows.
func (w *world) remove(ids ...int64) {
	w.t.Helper()
	w.rewrite("DELETE", true, hasID(ids...), func(rows []sale) []sale { return slices.DeleteFunc(rows, hasID(ids...)) })
}

// update changes rows; whatever flag they carry stays.
func (w *world) update(change func(*sale), ids ...int64) {
	w.t.Helper()
	w.rewrite("UPDATE", true, hasID(ids...), func(rows []sale) []sale {
		for i := range rows {
			if slices.Contains(ids, rows[i].id) {
				change(&rows[i])
			}
		}
		return rows
	})
}
