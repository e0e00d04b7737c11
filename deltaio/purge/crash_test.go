package purge_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/purge"
)

// stage is a run that has come some way; do is its next step.
type stage struct {
	w       *world
	r       purge.Run
	plan    *purge.PlanResult
	all     []row
	archive *purge.ArchiveResult
	// mixed: another writer mixed flagged and unflagged rows.
	mixed bool
}

// steps are the steps that write, in order. Each is tried from the state that
// the ones before it leave.
var steps = []struct {
	name string
	do   func(s *stage, w *world) (purge.Outcome, error)
}{
	{"mark", func(s *stage, w *world) (purge.Outcome, error) { return w.tryMark(s.r, s.plan) }},
	{"archive", func(s *stage, w *world) (purge.Outcome, error) {
		a, err := w.tryArchive(s.r, s.plan, 1)
		if err != nil {
			return "", err
		}
		if a.Outcome == purge.Done || a.Outcome == purge.AlreadyDone {
			s.archive = a
		}
		return a.Outcome, nil
	}},
	{"delete", func(s *stage, w *world) (purge.Outcome, error) {
		d, err := w.tryDelete(s.r, s.plan, s.archive)
		if err != nil {
			return "", err
		}
		return d.Outcome, nil
	}},
}

func newStage(t tb, s setup, upTo int, mixed bool) *stage {
	t.Helper()
	st := &stage{w: newWorld(t, s), all: sample(27, 8), mixed: mixed}
	st.w.append(st.all[:6], st.all[6:]) // one file to split, one that is due as a whole
	st.r = st.w.run("run-1")
	st.plan = st.w.plan(st.r)
	for i := range upTo {
		out, err := steps[i].do(st, st.w)
		require.NoError(t, err)
		require.Equal(t, purge.Done, out)
		st.meddle(i)
	}
	return st
}

func (s *stage) meddle(step int) {
	if s.mixed && step == 0 {
		s.w.optimize()
	}
}

// finishes runs the steps from one on and checks the end.
func (s *stage) finishes(t tb, from int) {
	t.Helper()
	for i := from; i < len(steps); i++ {
		out, err := steps[i].do(s, s.w)
		require.NoError(t, err, steps[i].name)
		require.Contains(t, []purge.Outcome{purge.Done, purge.AlreadyDone}, out, steps[i].name)
		if i > from || i == 0 {
			s.meddle(i)
		}
	}
	stay, gone := split(s.all, due)
	check := s.w.check(s.r)
	require.True(t, check.Agrees, "%v", check.Reasons)
	require.Equal(t, texts(stay), texts(s.w.rows()))
	require.Equal(t, texts(gone), texts(s.w.archived("")))
	noLeak(t, s.w, gone)
	s.noOrphans(t)
	changeFeedAddsUp(t, s.w)
}

// asBefore checks that a purge that was undone left no trace in rows.
func (s *stage) asBefore(t tb) {
	t.Helper()
	require.Equal(t, texts(s.all), texts(s.w.rows()))
	require.Zero(t, s.w.flagged())
	require.Empty(t, s.w.archived(""))
	left, err := purge.FindLeftovers(s.w.ctx, s.w.table)
	require.NoError(t, err)
	for _, l := range left {
		require.False(t, l.Marked)
	}
	s.noOrphans(t)
	changeFeedAddsUp(t, s.w)
}

// noOrphans: no file of the run lies in storage that no version ever named.
func (s *stage) noOrphans(t tb) {
	t.Helper()
	refs := map[string]bool{}
	snap := s.w.snapshot()
	for _, a := range snap.Files() {
		refs[a.Key().Path] = true
	}
	for _, rm := range snap.State().Tombstones {
		refs[rm.Key().Path] = true
	}
	for _, key := range objects(t, s.w.data) {
		if len(key) > 11 && key[:11] == "lakewarden-" {
			require.True(t, refs[key], "orphan %s", key)
		}
	}
}

var crashSetups = map[string]setup{
	"plain":       {},
	"change feed": {properties: map[string]string{"delta.enableChangeDataFeed": "true"}},
}

// A worker is killed right before each of its writes, which is right after the
// one before it; another one takes over, or the run is undone.
func TestCrash_at_every_write_of_every_step(t *testing.T) {
	t.Parallel()
	for kind, s := range crashSetups {
		for i, step := range steps {
			for _, mixed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/mixed=%v", kind, step.name, mixed), func(t *testing.T) {
					t.Parallel()
					for k := 1; ; k++ {
						if !crashAt(t, s, i, mixed, k) {
							require.Greater(t, k, 2, "the step writes something")
							return
						}
					}
				})
			}
		}
	}
}

// crashAt is false when the step ends before its kth write.
func crashAt(t *testing.T, s setup, i int, mixed bool, k int) bool {
	t.Helper()
	died := false
	for _, undo := range []bool{false, true} {
		st := newStage(t, s, i, mixed)
		p := &process{dieAt: k}
		_, err := steps[i].do(st, st.w.in(p))
		died = p.dead
		if died {
			require.ErrorIs(t, err, errDead)
		} else {
			require.NoError(t, err)
		}
		if !undo {
			st.finishes(t, i)
			continue
		}
		deleted, err := st.w.tryCompensate(st.r)
		require.NoError(t, err)
		if deleted {
			st.finishes(t, i)
		} else {
			st.asBefore(t)
		}
	}
	return died
}

// The compensation itself is killed at each of its writes, and tried again.
func TestCrash_at_every_write_of_the_compensation(t *testing.T) {
	t.Parallel()
	for kind, s := range crashSetups {
		for _, upTo := range []int{0, 1, 2} {
			for _, mixed := range []bool{false, true} {
				if mixed && upTo == 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/after %d steps/mixed=%v", kind, upTo, mixed), func(t *testing.T) {
					t.Parallel()
					for k := 1; ; k++ {
						st := newStage(t, s, upTo, mixed)
						p := &process{dieAt: k}
						_, err := st.w.in(p).tryCompensate(st.r)
						if !p.dead {
							require.NoError(t, err)
							st.asBefore(t)
							return
						}
						require.ErrorIs(t, err, errDead)
						_, err = st.w.tryCompensate(st.r)
						require.NoError(t, err)
						st.asBefore(t)
					}
				})
			}
		}
	}
}

// A worker is paused right before each of its writes, the run is undone
// meanwhile, and the worker wakes up.
func TestZombie_paused_at_every_write_changes_nothing_after_the_fence(t *testing.T) {
	t.Parallel()
	for kind, s := range crashSetups {
		for i, step := range steps {
			for _, mixed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/mixed=%v", kind, step.name, mixed), func(t *testing.T) {
					t.Parallel()
					for k := 1; zombieAt(t, s, i, mixed, k); k++ {
					}
				})
			}
		}
	}
}

func zombieAt(t *testing.T, s setup, i int, mixed bool, k int) bool {
	t.Helper()
	st := newStage(t, s, i, mixed)
	paused, wake := make(chan struct{}), make(chan struct{})
	p := &process{hook: func(nth int) {
		if nth == k {
			close(paused)
			<-wake
		}
	}}
	type answer struct {
		out purge.Outcome
		err error
	}
	ended := make(chan answer, 1)
	zombie := *st
	zombieWorld := st.w.in(p)
	go func() {
		out, err := steps[i].do(&zombie, zombieWorld)
		ended <- answer{out, err}
	}()
	select {
	case <-paused:
	case a := <-ended:
		require.NoError(t, a.err)
		return false
	}
	deleted, err := st.w.tryCompensate(st.r)
	require.NoError(t, err)
	close(wake)
	a := <-ended
	if deleted {
		require.Equal(t, "delete", steps[i].name)
		st.finishes(t, i)
		return true
	}
	if a.err == nil {
		// A worker that had committed before the fence may still say so.
		require.Contains(t, []purge.Outcome{purge.Fenced, purge.Done}, a.out)
	}
	rows := texts(st.w.rows())
	require.Equal(t, texts(st.all), rows)
	require.Zero(t, st.w.flagged())
	require.Empty(t, st.w.archived(""))
	out, err := steps[i].do(st, st.w)
	require.NoError(t, err)
	require.Equal(t, purge.Fenced, out, "and so is everybody after it")
	return true
}

// Without a marker and before the first archive there is no table that the undo
// could fence but the source: a late attempt must see that.
func TestZombie_archive_that_does_not_exist_yet_stays_empty(t *testing.T) {
	t.Parallel()
	for k := 1; ; k++ {
		w := newWorld(t, setup{})
		all := sample(20, 20)
		w.append(all)
		r := w.run("run-1")
		r.Column = ""
		plan := w.plan(r)
		undone := false
		p := &process{}
		p.hook = func(nth int) {
			if nth == k {
				undone = true
				_, err := w.tryCompensate(r)
				require.NoError(t, err)
			}
		}
		a, err := w.in(p).tryArchive(r, plan, 1)
		if !undone {
			require.NoError(t, err)
			return
		}
		if err == nil && a.Outcome != purge.Fenced {
			require.Equal(t, purge.Done, a.Outcome, "the undo came after the commit")
		}
		require.Empty(t, w.archived(""), "write %d", k)
		require.Equal(t, texts(all), texts(w.rows()))
	}
}
