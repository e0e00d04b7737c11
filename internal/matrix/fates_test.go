package matrix

import (
	"context"
	"sync/atomic"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// point is a call to a store in a run that nothing disturbs: the nth call of its
// sort (writing or not) by the first attempt of an activity's call.
type point struct {
	activity string
	call     int
	writes   bool
	n        int
	kind     string // of the call, for people
	failed   bool   // its own failure is the answer, as with a put that finds the key taken
}

func (p point) is(a *attempt, op storage.Op, n int) bool {
	return a.try == 1 && a.activity == p.activity && a.call == p.call && op.Writes() == p.writes && n == p.n
}

// fate is what happens at a point.
type fate struct {
	name string
	when storage.When
	at   func(ctx context.Context, w *world, a *attempt) error
	// broken: the activity fails for good. cancelled: the workflow is. paused: an
	// attempt sleeps through it all and wakes when the run is over.
	broken, cancelled, paused bool
}

// fates come in pairs: right before a call takes effect, and right after it, its
// answer lost.
func fates() []fate {
	var out []fate
	for _, when := range []storage.When{storage.BeforeCall, storage.AfterCall} {
		side := map[storage.When]string{storage.BeforeCall: " before", storage.AfterCall: " after"}[when]
		out = append(out,
			fate{name: "worker killed" + side, when: when, at: func(_ context.Context, _ *world, a *attempt) error { return a.die() }},
			fate{name: "store fails once" + side, when: when, at: func(context.Context, *world, *attempt) error { return errOnce }},
			fate{name: "step broken" + side, when: when, broken: true, at: func(_ context.Context, _ *world, a *attempt) error { return a.breaks() }},
			fate{name: "cancelled" + side, when: when, cancelled: true, at: func(_ context.Context, _ *world, a *attempt) error {
				a.cancelled()
				return nil
			}},
			fate{name: "paused, tried again" + side, when: when, paused: true, at: func(_ context.Context, _ *world, a *attempt) error {
				a.sleep(transient("no heartbeat"))
				return nil
			}},
			fate{name: "paused, step broken" + side, when: when, paused: true, broken: true, at: func(_ context.Context, _ *world, a *attempt) error {
				a.breakOthers()
				a.sleep(permanent("no heartbeat, and then broken"))
				return nil
			}},
		)
	}
	return out
}

// breakOthers breaks the activity for every other attempt.
func (a *attempt) breakOthers() {
	a.worker.mu.Lock()
	defer a.worker.mu.Unlock()
	a.worker.broken[a.activity] = "broken for good"
}

// befall is the script by which a fate befalls a run at a point, once; base is
// what happens anyhow.
func (f fate) befall(w *world, p point, base script) (s script, hit *atomic.Bool) {
	hit = &atomic.Bool{}
	return func(ctx context.Context, a *attempt, when storage.When, op storage.Op, n int) error {
		if when == f.when && p.is(a, op, n) && hit.CompareAndSwap(false, true) {
			return f.at(ctx, w, a)
		}
		return base(ctx, a, when, op, n)
	}, hit
}

// woken wakes the sleeping attempts right before the kth writing call that others
// make after they fell asleep; they run to their end before that call goes on.
func woken(w *world, k int64, base script) script {
	var count atomic.Int64
	return func(ctx context.Context, a *attempt, when storage.When, op storage.Op, n int) error {
		if when == storage.BeforeCall && op.Writes() && a.worker.asleep() && !a.sleeps() && count.Add(1) == k {
			if _, err := a.worker.rouse(); err != nil {
				return err
			}
		}
		return base(ctx, a, when, op, n)
	}
}

func (k *worker) asleep() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.zombies) > 0
}

func (a *attempt) sleeps() bool {
	a.worker.mu.Lock()
	defer a.worker.mu.Unlock()
	for _, z := range a.worker.zombies {
		if z == a {
			return true
		}
	}
	return false
}

// record notes every point of a run.
func record(to *[]point) script {
	at := map[point]int{}
	return func(_ context.Context, a *attempt, when storage.When, op storage.Op, n int) error {
		if a.try != 1 {
			return nil
		}
		a.worker.mu.Lock()
		defer a.worker.mu.Unlock()
		p := point{activity: a.activity, call: a.call, writes: op.Writes(), n: n, kind: op.Kind, failed: true}
		if when == storage.BeforeCall {
			at[p] = len(*to)
			*to = append(*to, p)
		} else if i, ok := at[p]; ok {
			(*to)[i].failed = false
		}
		return nil
	}
}

// chain plays two scripts, one after the other.
func chain(first, second script) script {
	return func(ctx context.Context, a *attempt, when storage.When, op storage.Op, n int) error {
		if err := first(ctx, a, when, op, n); err != nil {
			return err
		}
		return second(ctx, a, when, op, n)
	}
}
