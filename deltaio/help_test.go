package deltaio_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// start is the clock of the fixtures.
var start = time.Date(2025, 3, 10, 12, 0, 0, 0, time.UTC)

// clock is a clock that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: start} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

var ids atomic.Int64

func env(c *clock) deltaio.Env {
	return deltaio.Env{Now: c.Now, Parallel: 4, NewID: func() string { return fmt.Sprintf("id%06d", ids.Add(1)) }}
}

// stores are the kinds that every commit protocol must hold on.
var stores = map[string]func(*testing.T, *clock) storage.Store{
	"memory": func(_ *testing.T, c *clock) storage.Store { return memStore(c) },
	"local": func(t *testing.T, _ *clock) storage.Store {
		s, err := storage.OpenLocal(t.TempDir())
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s
	},
}

// memStore is a store whose clock is the test's.
func memStore(c *clock) *storage.Memory {
	m := storage.NewMemory()
	m.SetClock(c.Now)
	return m
}

func fields(fs ...schema.Field) *schema.Struct { return &schema.Struct{Fields: fs} }

func col(name string, t schema.Type) schema.Field {
	return schema.Field{Name: name, Type: t, Nullable: true}
}

// sales is the usual table: id, event_date, amount.
var sales = fields(col("id", schema.Long), col("event_date", schema.Date), col("amount", schema.Double))

func create(t *testing.T, s storage.Store, c *clock, opt deltaio.CreateOptions) *deltaio.Table {
	t.Helper()
	if opt.Schema == nil {
		opt.Schema = sales
	}
	table, err := deltaio.Create(t.Context(), s, env(c), opt)
	require.NoError(t, err)
	return table
}

func snapshot(t *testing.T, table *deltaio.Table) *deltaio.Snapshot {
	t.Helper()
	s, err := table.Snapshot(t.Context())
	require.NoError(t, err)
	return s
}

func text(s string) *string { return &s }

// fakeFile puts bytes that are no Parquet under the key and makes its add: good
// enough for everything that never looks inside.
func fakeFile(t *testing.T, s storage.Store, key string, partition map[string]*string) *log.Add {
	t.Helper()
	require.NoError(t, s.PutIfAbsent(t.Context(), key, []byte("rows of "+key)))
	if partition == nil {
		partition = map[string]*string{}
	}
	return &log.Add{
		Path: log.EncodePath(key), PartitionValues: partition, Size: int64(len("rows of " + key)),
		DataChange: true, Stats: `{"numRecords":3}`,
	}
}

func adds(files ...*log.Add) deltaio.Build {
	return func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
		out := make([]log.Action, len(files))
		for i, f := range files {
			out[i] = log.Action{Add: f}
		}
		return out, nil
	}
}

// appendFake commits fake files as a blind append.
func appendFake(t *testing.T, table *deltaio.Table, files ...*log.Add) deltaio.CommitResult {
	t.Helper()
	res, err := table.Commit(t.Context(), nil, deltaio.CommitOptions{Operation: "WRITE", BlindAppend: true}, adds(files...))
	require.NoError(t, err)
	require.Equal(t, deltaio.Committed, res.Outcome)
	return res
}

// removeFake commits the removal of live files.
func removeFake(t *testing.T, table *deltaio.Table, c *clock, files ...*log.Add) deltaio.CommitResult {
	t.Helper()
	res, err := table.Commit(t.Context(), nil, deltaio.CommitOptions{Operation: "DELETE"}, removes(c, files...))
	require.NoError(t, err)
	require.Equal(t, deltaio.Committed, res.Outcome)
	return res
}

func removes(c *clock, files ...*log.Add) deltaio.Build {
	return func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
		out := make([]log.Action, len(files))
		for i, f := range files {
			out[i] = log.Action{Remove: deltaio.RemoveOf(f, c.Now().UnixMilli(), true)}
		}
		return out, nil
	}
}

func paths(s *deltaio.Snapshot) []string {
	out := []string{}
	for _, f := range s.Files() {
		out = append(out, f.Path)
	}
	return out
}

func exists(t *testing.T, s storage.Store, key string) bool {
	t.Helper()
	_, err := s.Stat(t.Context(), key)
	if err != nil {
		require.ErrorIs(t, err, storage.ErrNotExist)
	}
	return err == nil
}

// tb is what helpers need of a test, a rapid one included.
type tb interface {
	require.TestingT
	Helper()
}
