package storage

import (
	"errors"
	"io/fs"
	"path"
	"syscall"
)

// ensureDir makes dir and its parents, and flushes each one's entry: an object
// is durable only when the whole way to it is. Directories found in place are
// flushed once as well, for another writer may have made them a moment ago.
func (l *Local) ensureDir(dir string) error {
	if l.isFlushed(dir) {
		return l.checkDir(dir)
	}
	parent := path.Dir(dir)
	if err := l.ensureDir(parent); err != nil {
		return err
	}
	if err := l.root.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := l.checkDir(dir); err != nil {
		return err
	}
	if err := l.syncDir(parent); err != nil {
		return err
	}
	l.setFlushed(dir)
	return nil
}

// checkDir notices a directory that others removed after we knew it: then it is
// made again and flushed again.
func (l *Local) checkDir(dir string) error {
	st, err := l.root.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && l.forget(dir):
		return l.ensureDir(dir)
	case err != nil:
		return err
	case !st.IsDir():
		return syscall.ENOTDIR
	}
	return nil
}

func (l *Local) isFlushed(dir string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.flushed[dir]
	return ok
}

func (l *Local) setFlushed(dir string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.flushed) >= flushedLimit {
		l.flushed = map[string]struct{}{".": {}}
	}
	l.flushed[dir] = struct{}{}
}

// forget drops dir, and with it everything below, from what is known to be
// durable; false when it was not known or is the root itself.
func (l *Local) forget(dir string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.flushed[dir]; !ok || dir == "." {
		return false
	}
	l.flushed = map[string]struct{}{".": {}}
	return true
}

// syncDir flushes the entries of dir.
func (l *Local) syncDir(dir string) error {
	f, err := l.root.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) {
		err = nil // the file system has no such call: its entries are as durable as it makes them
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
