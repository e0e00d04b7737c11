package storage_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/deltaio/storage/storagetest"
)

func openLocal(t *testing.T, dir string) *storage.Local {
	t.Helper()
	l, err := storage.OpenLocal(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

func listKeys(t *testing.T, s storage.Store, prefix string) ([]string, error) {
	t.Helper()
	var keys []string
	for info, err := range s.List(t.Context(), prefix, "") {
		if err != nil {
			return keys, err
		}
		keys = append(keys, info.Key)
	}
	return keys, nil
}

func writeFile(t *testing.T, path, data string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(data), 0o644))
}

func TestOpenLocal_rootMustBeADirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := storage.OpenLocal(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, storage.ErrNotExist)
	writeFile(t, filepath.Join(dir, "file"), "x")
	_, err = storage.OpenLocal(filepath.Join(dir, "file"))
	require.ErrorContains(t, err, "not a directory")
}

func TestOpenLocal_followsLinksInTheRootItself(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "real dir"), 0o755))
	require.NoError(t, os.Symlink("real dir", filepath.Join(dir, "link")))
	l := openLocal(t, filepath.Join(dir, "link"))
	require.NoError(t, l.Put(t.Context(), "k", nil))
	require.FileExists(t, filepath.Join(dir, "real dir", "k"))
	require.Equal(t, filepath.Join(dir, "real dir"), l.Root())
	require.True(t, strings.HasPrefix(l.URL(), "file:///"), l.URL())
	require.True(t, strings.HasSuffix(l.URL(), "/real%20dir"), l.URL())
}

func TestLocal_objectsAreThePlainFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openLocal(t, dir)
	for _, key := range storagetest.OddNames {
		require.NoError(t, l.PutIfAbsent(t.Context(), key, []byte(key)))
		data, err := os.ReadFile(filepath.Join(dir, key))
		require.NoError(t, err)
		require.Equal(t, key, string(data))
	}
	old, err := storage.Leftovers(t.Context(), l, time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Empty(t, old, "finished writes leave no temporary file")
}

func TestLocal_linkOutOfTheRoot_refusedByEveryCall(t *testing.T) {
	t.Parallel()
	outside, dir := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(outside, "secret"), "s")
	rel, err := filepath.Rel(dir, outside)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "abs")))
	require.NoError(t, os.Symlink(rel, filepath.Join(dir, "rel")))
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "file")))
	l := openLocal(t, dir)
	ctx := t.Context()
	for _, key := range []string{"abs/secret", "rel/secret", "file"} {
		_, err := l.Open(ctx, key)
		require.ErrorIs(t, err, storage.ErrInvalidKey, "open %s", key)
		_, err = l.Stat(ctx, key)
		require.ErrorIs(t, err, storage.ErrInvalidKey, "stat %s", key)
		require.ErrorIs(t, l.PutIfAbsent(ctx, key, nil), storage.ErrInvalidKey, "put if absent %s", key)
	}
	for _, key := range []string{"abs/secret", "rel/secret", "abs/new", "rel/new/er"} {
		_, err := l.Create(ctx, key)
		require.ErrorIs(t, err, storage.ErrInvalidKey, "create %s", key)
		require.ErrorIs(t, l.Put(ctx, key, nil), storage.ErrInvalidKey, "put %s", key)
		require.Error(t, l.Delete(ctx, key), "delete %s", key)
	}
	for _, prefix := range []string{"", "abs", "abs/", "rel/", "file"} {
		_, err := listKeys(t, l, prefix)
		require.ErrorIs(t, err, storage.ErrInvalidKey, "list %q", prefix)
	}
	names, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Len(t, names, 1)
	require.FileExists(t, filepath.Join(outside, "secret"))
}

func TestLocal_linkInsideTheRoot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "t", "data"), "12345")
	require.NoError(t, os.Symlink("data", filepath.Join(dir, "t", "alias")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "t", "dangling")))
	l := openLocal(t, dir)
	ctx := t.Context()

	keys, err := listKeys(t, l, "t/")
	require.NoError(t, err)
	require.Equal(t, []string{"t/alias", "t/data"}, keys)
	info, err := l.Stat(ctx, "t/alias")
	require.NoError(t, err)
	require.Equal(t, int64(5), info.Size)
	require.ErrorIs(t, l.PutIfAbsent(ctx, "t/alias", nil), storage.ErrExist)
	require.ErrorIs(t, l.PutIfAbsent(ctx, "t/dangling", nil), storage.ErrInvalidKey, "ErrExist would contradict Stat")
	require.NoError(t, l.Delete(ctx, "t/alias"))
	require.FileExists(t, filepath.Join(dir, "t", "data"), "deleting a link spares what it leads to")

	require.NoError(t, os.Symlink("t", filepath.Join(dir, "u")))
	data, err := storage.ReadAll(ctx, l, "u/data", 0)
	require.NoError(t, err)
	require.Equal(t, "12345", string(data))
	_, err = listKeys(t, l, "")
	require.ErrorIs(t, err, storage.ErrInvalidKey, "an alias of a directory would hide or double its objects")
	require.ErrorContains(t, err, "u: ")
	keys, err = listKeys(t, l, "t/")
	require.NoError(t, err)
	require.Equal(t, []string{"t/data"}, keys)
}

func TestLocal_specialFilesAreNoObjects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o755))
	l := openLocal(t, dir)
	ctx := t.Context()
	for _, key := range []string{"pipe", "empty"} {
		_, err := l.Open(ctx, key)
		require.ErrorIs(t, err, storage.ErrNotExist)
		_, err = l.Stat(ctx, key)
		require.ErrorIs(t, err, storage.ErrNotExist)
	}
	require.ErrorIs(t, l.PutIfAbsent(ctx, "empty", nil), storage.ErrInvalidKey)
	require.ErrorIs(t, l.Put(ctx, "empty", nil), storage.ErrInvalidKey)
	require.ErrorIs(t, l.Delete(ctx, "empty"), storage.ErrNotExist)
	require.DirExists(t, filepath.Join(dir, "empty"), "an empty directory is not deleted as if it were an object")
	keys, err := listKeys(t, l, "")
	require.NoError(t, err)
	require.Empty(t, keys)
}

func TestLocal_nameThatIsNotUTF8_failsTheListing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "d", "a\xff"), "x")
	writeFile(t, filepath.Join(dir, "e", "a"), "x")
	l := openLocal(t, dir)
	_, err := listKeys(t, l, "")
	require.ErrorIs(t, err, storage.ErrInvalidKey)
	require.ErrorContains(t, err, `"d/a\xff"`)
	keys, err := listKeys(t, l, "e/")
	require.NoError(t, err)
	require.Equal(t, []string{"e/a"}, keys)
}

func TestLocal_raceOfSeveralHandles_oneWinner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	storagetest.RaceOneKey(t, openLocal(t, dir), openLocal(t, dir), storage.Sub(openLocal(t, filepath.Dir(dir)), filepath.Base(dir)))
}

func TestLocal_directoryRemovedByOthers_isMadeAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openLocal(t, dir)
	require.NoError(t, l.Put(t.Context(), "a/b/c", nil))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "a")))
	require.NoError(t, l.Put(t.Context(), "a/b/d", nil))
	keys, err := listKeys(t, l, "")
	require.NoError(t, err)
	require.Equal(t, []string{"a/b/d"}, keys)
}

func TestLocal_fileCutWhileOpen_isAnErrorNotAnEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openLocal(t, dir)
	require.NoError(t, l.Put(t.Context(), "k", []byte("0123456789")))
	r, err := l.Open(t.Context(), "k")
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	require.NoError(t, os.Truncate(filepath.Join(dir, "k"), 4))
	_, err = r.ReadAt(make([]byte, 8), 0)
	require.ErrorContains(t, err, "cut while it was being read")
	_, err = storage.ReadAll(t.Context(), l, "k", 0)
	require.NoError(t, err, "a new reader sees the new size")
}
