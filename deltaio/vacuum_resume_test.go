package deltaio_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// memJournal is a run folder in memory.
type memJournal struct{ s storage.Store }

func (j memJournal) Put(ctx context.Context, n string, b []byte) error { return j.s.Put(ctx, n, b) }
func (j memJournal) PutIfAbsent(ctx context.Context, n string, b []byte) error {
	return j.s.PutIfAbsent(ctx, n, b)
}
func (j memJournal) Get(ctx context.Context, n string) ([]byte, error) {
	return storage.ReadAll(ctx, j.s, n, 0)
}
func (j memJournal) List(ctx context.Context, prefix string) ([]string, error) {
	var out []string
	for i, err := range j.s.List(ctx, prefix, "") {
		if err != nil {
			return nil, err
		}
		out = append(out, i.Key)
	}
	return out, nil
}
func (j memJournal) URL() string { return j.s.URL() }

// bigStore shows many orphans without holding them.
type bigStore struct {
	storage.Store
	n       int
	mu      sync.Mutex
	deleted map[string]bool
	listed  atomic.Int64
	deletes atomic.Int64
	limit   int64
}

func orphanKey(i int) string { return fmt.Sprintf("p=%06d/orphan.parquet", i) }

func (b *bigStore) List(ctx context.Context, prefix, after string) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		for info, err := range b.Store.List(ctx, prefix, after) {
			if !yield(info, err) {
				return
			}
		}
		if prefix != "" {
			return
		}
		for i := range b.n {
			key := orphanKey(i)
			if key <= after {
				continue
			}
			b.mu.Lock()
			gone := b.deleted[key]
			b.mu.Unlock()
			if gone {
				continue
			}
			b.listed.Add(1)
			if !yield(storage.Info{Key: key, Size: 7, ModTime: start}, nil) {
				return
			}
		}
	}
}

func (b *bigStore) Delete(ctx context.Context, key string) error {
	if !strings.HasPrefix(key, "p=") {
		return b.Store.Delete(ctx, key)
	}
	if n := b.deletes.Add(1); b.limit > 0 && n > b.limit {
		return context.Canceled
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deleted[key] = true
	return nil
}

func (b *bigStore) Stat(ctx context.Context, key string) (storage.Info, error) {
	if !strings.HasPrefix(key, "p=") {
		return b.Store.Stat(ctx, key)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.deleted[key] {
		return storage.Info{}, storage.ErrNotExist
	}
	return storage.Info{Key: key, Size: 7, ModTime: start}, nil
}

func TestVacuum_killed_halfway_goes_on_from_the_cursor_in_bounded_memory(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	create(t, inner, c, deltaio.CreateOptions{})
	c.Add(30 * day)
	const n = 20000
	s := &bigStore{Store: inner, n: n, deleted: map[string]bool{}}
	j := memJournal{memStore(c)}

	ctx, cancel := context.WithCancel(t.Context())
	e := env(c)
	e.Progress = func(p deltaio.Progress) {
		if p.FilesDone >= n/2 {
			cancel() // the worker dies
		}
	}
	table, err := deltaio.Open(t.Context(), s, e)
	require.NoError(t, err)
	_, err = deltaio.Vacuum(ctx, table, deltaio.VacuumOptions{Journal: j})
	require.ErrorIs(t, err, context.Canceled)
	before := s.listed.Load()

	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	table, err = deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	res := vacuum(t, table, deltaio.VacuumOptions{Journal: j})
	require.True(t, res.Resumed)
	require.EqualValues(t, n, res.Deleted, "what the first call deleted counts")
	require.Less(t, s.listed.Load()-before, int64(n*6/10), "no second full listing")
	require.Less(t, mem.HeapInuse, uint64(256<<20))
	h, err := deltaio.History(t.Context(), table, 0)
	require.NoError(t, err)
	require.Len(t, h, 3, "one START, one END")
	var cur map[string]any
	data, err := j.Get(t.Context(), "vacuum/cursor.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &cur))
	require.Equal(t, true, cur["done"])
}
