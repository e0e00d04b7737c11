package matrix

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/internal/lake"
	"github.com/lakewarden/lakewarden/spec"
)

// start is the clock of the fixtures: 30 days back from it is 2025-02-08, before
// which rows are due.
var start = time.Date(2025, 3, 10, 12, 0, 0, 0, time.UTC)

const (
	tableName   = "bronze.sales"
	archiveName = "archive.sales_purged"
	auditName   = "control.purge_audit"
	flagColumn  = "_due"
	lakeURL     = "memory://lake"
	tablePath   = "bronze/sales/" // on the disk
)

// tb is what testing.T and rapid.T have in common.
type tb interface {
	require.TestingT
	Helper()
	Logf(format string, args ...any)
}

// clock is a clock that tests and the workflow environment move.
type clock struct {
	mu  sync.Mutex
	now func() time.Time
}

func newClock() *clock { return &clock{now: func() time.Time { return start }} }

// Now is the time.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	now := c.now
	c.mu.Unlock()
	return now()
}

// follow takes the time from elsewhere until the next call.
func (c *clock) follow(now func() time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

func (c *clock) set(at time.Time)        { c.follow(func() time.Time { return at }) }
func (c *clock) advance(d time.Duration) { c.set(c.Now().Add(d)) }

// world is a lakehouse, the workers that serve it, and the clock of both.
type world struct {
	t     tb
	ctx   context.Context
	clock *clock
	// disk holds everything: tests read and write it directly, workers through
	// a worker's hands.
	disk   storage.Store
	worker *worker
	// lake is what workers see, direct is the same lake without them.
	lake, direct *lake.Lake
}

// newWorld gives an empty lakehouse in memory.
func newWorld(t tb) *world {
	t.Helper()
	m := storage.NewMemory()
	w := newWorldOn(t, m)
	m.SetClock(w.clock.Now)
	return w
}

func newWorldOn(t tb, disk storage.Store) *world {
	t.Helper()
	w := &world{t: t, ctx: context.Background(), clock: newClock(), disk: disk}
	w.worker = newWorker(w)
	w.lake = w.open(w.worker.hands(disk))
	w.direct = w.open(disk)
	return w
}

func (w *world) open(s storage.Store) *lake.Lake {
	w.t.Helper()
	l, err := lake.New(lake.Config{Roots: []lake.Root{{URL: lakeURL}}}, openAlways(s))
	require.NoError(w.t, err)
	return l
}

// openAlways opens one store, whatever its address.
func openAlways(s storage.Store) func(context.Context, string) (storage.Store, error) {
	return func(context.Context, string) (storage.Store, error) { return s, nil }
}

// clone gives a lakehouse of its own with the same objects.
func (w *world) clone(t tb) *world {
	t.Helper()
	m := storage.NewMemory()
	for info, err := range w.disk.List(w.ctx, "", "") {
		require.NoError(t, err)
		data, err := storage.ReadAll(w.ctx, w.disk, info.Key, 0)
		require.NoError(t, err)
		require.NoError(t, m.Put(w.ctx, info.Key, data))
		require.NoError(t, m.SetModTime(info.Key, info.ModTime))
	}
	c := newWorldOn(t, m)
	c.clock.set(w.clock.Now())
	m.SetClock(c.clock.Now)
	return c
}

func (w *world) env() deltaio.Env {
	return deltaio.Env{Now: w.clock.Now, Parallel: 1, Engine: "other-writer/1"}
}

func (w *world) store(name string) storage.Store {
	w.t.Helper()
	s, err := w.direct.Table(w.ctx, name)
	require.NoError(w.t, err)
	return s
}

func (w *world) table(name string) *deltaio.Table {
	w.t.Helper()
	t, err := deltaio.Open(w.ctx, w.store(name), w.env())
	require.NoError(w.t, err)
	return t
}

func (w *world) snapshot(name string) *deltaio.Snapshot {
	w.t.Helper()
	s, err := w.table(name).Snapshot(w.ctx)
	require.NoError(w.t, err)
	return s
}

// exists tells whether there is a Delta table of the name.
func (w *world) exists(name string) bool {
	w.t.Helper()
	_, err := deltaio.Open(w.ctx, w.store(name), w.env())
	if errors.Is(err, deltaio.ErrNotATable) {
		return false
	}
	require.NoError(w.t, err)
	return true
}

// texts reads rows as sorted lines, one value after the other in the order of
// columns; where narrows them.
func texts(ctx context.Context, s *deltaio.Snapshot, columns []string, where string) ([]string, error) {
	opt := deltaio.ScanOptions{Context: expr.Context{Now: start, Zone: time.UTC}}
	if where != "" {
		x, err := expr.Parse(where)
		if err != nil {
			return nil, err
		}
		opt.Where = x
	}
	out := []string{}
	for rec, err := range s.Scan(ctx, opt) {
		if err != nil {
			return nil, err
		}
		out = append(out, linesOf(rec, columns)...)
		rec.Release()
	}
	slices.Sort(out)
	return out, nil
}

func linesOf(rec arrow.Record, columns []string) []string {
	out := make([]string, rec.NumRows())
	for i := range out {
		cells := make([]string, len(columns))
		for j, name := range columns {
			cells[j] = "(no column)"
			if at := rec.Schema().FieldIndices(name); len(at) == 1 {
				cells[j] = rec.Column(at[0]).ValueStr(i)
			}
		}
		out[i] = strings.Join(cells, "|")
	}
	return out
}

// rows reads the table without its flags.
func (w *world) rows() []string {
	w.t.Helper()
	out, err := texts(w.ctx, w.snapshot(tableName), salesColumns, "")
	require.NoError(w.t, err)
	return out
}

// flagged counts the rows that carry a flag.
func (w *world) flagged() int {
	w.t.Helper()
	snap := w.snapshot(tableName)
	if _, ok := snap.Schema().Field(flagColumn); !ok {
		return 0
	}
	out, err := texts(w.ctx, snap, []string{"id"}, flagColumn)
	require.NoError(w.t, err)
	return len(out)
}

// archived reads the archive's rows, of one run or ("") of all.
func (w *world) archived(runID string) []string {
	w.t.Helper()
	if !w.exists(archiveName) {
		return []string{}
	}
	where := "archived_at IS NOT NULL"
	if runID != "" {
		where += " AND run_id = '" + runID + "'"
	}
	out, err := texts(w.ctx, w.snapshot(archiveName), salesColumns, where)
	require.NoError(w.t, err)
	return out
}

// audit reads the audit rows of a run, oldest first; "" is all runs.
func (w *world) audit(runID string) []evidence.AuditRow {
	w.t.Helper()
	if !w.exists(auditName) {
		return nil
	}
	all, err := auditlog.New(w.store(auditName), w.env()).Rows(w.ctx)
	require.NoError(w.t, err)
	all, err = chained(all)
	require.NoError(w.t, err)
	if runID == "" {
		return all
	}
	return slices.DeleteFunc(all, func(r evidence.AuditRow) bool { return r.RunID != runID })
}

func (w *world) statuses(runID string) []string {
	w.t.Helper()
	out := []string{}
	for _, r := range w.audit(runID) {
		out = append(out, r.Status)
	}
	return out
}

// listing gives every object below a prefix of the disk with its content's
// digest, except those below the prefixes to skip.
func (w *world) listing(prefix string, skip ...string) map[string]string {
	w.t.Helper()
	out := map[string]string{}
	for info, err := range w.disk.List(w.ctx, prefix, "") {
		require.NoError(w.t, err)
		if slices.ContainsFunc(skip, func(s string) bool { return strings.HasPrefix(info.Key, s) }) {
			continue
		}
		data, err := storage.ReadAll(w.ctx, w.disk, info.Key, 0)
		require.NoError(w.t, err)
		out[info.Key] = evidence.Digest(data)
	}
	return out
}

// policy is the usual one: everything older than 30 days except what is in
// litigation. Nobody is asked and nothing is proved unless a test says so.
func policy(change ...func(*spec.RetentionPolicy)) spec.RetentionPolicy {
	days := 30
	p := spec.RetentionPolicy{
		APIVersion: spec.APIVersion, Kind: spec.KindRetentionPolicy, Name: "sales-30d", Owner: "sales", LegalBasis: "thirty days after the sale",
		Table:    tableName,
		Criteria: spec.Criteria{OlderThan: &spec.OlderThan{Column: "day", Days: &days, Timezone: "UTC"}},
		Hold:     &spec.Hold{Where: "status = 'LITIGATION'"},
		Mark:     spec.Mark{Column: flagColumn},
		Archive:  spec.Archive{Table: archiveName},
		Limits:   spec.Limits{MaxShareOfRows: "90%", FirstRun: spec.FirstRunLimits{MaxShareOfRows: "90%"}},
		Erasure:  spec.Erasure{Prove: new(bool)},
		Audit:    spec.Audit{Table: auditName},
	}
	for _, c := range change {
		c(&p)
	}
	return p
}

// asking lets people decide over the marked rows.
func asking(p *spec.RetentionPolicy) {
	p.Approval = spec.Approval{On: spec.ApprovalMarked, Approvers: []string{"dpo"}, Deadline: "72h"}
	p.RequestedBy = "ana"
}

// proving lets the erasure be proved.
func proving(p *spec.RetentionPolicy) {
	yes := true
	p.Erasure.Prove = &yes
}
