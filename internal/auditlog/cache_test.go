package auditlog_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

// fill appends rows one after another, each a file.
func fill(t *testing.T, log *auditlog.Log, n int) {
	t.Helper()
	for i := range n {
		_, err := log.Append(t.Context(), row(fmt.Sprintf("r-%d", i)))
		require.NoError(t, err)
	}
}

func TestAppend_manyWritersOfOneProcess_readNoRowTwice(t *testing.T) {
	t.Parallel()
	const before, writers = 200, 16
	cache, inner := auditlog.NewCache(), storage.NewMemory()
	fill(t, auditlog.New(inner, env()).With(cache), before)

	s := storage.NewFault(inner)
	var opened atomic.Int64
	s.Fail(func(op storage.Op) error {
		if op.Kind == storage.OpOpen && strings.HasPrefix(op.Key, "audit") {
			opened.Add(1)
		}
		return nil
	})
	log := auditlog.New(s, env()).With(cache)
	var all sync.WaitGroup
	errs := make([]error, writers)
	for w := range writers {
		all.Go(func() { _, errs[w] = log.Append(t.Context(), row(fmt.Sprintf("w-%d", w))) })
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	require.LessOrEqual(t, opened.Load(), int64(writers), "each new file is read once, by the writer after it")

	rows, err := auditlog.New(inner, env()).Rows(t.Context())
	require.NoError(t, err)
	require.Len(t, rows, before+writers)
	r := evidence.Verify(rows, "")
	require.True(t, r.OK(), "%v", r.Findings)
}

func TestAppend_waitingForItsTurn_stopsWhenCancelled(t *testing.T) {
	t.Parallel()
	inner, cache := storage.NewMemory(), auditlog.NewCache()
	s := storage.NewFault(inner)
	inside, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s.Fail(func(storage.Op) error {
		once.Do(func() { close(inside); <-release })
		return nil
	})
	done := make(chan error, 1)
	go func() {
		_, err := auditlog.New(s, env()).With(cache).Append(context.Background(), row("r-1"))
		done <- err
	}()
	<-inside
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := auditlog.New(inner, env()).With(cache).Append(ctx, row("r-2"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	close(release)
	require.NoError(t, <-done)
}

func TestRows_ofACache_showFilesOfOtherWriters(t *testing.T) {
	t.Parallel()
	s, cache := storage.NewMemory(), auditlog.NewCache()
	log := auditlog.New(s, env()).With(cache)
	fill(t, log, 3)
	_, err := auditlog.New(s, env()).Append(t.Context(), row("r-other"))
	require.NoError(t, err)
	rows, err := log.Rows(t.Context())
	require.NoError(t, err)
	require.Len(t, rows, 4)
}

func TestRows_ofACache_forgetAReplacedTable(t *testing.T) {
	t.Parallel()
	cache := auditlog.NewCache()
	named := func(table string) deltaio.Env { // both tables name their files alike
		var n atomic.Int64
		e := env()
		e.NewID = func() string {
			if i := n.Add(1); i > 1 {
				return fmt.Sprint("id-", i)
			}
			return table
		}
		return e
	}
	s := storage.NewMemory()
	one, two := auditlog.New(s, named("table-1")).With(cache), auditlog.New(s, named("table-2")).With(cache)
	_, err := one.Append(t.Context(), row("r-1"))
	require.NoError(t, err)
	_, err = one.Rows(t.Context())
	require.NoError(t, err)
	for o, err := range s.List(t.Context(), "", "") {
		require.NoError(t, err)
		require.NoError(t, s.Delete(t.Context(), o.Key))
	}
	_, err = two.Append(t.Context(), row("r-2"))
	require.NoError(t, err)
	rows, err := two.Rows(t.Context())
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, "r-2", rows[0].RunID)
}

func TestRows_whoseFileIsGone_sayWhichAndWhatItMeans(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	log := auditlog.New(s, env())
	fill(t, log, 2)
	var gone string
	for o, err := range s.List(t.Context(), "", "") {
		require.NoError(t, err)
		if strings.HasSuffix(o.Key, ".parquet") && !strings.HasPrefix(o.Key, "_") {
			gone = o.Key
		}
	}
	require.NoError(t, s.Delete(t.Context(), gone))
	_, err := log.Rows(t.Context())
	require.ErrorIs(t, err, storage.ErrNotExist)
	require.ErrorContains(t, err, "the row file "+gone+" is missing")
	require.ErrorContains(t, err, "put back from a backup")
}
