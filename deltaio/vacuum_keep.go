package deltaio

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/internal/dv"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

// keepSet is what the log says about objects under the root, for one cutoff.
type keepSet struct {
	root string
	// keys are referred to by live files and by tombstones younger than the
	// cutoff: data files and files of deletion vectors.
	keys map[string]struct{}
	// names are the base names of protected files whose absolute path could not
	// be placed; an object of such a name may be one of them.
	names map[string]struct{}
	// expired are the keys that only tombstones older than the cutoff refer to.
	expired map[string]struct{}
	// unproven: the log does not reach back to the cutoff, and tombstones younger
	// than it may have been dropped. Files unknown to the log prove nothing then.
	unproven bool
}

func newKeepSet(ctx context.Context, s *Snapshot, cutoff int64) (*keepSet, error) {
	k := &keepSet{
		root: s.table.URL(), keys: map[string]struct{}{}, names: map[string]struct{}{}, expired: map[string]struct{}{},
	}
	for _, a := range s.state.Files {
		if err := k.protect(a.Path, a.DeletionVector); err != nil {
			return nil, err
		}
	}
	var old []*log.Remove
	undated := false
	for _, r := range s.state.Tombstones {
		if r.DeletionTimestamp == nil {
			undated = true // the commits below tell whether it is young; else its file ages as an unknown one
			continue
		}
		if *r.DeletionTimestamp < cutoff {
			old = append(old, r)
			continue
		}
		if err := k.protect(r.Path, r.DeletionVector); err != nil {
			return nil, err
		}
	}
	property, err := s.FileRetention()
	if err != nil {
		return nil, err
	}
	// Checkpoints drop tombstones older than the property. Where we keep longer,
	// the commits themselves tell what was removed since the cutoff.
	if undated || s.table.env.nowMillis()-property.Milliseconds() > cutoff {
		if err := k.protectRemovedSince(ctx, s, cutoff); err != nil {
			return nil, err
		}
	}
	for _, r := range old {
		if err := k.expire(r); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// protect keeps a file and its deletion vector. A path that cannot be placed is
// kept by its base name: rather too much than a file that somebody reads.
func (k *keepSet) protect(p string, d *log.DeletionVector) error {
	key, err := log.ResolvePath(k.root, p)
	if outside(err) {
		k.names[path.Base(p)] = struct{}{}
	} else if err != nil {
		return err
	} else {
		k.keys[key] = struct{}{}
	}
	if d == nil {
		return nil
	}
	dvKey, inFile, err := dv.Key(k.root, d)
	switch {
	case outside(err):
		k.names[path.Base(d.PathOrInlineDv)] = struct{}{}
	case err != nil:
		return err
	case inFile:
		k.keys[dvKey] = struct{}{}
	}
	return nil
}

func outside(err error) bool {
	var abs *log.AbsolutePathError
	return errors.As(err, &abs)
}

// expire notes the objects of an old tombstone that nothing else protects. Those
// outside the root are not ours to delete.
func (k *keepSet) expire(r *log.Remove) error {
	if key, err := log.ResolvePath(k.root, r.Path); err == nil && !k.protects(key) && !inLog(key) {
		k.expired[key] = struct{}{}
	} else if err != nil && !outside(err) {
		return err
	}
	if r.DeletionVector == nil {
		return nil
	}
	key, inFile, err := dv.Key(k.root, r.DeletionVector)
	if err == nil && inFile && !k.protects(key) {
		k.expired[key] = struct{}{}
	} else if err != nil && !outside(err) {
		return err
	}
	return nil
}

// inLog: whatever a tombstone says, the log itself is never deleted.
func inLog(key string) bool { return key == logDir || strings.HasPrefix(key, logDir+"/") }

const logDir = "_delta_log"

func (k *keepSet) protects(key string) bool {
	if _, ok := k.keys[key]; ok {
		return true
	}
	if len(k.names) == 0 {
		return false
	}
	_, ok := k.names[path.Base(key)]
	return ok
}

// protectRemovedSince reads the commits after the cutoff for what they removed.
func (k *keepSet) protectRemovedSince(ctx context.Context, s *Snapshot, cutoff int64) error {
	from, err := log.AtTime(ctx, s.table.store, cutoff)
	if errors.Is(err, log.ErrTimeBeforeFirst) {
		if from, err = log.FirstVersion(ctx, s.table.store); err == nil && from > 0 {
			k.unproven = true
		}
	}
	if err != nil {
		return s.table.wrap(err)
	}
	for c, err := range log.Commits(ctx, s.table.store, from, s.Version()) {
		if err != nil {
			return s.table.wrap(err)
		}
		for _, a := range c.Actions {
			if a.Remove == nil || a.Remove.DeletionTimestamp != nil && *a.Remove.DeletionTimestamp < cutoff {
				continue
			}
			if err := k.protect(a.Remove.Path, a.Remove.DeletionVector); err != nil {
				return err
			}
		}
	}
	return nil
}
