package purge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// start is the clock of the fixtures: criteria older than 30 days cut at
// 2025-02-08, exclusive.
var start = time.Date(2025, 3, 10, 12, 0, 0, 0, time.UTC)

const (
	flagColumn = "_expurgo_flag"
	olderThan  = "event_date < DATE'2025-02-08'"
	noDate     = "event_date IS NULL"
)

var ids atomic.Int64

func newID() string { return fmt.Sprintf("%08d", ids.Add(1)) }

// clock is a clock that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// folder is a run folder in a store.
type folder struct{ storage.Store }

func (f folder) Put(ctx context.Context, name string, data []byte) error {
	return f.Store.Put(ctx, name, data)
}

func (f folder) Get(ctx context.Context, name string) ([]byte, error) {
	return storage.ReadAll(ctx, f.Store, name, 0)
}

func (f folder) List(ctx context.Context, prefix string) ([]string, error) {
	var out []string
	for info, err := range f.Store.List(ctx, prefix, "") {
		if err != nil {
			return nil, err
		}
		out = append(out, info.Key)
	}
	return out, nil
}

// tb is what both testing.T and rapid.T offer.
type tb interface {
	require.TestingT
	Helper()
	Fatalf(format string, args ...any)
}

// world is a table, its archive and its run folders.
type world struct {
	t       tb
	ctx     context.Context
	clock   *clock
	data    *storage.Memory // below every handle on the table
	archive *storage.Memory
	folders *storage.Memory
	table   *deltaio.Table
	zone    *time.Location

	inProcess *process // nil: one that never dies
	parallel  int
	// archiveVia, when set, is how the archive is reached.
	archiveVia storage.Store
}

type setup struct {
	partitioned bool
	properties  map[string]string
	flag        bool // the marker column exists from the start
	schema      *schema.Struct
}

var baseSchema = &schema.Struct{Fields: []schema.Field{
	{Name: "id", Type: schema.Long, Nullable: true},
	{Name: "event_date", Type: schema.Date, Nullable: true},
	{Name: "name", Type: schema.String, Nullable: true},
	{Name: "amount", Type: schema.Double, Nullable: true},
}}

func newWorld(t tb, s setup) *world {
	t.Helper()
	w := &world{t: t, parallel: 2, ctx: context.Background(), clock: &clock{at: start}, data: storage.NewMemory(), archive: storage.NewMemory(), folders: storage.NewMemory()}
	for _, m := range []*storage.Memory{w.data, w.archive, w.folders} {
		m.SetClock(w.clock.now)
	}
	opt := deltaio.CreateOptions{Schema: s.schema, Properties: s.properties}
	if opt.Schema == nil {
		opt.Schema = &schema.Struct{Fields: slices.Clone(baseSchema.Fields)}
	}
	if s.flag {
		opt.Schema.Fields = append(opt.Schema.Fields, schema.Field{Name: flagColumn, Type: schema.Boolean, Nullable: true})
	}
	if s.partitioned {
		opt.PartitionBy = []string{"event_date"}
	}
	var err error
	w.table, err = deltaio.Create(w.ctx, w.data, w.env(), opt)
	require.NoError(t, err)
	return w
}

func (w *world) env() deltaio.Env {
	return deltaio.Env{Now: w.clock.now, Parallel: max(w.parallel, 1), NewID: newID}
}

// reopen opens the table with the environment as it is now.
func (w *world) reopen() {
	var err error
	w.table, err = deltaio.Open(w.ctx, w.data, w.env())
	require.NoError(w.t, err)
}

// run is a purge run with the usual criteria.
func (w *world) run(id string) purge.Run {
	return purge.Run{
		ID: id, Journal: w.folderOf(id), Column: flagColumn,
		Criteria: purge.Criteria{
			Match: expr.MustParse(olderThan), Undated: expr.MustParse(noDate),
			Context: expr.Context{Now: start, Zone: w.zone},
		},
	}
}

func (w *world) snapshot() *deltaio.Snapshot {
	w.t.Helper()
	s, err := w.table.Snapshot(w.ctx)
	require.NoError(w.t, err)
	return s
}

func (w *world) rows() []row {
	w.t.Helper()
	out, err := rowsOf(w.ctx, w.snapshot(), deltaio.ScanOptions{})
	require.NoError(w.t, err)
	return out
}

func (w *world) flagged() (n int) {
	w.t.Helper()
	for _, r := range w.rows() {
		if r.flag != nil && *r.flag {
			n++
		}
	}
	return n
}

// archived reads what the archive holds of a run ("": of all).
func (w *world) archived(run string) []row {
	w.t.Helper()
	t, err := deltaio.Open(w.ctx, w.archive, w.env())
	if errors.Is(err, deltaio.ErrNotATable) {
		return nil
	}
	require.NoError(w.t, err)
	s, err := t.Snapshot(w.ctx)
	require.NoError(w.t, err)
	opt := deltaio.ScanOptions{}
	if run != "" {
		opt.Where = expr.MustParse("run_id = '" + run + "'")
	}
	out, err := rowsOf(w.ctx, s, opt)
	require.NoError(w.t, err)
	return out
}

// objects lists a store's keys.
func objects(t tb, s storage.Store) []string {
	var out []string
	for info, err := range s.List(context.Background(), "", "") {
		require.NoError(t, err)
		out = append(out, info.Key)
	}
	return out
}
