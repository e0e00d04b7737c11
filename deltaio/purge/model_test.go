package purge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// sim is a table under purge runs and other writers, beside a model: the list of
// rows that the table must hold.
type sim struct {
	*world
	rt    *rapid.T
	rows  []row // the model, flags aside
	hold  []int64
	next  int // id of the next row
	runs  int
	cur   *simRun
	trace []string

	vacuumed bool // old versions are no longer readable
	gone     []row
}

// simRun is the run under way.
type simRun struct {
	run      purge.Run
	plan     *purge.PlanResult
	archive  *purge.ArchiveResult
	attempt  int
	step     int // 0 mark, 1 archive, 2 delete, 3 verify
	deleted  bool
	undone   bool
	accepted []int64 // the hold in force at the delete
}

func (s *sim) note(format string, args ...any) {
	s.trace = append(s.trace, fmt.Sprintf(format, args...))
}

// account looks whether a delete was committed since, and takes its rows out of
// the model: they must be due, not held, and in the archive, each exactly once.
func (s *sim) account() {
	s.t.Helper()
	have := s.world.rows()
	if c := s.cur; c != nil && !c.deleted {
		if v, _ := s.snapshot().Txn(purge.AppID(c.run.ID, purge.StepDelete)); v%2 == 1 {
			c.deleted = true
			left := count(texts(s.rows), 1)
			for _, r := range have {
				left[r.text(false)]--
			}
			archived := s.archived(c.run.ID)
			for _, r := range archived {
				require.True(s.t, due(r), "%s was not due\n%s", r.text(false), s)
				require.NotContains(s.t, c.accepted, r.id, "held\n%s", s)
			}
			require.Equal(s.t, nonZero(count(texts(archived), 1)), nonZero(left), "rows that left = rows archived\n%s", s)
			s.gone = append(s.gone, archived...)
			s.rows = nil
			for _, r := range have {
				r.flag = nil
				s.rows = append(s.rows, r)
			}
		}
	}
	require.Equal(s.t, texts(s.rows), texts(have), "%s", s)
}

func (s *sim) String() string { return strings.Join(s.trace, "\n") }

// checked is account plus what must hold between steps.
func (s *sim) checked() {
	s.t.Helper()
	s.account()
	if c := s.cur; c != nil && c.undone {
		require.Zero(s.t, s.flagged(), "%s", s)
		require.Empty(s.t, s.archived(c.run.ID), "%s", s)
	}
}

// soft collects failures inside a step, where a test must not end its goroutine.
type soft struct{ failed []string }

type softFailure struct{}

func (t *soft) Errorf(format string, args ...any) {
	t.failed = append(t.failed, fmt.Sprintf(format, args...))
}

func (t *soft) FailNow() { panic(softFailure{}) }

func (t *soft) Helper() {}

func (t *soft) Fatalf(format string, args ...any) { t.Errorf(format, args...); t.FailNow() }

// interrupted runs do as a process that something happens to at its kth write.
func (s *sim) interrupted(do func(w *world) error) error {
	s.t.Helper()
	k := rapid.IntRange(1, 12).Draw(s.rt, "at write")
	mode := rapid.SampledFrom([]string{"no", "no", "dies before", "dies after", "other", "other", "undone"}).Draw(s.rt, "interruption")
	p := &process{}
	t := &soft{}
	inside := func(f func()) func(int) {
		return func(nth int) {
			if nth != k {
				return
			}
			defer func() {
				if e := recover(); e != nil && e != (softFailure{}) {
					panic(e)
				}
			}()
			outer := s.world.t
			s.world.t = t
			defer func() { s.world.t = outer }()
			f()
		}
	}
	switch mode {
	case "dies before":
		p.dieAt, p.when = k, storage.BeforeCall
	case "dies after":
		p.dieAt, p.when = k, storage.AfterCall
	case "other":
		o := s.drawOther()
		p.hook = inside(func() { s.apply(o) })
	case "undone":
		p.hook = inside(func() { _ = s.compensate(s.world) }) // what it must leave is checked inside
	}
	s.note("  interruption: %s at write %d", mode, k)
	err := do(s.in(p))
	require.Empty(s.t, t.failed, "%s", s)
	if err != nil {
		s.note("  error: %v", err)
		if !p.dead { // whatever happens, a step errs only when its process died
			require.NoError(s.t, err, "%s", s)
		}
	}
	return err
}

// compensate undoes the run under way by the world's process.
func (s *sim) compensate(w *world) error {
	s.note("compensate")
	s.account()
	c := s.cur
	r := c.run
	r.Criteria.Hold = s.holdExpr()
	deleted, err := w.tryCompensate(r)
	s.account()
	if err != nil {
		return err
	}
	c.undone = !deleted
	require.Equal(s.t, c.deleted, deleted, "%s", s)
	s.checked()
	return nil
}

func (s *sim) holdExpr() *expr.Expr {
	if len(s.hold) == 0 {
		return nil
	}
	return expr.MustParse("id IN (" + strings.Trim(strings.ReplaceAll(fmt.Sprint(s.hold), " ", ","), "[]") + ")")
}

// advance is the next step of the run under way, or the start of a new one.
func (s *sim) advance() {
	s.t.Helper()
	c := s.cur
	if c == nil || c.undone || c.step > 3 {
		s.begin()
		return
	}
	r := c.run
	r.Criteria.Hold = s.holdExpr()
	s.note("run %s step %d attempt %d", r.ID, c.step, c.attempt)
	err := s.interrupted(func(w *world) error {
		switch c.step {
		case 0:
			out, err := w.tryMark(r, c.plan)
			return s.moved(err, out, 1)
		case 1:
			a, err := w.tryArchive(r, c.plan, c.attempt)
			if err != nil {
				return err
			}
			if a.Outcome != purge.Fenced {
				c.archive = a
			}
			return s.moved(nil, a.Outcome, 2)
		case 2:
			c.accepted = slices.Clone(s.hold)
			d, err := w.tryDelete(r, c.plan, c.archive)
			if err != nil {
				return err
			}
			if d.Outcome == purge.Changed {
				s.note("  changed")
				c.attempt++
				c.step = 1
				return nil
			}
			if d.Outcome == purge.NothingLeft { // the runbook undoes such a run
				s.note("  nothing left")
				if err := s.compensate(w); err != nil { // the workflow tries again until it is done
					return s.compensate(s.world)
				}
				return nil
			}
			return s.moved(nil, d.Outcome, 3)
		}
		return s.verifyEnd(w, r)
	})
	_ = err // the next call tries the step again
	s.checked()
}

// moved goes on to the next step when one is done.
func (s *sim) moved(err error, out purge.Outcome, next int) error {
	if err != nil {
		return err
	}
	s.note("  %s", out)
	switch out {
	case purge.Done, purge.AlreadyDone, purge.Nothing:
		s.cur.step = next
	case purge.Fenced:
		if !s.cur.undone {
			return fmt.Errorf("fenced, though nobody undid the run")
		}
	default:
		return fmt.Errorf("unexpected outcome %s", out)
	}
	return nil
}

// verifyEnd checks a run that came to its end.
func (s *sim) verifyEnd(w *world, r purge.Run) error {
	r.Journal = w.folderOf(r.ID)
	res, err := purge.VerifyPurge(w.ctx, w.table, purge.VerifyPurgeOptions{Run: r})
	if err != nil {
		return err
	}
	s.cur.step = 4
	if !s.vacuumed {
		require.True(s.t, res.Agrees, "%v\n%s", res.Reasons, s)
	}
	require.Zero(s.t, *res.RowsFlagged, "%s", s)
	noLeak(s.t, s.world, s.gone)
	return nil
}

func (s *sim) begin() {
	s.t.Helper()
	s.runs++
	r := s.run(fmt.Sprintf("run-%d", s.runs))
	if rapid.IntRange(0, 3).Draw(s.rt, "no marker") == 0 {
		r.Column = ""
	}
	withHold := r
	withHold.Criteria.Hold = s.holdExpr()
	plan := s.plan(withHold)
	s.note("begin %s column %q: %d due, %d held at version %d", r.ID, r.Column, plan.RowsDue, plan.RowsHeld, plan.Version)
	n := 0
	for _, x := range s.rows {
		if due(x) && !slices.Contains(s.hold, x.id) {
			n++
		}
	}
	require.EqualValues(s.t, n, plan.RowsDue, "%s", s)
	s.cur = &simRun{run: r, plan: plan, attempt: 1}
}

func TestModel_random_runs_writers_failures_and_late_workers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom([]string{"plain", "partitioned", "feed", "vectors", "mapped"}).Draw(rt, "kind")
		set := map[string]setup{
			"plain": {}, "partitioned": {partitioned: true}, "vectors": {properties: vectors},
			"feed":   {properties: map[string]string{"delta.enableChangeDataFeed": "true"}},
			"mapped": {properties: map[string]string{"delta.columnMapping.mode": "name", "delta.enableDeletionVectors": "true"}},
		}[kind]
		s := &sim{world: newWorld(rt, set), rt: rt}
		s.parallel = 1
		s.reopen()
		for range rapid.IntRange(1, 3).Draw(rt, "files") {
			var rows []row
			for range rapid.IntRange(1, 8).Draw(rt, "rows") {
				rows = append(rows, s.drawRow())
			}
			s.append(rows)
			s.rows = append(s.rows, rows...)
		}
		for range rapid.IntRange(4, 24).Draw(rt, "moves") {
			switch rapid.IntRange(0, 9).Draw(rt, "move") {
			case 0, 1, 2:
				s.apply(s.drawOther())
			case 3:
				if s.cur != nil && !s.cur.undone && s.cur.step <= 3 {
					_ = s.interruptedCompensation()
				}
			default:
				s.advance()
			}
			s.checked()
		}
		s.end()
	})
}

func (s *sim) interruptedCompensation() error {
	s.note("compensation begins")
	err := s.interrupted(func(w *world) error { return s.compensate(w) })
	if err != nil { // the workflow tries again until it is done
		err = s.compensate(s.world)
		require.NoError(s.t, err, "%s", s)
	}
	return err
}

// end brings the run under way to an end and looks at everything once more.
func (s *sim) end() {
	if c := s.cur; c != nil && !c.undone && c.step <= 3 {
		require.NoError(s.t, s.compensate(s.world), "%s", s)
	}
	s.checked()
	if !s.vacuumed {
		changeFeedAddsUp(s.t, s.world)
	}
	s.rt.Log(s)
}
