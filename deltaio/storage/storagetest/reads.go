package storagetest

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

var readTests = []namedTest{
	{"Open_readsAnyRange", openReadsAnyRange},
	{"Open_infoAsOfTheOpen", openInfoAsOfTheOpen},
	{"Open_readersAreIndependent", readersAreIndependent},
	{"AbsentKey_notExist", absentKeyNotExist},
	{"Stat_sizeAndTime", statSizeAndTime},
	{"ReadAll_refusesMoreThanTheLimit", readAllLimit},
}

func openReadsAnyRange(t *testing.T, s storage.Store) {
	put(t, s, "k", "0123456789")
	r, err := s.Open(t.Context(), "k")
	require.NoError(t, err)
	for _, tc := range []struct {
		off  int64
		n    int
		want string
		err  error
	}{
		{0, 4, "0123", nil}, {3, 4, "3456", nil}, {0, 10, "0123456789", nil}, {5, 0, "", nil},
		{8, 4, "89", io.EOF}, {10, 1, "", io.EOF}, {11, 1, "", io.EOF},
	} {
		buf := make([]byte, tc.n)
		n, err := r.ReadAt(buf, tc.off)
		require.Equal(t, tc.want, string(buf[:n]))
		if tc.off+int64(tc.n) == 10 && errors.Is(err, io.EOF) {
			err = nil // io.ReaderAt leaves this open
		}
		require.ErrorIs(t, err, tc.err, "offset %d, %d bytes", tc.off, tc.n)
	}
	require.NoError(t, r.Close())
}

func openInfoAsOfTheOpen(t *testing.T, s storage.Store) {
	put(t, s, "k", "first version")
	r, err := s.Open(t.Context(), "k")
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	stat, err := s.Stat(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, stat, r.Info())
	require.NoError(t, s.Put(t.Context(), "k", []byte("2nd")))
	require.Equal(t, stat, r.Info())
	buf := make([]byte, 5)
	if _, err := r.ReadAt(buf, 8); err == nil {
		require.Equal(t, "rsion", string(buf), "a range of the new object under the old Info")
	}
}

func readersAreIndependent(t *testing.T, s storage.Store) {
	data := strings.Repeat("0123456789abcdef", 1<<12)
	put(t, s, "k", data)
	r, err := s.Open(t.Context(), "k")
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	other, err := s.Open(t.Context(), "k")
	require.NoError(t, err)
	require.NoError(t, other.Close())
	var g errgroup.Group
	for i := range 16 {
		g.Go(func() error {
			buf := make([]byte, 1000)
			off := int64(i * 3001)
			if _, err := r.ReadAt(buf, off); err != nil {
				return err
			}
			if string(buf) != data[off:off+1000] {
				return io.ErrUnexpectedEOF
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
}

func absentKeyNotExist(t *testing.T, s storage.Store) {
	put(t, s, "dir/k", "x")
	for _, key := range []string{"none", "dir", "dir/none", "none/k", "dir/k2", "di", "dir/k/x"} {
		requireAbsent(t, s, key)
		require.ErrorIs(t, s.Delete(t.Context(), key), storage.ErrNotExist)
		_, err := storage.ReadAll(t.Context(), s, key, 0)
		require.ErrorIs(t, err, storage.ErrNotExist)
	}
	require.Equal(t, "x", get(t, s, "dir/k"))
}

func statSizeAndTime(t *testing.T, s storage.Store) {
	before, err := storage.StoreNow(t.Context(), s)
	require.NoError(t, err)
	put(t, s, "k", "12345")
	put(t, s, "empty", "")
	after, err := storage.StoreNow(t.Context(), s)
	require.NoError(t, err)
	for key, size := range map[string]int64{"k": 5, "empty": 0} {
		info, err := s.Stat(t.Context(), key)
		require.NoError(t, err)
		require.Equal(t, key, info.Key)
		require.Equal(t, size, info.Size)
		// Object stores keep whole seconds.
		require.False(t, info.ModTime.Before(before.Truncate(time.Second)), "%s < %s", info.ModTime, before)
		require.False(t, info.ModTime.After(after.Add(time.Second)), "%s > %s", info.ModTime, after)
		for listed, err := range s.List(t.Context(), key, "") {
			require.NoError(t, err)
			require.Equal(t, info.Size, listed.Size)
			require.WithinDuration(t, info.ModTime, listed.ModTime, time.Second)
		}
	}
	require.Equal(t, []string{"empty", "k"}, keys(t, s, "", ""), "the clock leaves no object behind")
}

func readAllLimit(t *testing.T, s storage.Store) {
	put(t, s, "k", "12345")
	data, err := storage.ReadAll(t.Context(), s, "k", 5)
	require.NoError(t, err)
	require.Equal(t, "12345", string(data))
	_, err = storage.ReadAll(t.Context(), s, "k", 4)
	require.ErrorContains(t, err, "more than the 4 allowed")
}
