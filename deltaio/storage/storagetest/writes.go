package storagetest

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

var writeTests = []namedTest{
	{"PutIfAbsent_takenKeyKeepsItsBytes", putIfAbsentTaken},
	{"PutIfAbsent_freeAgainAfterDelete", putIfAbsentAfterDelete},
	{"Put_replaces", putReplaces},
	{"Writes_copyTheCallersBuffer", writesCopyTheBuffer},
	{"Create_invisibleBeforeCommit", createInvisibleBeforeCommit},
	{"Create_wholeAfterCommit", createWholeAfterCommit},
	{"Create_abortLeavesNothing", createAbortLeavesNothing},
	{"Create_abortAfterCommitDoesNothing", createAbortAfterCommit},
	{"Create_useAfterEndFails", createUseAfterEnd},
	{"Create_writersAreIndependent", createWritersIndependent},
	{"EmptyObject_exists", emptyObjectExists},
	{"Probe_leavesNothing", probeLeavesNothing},
}

func putIfAbsentTaken(t *testing.T, s storage.Store) {
	put(t, s, "log/0.json", "winner")
	err := s.PutIfAbsent(t.Context(), "log/0.json", []byte("loser, and longer"))
	require.ErrorIs(t, err, storage.ErrExist)
	require.ErrorContains(t, err, "log/0.json")
	require.Equal(t, "winner", get(t, s, "log/0.json"))
	create(t, s, "made", "by create")
	require.ErrorIs(t, s.PutIfAbsent(t.Context(), "made", nil), storage.ErrExist)
	require.Equal(t, "by create", get(t, s, "made"))
}

func putIfAbsentAfterDelete(t *testing.T, s storage.Store) {
	put(t, s, "k", "1")
	require.NoError(t, s.Delete(t.Context(), "k"))
	put(t, s, "k", "2")
	require.Equal(t, "2", get(t, s, "k"))
}

func putReplaces(t *testing.T, s storage.Store) {
	for _, data := range []string{"a long first version", "short", "", "x"} {
		require.NoError(t, s.Put(t.Context(), "dir/hint", []byte(data)))
		require.Equal(t, data, get(t, s, "dir/hint"))
	}
	require.Equal(t, []string{"dir/hint"}, keys(t, s, "", ""))
}

func writesCopyTheBuffer(t *testing.T, s storage.Store) {
	buf := []byte("aaaa")
	require.NoError(t, s.PutIfAbsent(t.Context(), "a", buf))
	copy(buf, "bbbb")
	require.NoError(t, s.Put(t.Context(), "b", buf))
	w, err := s.Create(t.Context(), "c")
	require.NoError(t, err)
	defer w.Abort()
	copy(buf, "cccc")
	_, err = w.Write(buf)
	require.NoError(t, err)
	copy(buf, "dddd")
	_, err = w.Commit(t.Context())
	require.NoError(t, err)
	require.Equal(t, "aaaa", get(t, s, "a"))
	require.Equal(t, "bbbb", get(t, s, "b"))
	require.Equal(t, "cccc", get(t, s, "c"))
}

func createInvisibleBeforeCommit(t *testing.T, s storage.Store) {
	w, err := s.Create(t.Context(), "d/new")
	require.NoError(t, err)
	defer w.Abort()
	_, err = io.WriteString(w, "half")
	require.NoError(t, err)
	requireAbsent(t, s, "d/new")
	require.Empty(t, keys(t, s, "", ""), "an unfinished write shows in a listing")
	require.Empty(t, keys(t, s, "d/", ""))
	_, err = w.Commit(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"d/new"}, keys(t, s, "", ""))
}

func createWholeAfterCommit(t *testing.T, s storage.Store) {
	chunk := bytes.Repeat([]byte("0123456789abcdef"), 1<<14) // 256 KiB
	w, err := s.Create(t.Context(), "p=1/big")
	require.NoError(t, err)
	defer w.Abort()
	var want []byte
	for i := range 20 {
		part := chunk[i : len(chunk)-i*7]
		n, err := w.Write(part)
		require.NoError(t, err)
		require.Equal(t, len(part), n)
		want = append(want, part...)
	}
	info, err := w.Commit(t.Context())
	require.NoError(t, err)
	require.Equal(t, "p=1/big", info.Key)
	require.Equal(t, int64(len(want)), info.Size)
	stat, err := s.Stat(t.Context(), "p=1/big")
	require.NoError(t, err)
	require.Equal(t, info.Size, stat.Size)
	require.True(t, bytes.Equal(want, []byte(get(t, s, "p=1/big"))), "the bytes differ")
}

func createAbortLeavesNothing(t *testing.T, s storage.Store) {
	w, err := s.Create(t.Context(), "k")
	require.NoError(t, err)
	_, err = io.WriteString(w, "dropped")
	require.NoError(t, err)
	w.Abort()
	w.Abort()
	requireAbsent(t, s, "k")
	put(t, s, "k", "later")
	require.Equal(t, "later", get(t, s, "k"))
}

func createAbortAfterCommit(t *testing.T, s storage.Store) {
	w, err := s.Create(t.Context(), "k")
	require.NoError(t, err)
	_, err = io.WriteString(w, "kept")
	require.NoError(t, err)
	_, err = w.Commit(t.Context())
	require.NoError(t, err)
	w.Abort()
	require.Equal(t, "kept", get(t, s, "k"))
}

func createUseAfterEnd(t *testing.T, s storage.Store) {
	w, err := s.Create(t.Context(), "k")
	require.NoError(t, err)
	_, err = w.Commit(t.Context())
	require.NoError(t, err)
	_, err = io.WriteString(w, "late")
	require.Error(t, err)
	_, err = w.Commit(t.Context())
	require.Error(t, err)
	require.Empty(t, get(t, s, "k"))

	w, err = s.Create(t.Context(), "aborted")
	require.NoError(t, err)
	w.Abort()
	_, err = io.WriteString(w, "late")
	require.Error(t, err)
	_, err = w.Commit(t.Context())
	require.Error(t, err)
	requireAbsent(t, s, "aborted")
}

func createWritersIndependent(t *testing.T, s storage.Store) {
	var ws []storage.Writer
	for _, key := range []string{"d/0", "d/1", "d/2", "d/3"} {
		w, err := s.Create(t.Context(), key)
		require.NoError(t, err)
		defer w.Abort()
		ws = append(ws, w)
	}
	for range 3 {
		for i, w := range ws {
			_, err := w.Write(bytes.Repeat([]byte{'0' + byte(i)}, i+1))
			require.NoError(t, err)
		}
	}
	ws[1].Abort()
	for _, i := range []int{3, 0, 2} {
		_, err := ws[i].Commit(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, []string{"d/0", "d/2", "d/3"}, keys(t, s, "", ""))
	require.Equal(t, "000", get(t, s, "d/0"))
	require.Equal(t, "222222222", get(t, s, "d/2"))
}

func emptyObjectExists(t *testing.T, s storage.Store) {
	put(t, s, "a", "")
	require.NoError(t, s.Put(t.Context(), "b", nil))
	require.Zero(t, create(t, s, "c", "").Size)
	for _, key := range []string{"a", "b", "c"} {
		require.Empty(t, get(t, s, key))
	}
	require.ErrorIs(t, s.PutIfAbsent(t.Context(), "a", []byte("x")), storage.ErrExist)
	require.Equal(t, []string{"a", "b", "c"}, keys(t, s, "", ""))
}

func probeLeavesNothing(t *testing.T, s storage.Store) {
	put(t, s, "a", "")
	require.NoError(t, storage.Probe(t.Context(), s))
	require.NoError(t, storage.Probe(t.Context(), storage.Sub(s, "new/place")))
	require.Equal(t, []string{"a"}, keys(t, s, "", ""))
}
