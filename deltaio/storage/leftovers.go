package storage

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Sweeper is a store that can find the unfinished writes of writers that died:
// bytes that no listing shows and that a purge must not forget.
type Sweeper interface {
	// Leftovers yields the unfinished writes under prefix. Those of running
	// writers are among them: judge by age. Their keys are for RemoveLeftover
	// only.
	Leftovers(ctx context.Context, prefix string) iter.Seq2[Info, error]
	// RemoveLeftover removes one; the Commit of a writer that was alive after
	// all then fails and publishes nothing.
	RemoveLeftover(ctx context.Context, key string) error
}

// Leftovers lists the unfinished writes in s last touched before a time by the
// store's clock. A running writer touches its own as it writes, so that hours
// are a safe age. Wrappers and Sub are looked through; of a store that keeps
// none the answer is empty.
func Leftovers(ctx context.Context, s Store, before time.Time) ([]Info, error) {
	sw, prefix := findPower[Sweeper](s)
	if sw == nil {
		return nil, nil
	}
	var old []Info
	for info, err := range sw.Leftovers(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		if info.ModTime.Before(before) {
			old = append(old, info)
		}
	}
	return old, nil
}

// RemoveLeftovers removes what Leftovers lists and returns what it removed, also
// beside an error; one that cannot be removed does not keep the others.
func RemoveLeftovers(ctx context.Context, s Store, before time.Time) ([]Info, error) {
	old, err := Leftovers(ctx, s, before)
	if err != nil {
		return nil, err
	}
	sw, _ := findPower[Sweeper](s)
	var removed []Info
	var errs []error
	for _, info := range old {
		switch err := sw.RemoveLeftover(ctx, info.Key); {
		case err == nil:
			removed = append(removed, info)
		case !errors.Is(err, ErrNotExist): // absent: its writer finished or gave up
			errs = append(errs, err)
		}
	}
	return removed, errors.Join(errs...)
}

// Leftovers walks the temporary files under prefix.
func (l *Local) Leftovers(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return l.walk(ctx, prefix, "", true)
}

// RemoveLeftover unlinks one temporary file.
func (l *Local) RemoveLeftover(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("remove leftover %s/%s: %w", l.url, key, err)
	}
	if !isTempKey(key) {
		return fmt.Errorf("remove leftover %s/%s: %w: it is not an unfinished write", l.url, key, ErrInvalidKey)
	}
	if err := l.root.Remove(key); err != nil {
		return l.fail("remove leftover", key, err)
	}
	return nil
}
