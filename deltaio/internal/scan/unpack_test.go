package scan_test

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// tablesArchive lies beside the checkout where the tables are shared.
const tablesArchive = "../../../../shared/tables/delta-tables.tar.gz"

// tablesDir is the folder of the foreign tables: LAKEWARDEN_TABLES, or the
// archive unpacked.
func tablesDir(tb testing.TB) string {
	tb.Helper()
	if dir := os.Getenv("LAKEWARDEN_TABLES"); dir != "" {
		return dir
	}
	f, err := os.Open(tablesArchive)
	if err != nil {
		tb.Skipf("no foreign tables to read: LAKEWARDEN_TABLES is not set, and %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(tb, err)
	dir := tb.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		require.NoError(tb, err)
		if h.Typeflag == tar.TypeReg {
			require.True(tb, filepath.IsLocal(h.Name), h.Name)
			path := filepath.Join(dir, filepath.FromSlash(h.Name))
			require.NoError(tb, os.MkdirAll(filepath.Dir(path), 0o755))
			b, err := io.ReadAll(r)
			require.NoError(tb, err)
			require.NoError(tb, os.WriteFile(path, b, 0o644))
		}
	}
	found, err := filepath.Glob(filepath.Join(dir, "*", "tables.json"))
	require.NoError(tb, err)
	if len(found) == 1 {
		return filepath.Dir(found[0])
	}
	return dir
}
