package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// List walks the directories in the byte order of whole keys, holding the names
// of one directory a level. It fails with ErrInvalidKey on what it can neither
// yield nor leave out without lying: a symbolic link to a directory or out of
// the root, and a name that is not UTF-8. A link to a file inside the root is an
// object of its own; a dangling one is none.
func (l *Local) List(ctx context.Context, prefix, after string) iter.Seq2[Info, error] {
	return l.walk(ctx, prefix, after, false)
}

func (l *Local) walk(ctx context.Context, prefix, after string, temps bool) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		w := &localWalk{l: l, prefix: prefix, after: after, temps: temps, yield: yield}
		err := checkPrefix(prefix)
		if err == nil {
			start := prefix[:strings.LastIndexByte(prefix, '/')+1]
			if err = w.dir(ctx, start); err == nil || errors.Is(err, errStopped) {
				return
			}
		}
		yield(Info{}, fmt.Errorf("list %s/%s: %w", l.url, prefix, err))
	}
}

// errStopped: the consumer has had enough.
var errStopped = errors.New("stopped")

type localWalk struct {
	l             *Local
	prefix, after string
	temps         bool // yield the temporary files instead of the objects
	yield         func(Info, error) bool
}

// entry is one name of a directory; key ends in "/" for a directory, which is
// what puts "a b/x" before "a/x" and "a.txt" before both.
type entry struct {
	key  string
	info Info
}

// dir walks the directory of keys that start with dir ("" or ending in "/"). One
// that is not there, or no longer, holds nothing.
func (w *localWalk) dir(ctx context.Context, dir string) error {
	entries, err := w.read(ctx, dir)
	if err != nil {
		if errors.Is(err, ErrNotExist) {
			return nil
		}
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if strings.HasSuffix(e.key, "/") {
			if err := w.dir(ctx, e.key); err != nil {
				return err
			}
			continue
		}
		if e.key > w.after && strings.HasPrefix(e.key, w.prefix) && !w.yield(e.info, nil) {
			return errStopped
		}
	}
	return nil
}

func (w *localWalk) read(ctx context.Context, dir string) ([]entry, error) {
	name := path.Clean(dir) // "" is "."
	st, err := w.l.root.Stat(name)
	if err == nil && !st.IsDir() {
		return nil, nil
	}
	var d *os.Root
	if err == nil {
		d, err = w.l.root.OpenRoot(name)
	}
	if err != nil {
		return nil, w.fail(dir, err)
	}
	defer func() { _ = d.Close() }() // only read from
	names, err := readNames(d)
	if err != nil {
		return nil, w.fail(dir, err)
	}
	entries := make([]entry, 0, len(names))
	for i, name := range names {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e, ok, err := w.entry(d, dir, name)
		if err != nil {
			return nil, err
		}
		if ok {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	return entries, nil
}

func readNames(d *os.Root) ([]string, error) {
	f, err := d.Open(".")
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return names, err
}

// entry looks at one name; ok is false for what the walk does not want.
func (w *localWalk) entry(d *os.Root, dir, name string) (e entry, ok bool, err error) {
	key := dir + name
	temp := strings.HasPrefix(name, tempPrefix)
	if (temp && !w.temps) || !w.wants(key) {
		return e, false, nil
	}
	if !utf8.ValidString(name) {
		return e, false, fmt.Errorf("%w: %q is not UTF-8; rename or remove it", ErrInvalidKey, key)
	}
	st, err := d.Lstat(name)
	if err == nil && st.Mode()&fs.ModeSymlink != 0 {
		st, err = w.follow(key)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // gone since, or dangling
		return e, false, nil
	case err != nil:
		return e, false, w.fail(key, err)
	case st.IsDir():
		return entry{key: key + "/"}, !temp && mayHold(key+"/", w.prefix, w.after), nil
	}
	return entry{key: key, info: fileInfo(key, st)}, st.Mode().IsRegular() && temp == w.temps, nil
}

// wants spares the look at names that are outside the listing as file and as
// directory.
func (w *localWalk) wants(key string) bool {
	asFile := key > w.after && strings.HasPrefix(key, w.prefix)
	return asFile || mayHold(key+"/", w.prefix, w.after)
}

func (w *localWalk) follow(key string) (fs.FileInfo, error) {
	st, err := w.l.root.Stat(key)
	if err == nil && st.IsDir() {
		return nil, fmt.Errorf("%w: a symbolic link to a directory: its objects would be listed twice or not at all; "+
			"replace it by the directory", ErrInvalidKey)
	}
	return st, err
}

func (w *localWalk) fail(key string, err error) error {
	return fmt.Errorf("%s: %w", key, classify(err, w.l.escapes))
}
