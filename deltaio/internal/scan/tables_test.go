package scan_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/rowtext"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// osFile is a storage.Reader over a file, for tests.
type osFile struct {
	*os.File
	info storage.Info
}

func (f osFile) Info() storage.Info { return f.info }

func openOS(tb testing.TB, path string) osFile {
	tb.Helper()
	f, err := os.Open(path)
	require.NoError(tb, err)
	tb.Cleanup(func() { f.Close() })
	st, err := f.Stat()
	require.NoError(tb, err)
	return osFile{f, storage.Info{Key: filepath.Base(path), Size: st.Size(), ModTime: time.Unix(0, 0)}}
}

// foreignTable is an entry of tables.json.
type foreignTable struct {
	Name          string            `json:"name"`
	Path          string            `json:"path"`
	Features      []string          `json:"features"`
	Configuration map[string]string `json:"configuration"`
	Expected      struct {
		Rows     *int64 `json:"rows"`
		Checksum string `json:"checksum"`
		Snapshot struct {
			Files       int `json:"files"`
			FilesWithDV int `json:"files_with_dv"`
		} `json:"snapshot"`
		Sample []string `json:"sample"`
	} `json:"expected"`
}

func foreignTables(tb testing.TB) (dir string, tables []foreignTable) {
	tb.Helper()
	dir = tablesDir(tb)
	b, err := os.ReadFile(filepath.Join(dir, "tables.json"))
	require.NoError(tb, err)
	require.NoError(tb, json.Unmarshal(b, &tables))
	return dir, tables
}

type addAction struct {
	Path            string             `json:"path"`
	PartitionValues map[string]*string `json:"partitionValues"`
	DeletionVector  *json.RawMessage   `json:"deletionVector"`
}

type tinyAction struct {
	Add      *addAction `json:"add"`
	Remove   *addAction `json:"remove"`
	MetaData *struct {
		SchemaString  string            `json:"schemaString"`
		Configuration map[string]string `json:"configuration"`
	} `json:"metaData"`
}

// corrected holds checksums where the expectation in tables.json is wrong: the
// year 0000 of a partition value was read as 1900 (what JavaScript's Date.UTC
// makes of years below 100) when it was computed.
var corrected = map[string]string{
	"trino/databricks131__timestamp_ntz_partition": "dc04013b49fd91fe2d2968920a6516c430d31c7a1a6c06fcce2abc37cea9b49f",
}

var errNotPlain = errors.New("the log does not start with commit 0")

// tinyReplay replays plain JSON commits; it is no reader of logs.
func tinyReplay(root string) (schemaJSON, mapping string, live map[string]*addAction, err error) {
	commits, err := filepath.Glob(filepath.Join(root, "_delta_log", "[0-9]*.json"))
	if err != nil {
		return "", "", nil, err
	}
	plain := commits[:0]
	for _, c := range commits {
		if len(filepath.Base(c)) == len("00000000000000000000.json") {
			plain = append(plain, c)
		}
	}
	sort.Strings(plain)
	if len(plain) == 0 || filepath.Base(plain[0]) != "00000000000000000000.json" {
		return "", "", nil, errNotPlain
	}
	live = map[string]*addAction{}
	for _, c := range plain {
		f, err := os.Open(c)
		if err != nil {
			return "", "", nil, err
		}
		r := bufio.NewReaderSize(f, 1<<20)
		for {
			line, rerr := r.ReadBytes('\n')
			if len(line) > 2 {
				var a tinyAction
				if err := json.Unmarshal(line, &a); err != nil {
					return "", "", nil, err
				}
				switch {
				case a.Remove != nil:
					delete(live, a.Remove.Path)
				case a.Add != nil:
					live[a.Add.Path] = a.Add
				case a.MetaData != nil:
					schemaJSON, mapping = a.MetaData.SchemaString, a.MetaData.Configuration["delta.columnMapping.mode"]
				}
			}
			if rerr == io.EOF {
				break
			}
		}
		f.Close()
	}
	return schemaJSON, mapping, live, nil
}

func TestBatches_foreign_tables_give_the_rows_their_writers_meant(t *testing.T) {
	t.Parallel()
	dir, tables := foreignTables(t)
	checked := 0
	for _, ft := range tables {
		if ft.Expected.Rows == nil || ft.Expected.Checksum == "" || ft.Expected.Snapshot.FilesWithDV > 0 {
			continue
		}
		root := filepath.Join(dir, ft.Path)
		schemaJSON, mapping, live, err := tinyReplay(root)
		if errors.Is(err, errNotPlain) || len(live) != ft.Expected.Snapshot.Files {
			t.Logf("%s: not a plain log (%d live files of %d): left to the log's own tests", ft.Name, len(live), ft.Expected.Snapshot.Files)
			continue
		}
		require.NoError(t, err, ft.Name)
		checked++
		t.Run(ft.Name, func(t *testing.T) {
			s, err := schema.Parse(schemaJSON)
			require.NoError(t, err)
			for _, batch := range []int{0, 7} {
				d := rowtext.NewDigest(s)
				for _, a := range live {
					key, err := url.PathUnescape(a.Path)
					require.NoError(t, err)
					f, err := scan.Open(openOS(t, filepath.Join(root, filepath.FromSlash(key))))
					require.NoError(t, err)
					for rec, err := range f.Batches(t.Context(), scan.Options{
						Schema: s, Mapped: mapping == "name", ByFieldID: mapping == "id", Partition: a.PartitionValues, BatchRows: batch,
					}) {
						require.NoError(t, err)
						require.NoError(t, d.Add(rec, nil))
						rec.Release()
					}
				}
				want := ft.Expected.Checksum
				if c, ok := corrected[ft.Name]; ok {
					want = c
				}
				require.Equal(t, *ft.Expected.Rows, d.Count())
				require.Equal(t, want, d.Sum(), strings.Join(ft.Expected.Sample, "\n"))
			}
		})
	}
	t.Logf("%d of %d tables checked", checked, len(tables))
	require.Greater(t, checked, 40)
}
