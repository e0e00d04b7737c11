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
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

// everyNthRead is how densely reading calls are tried; writing calls all are.
const everyNthRead = 12

// scenario is a run whose every point is tried.
type scenario struct {
	name   string
	policy spec.RetentionPolicy
	// base is what happens in every run of the scenario. Nil: nothing.
	base func(w *world) script
	// only are the activities whose points are tried. Nil: all.
	only []string
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

func (s scenario) script(w *world) script {
	if s.base == nil {
		return nil
	}
	return s.base(w)
}

// points runs the scenario undisturbed and lists its points.
func (s scenario) points(t *testing.T) []point {
	t.Helper()
	w := salesWorld(t)
	var all []point
	w.worker.play(chain(record(&all), orNothing(s.script(w))))
	e := w.purge(s.policy, mender(w))
	s.check(t, w, nil, point{}, e)
	var out []point
	reads := 0
	for _, p := range all {
		if s.only != nil && !slices.Contains(s.only, p.activity) {
			continue
		}
		if !p.writes {
			if reads++; reads%everyNthRead != 0 {
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

func orNothing(s script) script {
	if s != nil {
		return s
	}
	return func(context.Context, *attempt, storage.When, storage.Op, int) error { return nil }
}

// tried says whether a fate is tried at a point: for what only reads, before and
// after are the same.
func tried(f fate, p point) bool {
	return f.when == storage.BeforeCall || p.writes && !p.failed
}

// befall runs the scenario with a fate at a point. wake > 0 wakes what sleeps
// before that many further writes, else it wakes when the run is over.
func (s scenario) befall(t *testing.T, f fate, p point, wake int64) ending {
	t.Helper()
	w := salesWorld(t)
	played, hit := f.befall(w, p, s.script(w))
	if wake > 0 {
		played = woken(w, wake, played)
	}
	w.worker.play(played)
	e := w.purge(s.policy, mender(w))
	require.True(t, hit.Load(), "the point is reached")
	n, err := w.worker.rouse()
	require.NoError(t, err)
	require.True(t, n == 1 || !f.paused || wake > 0)
	s.check(t, w, &f, p, e)
	return e
}

// summary counts outcomes by fate and activity.
type summary struct {
	mu     sync.Mutex
	counts map[[2]string]map[string]int
}

func (s *summary) add(f fate, p point, outcome string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts = map[[2]string]map[string]int{}
	}
	key := [2]string{strings.NewReplacer(" before", "", " after", "").Replace(f.name), p.activity}
	if s.counts[key] == nil {
		s.counts[key] = map[string]int{}
	}
	s.counts[key][outcome]++
}

func (s *summary) log(t *testing.T) {
	t.Helper()
	var keys [][2]string
	total := 0
	for k := range s.counts {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i][0]+keys[i][1] < keys[j][0]+keys[j][1] })
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-24s %-16s outcomes\n", "fate", "at a call of")
	for _, k := range keys {
		var cells []string
		for outcome, n := range s.counts[k] {
			cells = append(cells, fmt.Sprintf("%s %d", outcome, n))
			total += n
		}
		sort.Strings(cells)
		fmt.Fprintf(&b, "%-24s %-16s %s\n", k[0], k[1], strings.Join(cells, ", "))
	}
	t.Logf("%s%d runs", b.String(), total)
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
				if !tried(f, p) {
					continue
				}
				t.Run(fmt.Sprintf("%s-%d/%s-%d/%s", p.activity, p.call, p.kind, p.n, f.name), func(t *testing.T) {
					t.Parallel()
					sum.add(f, p, s.befall(t, f, p, 0).Outcome)
				})
			}
		}
	})
	sum.log(t)
}

// Steps of the runbook by what their failure means.
var (
	beforeMark  = []string{"PlanPurge"}
	undoable    = []string{"MarkRows", "ArchiveRows", "VerifyArchive"}
	afterDelete = []string{"VerifyPurge", "VacuumTable", "RecordAudit"}
)

// allowed are the outcomes that a fate may lead to in a purge that nobody asked
// to undo. Where the delete is under way both are right; which of them it was,
// the table says.
func allowed(f *fate, p point) []string {
	switch {
	case f == nil, !f.broken && !f.cancelled, slices.Contains(afterDelete, p.activity):
		return []string{evidence.StatusCompleted}
	case f.cancelled && p.activity == "MergeDelete":
		return []string{evidence.StatusCancelled, evidence.StatusCompleted}
	case f.cancelled:
		return []string{evidence.StatusCancelled}
	case slices.Contains(beforeMark, p.activity):
		return []string{evidence.StatusFailed}
	case slices.Contains(undoable, p.activity):
		return []string{evidence.StatusRolledBack}
	}
	return []string{evidence.StatusRolledBack, evidence.StatusCompleted}
}

var purging = scenario{
	name:   "purge",
	policy: policy(),
	check: func(t *testing.T, w *world, f *fate, p point, e ending) {
		t.Helper()
		require.Contains(t, allowed(f, p), e.Outcome, "%v", e.err)
		w.agrees(e, flat(fixture()))
	},
}

func TestPurge_any_fate_at_any_call_to_a_store_keeps_the_promises(t *testing.T) {
	t.Parallel()
	purging.try(t)
}
