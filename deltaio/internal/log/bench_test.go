package log_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

const benchFiles = 100_000

// benchTable is a table of 100,000 files in 1,000 partitions, in ten commits.
func benchTable(b *testing.B, structs bool) *storage.Memory {
	b.Helper()
	s := storage.NewMemory()
	schema := `{"type":"struct","fields":[` +
		`{"name":"id","type":"long","nullable":true,"metadata":{}},{"name":"day","type":"date","nullable":true,"metadata":{}},` +
		`{"name":"name","type":"string","nullable":true,"metadata":{}},{"name":"amount","type":"decimal(18,2)","nullable":true,"metadata":{}},` +
		`{"name":"at","type":"timestamp","nullable":true,"metadata":{}}]}`
	actions := []log.Action{
		{Protocol: &log.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}},
		{Metadata: &log.Metadata{ID: "t", SchemaString: schema, PartitionColumns: []string{"day"},
			Configuration: map[string]string{"delta.checkpoint.writeStatsAsStruct": fmt.Sprint(structs)}}},
	}
	for i := range benchFiles {
		day := time.Unix(int64(i%1000)*86400, 0).UTC().Format(time.DateOnly)
		stats := fmt.Sprintf(`{"numRecords":%d,"minValues":{"id":%d,"name":"%s","amount":%d.25,"at":"2024-01-01T00:00:00.000Z"},`+
			`"maxValues":{"id":%d,"name":"%s","amount":%d.75,"at":"2024-01-02T00:00:00.000Z"},"nullCount":{"id":0,"name":0,"amount":0,"at":0}}`,
			i, i, strings.Repeat("a", 20), i, i+1000, strings.Repeat("z", 20), i+5)
		actions = append(actions, log.Action{Add: &log.Add{
			Path:            fmt.Sprintf("day=%s/part-%05d-1c2d1a32-02dc-484f-87ff-4328ea56045d-c000.snappy.parquet", day, i),
			PartitionValues: map[string]*string{"day": &day}, Size: 1 << 20, ModificationTime: 1700000000000, DataChange: true, Stats: stats,
		}})
		if len(actions) >= benchFiles/10 || i == benchFiles-1 {
			data, err := log.EncodeCommit(actions)
			require.NoError(b, err)
			v, err := log.Latest(b.Context(), s)
			if err != nil {
				v = -1
			}
			require.NoError(b, s.PutIfAbsent(b.Context(), log.CommitKey(v+1), data))
			actions = nil
		}
	}
	return s
}

func BenchmarkLoad(b *testing.B) {
	for _, from := range []string{"commits", "checkpoint", "structs"} {
		b.Run(from, func(b *testing.B) {
			s := benchTable(b, from == "structs")
			if from != "commits" {
				st, err := log.Load(b.Context(), s, -1)
				require.NoError(b, err)
				if from == "structs" {
					st.Metadata.Configuration["delta.checkpoint.writeStatsAsJson"] = "false"
				}
				require.NoError(b, log.WriteCheckpoint(b.Context(), s, st, 0))
			}
			b.ReportAllocs()
			for b.Loop() {
				st, err := log.Load(b.Context(), s, -1)
				require.NoError(b, err)
				require.Len(b, st.Files, benchFiles)
			}
		})
	}
}

func BenchmarkWriteCheckpoint(b *testing.B) {
	for _, structs := range []bool{false, true} {
		b.Run(fmt.Sprintf("structs=%t", structs), func(b *testing.B) {
			s := benchTable(b, structs)
			st, err := log.Load(b.Context(), s, -1)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, log.WriteCheckpoint(b.Context(), s, st, 0))
			}
		})
	}
}

func BenchmarkAdvance(b *testing.B) {
	s := benchTable(b, false)
	st, err := log.Load(b.Context(), s, -1)
	require.NoError(b, err)
	data, err := log.EncodeCommit([]log.Action{{Remove: st.Files[5].Remove(1, true)}})
	require.NoError(b, err)
	require.NoError(b, s.PutIfAbsent(b.Context(), log.CommitKey(st.Version+1), data))
	b.ReportAllocs()
	for b.Loop() {
		next, err := st.Advance(b.Context(), s, -1)
		require.NoError(b, err)
		require.Len(b, next.Files, benchFiles-1)
	}
}
