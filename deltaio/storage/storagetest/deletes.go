package storagetest

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

var deleteTests = []namedTest{
	{"Delete_goneForEveryCall", deleteGone},
	{"Delete_touchesNoNeighbour", deleteTouchesNoNeighbour},
	{"Delete_raceHasOneWinner", deleteRace},
}

func deleteGone(t *testing.T, s storage.Store) {
	put(t, s, "d/k", "x")
	require.NoError(t, s.Delete(t.Context(), "d/k"))
	requireAbsent(t, s, "d/k")
	require.ErrorIs(t, s.Delete(t.Context(), "d/k"), storage.ErrNotExist)
	requireAbsent(t, s, "d")
	require.ErrorIs(t, s.Delete(t.Context(), "d"), storage.ErrNotExist, "an emptied directory is no object")
	put(t, s, "d/k2", "y")
}

func deleteTouchesNoNeighbour(t *testing.T, s storage.Store) {
	for _, key := range []string{"a", "a.b", "d/a", "d/a%20b", "d/a b", "d2/a"} {
		put(t, s, key, key)
	}
	require.NoError(t, s.Delete(t.Context(), "d/a b"))
	require.Equal(t, []string{"a", "a.b", "d/a", "d/a%20b", "d2/a"}, keys(t, s, "", ""))
}

func deleteRace(t *testing.T, s storage.Store) {
	for range 20 {
		put(t, s, "k", "x")
		var won atomic.Int32
		var g errgroup.Group
		for range 8 {
			g.Go(func() error {
				err := s.Delete(t.Context(), "k")
				if err == nil {
					won.Add(1)
				}
				if errors.Is(err, storage.ErrNotExist) {
					return nil
				}
				return err
			})
		}
		require.NoError(t, g.Wait())
		require.Equal(t, int32(1), won.Load())
	}
}
