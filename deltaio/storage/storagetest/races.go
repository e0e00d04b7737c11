package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

var raceTests = []namedTest{
	{"PutIfAbsent_raceHasOneWinner", func(t *testing.T, s storage.Store) { RaceOneKey(t, s) }},
	{"Put_readersSeeWholeObjects", putReadersSeeWhole},
	{"List_duringWritesShowsWhatHadReturned", listDuringWrites},
}

// RaceOneKey lets 16 writers compete for one key, 20 times over, spread over the
// given handles of one store: exactly one gets nil, all others exactly ErrExist,
// and the object is the winner's, whole.
func RaceOneKey(t *testing.T, handles ...storage.Store) {
	t.Helper()
	const writers = 16
	for round := range 20 {
		key := fmt.Sprintf("log/%020d.json", round)
		var mu sync.Mutex
		var winners [][]byte
		var g errgroup.Group
		start := make(chan struct{})
		for i := range writers {
			s := handles[i%len(handles)]
			data := bytes.Repeat([]byte(fmt.Sprintf("writer %d;", i)), 100+i*500)
			g.Go(func() error {
				<-start
				err := s.PutIfAbsent(t.Context(), key, data)
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					winners = append(winners, data)
				}
				if errors.Is(err, storage.ErrExist) {
					return nil
				}
				return err
			})
		}
		close(start)
		require.NoError(t, g.Wait())
		require.Len(t, winners, 1)
		require.Equal(t, string(winners[0]), get(t, handles[0], key))
	}
}

// putReadersSeeWhole: every version is one byte repeated, so that a mixture
// shows.
func putReadersSeeWhole(t *testing.T, s storage.Store) {
	version := func(i int) []byte { return bytes.Repeat([]byte{'a' + byte(i%26)}, 1000+i*997) }
	require.NoError(t, s.Put(t.Context(), "hint", version(0)))
	var g errgroup.Group
	done := make(chan struct{})
	g.Go(func() error {
		defer close(done)
		for i := range 60 {
			if err := s.Put(t.Context(), "hint", version(i)); err != nil {
				return err
			}
		}
		return nil
	})
	for range 3 {
		g.Go(func() error {
			for {
				data, err := storage.ReadAll(t.Context(), s, "hint", 0)
				if err != nil {
					return err
				}
				if want := version((len(data) - 1000) / 997); !bytes.Equal(data, want) {
					return fmt.Errorf("%d bytes of a mixture", len(data))
				}
				select {
				case <-done:
					return nil
				default:
				}
			}
		})
	}
	require.NoError(t, g.Wait())
}

func listDuringWrites(t *testing.T, s storage.Store) {
	const n = 60
	var mu sync.Mutex
	returned := map[string]bool{}
	var g errgroup.Group
	for i := range 2 {
		g.Go(func() error {
			for j := range n {
				key := fmt.Sprintf("p=%d/%d-%d", j%5, i, j)
				if err := s.PutIfAbsent(t.Context(), key, []byte(key)); err != nil {
					return err
				}
				mu.Lock()
				returned[key] = true
				mu.Unlock()
			}
			return nil
		})
	}
	g.Go(func() error {
		for {
			mu.Lock()
			missing := make(map[string]bool, len(returned))
			for key := range returned {
				missing[key] = true
			}
			mu.Unlock()
			last := ""
			for info, err := range s.List(t.Context(), "", "") {
				if err != nil {
					return err
				}
				if info.Key <= last || info.Size != int64(len(info.Key)) {
					return fmt.Errorf("%q (%d bytes) after %q", info.Key, info.Size, last)
				}
				last = info.Key
				delete(missing, info.Key)
			}
			if len(missing) > 0 {
				return fmt.Errorf("written and not listed: %v", missing)
			}
			if mu.Lock(); len(returned) == 2*n {
				mu.Unlock()
				return nil
			}
			mu.Unlock()
		}
	})
	require.NoError(t, g.Wait())
}
