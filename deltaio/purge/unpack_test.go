package purge_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// tablesArchive lies beside the checkout where the collection is at hand.
const tablesArchive = "../../../shared/tables/delta-tables.tar.gz"

// tablesDir is the folder with tables.json.
func tablesDir(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("LAKEWARDEN_TABLES"); dir != "" {
		return dir
	}
	f, err := os.Open(tablesArchive)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("LAKEWARDEN_TABLES names no folder with tables.json: tables of other engines are not purged")
	}
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	dir := t.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		require.NoError(t, err)
		if h.Typeflag != tar.TypeReg {
			continue
		}
		require.True(t, filepath.IsLocal(h.Name), h.Name)
		to := filepath.Join(dir, h.Name)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to, data, 0o644))
	}
}
