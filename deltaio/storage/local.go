package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"sync"
	"syscall"
)

// Local is a Store on a directory of this machine.
//
// Invariants:
//  1. An object's name appears only when its bytes are whole and flushed: they
//     are written to a temporary file beside it, fsynced, and then linked
//     (PutIfAbsent) or renamed (Put, Create), and the directory is fsynced.
//  2. Nothing outside the root is reached: every path is resolved by os.Root,
//     which refuses symbolic links that lead out.
//  3. Directories are made when needed and never removed.
//
// A process that dies while writing leaves a temporary file behind; Leftovers
// finds it. What a crash of the machine can lose is only what had not returned.
// Two keys cannot be an object and the other's directory at once ("a", "a/b"):
// the second write gets ErrInvalidKey.
type Local struct {
	root    *os.Root
	path    string
	url     string
	escapes error // the cause os.Root gives for a path that leads out

	mu      sync.Mutex
	flushed map[string]struct{} // directories whose entry is known to be durable
}

// flushedLimit bounds the memory of Local.flushed; dropping it costs fsyncs only.
const flushedLimit = 1 << 14

// OpenLocal opens the directory root, which must exist; symbolic links in root
// itself are followed.
func OpenLocal(root string) (*Local, error) {
	abs, err := filepath.Abs(root)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", root, classify(err, nil))
	}
	dir, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", root, classify(err, nil))
	}
	_, err = dir.Lstat("..")
	var perr *fs.PathError
	if !errors.As(err, &perr) {
		_ = dir.Close() // never used
		return nil, fmt.Errorf("open %s: the system does not confine paths to a directory (%w): %w", root, err, ErrUnsupported)
	}
	return &Local{
		root:    dir,
		path:    abs,
		url:     (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}).String(),
		escapes: perr.Err,
		flushed: map[string]struct{}{".": {}},
	}, nil
}

// URL is the root as a file URL.
func (l *Local) URL() string { return l.url }

// Root is the directory, absolute and free of symbolic links.
func (l *Local) Root() string { return l.path }

// Close releases the root's file descriptor. Open readers stay usable; writers
// must have ended.
func (l *Local) Close() error { return l.root.Close() }

// Open opens a regular file.
func (l *Local) Open(ctx context.Context, key string) (Reader, error) {
	if err := l.begin(ctx, OpOpen, key); err != nil {
		return nil, err
	}
	// O_NONBLOCK: a named pipe under the root must not hang us.
	f, err := l.root.OpenFile(key, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, l.fail(OpOpen, key, err)
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		_ = f.Close() // opened for reading: nothing to lose
		return nil, l.fail(OpOpen, key, err)
	}
	info := fileInfo(key, st)
	return &localReader{l: l, f: f, data: io.NewSectionReader(f, 0, info.Size), info: info}, nil
}

// Stat looks at a regular file.
func (l *Local) Stat(ctx context.Context, key string) (Info, error) {
	if err := l.begin(ctx, OpStat, key); err != nil {
		return Info{}, err
	}
	st, err := l.root.Stat(key)
	if err == nil && !st.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return Info{}, l.fail(OpStat, key, err)
	}
	return fileInfo(key, st), nil
}

// Delete unlinks a file, and makes that durable: a deletion that was reported
// must not be undone by a power cut. Of a symbolic link it removes the link.
func (l *Local) Delete(ctx context.Context, key string) error {
	if err := l.begin(ctx, OpDelete, key); err != nil {
		return err
	}
	// Remove would take an empty directory too.
	st, err := l.root.Lstat(key)
	if err == nil && st.IsDir() {
		err = errNotRegular
	}
	if err == nil {
		err = l.root.Remove(key)
	}
	if err != nil {
		return l.fail(OpDelete, key, err)
	}
	if err := l.syncDir(path.Dir(key)); err != nil {
		return fmt.Errorf("%s %s/%s: gone, but perhaps not durably: %w", OpDelete, l.url, key, err)
	}
	return nil
}

func (l *Local) begin(ctx context.Context, op, key string) error {
	err := CheckKey(key)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", op, l.url, err)
	}
	return nil
}

// fail wraps a cause of the system with the sentinel it stands for. It is for
// calls that have changed nothing: see Store about errors that are no sentinel.
func (l *Local) fail(op, key string, err error) error {
	return fmt.Errorf("%s %s/%s: %w", op, l.url, key, classify(err, l.escapes))
}

type localReader struct {
	l    *Local
	f    *os.File
	data *io.SectionReader // the size as of the open, even if the file grows
	info Info
}

func (r *localReader) Info() Info { return r.info }

func (r *localReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.data.ReadAt(p, off)
	if err == nil || (errors.Is(err, io.EOF) && off+int64(n) >= r.info.Size) {
		return n, err
	}
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("the file was cut while it was being read: %w", io.ErrUnexpectedEOF)
	}
	return n, r.l.fail(OpRead, r.info.Key, err)
}

func (r *localReader) Close() error {
	if err := r.f.Close(); err != nil {
		return r.l.fail("close", r.info.Key, err)
	}
	return nil
}

func fileInfo(key string, st fs.FileInfo) Info {
	return Info{Key: key, Size: st.Size(), ModTime: st.ModTime()}
}
