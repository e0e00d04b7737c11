package storage_test

import (
	"path"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/deltaio/storage/storagetest"
)

// FuzzCheckKey: what is accepted stays below the root, is its own clean form (no
// two keys name one file), and survives Sub.
func FuzzCheckKey(f *testing.F) {
	for _, key := range append(storagetest.OddNames, "..", "a/../b", "/a", "a//b", "a/.", "", "a\x00", "\xff", "a/") {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if err := storage.CheckKey(key); err != nil {
			require.ErrorIs(t, err, storage.ErrInvalidKey)
			return
		}
		require.True(t, filepath.IsLocal(key))
		require.Equal(t, path.Clean(key), key)
		require.True(t, utf8.ValidString(key))
		m := storage.NewMemory()
		require.NoError(t, storage.Sub(m, "a b").Put(t.Context(), key, nil))
		info, err := m.Stat(t.Context(), "a b/"+key)
		require.NoError(t, err)
		require.Equal(t, "a b/"+key, info.Key)
	})
}
