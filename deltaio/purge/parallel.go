package purge

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/lakewarden/lakewarden/deltaio"
)

// meter reports how far a step is, one call at a time.
type meter struct {
	mu   sync.Mutex
	tell func(deltaio.Progress)
	p    deltaio.Progress
}

func newMeter(t *deltaio.Table, phase string, files int, bytes int64) *meter {
	m := &meter{tell: t.Env().Progress, p: deltaio.Progress{Phase: phase, FilesTotal: files, BytesTotal: bytes}}
	m.tell(m.p)
	return m
}

// file counts one more file as finished.
func (m *meter) file(rows, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.p.FilesDone++
	m.p.RowsDone += rows
	m.p.BytesDone += bytes
	m.tell(m.p)
}

// forEach runs do for 0 to n-1, at most Env.Parallel at a time, and stops at the
// first error.
func forEach(ctx context.Context, t *deltaio.Table, n int, do func(ctx context.Context, i int) error) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(t.Env().Parallel)
	for i := range n {
		if gctx.Err() != nil {
			break
		}
		g.Go(func() error { return do(gctx, i) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}
