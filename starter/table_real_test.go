package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// realTable is an entry of tables.json: a table that another engine wrote.
type realTable struct {
	Name     string        `json:"name"`
	Path     string        `json:"path"`
	Protocol protocolShown `json:"protocol"`
	Expected struct {
		Rows      *int64 `json:"rows"`
		Checksum  string `json:"checksum"`
		ByVersion map[string]struct {
			Rows     *int64 `json:"rows"`
			Files    *int   `json:"files"`
			Checksum string `json:"checksum"`
		} `json:"by_version"`
		// Rows by kind of change in the change files of a version.
		CDF map[string]map[string]int64 `json:"cdf"`
	} `json:"expected"`
	Behaviour struct {
		Read  string `json:"read"`
		Write string `json:"write"`
	} `json:"behaviour"`
}

func (r *realTable) mustFail() bool { return strings.HasPrefix(r.Behaviour.Read, "must fail") }

// misread is a table whose expected checksum is wrong: the year 0000 of a
// partition value was taken for 1900 when it was computed.
const misread = "trino/databricks131__timestamp_ntz_partition"

// mustRefuse are the writes that have to be refused: a feature that is not known
// here, or that the table's own rules forbid.
var mustRefuse = map[string][]string{
	"delta-rs/table_with_liquid_clustering":                            {"append", "rewrite", "vacuum", "checkpoint"},
	"trino/deltalake__append_only":                                     {"rewrite"},
	"unitycatalog/external__unity__default__tables__marksheet_uniform": {"append", "rewrite", "vacuum"},
	"delta-rs/checkpoint-v2-table":                                     {"append"},
	"trino/databricks153__variant":                                     {"append"},
	"trino/databricks154__variant_read_after_optimization":             {"append"},
}

func TestTableReal_everyVerbOnEveryTableOfOtherEngines(t *testing.T) {
	dir := os.Getenv("LAKEWARDEN_TABLES")
	if dir == "" {
		t.Skip("LAKEWARDEN_TABLES names no folder with tables.json: tables of other engines are not shown")
	}
	data, err := os.ReadFile(filepath.Join(dir, "tables.json"))
	require.NoError(t, err)
	var tables []realTable
	require.NoError(t, json.Unmarshal(data, &tables))
	require.Len(t, tables, 87)
	versions := 0
	for i := range tables {
		tab := &tables[i]
		t.Run(tab.Name, func(t *testing.T) {
			r := realRun{t, tab, filepath.Join(dir, tab.Path)}
			if tab.mustFail() {
				r.refused()
				return
			}
			r.newest()
			versions += r.versions()
			r.changes()
			r.fsck()
		})
	}
	t.Logf("%d tables, %d older versions", len(tables), versions)
}

// realRun is one table under test.
type realRun struct {
	*testing.T
	tab *realTable
	dir string
}

func (r realRun) verb(args ...string) said {
	return runAt(r.T, time.Now(), append([]string{"table", args[0], r.dir}, args[1:]...)...)
}

func (r realRun) read(into any, args ...string) {
	r.Helper()
	s := r.verb(append(args, "--json")...)
	require.NoError(r, s.err, "%v", args)
	require.NoError(r, json.Unmarshal([]byte(s.out), into), "%v", args)
}

// refused: no verb gives rows of a table that must not be read.
func (r realRun) refused() {
	for _, v := range []string{"detail", "show", "checksum", "files", "schema"} {
		s := r.verb(v)
		require.Error(r, s.err, v)
		require.Empty(r, s.out, v)
		require.Greater(r, len(s.err.Error()), 40, "%s: %v", v, s.err)
	}
}

// newest compares the newest version, whatever verb tells of it.
func (r realRun) newest() {
	var sum checksumShown
	r.read(&sum, "checksum")
	require.Equal(r, r.tab.Protocol.MinReaderVersion, sum.Protocol.MinReaderVersion)
	require.Equal(r, r.tab.Protocol.MinWriterVersion, sum.Protocol.MinWriterVersion)
	require.ElementsMatch(r, r.tab.Protocol.ReaderFeatures, sum.Protocol.ReaderFeatures)
	require.ElementsMatch(r, r.tab.Protocol.WriterFeatures, sum.Protocol.WriterFeatures)
	if want := r.tab.Expected.Rows; want != nil {
		require.Equal(r, *want, sum.Rows)
		if r.tab.Name != misread {
			require.Equal(r, r.tab.Expected.Checksum, sum.Checksum)
		}
	}
	var rows []map[string]any
	r.read(&rows, "show", "--limit", "0")
	require.Len(r, rows, int(sum.Rows))

	var d detailShown
	r.read(&d, "detail")
	require.ElementsMatch(r, mustRefuse[r.tab.Name], slices.Collect(maps.Keys(d.Refused)))
	for _, why := range d.Refused {
		require.Contains(r, why, "table feature")
	}
	if d.Rows != nil {
		require.Equal(r, sum.Rows, *d.Rows)
	}
	var parts []struct {
		Rows  *int64 `json:"rows"`
		Files int    `json:"files"`
	}
	r.read(&parts, "partitions")
	files := 0
	for _, p := range parts {
		files += p.Files
	}
	require.Equal(r, d.Files, files)
	var listed []json.RawMessage
	r.read(&listed, "files")
	require.Len(r, listed, d.Files)
	for _, v := range []string{"detail", "history", "schema", "files", "partitions", "show"} {
		s := r.verb(v)
		require.NoError(r, s.err, v)
		require.NotEmpty(r, s.out, v)
	}
}

// versions compares every version that is listed, and says how many.
func (r realRun) versions() (n int) {
	for v, want := range r.tab.Expected.ByVersion {
		if want.Rows == nil {
			continue // data files are gone: what it holds is not known
		}
		var sum checksumShown
		r.read(&sum, "checksum", "--version", v)
		require.Equal(r, *want.Rows, sum.Rows, "version %s", v)
		if want.Checksum != "" && r.tab.Name != misread {
			require.Equal(r, want.Checksum, sum.Checksum, "version %s", v)
		}
		if want.Files != nil {
			var d detailShown
			r.read(&d, "detail", "--version", v)
			require.Equal(r, *want.Files, d.Files, "version %s", v)
		}
		n++
	}
	return n
}

// changes counts the rows of change files by their kind.
func (r realRun) changes() {
	for v, want := range r.tab.Expected.CDF {
		var rows []map[string]any
		r.read(&rows, "changes", "--from", v, "--to", v)
		got := map[string]int64{}
		for _, row := range rows {
			got[row["_change_type"].(string)]++
			require.Equal(r, v, strconv.FormatFloat(row["_commit_version"].(float64), 'f', -1, 64))
		}
		require.Equal(r, want, got, "version %s", v)
	}
}

// fsck finds strays and a broken hint in some of the tables, damage in none.
func (r realRun) fsck() {
	s := r.verb("fsck", "--deep", "--json")
	if s.err != nil && !s.quiet() {
		require.NoError(r, s.err)
	}
	var report struct {
		Counts map[string]int `json:"counts"`
	}
	require.NoError(r, json.Unmarshal([]byte(s.out), &report))
	require.Equal(r, len(report.Counts) > 0, s.quiet())
	delete(report.Counts, "unreferenced")
	want := map[string]int{}
	if r.tab.Name == "delta-kernel-rs/corrupted-last-checkpoint-kernel" {
		want["hint"] = 1
	}
	require.Equal(r, want, report.Counts)
}
