package purge_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// littered is a store in which a writer died.
type littered struct {
	storage.Store
	left []storage.Info
}

func (l *littered) Leftovers(context.Context, string) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		for _, info := range l.left {
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (l *littered) RemoveLeftover(context.Context, string) error {
	l.left = nil
	return nil
}

func TestProveErased_an_unfinished_write_of_a_dead_writer_is_residue_until_a_vacuum_takes_it(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	w.append(sample(0, 60))
	store := &littered{Store: w.data, left: []storage.Info{{Key: ".lakewarden-tmp-dead", Size: 9, ModTime: start}}}
	table, err := deltaio.Open(w.ctx, store, w.env())
	require.NoError(t, err)
	w.table = table
	r := w.run("run-1")
	w.purge(r)

	w.clock.advance(6 * 24 * time.Hour)
	res := w.prove(r)
	require.False(t, res.Erased)
	require.Equal(t, 1, res.Unknown.Count)
	require.Contains(t, res.Residue, ".lakewarden-tmp-dead is an unfinished write of 9 bytes, of a writer that died or is at work")

	w.vacuum(3 * 24 * time.Hour)
	require.Empty(t, store.left)
	res = w.prove(r)
	require.True(t, res.Erased, "%v", res.Residue)
}
