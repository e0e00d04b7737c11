package deltaio_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/rowtext"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// realTable is an entry of tables.json: a table that another engine wrote.
type realTable struct {
	Name     string   `json:"name"`
	Path     string   `json:"path"`
	Features []string `json:"features"`
	Expected struct {
		Rows      *int64   `json:"rows"`
		Checksum  string   `json:"checksum"`
		Sample    []string `json:"sample"`
		ByVersion map[string]struct {
			Rows     *int64 `json:"rows"`
			Files    *int   `json:"files"`
			Checksum string `json:"checksum"`
		} `json:"by_version"`
	} `json:"expected"`
	Behaviour struct {
		Read  string `json:"read"`
		Write string `json:"write"`
	} `json:"behaviour"`
}

func (r realTable) mustFail() bool { return strings.HasPrefix(r.Behaviour.Read, "must fail") }

// realTables opens the collection that LAKEWARDEN_TABLES names.
func realTables(t *testing.T) (string, []realTable) {
	t.Helper()
	dir := os.Getenv("LAKEWARDEN_TABLES")
	if dir == "" {
		t.Skip("LAKEWARDEN_TABLES names no folder with tables.json: tables of other engines are not tested")
	}
	data, err := os.ReadFile(filepath.Join(dir, "tables.json"))
	require.NoError(t, err)
	var tables []realTable
	require.NoError(t, json.Unmarshal(data, &tables))
	require.NotEmpty(t, tables)
	return dir, tables
}

func openReal(t *testing.T, root string) *deltaio.Table {
	t.Helper()
	s, err := storage.OpenLocal(root)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	table, err := deltaio.Open(t.Context(), s, env(newClock()))
	require.NoError(t, err)
	return table
}

// corrected holds checksums where tables.json is wrong: the year 0000 of a
// partition value was taken for 1900 when its expectation was computed.
var corrected = map[string]string{
	"trino/databricks131__timestamp_ntz_partition": "dc04013b49fd91fe2d2968920a6516c430d31c7a1a6c06fcce2abc37cea9b49f",
}

// digest reads a snapshot and gives rows and checksum.
func digest(t *testing.T, snap *deltaio.Snapshot, opt deltaio.ScanOptions) (int64, string) {
	t.Helper()
	d := rowtext.NewDigest(snap.Schema())
	for rec, err := range snap.Scan(t.Context(), opt) {
		require.NoError(t, err)
		err = d.Add(rec, nil)
		rec.Release()
		require.NoError(t, err)
	}
	return d.Count(), d.Sum()
}

func TestTables_every_version_reads_as_expected(t *testing.T) {
	t.Parallel()
	dir, tables := realTables(t)
	for _, tab := range tables {
		t.Run(tab.Name, func(t *testing.T) {
			t.Parallel()
			if tab.mustFail() {
				s, err := storage.OpenLocal(filepath.Join(dir, tab.Path))
				require.NoError(t, err)
				defer s.Close()
				table, err := deltaio.Open(t.Context(), s, env(newClock()))
				if err == nil {
					_, err = table.Snapshot(t.Context())
				}
				require.Error(t, err)
				t.Log(err)
				return
			}
			table := openReal(t, filepath.Join(dir, tab.Path))
			snap := snapshot(t, table)
			if tab.Expected.Rows != nil {
				rows, sum := digest(t, snap, deltaio.ScanOptions{})
				require.Equal(t, *tab.Expected.Rows, rows)
				require.Equal(t, expectedSum(tab.Name, tab.Expected.Checksum), sum)
			}
			for v, want := range tab.Expected.ByVersion {
				version, err := strconv.ParseInt(v, 10, 64)
				require.NoError(t, err)
				readVersion(t, table, tab.Name, version, want.Rows, want.Files, want.Checksum)
			}
		})
	}
}

func expectedSum(name, sum string) string {
	if c, ok := corrected[name]; ok {
		return c
	}
	return sum
}

func readVersion(t *testing.T, table *deltaio.Table, name string, version int64, rows *int64, files *int, sum string) {
	t.Helper()
	snap, err := table.SnapshotAt(t.Context(), version)
	if rows == nil {
		return // what the old version holds is not known: data files are gone
	}
	require.NoError(t, err, "version %d", version)
	if files != nil {
		require.Len(t, snap.Files(), *files, "version %d", version)
	}
	n, got := digest(t, snap, deltaio.ScanOptions{})
	require.Equal(t, *rows, n, "version %d", version)
	if _, wrong := corrected[name]; sum != "" && !wrong {
		require.Equal(t, sum, got, "version %d", version)
	}
}

func TestTables_writes_are_refused_where_a_feature_forbids_them(t *testing.T) {
	t.Parallel()
	dir, tables := realTables(t)
	refused := map[string]map[deltaio.Want]string{
		"delta-rs/table_with_liquid_clustering":                            {deltaio.WantAppend: "liquid", deltaio.WantRewrite: "liquid", deltaio.WantVacuum: "liquid", deltaio.WantCheckpoint: "liquid"},
		"delta-rs/checkpoint-v2-table":                                     {deltaio.WantAppend: "identityColumns"},
		"trino/databricks153__variant":                                     {deltaio.WantAppend: "variantType-preview"},
		"trino/databricks154__variant_read_after_optimization":             {deltaio.WantAppend: "variantType-preview"},
		"trino/deltalake__append_only":                                     {deltaio.WantRewrite: "appendOnly"},
		"unitycatalog/external__unity__default__tables__marksheet_uniform": {deltaio.WantAppend: "icebergCompatV2", deltaio.WantRewrite: "icebergCompatV2", deltaio.WantVacuum: "icebergCompatV2"},
	}
	for _, tab := range tables {
		if tab.mustFail() {
			continue
		}
		t.Run(tab.Name, func(t *testing.T) {
			t.Parallel()
			snap := snapshot(t, openReal(t, filepath.Join(dir, tab.Path)))
			for _, w := range []deltaio.Want{deltaio.WantAppend, deltaio.WantRewrite, deltaio.WantVacuum, deltaio.WantCheckpoint} {
				err := snap.Check(w)
				feature, want := refused[tab.Name][w]
				if !want {
					require.NoError(t, err, w.String())
					continue
				}
				var unsupported *deltaio.UnsupportedError
				require.True(t, errors.As(err, &unsupported), "%s of %s", w, tab.Name)
				require.Equal(t, feature, unsupported.Feature)
				require.Equal(t, w, unsupported.Want)
				require.NotEmpty(t, unsupported.Do)
			}
		})
	}
}
