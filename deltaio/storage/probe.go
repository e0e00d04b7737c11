package storage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"
)

// probePrefix starts the keys of Probe and StoreNow. They lie flat under the
// store's root, so that no directory stays behind, and the dot keeps table
// readers from taking them for data.
const probePrefix = ".lakewarden-probe-"

// probeLife is an age that no probe at work reaches: one takes seconds.
const probeLife = 24 * time.Hour

// ProbeError names the right that a store refused or the promise it broke.
type ProbeError struct {
	// Right is list, put-if-absent, read, put, create or delete.
	Right string
	URL   string
	Err   error
}

func (e *ProbeError) Error() string {
	return fmt.Sprintf("%s: cannot %s: %v", e.URL, e.Right, e.Err)
}

func (e *ProbeError) Unwrap() error { return e.Err }

// Probe checks on a scratch object directly under s that we may list, write,
// read and delete there, and that put-if-absent excludes a second writer. The
// error is a *ProbeError. Rights can differ by directory: probe Sub(s, "…") of
// each place that will be written to. Scratch objects there of processes that
// died a day ago or earlier are removed.
func Probe(ctx context.Context, s Store) (err error) {
	p := &probe{s: s, key: probePrefix + rand.Text()}
	defer func() { err = p.clean(ctx, err) }()
	for _, step := range []struct {
		right string
		do    func(context.Context) error
	}{
		{OpList, p.listed(nil)},
		{OpPutIfAbsent, p.exclusive},
		{OpRead, p.holds("first")},
		{OpList, p.listed([]string{p.key})},
		{OpPut, p.replace},
		{OpCreate, p.create},
		{OpDelete, p.remove},
	} {
		if err := step.do(ctx); err != nil {
			return &ProbeError{Right: step.right, URL: s.URL(), Err: err}
		}
	}
	p.sweep(ctx)
	return nil
}

type probe struct {
	s   Store
	key string
	now time.Time // by the store's clock; zero: not known
}

// StaleProbes lists the scratch objects directly under s that were written
// before a time by the store's clock: their processes died.
func StaleProbes(ctx context.Context, s Store, before time.Time) ([]Info, error) {
	var old []Info
	for info, err := range s.List(ctx, probePrefix, "") {
		if err != nil {
			return nil, err
		}
		if info.ModTime.Before(before) {
			old = append(old, info)
		}
	}
	return old, nil
}

// sweep removes what probes of dead processes left. All rights are proven by
// now: what stays all the same is for the next probe, or for a vacuum.
func (p *probe) sweep(ctx context.Context) {
	if p.now.IsZero() {
		return
	}
	old, err := StaleProbes(ctx, p.s, p.now.Add(-probeLife))
	if err != nil {
		return
	}
	for _, info := range old {
		_ = p.s.Delete(ctx, info.Key) // see above
	}
}

func (p *probe) listed(want []string) func(context.Context) error {
	return func(ctx context.Context) error {
		var n int
		for info, err := range p.s.List(ctx, p.key, "") {
			if err != nil {
				return err
			}
			if n >= len(want) || info.Key != want[n] {
				return fmt.Errorf("the listing shows %s, which must not be there", info.Key)
			}
			n++
		}
		if n != len(want) {
			return fmt.Errorf("the listing does not show %s, which was just written", p.key)
		}
		return nil
	}
}

func (p *probe) exclusive(ctx context.Context) error {
	if err := p.s.PutIfAbsent(ctx, p.key, []byte("first")); err != nil {
		return err
	}
	switch err := p.s.PutIfAbsent(ctx, p.key, []byte("second")); {
	case errors.Is(err, ErrExist):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%w: a second writer could replace the first one's object, so that commits could be lost", ErrUnsupported)
}

func (p *probe) holds(want string) func(context.Context) error {
	return func(ctx context.Context) error {
		got, err := ReadAll(ctx, p.s, p.key, 1<<10)
		if err != nil {
			return err
		}
		if string(got) != want {
			return fmt.Errorf("read %q where %q was written", got, want)
		}
		return nil
	}
}

func (p *probe) replace(ctx context.Context) error {
	if err := p.s.Put(ctx, p.key, []byte("third")); err != nil {
		return err
	}
	return p.holds("third")(ctx)
}

func (p *probe) create(ctx context.Context) error {
	w, err := p.s.Create(ctx, p.key)
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := w.Write([]byte("fourth")); err != nil {
		return err
	}
	info, err := w.Commit(ctx)
	if err != nil {
		return err
	}
	p.now = info.ModTime
	return p.holds("fourth")(ctx)
}

func (p *probe) remove(ctx context.Context) error {
	if err := p.s.Delete(ctx, p.key); err != nil {
		return err
	}
	switch _, err := p.s.Stat(ctx, p.key); {
	case errors.Is(err, ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return errors.New("the object is still there after it was deleted")
}

// clean removes what a failed probe left, also when ctx has ended, and says so
// when it cannot.
func (p *probe) clean(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	derr := p.s.Delete(ctx, p.key)
	var perr *ProbeError
	if derr != nil && !errors.Is(derr, ErrNotExist) && errors.As(err, &perr) {
		perr.Err = fmt.Errorf("%w (the scratch object %s may be left: remove it)", perr.Err, p.key)
	}
	return err
}

// StoreNow is the time by the store's clock: the modification time of an object
// that it writes and removes.
func StoreNow(ctx context.Context, s Store) (now time.Time, err error) {
	p := &probe{s: s, key: probePrefix + rand.Text()}
	if err := s.PutIfAbsent(ctx, p.key, nil); err != nil {
		return time.Time{}, fmt.Errorf("read the store's clock: %w", err)
	}
	info, err := s.Stat(ctx, p.key)
	if err == nil {
		err = s.Delete(ctx, p.key)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read the store's clock: %w", p.clean(ctx, err))
	}
	return info.ModTime, nil
}
