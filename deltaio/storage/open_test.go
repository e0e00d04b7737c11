package storage_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func TestOpen_pathTakenAsItIsAndURLDecoded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a%20b", "a b", "#x?"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		s, err := storage.Open(t.Context(), filepath.Join(dir, name))
		require.NoError(t, err)
		require.NoError(t, s.Put(t.Context(), "k", nil))
		require.FileExists(t, filepath.Join(dir, name, "k"))
		again, err := storage.Open(t.Context(), s.URL())
		require.NoError(t, err)
		require.Equal(t, s.URL(), again.URL())
		_, err = again.Stat(t.Context(), "k")
		require.NoError(t, err)
	}
	s, err := storage.Open(t.Context(), "file://"+dir+"/a%20b")
	require.NoError(t, err)
	require.Equal(t, "file://"+dir+"/a%20b", s.URL())
}

func TestOpen_subURL_opensTheSamePlace(t *testing.T) {
	t.Parallel()
	l := openLocal(t, t.TempDir())
	sub := storage.Sub(l, "a b/ü%2F#?")
	require.NoError(t, sub.Put(t.Context(), "k", nil))
	again, err := storage.Open(t.Context(), sub.URL())
	require.NoError(t, err)
	_, err = again.Stat(t.Context(), "k")
	require.NoError(t, err)
}

func TestOpen_badAddress_saysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		address, says string
		is            error
	}{
		{"s3://bucket/lake", `scheme "s3"`, storage.ErrUnsupported},
		{"abfss://ws@onelake.dfs.fabric.microsoft.com/lh", `scheme "abfss"`, storage.ErrUnsupported},
		{"data/lake", "absolute path", storage.ErrInvalidKey},
		{"", "absolute path", storage.ErrInvalidKey},
		{"file://data/lake", "did you mean file:///data/lake?", storage.ErrInvalidKey},
		{"file:///data?x=1", "%3F", storage.ErrInvalidKey},
		{"file://", "no path", storage.ErrInvalidKey},
		{"file:///%zz", "invalid URL escape", storage.ErrInvalidKey},
		{"file:///no/such/dir", "/no/such/dir", storage.ErrNotExist},
	} {
		s, err := storage.Open(t.Context(), tc.address)
		require.ErrorIs(t, err, tc.is, tc.address)
		require.ErrorContains(t, err, tc.says)
		require.Nil(t, s)
	}
}

func TestRegister_addsAScheme(t *testing.T) {
	t.Parallel()
	m := storage.NewMemory()
	storage.Register("TestMem", func(context.Context, string) (storage.Store, error) { return m, nil })
	s, err := storage.Open(t.Context(), "testmem://x")
	require.NoError(t, err)
	require.Same(t, m, s)
	require.Contains(t, storage.Schemes(), "testmem")
	require.Contains(t, storage.Schemes(), "file")
}

func TestProbe_namesTheMissingRight(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{
		storage.OpList, storage.OpPutIfAbsent, storage.OpRead, storage.OpPut, storage.OpCreate, storage.OpDelete,
	} {
		f := storage.NewFault(storage.NewMemory())
		f.Deny(func(string) bool { return true }, kind)
		err := storage.Probe(t.Context(), f)
		require.ErrorIs(t, err, storage.ErrPermission)
		var perr *storage.ProbeError
		require.ErrorAs(t, err, &perr)
		require.Equal(t, kind, perr.Right)
		require.ErrorContains(t, err, "cannot "+kind)
		if kind == storage.OpDelete {
			require.ErrorContains(t, err, "may be left")
			continue
		}
		f.Reset()
		keys, err := listKeys(t, f, "")
		require.NoError(t, err)
		require.Empty(t, keys, "a probe that failed at %s left its object", kind)
	}
}

// overwriting breaks the promise that commits stand on.
type overwriting struct{ storage.Store }

func (o overwriting) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	return o.Put(ctx, key, data)
}

func TestProbe_putIfAbsentThatOverwrites_isFound(t *testing.T) {
	t.Parallel()
	err := storage.Probe(t.Context(), overwriting{storage.NewMemory()})
	require.ErrorIs(t, err, storage.ErrUnsupported)
	require.ErrorContains(t, err, "second writer")
}

func TestProbe_cancelledHalfway_leavesNothing(t *testing.T) {
	t.Parallel()
	m := storage.NewMemory()
	f := storage.NewFault(m)
	ctx, cancel := context.WithCancel(t.Context())
	f.Do(storage.AfterCall, func(_ context.Context, op storage.Op) error {
		if op.Kind == storage.OpPutIfAbsent {
			cancel()
		}
		return nil
	})
	require.ErrorIs(t, storage.Probe(ctx, f), context.Canceled)
	keys, err := listKeys(t, m, "")
	require.NoError(t, err)
	require.Empty(t, keys)
}

func TestStoreNow_isTheStoresClock(t *testing.T) {
	t.Parallel()
	m := storage.NewMemory()
	at := time.Date(2031, 2, 3, 4, 5, 6, 7, time.UTC)
	m.SetClock(func() time.Time { return at })
	now, err := storage.StoreNow(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, at, now)

	require.NoError(t, m.Put(t.Context(), "k", nil))
	require.NoError(t, m.SetModTime("k", at.Add(-time.Hour)))
	info, err := m.Stat(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, at.Add(-time.Hour), info.ModTime)
	require.ErrorIs(t, m.SetModTime("none", at), storage.ErrNotExist)
}

func TestSub_badPrefix_refusesEveryCall(t *testing.T) {
	t.Parallel()
	m := storage.NewMemory()
	require.NoError(t, m.Put(t.Context(), "secret", nil))
	require.Same(t, m, storage.Sub(m, ""))
	for _, prefix := range []string{"../x", "/abs", "a//b", "a/../.."} {
		s := storage.Sub(m, prefix)
		require.ErrorIs(t, s.Put(t.Context(), "k", nil), storage.ErrInvalidKey, prefix)
		_, err := s.Stat(t.Context(), "secret")
		require.ErrorIs(t, err, storage.ErrInvalidKey, prefix)
		_, err = listKeys(t, s, "")
		require.ErrorIs(t, err, storage.ErrInvalidKey, prefix)
	}
}

func TestProbe_sweeps_what_dead_probes_left(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := storage.OpenLocal(dir)
	require.NoError(t, err)
	old, young := filepath.Join(dir, ".lakewarden-probe-OLD"), filepath.Join(dir, ".lakewarden-probe-YOUNG")
	for path, age := range map[string]time.Duration{old: 25 * time.Hour, young: 23 * time.Hour} {
		require.NoError(t, os.WriteFile(path, []byte("first"), 0o600))
		at := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(path, at, at))
	}
	require.NoError(t, storage.Probe(t.Context(), s))
	require.NoFileExists(t, old)
	require.FileExists(t, young, "its process may be at work")
}
