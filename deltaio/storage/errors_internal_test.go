package storage

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClassify_systemErrorsBecomeSentinels(t *testing.T) {
	t.Parallel()
	for errno, want := range map[syscall.Errno]error{
		syscall.ENOSPC: ErrNoSpace, syscall.EDQUOT: ErrNoSpace, syscall.EACCES: ErrPermission, syscall.EROFS: ErrPermission,
		syscall.EPERM: ErrPermission, syscall.ENOENT: ErrNotExist, syscall.ENOTDIR: ErrNotExist, syscall.ENAMETOOLONG: ErrInvalidKey,
	} {
		err := classify(&fs.PathError{Op: "openat", Path: ".lakewarden-tmp-X", Err: errno}, nil)
		require.ErrorIs(t, err, want)
		require.ErrorIs(t, err, errno)
		require.NotContains(t, err.Error(), "lakewarden-tmp", "the name of a temporary file says nothing to a reader")
	}
	require.Equal(t, error(syscall.EIO), classify(syscall.EIO, nil), "anything else leaves the outcome open")
}

func TestLocal_fileSystemWithoutHardLinks_refusesCommitsAndSaysWhy(t *testing.T) {
	t.Parallel()
	l, err := OpenLocal(t.TempDir())
	require.NoError(t, err)
	for _, errno := range []syscall.Errno{syscall.EPERM, syscall.ENOTSUP, syscall.ENOSYS} {
		w, err := l.stage(t.Context(), OpPutIfAbsent, "0.json", nil)
		require.NoError(t, err)
		err = l.refusedLink(w, errno)
		w.Abort()
		require.ErrorIs(t, err, ErrUnsupported)
		require.ErrorContains(t, err, "no hard links")
	}
	require.NoError(t, l.Close())
}

// A network file system may repeat link(2) after its answer was lost.
func TestLocal_linkAnsweredExistForOurOwnObject_isASuccess(t *testing.T) {
	t.Parallel()
	l, err := OpenLocal(t.TempDir())
	require.NoError(t, err)
	w, err := l.stage(t.Context(), OpPutIfAbsent, "0.json", []byte("ours"))
	require.NoError(t, err)
	require.NoError(t, l.root.Link(w.temp, "0.json"))
	require.NoError(t, l.refusedLink(w, syscall.EEXIST))
	w.Abort()
	other, err := l.stage(t.Context(), OpPutIfAbsent, "0.json", []byte("theirs"))
	require.NoError(t, err)
	err = l.refusedLink(other, syscall.EEXIST)
	other.Abort()
	require.ErrorIs(t, err, ErrExist)
	require.NoError(t, l.Close())
}

// What happens after an object is visible must not be reported as if nothing had
// been written.
func TestLocal_flushOfTheDirectoryFails_isNoSentinel(t *testing.T) {
	t.Parallel()
	l, err := OpenLocal(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, l.Put(t.Context(), "d/k", nil))
	require.NoError(t, l.Close())
	err = l.publish(OpPut, "d/k")
	require.Error(t, err)
	for _, sentinel := range []error{ErrNotExist, ErrExist, ErrPermission, ErrInvalidKey, ErrNoSpace, ErrUnsupported} {
		require.NotErrorIs(t, err, sentinel)
	}
}
