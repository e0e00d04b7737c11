package purge_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
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

// row is a row of the fixture; flag is the marker, when the table has one.
type row struct {
	id     int64
	date   string // "" is null
	name   string
	amount float64
	flag   *bool
}

func (r row) text(flags bool) string {
	s := fmt.Sprintf("%d|%s|%s|%v", r.id, r.date, r.name, r.amount)
	if flags && r.flag != nil && *r.flag {
		s += "|flagged"
	}
	return s
}

// texts is the multiset of rows, flags aside.
func texts(rows []row) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.text(false)
	}
	sort.Strings(out)
	return out
}

// sample makes n rows from id first, one a day backwards from the clock.
func sample(first, n int) []row {
	out := make([]row, n)
	for i := range out {
		id := first + i
		day := start.AddDate(0, 0, -id%60).Format(time.DateOnly)
		out[i] = row{id: int64(id), date: day, name: fmt.Sprintf("marker-%04d-%s", id, strings.Repeat("x", id%5)), amount: float64(id) / 4}
	}
	return out
}

func due(r row) bool { return r.date != "" && r.date < "2025-02-08" }

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

// record builds a batch in the snapshot's schema.
func (w *world) record(s *schema.Struct, rows []row) arrow.Record {
	w.t.Helper()
	as, err := schema.ArrowSchema(s)
	require.NoError(w.t, err)
	b := array.NewRecordBuilder(memory.DefaultAllocator, as)
	defer b.Release()
	for _, r := range rows {
		for i, f := range as.Fields() {
			appendCell(b.Field(i), f.Name, r)
		}
	}
	return b.NewRecord()
}

func appendCell(b array.Builder, name string, r row) {
	switch name {
	case "id":
		b.(*array.Int64Builder).Append(r.id)
	case "event_date":
		switch d := b.(type) {
		case *array.Date32Builder:
			if at, err := time.Parse(time.DateOnly, r.date); err == nil {
				d.Append(arrow.Date32FromTime(at))
				return
			}
		case *array.StringBuilder:
			if r.date != "" {
				d.Append(r.date)
				return
			}
		}
		b.AppendNull()
	case "name":
		b.(*array.StringBuilder).Append(r.name)
	case "amount":
		b.(*array.Float64Builder).Append(r.amount)
	case flagColumn:
		if r.flag == nil {
			b.AppendNull()
		} else {
			b.(*array.BooleanBuilder).Append(*r.flag)
		}
	default:
		b.AppendNull()
	}
}

func one(rec arrow.Record) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		rec.Retain()
		yield(rec, nil)
	}
}

// append commits each list of rows as files of its own.
func (w *world) append(files ...[]row) {
	w.t.Helper()
	for _, rows := range files {
		rec := w.record(w.snapshot().Schema(), rows)
		_, err := deltaio.Append(w.ctx, w.table, deltaio.AppendOptions{}, one(rec))
		rec.Release()
		require.NoError(w.t, err)
	}
}

// rowsOf reads rows of a table.
func rowsOf(ctx context.Context, s *deltaio.Snapshot, opt deltaio.ScanOptions) ([]row, error) {
	var out []row
	for rec, err := range s.Scan(ctx, opt) {
		if err != nil {
			return nil, err
		}
		out = append(out, rowsOfRecord(rec)...)
		rec.Release()
	}
	return out, nil
}

func rowsOfRecord(rec arrow.Record) []row {
	out := make([]row, rec.NumRows())
	for c, f := range rec.Schema().Fields() {
		for i := range out {
			col := rec.Column(c)
			if col.IsNull(i) {
				continue
			}
			switch f.Name {
			case "id":
				out[i].id = col.(*array.Int64).Value(i)
			case "event_date":
				out[i].date = col.ValueStr(i)
			case "name":
				out[i].name = col.(*array.String).Value(i)
			case "amount":
				out[i].amount = col.(*array.Float64).Value(i)
			case flagColumn:
				v := col.(*array.Boolean).Value(i)
				out[i].flag = &v
			}
		}
	}
	return out
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

// rewrite is another program's change: the rows of the chosen files are replaced
// by what change makes of them, in one commit.
func (w *world) rewrite(op string, dataChange bool, choose func(i int, rows []row) bool, change func([]row) []row) {
	w.t.Helper()
	s := w.snapshot()
	var actions []log.Action
	var rows []row
	for i, add := range s.Files() {
		have, err := rowsOf(w.ctx, s, deltaio.ScanOptions{Files: []*log.Add{add}})
		require.NoError(w.t, err)
		if !choose(i, have) {
			continue
		}
		actions = append(actions, log.Action{Remove: add.Remove(w.clock.now().UnixMilli(), dataChange)})
		rows = append(rows, have...)
	}
	if len(actions) == 0 {
		return
	}
	if rows = change(rows); len(rows) > 0 {
		rec := w.record(s.Schema(), rows)
		defer rec.Release()
		files, err := s.Stage(w.ctx, deltaio.StageOptions{}, one(rec))
		require.NoError(w.t, err)
		for _, f := range files {
			f.Add.DataChange = dataChange
			actions = append(actions, log.Action{Add: f.Add})
		}
	}
	_, err := w.table.Commit(w.ctx, s, deltaio.CommitOptions{Operation: op}, func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) { return actions, nil })
	require.NoError(w.t, err)
}

func hasAny(rows []row, want map[int64]bool) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return want[r.id] })
}

func idSet(list ...int64) map[int64]bool {
	out := map[int64]bool{}
	for _, id := range list {
		out[id] = true
	}
	return out
}

// update changes the rows with the ids.
func (w *world) update(change func(*row), list ...int64) {
	w.t.Helper()
	want := idSet(list...)
	w.rewrite("UPDATE", true, func(_ int, rows []row) bool { return hasAny(rows, want) }, func(rows []row) []row {
		for i := range rows {
			if want[rows[i].id] {
				change(&rows[i])
			}
		}
		return rows
	})
}

// remove deletes the rows with the ids.
func (w *world) remove(list ...int64) {
	w.t.Helper()
	want := idSet(list...)
	w.rewrite("DELETE", true, func(_ int, rows []row) bool { return hasAny(rows, want) }, func(rows []row) []row {
		return slices.DeleteFunc(rows, func(r row) bool { return want[r.id] })
	})
}

// optimize puts the rows of all files together.
func (w *world) optimize() {
	w.t.Helper()
	w.rewrite("OPTIMIZE", false, func(int, []row) bool { return true }, func(rows []row) []row { return rows })
}

// purged is a purge that ran to its end.
type purged struct {
	plan    *purge.PlanResult
	mark    *purge.MarkResult
	archive *purge.ArchiveResult
	verify  *purge.VerifyResult
	del     *purge.DeleteResult
	checked *purge.VerifyPurgeResult
}

func (w *world) plan(r purge.Run) *purge.PlanResult {
	w.t.Helper()
	res, err := purge.PlanPurge(w.ctx, w.table, purge.PlanOptions{Run: r})
	require.NoError(w.t, err)
	return res
}

func (w *world) mark(r purge.Run, plan *purge.PlanResult) *purge.MarkResult {
	w.t.Helper()
	res, err := purge.MarkRows(w.ctx, w.table, purge.MarkOptions{Run: r, Plan: plan.Record})
	require.NoError(w.t, err)
	return res
}

func (w *world) archiveRows(r purge.Run, plan *purge.PlanResult, attempt int) *purge.ArchiveResult {
	w.t.Helper()
	res, err := purge.ArchiveRows(w.ctx, w.table, w.archive, w.env(), purge.ArchiveOptions{Run: r, Plan: plan.Record, Attempt: attempt, ArchivedAt: start})
	require.NoError(w.t, err)
	return res
}

func (w *world) verify(r purge.Run, a *purge.ArchiveResult) *purge.VerifyResult {
	w.t.Helper()
	res, err := purge.VerifyArchive(w.ctx, w.table, w.archive, w.env(), purge.VerifyArchiveOptions{Run: r, Archive: a.Record})
	require.NoError(w.t, err)
	return res
}

func (w *world) delete(r purge.Run, plan *purge.PlanResult, a *purge.ArchiveResult) *purge.DeleteResult {
	w.t.Helper()
	res, err := purge.DeleteMarked(w.ctx, w.table, purge.DeleteOptions{Run: r, Plan: plan.Record, Archive: a.Record})
	require.NoError(w.t, err)
	return res
}

func (w *world) check(r purge.Run) *purge.VerifyPurgeResult {
	w.t.Helper()
	res, err := purge.VerifyPurge(w.ctx, w.table, purge.VerifyPurgeOptions{Run: r})
	require.NoError(w.t, err)
	return res
}

func (w *world) unmark(r purge.Run) *purge.UnmarkResult {
	w.t.Helper()
	res, err := purge.UnmarkRows(w.ctx, w.table, purge.UnmarkOptions{Run: r})
	require.NoError(w.t, err)
	return res
}

func (w *world) removeArchived(r purge.Run) *purge.RemoveArchivedResult {
	w.t.Helper()
	res, err := purge.RemoveArchived(w.ctx, w.archive, w.env(), purge.RemoveArchivedOptions{Run: r, Attempt: 3})
	require.NoError(w.t, err)
	return res
}

// purge runs all steps and expects each to succeed.
func (w *world) purge(r purge.Run) purged {
	w.t.Helper()
	var p purged
	p.plan = w.plan(r)
	p.mark = w.mark(r, p.plan)
	p.archive = w.archiveRows(r, p.plan, 1)
	p.verify = w.verify(r, p.archive)
	require.True(w.t, p.verify.Agrees, "%v", p.verify.Reasons)
	p.del = w.delete(r, p.plan, p.archive)
	require.Equal(w.t, purge.Done, p.del.Outcome)
	p.checked = w.check(r)
	require.True(w.t, p.checked.Agrees, "%v", p.checked.Reasons)
	return p
}

// split is the model's arithmetic: what stays and what goes.
func split(rows []row, goes func(row) bool) (stay, gone []row) {
	for _, r := range rows {
		if goes(r) {
			gone = append(gone, r)
		} else {
			stay = append(stay, r)
		}
	}
	return stay, gone
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
