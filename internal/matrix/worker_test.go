package matrix

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// Errors of worlds that break.
var (
	errDead = errors.New("this worker is dead")
	errOnce = errors.New("no answer")
)

// worker runs attempts of activities and knows each of their calls to a store:
// the attempt comes with the call's context. What happens to an attempt is up to
// a script.
type worker struct {
	w *world

	mu       sync.Mutex
	script   script
	calls    map[string]int    // of an activity, by its name
	seen     map[string]int    // which call an activity id is
	broken   map[string]string // activities that fail for good, and why
	zombies  []*attempt
	attempts []*attempt
	stray    []string // calls to a store outside of any attempt

	cancelWorkflow func()
}

// script decides what happens at a call of an attempt to a store, before the call
// and after a success. n counts the attempt's calls of that sort from 1.
type script func(ctx context.Context, a *attempt, when storage.When, op storage.Op, n int) error

// attempt is one try of one activity.
type attempt struct {
	activity string
	call     int // which call of the activity in its workflow
	try      int
	worker   *worker

	mu     sync.Mutex
	counts map[bool]int // calls that write, that do not
	open   map[string]int
	dead   bool
	stop   bool // the workflow is cancelled when this attempt ends

	cancel context.CancelFunc
	lost   chan error // the server gives the attempt up
	wake   chan struct{}
	ended  chan answer
}

type answer struct {
	result any
	err    error
}

type attemptKey struct{}

func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

func newWorker(w *world) *worker {
	return &worker{w: w, calls: map[string]int{}, seen: map[string]int{}, broken: map[string]string{}}
}

// play sets the script of the calls to come.
func (k *worker) play(s script) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.script = s
}

// reset starts the count of calls anew: another workflow begins.
func (k *worker) reset() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.calls)
	clear(k.seen)
	k.attempts = nil
}

// swap sets the script and gives the former one.
func (k *worker) swap(s script) script {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := k.script
	k.script = s
	return old
}

// hands is a store as workers reach it.
func (k *worker) hands(s storage.Store) storage.Store {
	f := storage.NewFault(s)
	for _, when := range []storage.When{storage.BeforeCall, storage.AfterCall} {
		f.Do(when, func(ctx context.Context, op storage.Op) error { return k.at(ctx, when, op) })
	}
	return f
}

func (k *worker) at(ctx context.Context, when storage.When, op storage.Op) error {
	a := attemptOf(ctx)
	if a == nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.stray = append(k.stray, op.Kind+" "+op.Key)
		return nil
	}
	n, err := a.enter(when, op)
	if err != nil {
		return err
	}
	k.mu.Lock()
	s := k.script
	k.mu.Unlock()
	if s == nil {
		return nil
	}
	return s(ctx, a, when, op, n)
}

// enter counts a call before it happens, and finds its number again after it.
func (a *attempt) enter(when storage.When, op storage.Op) (n int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dead {
		return 0, errDead
	}
	id := op.Kind + " " + op.Key
	if when == storage.AfterCall {
		return a.open[id], nil
	}
	a.counts[op.Writes()]++
	a.open[id] = a.counts[op.Writes()]
	return a.open[id], nil
}

// die ends the attempt's worker: nothing of it reaches a store any more.
func (a *attempt) die() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dead = true
	return errDead
}

// breaks makes the activity fail for good, from this call on.
func (a *attempt) breaks() error {
	a.worker.mu.Lock()
	a.worker.broken[a.activity] = "broken for good"
	a.worker.mu.Unlock()
	return a.die()
}

// mend lets an activity work again.
func (k *worker) mend() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.broken)
	k.script = nil
}

// cancelled cancels the workflow, and the attempt learns of it now.
func (a *attempt) cancelled() {
	a.mu.Lock()
	a.stop = true
	a.mu.Unlock()
	a.cancel()
}

// sleep gives the attempt up with an error, as a server does whose heartbeats
// stop, and holds it until the world wakes it.
func (a *attempt) sleep(err error) {
	a.worker.mu.Lock()
	a.worker.zombies = append(a.worker.zombies, a)
	a.worker.mu.Unlock()
	a.lost <- err
	<-a.wake
}

// rouse wakes the sleeping attempts and waits until they have ended.
func (k *worker) rouse() (woken int, err error) {
	k.mu.Lock()
	zombies := k.zombies
	k.zombies = nil
	k.mu.Unlock()
	for _, z := range zombies {
		close(z.wake)
		select {
		case <-z.ended:
		case <-time.After(time.Minute):
			return woken, fmt.Errorf("%s, attempt %d, does not end after it woke", z.activity, z.try)
		}
		woken++
	}
	return woken, nil
}

func permanent(msg string) error {
	return temporal.NewApplicationErrorWithOptions(msg, "Broken", temporal.ApplicationErrorOptions{NonRetryable: true})
}

func transient(msg string) error { return temporal.NewApplicationError(msg, "WorkerLost") }

// execute runs one attempt.
func (k *worker) execute(ctx context.Context, do func(context.Context) (any, error)) (any, error) {
	a := k.begin(activity.GetInfo(ctx))
	if why := k.whyBroken(a); why != "" {
		return nil, permanent(why)
	}
	// An attempt that the server gave up goes on; only scripts stop it.
	own, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), attemptKey{}, a))
	a.cancel = cancel
	go func() {
		defer cancel()
		defer func() {
			if p := recover(); p != nil {
				a.ended <- answer{err: permanent(fmt.Sprintf("panic: %v", p))}
			}
		}()
		result, err := do(own)
		a.ended <- answer{result, err}
	}()
	select {
	case err := <-a.lost:
		return nil, err
	case r := <-a.ended:
		return a.reply(r)
	}
}

func (k *worker) begin(info activity.Info) *attempt {
	k.mu.Lock()
	defer k.mu.Unlock()
	name := info.ActivityType.Name
	id := info.WorkflowExecution.ID + "/" + info.ActivityID
	if k.seen[id] == 0 {
		k.calls[name]++
		k.seen[id] = k.calls[name]
	}
	a := &attempt{
		activity: name, call: k.seen[id], try: int(info.Attempt), worker: k, counts: map[bool]int{}, open: map[string]int{},
		lost: make(chan error, 1), wake: make(chan struct{}), ended: make(chan answer, 1),
	}
	k.attempts = append(k.attempts, a)
	return a
}

func (k *worker) whyBroken(a *attempt) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.broken[a.activity]
}

// reply is what the server hears of an attempt that ended.
func (a *attempt) reply(r answer) (any, error) {
	if why := a.worker.whyBroken(a); why != "" {
		return nil, permanent(why)
	}
	a.mu.Lock()
	dead, stop := a.dead, a.stop
	a.mu.Unlock()
	if dead {
		return nil, transient("the worker was killed")
	}
	if stop {
		a.worker.cancelWorkflow()
	}
	return r.result, r.err
}

// intercept puts the worker between the SDK and the activities.
func (k *worker) intercept() interceptor.WorkerInterceptor { return &interceptors{k: k} }

type interceptors struct {
	interceptor.WorkerInterceptorBase
	k *worker
}

func (i *interceptors) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	in := &inbound{k: i.k}
	in.Next = next
	return in
}

type inbound struct {
	interceptor.ActivityInboundInterceptorBase
	k *worker
}

func (i *inbound) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	return i.k.execute(ctx, func(ctx context.Context) (any, error) { return i.Next.ExecuteActivity(ctx, in) })
}
