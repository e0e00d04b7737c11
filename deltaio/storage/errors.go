package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

var (
	// errWriterClosed: a Writer was used after Commit or Abort, or after a write
	// that failed. Nothing of that use is visible.
	errWriterClosed = errors.New("writer is closed")

	// errNotRegular: the name is taken by something that is no object.
	errNotRegular = fmt.Errorf("%w: a directory or special file has this name", ErrNotExist)
)

// classify adds the sentinel that a system error stands for; escapes is the
// cause that os.Root gives for a path that leads out. The directions in brackets
// say what to do.
func classify(err, escapes error) error {
	switch {
	case escapes != nil && errors.Is(err, escapes):
		return fmt.Errorf("%w: a symbolic link in it is absolute or leads outside the root", ErrInvalidKey)
	case errors.Is(err, ErrNotExist):
		return err
	}
	for _, row := range systemErrors {
		if errors.Is(err, row.errno) {
			return fmt.Errorf("%w (%w)", row.sentinel, cause(err))
		}
	}
	return err
}

var systemErrors = []struct {
	errno    syscall.Errno
	sentinel error
}{
	{syscall.ENOENT, ErrNotExist},
	{syscall.ENOTDIR, ErrNotExist}, // "a/b" where "a" is a file
	{syscall.EISDIR, ErrInvalidKey},
	{syscall.ELOOP, ErrInvalidKey},
	{syscall.ENAMETOOLONG, ErrInvalidKey},
	{syscall.EACCES, ErrPermission},
	{syscall.EPERM, ErrPermission},
	{syscall.EROFS, ErrPermission},
	{syscall.ENOSPC, ErrNoSpace},
	{syscall.EDQUOT, ErrNoSpace},
}

// cause drops the operation and the path that os puts around a system error:
// ours are already there, and its are those of temporary files.
func cause(err error) error {
	if perr, ok := errors.AsType[*fs.PathError](err); ok {
		return perr.Err
	}
	if lerr, ok := errors.AsType[*os.LinkError](err); ok {
		return lerr.Err
	}
	return err
}
