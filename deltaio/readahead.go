package deltaio

import (
	"context"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
)

// batchesAhead is how many batches of one file wait for the consumer.
const batchesAhead = 2

// fileStream carries the batches of one file from its reader to the consumer.
type fileStream struct {
	batches chan arrow.Record
	err     error // set before batches is closed
}

// readAhead reads up to parallel items at once and yields their batches in item
// order. Memory is bounded by parallel times batchesAhead batches.
func readAhead[T any](ctx context.Context, parallel int, items []T,
	read func(context.Context, T, func(arrow.Record) bool) error, yield func(arrow.Record, error) bool) {
	ctx, cancel := context.WithCancel(ctx)
	var readers sync.WaitGroup
	streams := make(chan *fileStream, max(parallel-1, 0))
	defer func() { // the consumer may leave early: stop readers, free what waits
		cancel()
		for st := range streams {
			st.drain()
		}
		readers.Wait()
	}()
	readers.Go(func() {
		defer close(streams)
		for _, item := range items {
			st := &fileStream{batches: make(chan arrow.Record, batchesAhead)}
			select {
			case streams <- st:
			case <-ctx.Done():
				return
			}
			readers.Go(func() {
				defer close(st.batches)
				st.err = read(ctx, item, func(rec arrow.Record) bool { return st.send(ctx, rec) })
			})
		}
	})
	seen := 0
	for st := range streams {
		seen++
		if !st.deliver(yield) {
			st.drain()
			return
		}
		// A reader that was cancelled ends early and quietly: never take its rows
		// for all rows.
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
	}
	if err := ctx.Err(); err != nil && seen < len(items) {
		yield(nil, err)
	}
}

func (st *fileStream) send(ctx context.Context, rec arrow.Record) bool {
	select {
	case st.batches <- rec:
		return true
	case <-ctx.Done():
		rec.Release()
		return false
	}
}

// deliver hands the file's batches on; false when the consumer has enough or the
// file failed.
func (st *fileStream) deliver(yield func(arrow.Record, error) bool) bool {
	for rec := range st.batches {
		if !yield(rec, nil) {
			return false
		}
	}
	if st.err != nil {
		yield(nil, st.err)
		return false
	}
	return true
}

func (st *fileStream) drain() {
	for rec := range st.batches {
		rec.Release()
	}
}
