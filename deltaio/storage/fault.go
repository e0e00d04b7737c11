package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ErrInjected is the error of a Fault where the test names none.
var ErrInjected = errors.New("injected failure")

// When says on which side of the inner call a rule of a Fault acts.
type When int

const (
	// BeforeCall: the inner store is not called.
	BeforeCall When = iota
	// AfterCall: the inner call succeeded and its answer is lost.
	AfterCall
)

// Fault is a Store whose calls fail, wait or trigger something as a test asks.
// Rules are tried in the order they were added; the first error ends the call.
// All methods are safe for concurrent use, also while calls run.
type Fault struct {
	Store

	mu    sync.Mutex
	rules []faultRule
	calls map[string]int
}

type faultRule struct {
	when When
	do   func(context.Context, Op) error
}

// NewFault wraps s; without rules it changes nothing.
func NewFault(s Store) *Fault {
	f := &Fault{calls: map[string]int{}}
	f.Store = Hook(s, Hooks{
		Before: func(ctx context.Context, op Op) error {
			f.count(op.Kind)
			return f.apply(ctx, BeforeCall, op)
		},
		After: func(ctx context.Context, op Op) error {
			if op.Err != nil {
				return nil // its own failure is the answer
			}
			return f.apply(ctx, AfterCall, op)
		},
	})
	return f
}

// Unwrap returns the hooked store below.
func (f *Fault) Unwrap() Store { return f.Store }

func (f *Fault) count(kind string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[kind]++
}

func (f *Fault) apply(ctx context.Context, when When, op Op) error {
	f.mu.Lock()
	rules := slices.Clip(f.rules) // a rule added meanwhile is for later calls
	f.mu.Unlock()
	for _, r := range rules {
		if r.when != when {
			continue
		}
		if err := r.do(ctx, op); err != nil {
			return fmt.Errorf("%s %s/%s: %w", op.Kind, f.URL(), op.Key, err)
		}
	}
	return nil
}

// Calls tells how often a kind of call was made, failed ones included.
func (f *Fault) Calls(kind string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[kind]
}

// Reset removes all rules and counts. Calls that wait in a Pause stay there.
func (f *Fault) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
	clear(f.calls)
}

// Do adds a rule: the general form of all others. do runs outside any lock, on
// the caller's goroutine, so that it may wait, call the store or end the process.
func (f *Fault) Do(when When, do func(context.Context, Op) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, faultRule{when: when, do: do})
}

// Fail fails calls before they reach the store: those for which decide returns
// an error.
func (f *Fault) Fail(decide func(Op) error) {
	f.Do(BeforeCall, func(_ context.Context, op Op) error { return decide(op) })
}

// FailAfter loses the answers of calls that succeeded: those for which decide
// returns an error.
func (f *Fault) FailAfter(decide func(Op) error) {
	f.Do(AfterCall, func(_ context.Context, op Op) error { return decide(op) })
}

// FailNth fails the nth call of a kind from now on, counted from 1, once. With
// AfterCall only successes count. A nil err is ErrInjected.
func (f *Fault) FailNth(kind string, n int, when When, err error) {
	if err == nil {
		err = ErrInjected
	}
	var mu sync.Mutex
	f.Do(when, func(_ context.Context, op Op) error {
		if op.Kind != kind {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		n--
		if n == 0 {
			return err
		}
		return nil
	})
}

// Deny answers ErrPermission to the given kinds of call (none: all) on keys that
// match.
func (f *Fault) Deny(match func(key string) bool, kinds ...string) {
	f.Fail(func(op Op) error {
		if match(op.Key) && (len(kinds) == 0 || slices.Contains(kinds, op.Kind)) {
			return ErrPermission
		}
		return nil
	})
}

// Pause holds calls until it is released: a worker that sleeps in the middle of
// a step, or a slow store.
type Pause struct {
	// Reached receives one Op for each call that starts to wait.
	Reached <-chan Op
	release func()
}

// Release lets the waiting calls go on and later ones pass. It may be repeated.
func (p *Pause) Release() { p.release() }

// Pause holds the calls that match, on the given side of the inner call, until
// Release; a call whose context ends fails with its error.
func (f *Fault) Pause(when When, match func(Op) bool) *Pause {
	reached := make(chan Op, 1024)
	released := make(chan struct{})
	f.Do(when, func(ctx context.Context, op Op) error {
		if !match(op) {
			return nil
		}
		select {
		case <-released:
			return nil
		default:
		}
		select {
		case reached <- op:
		default: // a test that does not look loses nothing but the note
		}
		select {
		case <-released:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return &Pause{Reached: reached, release: sync.OnceFunc(func() { close(released) })}
}
