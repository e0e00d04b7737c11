package deltaio_test

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

const fixtures = "testdata/fixtures"

// fixture is what a table's own writer reads from it.
type fixture struct {
	Engine   string `json:"engine"`
	Versions map[string]struct {
		Rows     int64    `json:"rows"`
		Checksum string   `json:"checksum"`
		Sample   []string `json:"sample"`
	} `json:"versions"`
}

// eachFixture runs a test on a fresh copy of each table that interop/recipes.py
// had another engine write.
func eachFixture(t *testing.T, test func(t *testing.T, root string, want fixture)) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(fixtures, "*.tar.gz"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, path := range names {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".tar.gz"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(strings.TrimSuffix(path, ".tar.gz") + ".json")
			require.NoError(t, err)
			var want fixture
			require.NoError(t, json.Unmarshal(data, &want))
			require.NotEmpty(t, want.Versions)
			test(t, unpackTable(t, path), want)
		})
	}
}

// unpackTable unpacks a fixture and gives the table's root.
func unpackTable(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	packed, err := gzip.NewReader(f)
	require.NoError(t, err)
	to := t.TempDir()
	for in := tar.NewReader(packed); ; {
		entry, err := in.Next()
		if errors.Is(err, io.EOF) {
			return filepath.Join(to, "table")
		}
		require.NoError(t, err)
		require.True(t, filepath.IsLocal(entry.Name))
		at := filepath.Join(to, entry.Name)
		if entry.Typeflag == tar.TypeDir {
			require.NoError(t, os.MkdirAll(at, 0o755))
			continue
		}
		content, err := io.ReadAll(in)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(at, content, 0o644))
	}
}

func TestFixtures_every_version_reads_as_its_writer_reads_it(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, root string, want fixture) {
		table := openReal(t, root)
		for v, expected := range want.Versions {
			version, err := strconv.ParseInt(v, 10, 64)
			require.NoError(t, err)
			snap, err := table.SnapshotAt(t.Context(), version)
			require.NoError(t, err, "version %d", version)
			rows, sum := digest(t, snap, deltaio.ScanOptions{})
			require.Equal(t, expected.Rows, rows, "version %d by %s", version, want.Engine)
			require.Equal(t, expected.Checksum, sum, "version %d by %s, which reads first %v", version, want.Engine, expected.Sample)
		}
	})
}

func TestFixtures_what_is_written_to_them_keeps_every_row(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, root string, _ fixture) {
		c := newClock()
		c.at = time.Now().UTC() // the copies' files are as old as this test
		s, err := storage.OpenLocal(root)
		require.NoError(t, err)
		defer s.Close()
		table, err := deltaio.Open(t.Context(), s, env(c))
		require.NoError(t, err)
		snap := snapshot(t, table)
		rows, sum := digest(t, snap, deltaio.ScanOptions{})

		appendOnce(t, table, snap, rows)
		_, err = deltaio.Restore(t.Context(), table, deltaio.RestoreOptions{Version: snap.Version()})
		require.NoError(t, err)
		requireDigest(t, table, rows, sum)
		rewriteAll(t, table, c.Now())
		requireDigest(t, table, rows, sum)
		_, err = deltaio.Checkpoint(t.Context(), table)
		require.NoError(t, err)
		_, err = deltaio.Vacuum(t.Context(), table, deltaio.VacuumOptions{Override: "a test", Retention: 1})
		require.NoError(t, err)
		table, err = deltaio.Open(t.Context(), s, env(c)) // from the checkpoint
		require.NoError(t, err)
		requireDigest(t, table, rows, sum)
	})
}
