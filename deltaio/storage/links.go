package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"
)

// Link is a name that stands for something elsewhere.
type Link struct {
	Key string
	Why string // it cannot be an object
}

// LinkFinder is a store in which a name can be a link.
type LinkFinder interface {
	// Links yields the names under prefix that List refuses: symbolic links that
	// lead out of the root or to a directory. It looks at names alone, which is
	// much cheaper than a listing.
	Links(ctx context.Context, prefix string) iter.Seq2[Link, error]
}

// Links gives the first links in s that its listing refuses, at most limit.
// Wrappers and Sub are looked through; keys are relative to s. A store without
// links has none.
func Links(ctx context.Context, s Store, limit int) ([]Link, error) {
	f, prefix := findPower[LinkFinder](s)
	if f == nil {
		return nil, nil
	}
	var out []Link
	for l, err := range f.Links(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		l.Key = strings.TrimPrefix(l.Key, prefix)
		if out = append(out, l); len(out) == limit {
			break
		}
	}
	return out, nil
}

// findPower looks for an optional interface behind wrappers, and gives the
// prefix under which it knows the keys of s.
func findPower[T any](s Store) (power T, prefix string) {
	for {
		if p, ok := s.(T); ok {
			return p, prefix
		}
		if sub, ok := s.(*sub); ok {
			prefix = sub.prefix + prefix
		}
		outer, ok := s.(interface{ Unwrap() Store })
		if !ok {
			return power, ""
		}
		s = outer.Unwrap()
	}
}

// linkBatch bounds the names of a directory that are held at once.
const linkBatch = 4096

// Links walks the directories under prefix, which is empty or ends in "/". One
// that may not be read, or is gone, is passed over: this is no listing.
func (l *Local) Links(ctx context.Context, prefix string) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		err := checkPrefix(prefix)
		if err == nil {
			err = l.links(ctx, prefix, yield)
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(Link{}, fmt.Errorf("look for links in %s/%s: %w", l.url, prefix, err))
		}
	}
}

func (l *Local) links(ctx context.Context, dir string, yield func(Link, error) bool) error {
	f, err := l.root.Open("./" + strings.TrimSuffix(dir, "/"))
	if err != nil {
		if cause := classify(err, l.escapes); !errors.Is(cause, ErrNotExist) && !errors.Is(cause, ErrPermission) {
			return cause
		}
		return nil
	}
	below, err := l.linksAmong(ctx, f, dir, yield)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	for i := 0; err == nil && i < len(below); i++ {
		err = l.links(ctx, below[i], yield)
	}
	return err
}

// linksAmong looks at the names of one directory and gives the directories among
// them.
func (l *Local) linksAmong(ctx context.Context, f *os.File, dir string, yield func(Link, error) bool) (below []string, err error) {
	for {
		entries, err := f.ReadDir(linkBatch)
		for _, e := range entries {
			switch key := dir + e.Name(); {
			case e.IsDir():
				below = append(below, key+"/")
			case e.Type()&fs.ModeSymlink == 0:
			default:
				if why := l.badLink(key); why != "" && !yield(Link{Key: key, Why: why}, nil) {
					return nil, errStopped
				}
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return below, nil
		case err != nil:
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
	}
}

// badLink says why a link is no object, "" when it is one or leads nowhere.
func (l *Local) badLink(key string) string {
	st, err := l.root.Stat(key)
	switch {
	case err == nil && st.IsDir():
		return "it is a symbolic link to a directory, whose objects would be listed twice or not at all"
	case err != nil && errors.Is(classify(err, l.escapes), ErrInvalidKey):
		return "it is a symbolic link that is absolute or leads outside the root"
	}
	return ""
}
