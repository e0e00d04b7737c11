package storagetest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

var keyTests = []namedTest{
	{"MalformedKey_refusedByEveryCall", malformedKeyRefused},
	{"OddNames_keptByteForByte", oddNamesKept},
	{"LongName_keptOrRefused", longNameKeptOrRefused},
	{"KeyBelowAnother_keptOrRefused", keyBelowAnother},
	{"CancelledContext_writesNothing", cancelledWritesNothing},
	{"URL_namesTheRoot", urlNamesTheRoot},
}

var malformedKeys = []string{
	"", "/", "/a", "a/", "a//b", ".", "..", "./a", "a/.", "a/./b", "../a", "a/..", "a/../b", "a/../../b",
	"a\x00b", "a\xffb", "\xc3", ".lakewarden-tmp-x", "a/.lakewarden-tmp-x",
}

// OddNames are keys that real tables have: partition values escaped once, twice
// or not at all, and what people type.
var OddNames = []string{
	"a b/c d.parquet",
	"region=a%20b/part-0.parquet",
	"region=a%2520b/part-0.parquet",
	"ts=2024-01-01 00:00:00.123456/x",
	"ts=2024-01-01 00%3A00%3A00/x",
	"R&D/50%/x", "é/ñ/ü", "e\u0301/decomposed", "😀/🏠.parquet", "日本/語",
	"a:b/c:d", "a;b", "a?b=c#d", "a+b", "a*b", "a\\b", `a"b'c`, "a|b<c>", "~", "$HOME", "-rf", "a\tb", "a\nb",
	"__HIVE_DEFAULT_PARTITION__/x", "_delta_log/00000000000000000000.json", ".hidden/x", "...", "a..b/..c", "#1", "@",
	"\x01", "\u007f", "\U0010ffff",
}

func malformedKeyRefused(t *testing.T, s storage.Store) {
	ctx := t.Context()
	put(t, s, "a/b", "there")
	for _, key := range malformedKeys {
		_, err := s.Open(ctx, key)
		require.ErrorIs(t, err, storage.ErrInvalidKey, "open %q", key)
		_, err = s.Stat(ctx, key)
		require.ErrorIs(t, err, storage.ErrInvalidKey, "stat %q", key)
		_, err = s.Create(ctx, key)
		require.ErrorIs(t, err, storage.ErrInvalidKey, "create %q", key)
		require.ErrorIs(t, s.PutIfAbsent(ctx, key, nil), storage.ErrInvalidKey, "put if absent %q", key)
		require.ErrorIs(t, s.Put(ctx, key, nil), storage.ErrInvalidKey, "put %q", key)
		require.ErrorIs(t, s.Delete(ctx, key), storage.ErrInvalidKey, "delete %q", key)
	}
	for _, prefix := range []string{"/", "/a", "../", "a/../b", "a//", "a\xff"} {
		_, err := list(ctx, s, prefix, "")
		require.ErrorIs(t, err, storage.ErrInvalidKey, "list %q", prefix)
	}
	require.Equal(t, []string{"a/b"}, keys(t, s, "", ""))
}

func oddNamesKept(t *testing.T, s storage.Store) {
	for i, key := range OddNames {
		switch i % 3 {
		case 0:
			put(t, s, key, "data of "+key)
		case 1:
			require.NoError(t, s.Put(t.Context(), key, []byte("data of "+key)), "%q", key)
		default:
			create(t, s, key, "data of "+key)
		}
	}
	require.Equal(t, slices.Sorted(slices.Values(OddNames)), keys(t, s, "", ""))
	for _, key := range OddNames {
		require.Equal(t, "data of "+key, get(t, s, key))
		info, err := s.Stat(t.Context(), key)
		require.NoError(t, err)
		require.Equal(t, key, info.Key)
		require.Contains(t, keys(t, s, key, ""), key)
		require.NoError(t, s.Delete(t.Context(), key))
	}
	require.Empty(t, keys(t, s, "", ""))
}

func longNameKeptOrRefused(t *testing.T, s storage.Store) {
	for _, key := range []string{strings.Repeat("x", 200), strings.Repeat("x/", 100) + "x", strings.Repeat("x", 300)} {
		err := s.PutIfAbsent(t.Context(), key, []byte("long"))
		if err != nil {
			require.Greater(t, len(key), 255)
			require.ErrorIs(t, err, storage.ErrInvalidKey)
			require.NotContains(t, keys(t, s, "", ""), key)
			continue
		}
		require.Equal(t, "long", get(t, s, key))
	}
}

// keyBelowAnother: a file system cannot hold "a" and "a/b"; it must say so and
// lose neither.
func keyBelowAnother(t *testing.T, s storage.Store) {
	ctx := t.Context()
	put(t, s, "a", "1")
	put(t, s, "d/e", "2")
	want := []string{"a", "d/e"}
	for _, key := range []string{"a/b", "a/b/c", "d"} {
		_, err := s.Stat(ctx, key)
		require.ErrorIs(t, err, storage.ErrNotExist)
		require.ErrorIs(t, s.Delete(ctx, key), storage.ErrNotExist)
		if err := s.PutIfAbsent(ctx, key, []byte("x")); err != nil {
			require.ErrorIs(t, err, storage.ErrInvalidKey)
			require.ErrorIs(t, s.Put(ctx, key, []byte("x")), storage.ErrInvalidKey)
			continue
		}
		want = append(want, key)
	}
	slices.Sort(want)
	require.Equal(t, want, keys(t, s, "", ""))
	require.Equal(t, "1", get(t, s, "a"))
	require.Equal(t, "2", get(t, s, "d/e"))
}

func cancelledWritesNothing(t *testing.T, s storage.Store) {
	put(t, s, "old", "1")
	w, err := s.Create(t.Context(), "new")
	require.NoError(t, err)
	defer w.Abort()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = w.Commit(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, s.PutIfAbsent(ctx, "new", nil), context.Canceled)
	require.ErrorIs(t, s.Put(ctx, "old", []byte("2")), context.Canceled)
	require.ErrorIs(t, s.Delete(ctx, "old"), context.Canceled)
	_, err = s.Open(ctx, "old")
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.Stat(ctx, "old")
	require.ErrorIs(t, err, context.Canceled)
	_, err = list(ctx, s, "", "")
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"old"}, keys(t, s, "", ""))
	require.Equal(t, "1", get(t, s, "old"))
}

func urlNamesTheRoot(t *testing.T, s storage.Store) {
	require.Contains(t, s.URL(), "://")
	require.False(t, strings.HasSuffix(s.URL(), "/"), s.URL())
	_, err := s.Stat(t.Context(), "no/such")
	require.ErrorIs(t, err, storage.ErrNotExist)
	require.ErrorContains(t, err, "no/such", "the error names the key")
}
