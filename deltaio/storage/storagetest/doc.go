// Package storagetest is the conformance suite of storage.Store: each sentence
// of its contract is a test, and every store and wrapper runs all of them.
//
// It refuses to know how a store works: it sees only the interface. What a store
// does beyond the contract is tested beside the store.
package storagetest

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// Run runs the suite. open gives an empty store, a new one at each call; it is
// called from parallel subtests.
func Run(t *testing.T, open func(t *testing.T) storage.Store) {
	t.Helper()
	for _, group := range [][]namedTest{keyTests, readTests, writeTests, listTests, deleteTests, raceTests, modelTests} {
		for _, tc := range group {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				tc.run(t, open(t))
			})
		}
	}
}

type namedTest struct {
	name string
	run  func(*testing.T, storage.Store)
}

func put(t *testing.T, s storage.Store, key, data string) {
	t.Helper()
	require.NoError(t, s.PutIfAbsent(t.Context(), key, []byte(data)))
}

func get(t *testing.T, s storage.Store, key string) string {
	t.Helper()
	data, err := storage.ReadAll(t.Context(), s, key, 0)
	require.NoError(t, err)
	return string(data)
}

func requireAbsent(t *testing.T, s storage.Store, key string) {
	t.Helper()
	_, err := s.Stat(t.Context(), key)
	require.ErrorIs(t, err, storage.ErrNotExist)
	_, err = s.Open(t.Context(), key)
	require.ErrorIs(t, err, storage.ErrNotExist)
	require.NotContains(t, keys(t, s, "", ""), key)
}

func keys(t *testing.T, s storage.Store, prefix, after string) []string {
	t.Helper()
	found, err := list(t.Context(), s, prefix, after)
	require.NoError(t, err)
	return found
}

func list(ctx context.Context, s storage.Store, prefix, after string) ([]string, error) {
	found := []string{}
	for info, err := range s.List(ctx, prefix, after) {
		if err != nil {
			return found, err
		}
		found = append(found, info.Key)
	}
	return found, nil
}

func create(t *testing.T, s storage.Store, key, data string) storage.Info {
	t.Helper()
	w, err := s.Create(t.Context(), key)
	require.NoError(t, err)
	defer w.Abort()
	_, err = io.WriteString(w, data)
	require.NoError(t, err)
	info, err := w.Commit(t.Context())
	require.NoError(t, err)
	return info
}
