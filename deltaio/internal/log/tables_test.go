package log_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// realTable is an entry of tables.json: a table some other engine wrote.
type realTable struct {
	Name     string   `json:"name"`
	Path     string   `json:"path"`
	Features []string `json:"features"`
	Protocol struct {
		MinReaderVersion int32    `json:"minReaderVersion"`
		MinWriterVersion int32    `json:"minWriterVersion"`
		ReaderFeatures   []string `json:"readerFeatures"`
		WriterFeatures   []string `json:"writerFeatures"`
	} `json:"protocol"`
	Configuration map[string]string `json:"configuration"`
	Expected      struct {
		Versions struct {
			First  int64 `json:"first_commit_file"`
			Latest int64 `json:"latest"`
		} `json:"versions"`
		Snapshot struct {
			Files      int                        `json:"files"`
			FilesDV    int                        `json:"files_with_dv"`
			DVStorage  []string                   `json:"dv_storage"`
			Bytes      int64                      `json:"bytes"`
			Txn        map[string]int64           `json:"txn"`
			Domains    map[string]json.RawMessage `json:"domains"`
			BaseRowIDs int                        `json:"base_row_ids"`
			Tombstones int                        `json:"tombstones_known"`
		} `json:"snapshot"`
		ByVersion map[string]struct {
			Files *int `json:"files"`
		} `json:"by_version"`
		DVDeleted int64 `json:"dv_deleted_rows"`
	} `json:"expected"`
	Behaviour struct {
		Read string `json:"read"`
	} `json:"behaviour"`
}

// realTables opens the collection named by LAKEWARDEN_TABLES.
func realTables(t *testing.T) (string, []realTable) {
	t.Helper()
	dir := os.Getenv("LAKEWARDEN_TABLES")
	if dir == "" {
		t.Skip("LAKEWARDEN_TABLES names no folder with tables.json: real tables are not tested")
	}
	data, err := os.ReadFile(filepath.Join(dir, "tables.json"))
	require.NoError(t, err)
	var tables []realTable
	require.NoError(t, json.Unmarshal(data, &tables))
	require.NotEmpty(t, tables)
	return dir, tables
}

func openReal(t *testing.T, dir string, tab realTable) storage.Store {
	t.Helper()
	s, err := storage.OpenLocal(filepath.Join(dir, tab.Path))
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// refused are the tables whose log must not be read by its files alone.
func refused(tab realTable) bool { return strings.HasPrefix(tab.Behaviour.Read, "must fail") }

// withoutStats forgets the statistics of a state when the table's own checkpoint
// was written without them, contrary to its properties.
func withoutStats(tab realTable, states ...*log.State) {
	if tab.Name != "trino/deltalake__partition_values_parsed_all_types" {
		return
	}
	for _, st := range states {
		for _, a := range st.Files {
			a.Stats = ""
		}
	}
}

func TestLoad_real_tables_give_the_expected_state(t *testing.T) {
	t.Parallel()
	dir, tables := realTables(t)
	for _, tab := range tables {
		t.Run(tab.Name, func(t *testing.T) {
			t.Parallel()
			s := openReal(t, dir, tab)
			st, err := log.Load(t.Context(), s, -1)
			if refused(tab) {
				require.Error(t, err)
				t.Log(err)
				return
			}
			require.NoError(t, err)
			requireExpected(t, tab, st)
			latest, err := log.Latest(t.Context(), s)
			require.NoError(t, err)
			require.Equal(t, st.Version, latest)
			for v, want := range tab.Expected.ByVersion {
				n, err := strconv.ParseInt(v, 10, 64)
				require.NoError(t, err)
				at, err := log.Load(t.Context(), s, n)
				require.NoError(t, err, "version %d", n)
				if want.Files != nil {
					require.Len(t, at.Files, *want.Files, "version %d", n)
				}
				forward, err := at.Advance(t.Context(), s, -1)
				require.NoError(t, err)
				withoutStats(tab, st, forward)
				requireSameState(t, st, forward)
			}
		})
	}
}

func requireExpected(t *testing.T, tab realTable, st *log.State) {
	t.Helper()
	want := tab.Expected.Snapshot
	require.Equal(t, tab.Expected.Versions.Latest, st.Version)
	require.Equal(t, tab.Protocol.MinReaderVersion, st.Protocol.MinReaderVersion)
	require.Equal(t, tab.Protocol.MinWriterVersion, st.Protocol.MinWriterVersion)
	require.ElementsMatch(t, tab.Protocol.ReaderFeatures, st.Protocol.ReaderFeatures)
	require.ElementsMatch(t, tab.Protocol.WriterFeatures, st.Protocol.WriterFeatures)
	require.Equal(t, tab.Configuration, st.Metadata.Configuration)
	require.Len(t, st.Files, want.Files)
	var bytes, deleted int64
	dvs, rowIDs := 0, 0
	for _, a := range st.Files {
		bytes += a.Size
		if a.DeletionVector != nil {
			dvs++
			deleted += a.DeletionVector.Cardinality
		}
		if a.BaseRowID != nil {
			rowIDs++
		}
		_, err := log.DecodePath(a.Path)
		require.NoError(t, err)
		_, err = st.Stats(a)
		require.NoError(t, err)
		checkPartitionColumns(t, st, a)
	}
	require.Equal(t, want.Bytes, bytes)
	require.Equal(t, want.FilesDV, dvs)
	require.Equal(t, tab.Expected.DVDeleted, deleted)
	require.Equal(t, want.BaseRowIDs, rowIDs)
	txns := map[string]int64{}
	for id, x := range st.Txns {
		txns[id] = x.Version
	}
	require.Equal(t, want.Txn, txns)
	require.Len(t, st.Domains, len(want.Domains))
	require.Len(t, st.Tombstones, want.Tombstones)
}

func checkPartitionColumns(t *testing.T, st *log.State, a *log.Add) {
	t.Helper()
	s, err := st.Schema()
	require.NoError(t, err)
	for _, c := range st.Metadata.PartitionColumns {
		f, ok := s.Field(c)
		require.True(t, ok, c)
		require.Contains(t, a.PartitionValues, f.PhysicalName())
	}
}

func TestLoad_real_tables_commits_alone_give_what_their_checkpoints_give(t *testing.T) {
	t.Parallel()
	dir, tables := realTables(t)
	for _, tab := range tables {
		if refused(tab) || tab.Expected.Versions.First > 0 {
			continue
		}
		t.Run(tab.Name, func(t *testing.T) {
			t.Parallel()
			s := copyLog(t, openReal(t, dir, tab))
			want, err := log.Load(t.Context(), s, -1)
			require.NoError(t, err)
			removeCheckpoints(t, s)
			got, err := log.Load(t.Context(), s, -1)
			require.NoError(t, err)
			withoutStats(tab, got, want)
			requireSameState(t, got, want)
		})
	}
}

func TestWriteCheckpoint_real_tables_read_back_the_same(t *testing.T) {
	t.Parallel()
	dir, tables := realTables(t)
	for _, tab := range tables {
		if refused(tab) {
			continue
		}
		for _, structs := range []string{"false", "true"} {
			t.Run(tab.Name+"/structs="+structs, func(t *testing.T) {
				t.Parallel()
				s := copyLog(t, openReal(t, dir, tab))
				st, err := log.Load(t.Context(), s, -1)
				require.NoError(t, err)
				meta := *st.Metadata
				meta.Configuration = maps.Clone(meta.Configuration)
				meta.Configuration["delta.checkpoint.writeStatsAsStruct"] = structs
				meta.Configuration["delta.checkpoint.writeStatsAsJson"] = "true"
				if structs == "true" {
					meta.Configuration["delta.checkpoint.writeStatsAsJson"] = "false"
				}
				st.Metadata = &meta
				removeCheckpoints(t, s)
				require.NoError(t, log.WriteCheckpoint(t.Context(), s, st, 0))
				got, err := log.Load(t.Context(), s, -1)
				require.NoError(t, err)
				requireSameState(t, st, got)
			})
		}
	}
}
