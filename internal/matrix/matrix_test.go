package matrix

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/workflows"
)

// everyNthRead is how densely reading calls are tried; writing calls all are.
const everyNthRead = 12

// scenario is a run whose every point is tried.
type scenario struct {
	name string
	// world is the lakehouse. Nil: the fixture's.
	world func(t *testing.T) *world
	// run starts what is tried.
	run func(t *testing.T, w *world) ending
	// base is what happens in every run of the scenario. Nil: nothing.
	base func(w *world) script
	// only are the activities whose points are tried, by name or name and call
	// ("RecordAudit 2"). Nil: all.
	only []string
	// writes: only calls that write are tried.
	writes bool
	// fates that are tried. Nil: all.
	fates func(fate) bool
	// check holds a run against the promises. The fate is nil for the run that
	// nothing disturbs.
	check func(t *testing.T, w *world, f *fate, p point, e ending)
}

// mender lets a held run try again, once what broke is mended.
func mender(w *world) operator {
	return func(env *testsuite.TestWorkflowEnvironment, s workflows.Status) {
		if s.Stage == workflows.StageHeld {
			w.worker.mend()
			send(env, workflows.UpdateRetry, workflows.RetryRequest{By: "ana"})
		}
	}
}

func (s scenario) newWorld(t *testing.T) *world {
	t.Helper()
	if s.world == nil {
		return salesWorld(t)
	}
	return s.world(t)
}

func (s scenario) script(w *world) script {
	if s.base == nil {
		return func(context.Context, *attempt, storage.When, storage.Op, int) error { return nil }
	}
	return s.base(w)
}

func (s scenario) tries(p point) bool {
	return s.only == nil || slices.Contains(s.only, p.activity) || slices.Contains(s.only, fmt.Sprintf("%s %d", p.activity, p.call))
}

// points runs the scenario undisturbed and lists its points.
func (s scenario) points(t *testing.T) []point {
	t.Helper()
	w := s.newWorld(t)
	var all []point
	w.worker.play(chain(record(&all), s.script(w)))
	s.check(t, w, nil, point{}, s.run(t, w))
	var out []point
	reads := 0
	for _, p := range all {
		if !s.tries(p) {
			continue
		}
		if !p.writes {
			if reads++; s.writes || reads%everyNthRead != 0 {
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

// tried says whether a fate is tried at a point: for what only reads, before and
// after are the same.
func (s scenario) tried(f fate, p point) bool {
	return (s.fates == nil || s.fates(f)) && (f.when == storage.BeforeCall || p.writes && !p.failed)
}

// befall runs the scenario with a fate at a point. wake > 0 wakes what sleeps
// before that many further writes, else it wakes when the run is over.
func (s scenario) befall(t *testing.T, f fate, p point, wake int64) ending {
	t.Helper()
	w := s.newWorld(t)
	played, hit := f.befall(w, p, s.script(w))
	if wake > 0 {
		played = woken(w, wake, played)
	}
	w.worker.play(played)
	e := s.run(t, w)
	require.True(t, hit.Load(), "the point is reached")
	n, err := w.worker.rouse()
	require.NoError(t, err)
	require.True(t, n == 1 || !f.paused || wake > 0)
	s.check(t, w, &f, p, e)
	return e
}

// try runs every fate at every point of the scenario.
func (s scenario) try(t *testing.T) {
	t.Helper()
	points := s.points(t)
	require.NotEmpty(t, points)
	var sum summary
	t.Run("points", func(t *testing.T) {
		for _, p := range points {
			for _, f := range fates() {
				if !s.tried(f, p) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s", p, f.name), func(t *testing.T) {
					t.Parallel()
					sum.add(f.short(), p, s.befall(t, f, p, 0).Outcome)
				})
			}
		}
	})
	sum.log(t, s.name)
}

// tryWakes runs paused attempts that wake while others are at work: before the
// kth write after they fell asleep, for a few k at each point.
func (s scenario) tryWakes(t *testing.T, ks int64, every int) {
	t.Helper()
	points := slices.DeleteFunc(s.points(t), func(p point) bool { return !p.writes })
	var sum summary
	t.Run("points", func(t *testing.T) {
		for i, p := range points {
			for j, f := range fates() {
				if !f.paused || !s.tried(f, p) {
					continue
				}
				for k := int64(1+(i+j)%every) % ks; k <= ks; k += int64(every) {
					if k == 0 {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/woken before write %d", p, f.name, k), func(t *testing.T) {
						t.Parallel()
						sum.add(f.short()+", woken amid", p, s.befall(t, f, p, k).Outcome)
					})
				}
			}
		}
	})
	sum.log(t, s.name)
}

func (p point) String() string { return fmt.Sprintf("%s-%d/%s-%d", p.activity, p.call, p.kind, p.n) }

// short is the fate's name without its side of the call.
func (f fate) short() string { return strings.NewReplacer(" before", "", " after", "").Replace(f.name) }

// summary counts outcomes by fate and activity.
type summary struct {
	mu     sync.Mutex
	counts map[[2]string]map[string]int
}

func (s *summary) add(fate string, p point, outcome string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts = map[[2]string]map[string]int{}
	}
	key := [2]string{fate, p.activity}
	if s.counts[key] == nil {
		s.counts[key] = map[string]int{}
	}
	s.counts[key][outcome]++
}

func (s *summary) log(t *testing.T, name string) {
	t.Helper()
	var keys [][2]string
	total := 0
	for k := range s.counts {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i][0]+keys[i][1] < keys[j][0]+keys[j][1] })
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%-34s %-16s outcomes\n", name, "fate", "at a call of")
	for _, k := range keys {
		var cells []string
		for outcome, n := range s.counts[k] {
			cells = append(cells, fmt.Sprintf("%s %d", outcome, n))
			total += n
		}
		sort.Strings(cells)
		fmt.Fprintf(&b, "%-34s %-16s %s\n", k[0], k[1], strings.Join(cells, ", "))
	}
	t.Logf("%s%d runs", b.String(), total)
}
