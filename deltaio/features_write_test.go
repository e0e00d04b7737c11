package deltaio_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
)

// writable are the features of the protocol that a table can be written with,
// and what turns each on.
var writable = map[string]map[string]string{
	"invariants":                  {"delta.feature.invariants": "supported"},
	"checkConstraints":            {"delta.constraints.positive": "id >= 0"},
	"generatedColumns":            {"delta.feature.generatedColumns": "supported"},
	"allowColumnDefaults":         {"delta.feature.allowColumnDefaults": "supported"},
	"changeDataFeed":              {"delta.enableChangeDataFeed": "true"},
	"columnMapping":               {"delta.columnMapping.mode": "name"},
	"deletionVectors":             {"delta.enableDeletionVectors": "true"},
	"timestampNtz":                {"delta.feature.timestampNtz": "supported"},
	"v2Checkpoint":                {"delta.checkpointPolicy": "v2"},
	"domainMetadata":              {"delta.feature.domainMetadata": "supported"},
	"clustering":                  {"delta.feature.clustering": "supported"},
	"rowTracking":                 {"delta.enableRowTracking": "true"},
	"inCommitTimestamp":           {"delta.enableInCommitTimestamps": "true"},
	"typeWidening":                {"delta.enableTypeWidening": "true"},
	"vacuumProtocolCheck":         {"delta.feature.vacuumProtocolCheck": "supported"},
	"materializePartitionColumns": {"delta.feature.materializePartitionColumns": "supported"},
	"identityColumns":             {"delta.feature.identityColumns": "supported"},
}

// Each feature by itself, through every operation: rows, protocol, properties
// and the domain and txn entries of others are what they were, from the commits
// and from a checkpoint alone.
func TestFeatures_each_writable_one_survives_every_operation(t *testing.T) {
	t.Parallel()
	for name, props := range writable {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			s := memStore(c)
			table := flagged(t, s, c, props)
			first := snapshot(t, table)
			require.True(t, slices.Contains(first.Protocol().WriterFeatures, name) || first.Protocol().MinWriterVersion < 7, "%+v", first.Protocol())
			kept := []row{{1, date("2025-01-01"), 1}, {2, nil, 2}}
			appendRows(t, table, deltaio.AppendOptions{Step: &deltaio.Step{AppID: "other", Version: 7}}, append(kept, row{3, nil, 3})...)
			loaded := snapshot(t, table)
			dropLast(t, table, c)
			want := texts(t, snapshot(t, table), deltaio.ScanOptions{})
			require.Len(t, want, 2)

			_, err := deltaio.Restore(t.Context(), table, deltaio.RestoreOptions{Version: loaded.Version()})
			require.NoError(t, err)
			require.Len(t, texts(t, snapshot(t, table), deltaio.ScanOptions{}), 3)
			dropLast(t, table, c)
			c.Add(30 * 24 * time.Hour)
			vacuum(t, table, deltaio.VacuumOptions{})
			at, err := deltaio.Checkpoint(t.Context(), table)
			require.NoError(t, err)

			for v := range at {
				require.NoError(t, s.Delete(t.Context(), log.CommitKey(v)))
			}
			fromCheckpoint, err := deltaio.Open(t.Context(), s, env(c))
			require.NoError(t, err)
			last := snapshot(t, fromCheckpoint)
			require.ElementsMatch(t, want, texts(t, last, deltaio.ScanOptions{}))
			require.Equal(t, first.Protocol(), last.Protocol())
			require.Equal(t, first.State().Metadata.Configuration, last.State().Metadata.Configuration)
			txn, _ := last.Txn("other")
			require.EqualValues(t, 7, txn)
		})
	}
}

// dropLast rewrites the table's one file without its last row.
func dropLast(t *testing.T, table *deltaio.Table, c *clock) {
	t.Helper()
	snap := snapshot(t, table)
	f, err := snap.OpenFile(t.Context(), snap.Files()[0])
	require.NoError(t, err)
	defer f.Close()
	rows := pq.FullBitmap(int(f.NumRows()))
	rows.Unset(int(f.NumRows()) - 1)
	staged, err := f.Rewrite(t.Context(), []deltaio.RewriteOutput{{Key: table.Env().NewID() + ".parquet", Rows: rows}})
	require.NoError(t, err)
	_, err = table.Commit(t.Context(), snap, deltaio.CommitOptions{Operation: "DELETE", Rewritten: true},
		func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
			return []log.Action{{Remove: deltaio.RemoveOf(f.Add(), c.Now().UnixMilli(), true)}, {Add: staged[0].Add}}, nil
		})
	require.NoError(t, err)
}
