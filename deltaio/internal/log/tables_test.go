package log_test

import (
	"encoding/json"
	"os"
	"path/filepath"
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
			Files int `json:"files"`
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

func TestLoad_real_tables_give_the_expected_state(t *testing.T) {
	t.Parallel()
	dir, tables := realTables(t)
	for _, tab := range tables {
		t.Run(tab.Name, func(t *testing.T) {
			t.Parallel()
			s := openReal(t, dir, tab)
			st, err := log.Load(t.Context(), s, -1)
			t.Log(tab.Behaviour.Read, err)
			require.NoError(t, err)
			require.Equal(t, tab.Expected.Versions.Latest, st.Version)
			require.Len(t, st.Files, tab.Expected.Snapshot.Files)
		})
	}
}
