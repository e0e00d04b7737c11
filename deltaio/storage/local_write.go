package storage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// PutIfAbsent publishes by link(2), which fails when the name is taken: of many
// writers, in this process or another, one wins.
func (l *Local) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	w, err := l.stage(ctx, OpPutIfAbsent, key, data)
	if err != nil {
		return err
	}
	if err := l.root.Link(w.temp, key); err != nil {
		err = l.refusedLink(w, err)
		w.Abort()
		return err
	}
	w.Abort()
	return l.publish(OpPutIfAbsent, key)
}

// refusedLink tells why link(2) failed; nil when it did not. A network file
// system may repeat the call after its answer was lost and then report EEXIST
// for our own success.
func (l *Local) refusedLink(w *localWriter, err error) error {
	switch {
	case errors.Is(err, fs.ErrExist):
		return l.nameTaken(w)
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS),
		errors.Is(err, syscall.EMLINK):
		return fmt.Errorf("%s %s/%s: %w: the file system has no hard links (%w), so that two writers could both "+
			"commit the same version; keep Delta tables on a file system that has them",
			w.op, l.url, w.key, ErrUnsupported, cause(err))
	case errors.Is(err, syscall.EXDEV):
		return fmt.Errorf("%s %s/%s: %w: a file is mounted there (%w)", w.op, l.url, w.key, ErrInvalidKey, cause(err))
	}
	return l.failWrite(w.op, w.key, err)
}

func (l *Local) nameTaken(w *localWriter) error {
	there, err := l.root.Lstat(w.key)
	switch {
	case err != nil: // deleted since: it was there, and ours was not written
	case there.IsDir():
		return fmt.Errorf("%s %s/%s: %w: a directory has this name", w.op, l.url, w.key, ErrInvalidKey)
	case there.Mode().IsRegular():
		if ours, err := l.root.Lstat(w.temp); err == nil && os.SameFile(ours, there) {
			return l.publish(w.op, w.key)
		}
	default:
		if _, err := l.root.Stat(w.key); err != nil {
			return fmt.Errorf("%s %s/%s: %w: a dangling or outward symbolic link has this name", w.op, l.url, w.key, ErrInvalidKey)
		}
	}
	return fmt.Errorf("%s %s/%s: %w", w.op, l.url, w.key, ErrExist)
}

// Put publishes by rename(2), which replaces the old object in one step.
func (l *Local) Put(ctx context.Context, key string, data []byte) error {
	w, err := l.stage(ctx, OpPut, key, data)
	if err != nil {
		return err
	}
	return l.rename(w)
}

// Create opens a temporary file beside the object's name.
func (l *Local) Create(ctx context.Context, key string) (Writer, error) {
	if err := l.begin(ctx, OpCreate, key); err != nil {
		return nil, err
	}
	w, err := l.newWriter(OpCreate, key)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// stage writes and flushes a whole object under a temporary name.
func (l *Local) stage(ctx context.Context, op, key string, data []byte) (*localWriter, error) {
	if err := l.begin(ctx, op, key); err != nil {
		return nil, err
	}
	w, err := l.newWriter(op, key)
	if err != nil {
		return nil, err
	}
	if _, err = w.Write(data); err == nil {
		_, err = w.flush()
	}
	if err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

func (l *Local) newWriter(op, key string) (*localWriter, error) {
	dir := path.Dir(key)
	err := l.ensureDir(dir)
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("%s %s/%s: %w: an object has the name of its directory", op, l.url, key, ErrInvalidKey)
	}
	temp := path.Join(dir, tempPrefix+rand.Text())
	var f *os.File
	if err == nil {
		f, err = l.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if err != nil {
		return nil, l.failWrite(op, key, err)
	}
	return &localWriter{l: l, op: op, key: key, temp: temp, f: f}, nil
}

// failWrite is fail for the steps before an object is visible. What a write
// misses is never the object, so that ErrNotExist would mislead.
func (l *Local) failWrite(op, key string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %s/%s: another process removed the directory or the temporary file, or the directory "+
			"is a dangling link: %w", op, l.url, key, cause(err))
	}
	return l.fail(op, key, err)
}

// localWriter owns one temporary file. It is used by one goroutine.
type localWriter struct {
	l    *Local
	op   string
	key  string
	temp string
	f    *os.File // nil when closed
	bad  error    // the first failure; it makes Commit fail
}

func (w *localWriter) Write(p []byte) (int, error) {
	if w.f == nil {
		return 0, w.l.fail(OpWrite, w.key, errWriterClosed)
	}
	if w.bad != nil {
		return 0, w.bad
	}
	n, err := w.f.Write(p)
	if err != nil {
		w.bad = w.l.fail(w.op, w.key, err)
	}
	return n, w.bad
}

// flush brings the bytes to the disk and closes the file.
func (w *localWriter) flush() (Info, error) {
	if w.f == nil {
		return Info{}, w.l.fail(w.op, w.key, errWriterClosed)
	}
	err := w.bad
	if err == nil {
		if serr := w.f.Sync(); serr != nil {
			err = w.l.fail(w.op, w.key, serr)
		}
	}
	st, serr := w.f.Stat()
	if err == nil && serr != nil {
		err = w.l.fail(w.op, w.key, serr)
	}
	if cerr := w.f.Close(); err == nil && cerr != nil {
		err = w.l.fail(w.op, w.key, cerr)
	}
	w.f = nil
	if err != nil {
		return Info{}, err
	}
	return fileInfo(w.key, st), nil
}

func (w *localWriter) Commit(ctx context.Context) (Info, error) {
	w.op = OpCommit
	if err := ctx.Err(); err != nil {
		return Info{}, w.l.fail(w.op, w.key, err)
	}
	info, err := w.flush()
	if err != nil {
		w.Abort()
		return Info{}, err
	}
	if err := w.l.rename(w); err != nil {
		return Info{}, err
	}
	return info, nil
}

// Abort removes the temporary name: the whole object before publication, only a
// second name of it after a link.
func (w *localWriter) Abort() {
	if w.f != nil {
		_ = w.f.Close() // it is thrown away
		w.f = nil
	}
	if w.temp != "" {
		_ = w.l.root.Remove(w.temp) // what stays is found by Leftovers
		w.temp = ""
	}
}

func (l *Local) rename(w *localWriter) error {
	if err := l.root.Rename(w.temp, w.key); err != nil {
		w.Abort()
		if errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) {
			err = syscall.EISDIR
		}
		return l.failWrite(w.op, w.key, err)
	}
	w.temp = ""
	return l.publish(w.op, w.key)
}

// publish makes a name durable that is already visible. Its error is no
// sentinel: the object may or may not outlive a crash of the machine.
func (l *Local) publish(op, key string) error {
	if err := l.syncDir(path.Dir(key)); err != nil {
		return fmt.Errorf("%s %s/%s: visible, but perhaps not durably: %w", op, l.url, key, err)
	}
	return nil
}
