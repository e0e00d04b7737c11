package storagetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

var listTests = []namedTest{
	{"List_byteOrderOfWholeKeys", listByteOrder},
	{"List_prefixAndAfter", listPrefixAndAfter},
	{"List_logFromAVersion", listLogFromAVersion},
	{"List_stopsWhenTheConsumerDoes", listStops},
	{"List_emptyStore", listEmptyStore},
	{"List_consumerMayWriteAndDelete", listConsumerMayWrite},
}

// orderKeys put every byte around "/" (0x2f) next to directories of like names.
var orderKeys = []string{
	"a b/x", "a!/x", "a+/x", "a-1/x", "a-1/y", "a.txt", "a./x", "a/b/c", "a/b.c", "a/b0", "a/b-/z", "a/x", "a0", "a0/x",
	"aa", "aa/x", "A/x", "_delta_log/0.json", "_delta_log/_sidecars/x", "é/x", "é", "z",
}

func orderedStore(t *testing.T, s storage.Store) []string {
	t.Helper()
	var have []string
	for _, key := range orderKeys {
		err := s.PutIfAbsent(t.Context(), key, []byte(key))
		if err != nil { // "a0" beside "a0/x" on a file system
			require.ErrorIs(t, err, storage.ErrInvalidKey)
			continue
		}
		have = append(have, key)
	}
	slices.Sort(have)
	return have
}

func listByteOrder(t *testing.T, s storage.Store) {
	want := orderedStore(t, s)
	require.Equal(t, want, keys(t, s, "", ""))
	for info, err := range s.List(t.Context(), "", "") {
		require.NoError(t, err)
		require.Equal(t, int64(len(info.Key)), info.Size)
	}
}

func listPrefixAndAfter(t *testing.T, s storage.Store) {
	all := orderedStore(t, s)
	marks := []string{"", "a", "a/", "a/b", "a/b/", "a/b/c", "a/b/c/", "a ", "a b", "a b/", "a-", "a0/", "z", "zz", "é", "_", "A", "none/", "~"}
	for _, prefix := range marks {
		for _, after := range append(marks, all...) {
			want := []string{}
			for _, key := range all {
				if strings.HasPrefix(key, prefix) && key > after {
					want = append(want, key)
				}
			}
			require.Equal(t, want, keys(t, s, prefix, after), "prefix %q after %q", prefix, after)
		}
	}
}

func listLogFromAVersion(t *testing.T, s storage.Store) {
	var want []string
	for v := range 25 {
		key := fmt.Sprintf("t/_delta_log/%020d.json", v)
		put(t, s, key, "{}")
		if v > 11 {
			want = append(want, key)
		}
	}
	put(t, s, "t/_delta_log/_last_checkpoint", "{}")
	put(t, s, "t/part-0.parquet", "PAR1")
	want = append(want, "t/_delta_log/_last_checkpoint")
	require.Equal(t, want, keys(t, s, "t/_delta_log/", fmt.Sprintf("t/_delta_log/%020d.json", 11)))
}

func listStops(t *testing.T, s storage.Store) {
	all := orderedStore(t, s)
	for n := range all {
		var got []string
		for info, err := range s.List(t.Context(), "", "") {
			require.NoError(t, err)
			got = append(got, info.Key)
			if len(got) == n+1 {
				break
			}
		}
		require.Equal(t, all[:n+1], got)
		require.Equal(t, all[n+1:], keys(t, s, "", all[n])[:len(all)-n-1], "resumed after %s", all[n])
	}
}

func listEmptyStore(t *testing.T, s storage.Store) {
	for _, prefix := range []string{"", "a", "a/", "a/b/c"} {
		require.Empty(t, keys(t, s, prefix, ""))
	}
}

func listConsumerMayWrite(t *testing.T, s storage.Store) {
	for i := range 20 {
		put(t, s, fmt.Sprintf("d%d/k", i), "x")
	}
	var seen []string
	for info, err := range s.List(t.Context(), "d", "") {
		require.NoError(t, err)
		seen = append(seen, info.Key)
		require.NoError(t, s.Delete(t.Context(), info.Key))
		put(t, s, "other/"+info.Key, "x")
	}
	require.Len(t, seen, 20)
	require.Len(t, keys(t, s, "", ""), 20)
}
