package storage_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// asNobody takes the rights of root from the current goroutine's thread, for
// whom no directory is closed.
func asNobody() error {
	if os.Geteuid() != 0 {
		return nil
	}
	runtime.LockOSThread() // never unlocked: the thread ends with the test's goroutine
	_, err := unix.SetfsuidRetUid(65534)
	return err
}

func TestLocal_noRights_isErrPermission(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openLocal(t, dir)
	ctx := t.Context()
	require.NoError(t, l.Put(ctx, "closed/k", []byte("x")))
	require.NoError(t, l.Put(ctx, "unreadable/k", []byte("x")))
	require.NoError(t, os.Chmod(filepath.Join(dir, "unreadable", "k"), 0))
	require.NoError(t, os.Chmod(filepath.Join(dir, "unreadable"), 0o111))
	require.NoError(t, os.Chmod(filepath.Join(dir, "closed"), 0o555))
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	require.NoError(t, os.Chmod(dir, 0o555))
	t.Cleanup(func() {
		_ = os.Chmod(dir, 0o755)
		_ = os.Chmod(filepath.Join(dir, "closed"), 0o755)
		_ = os.Chmod(filepath.Join(dir, "unreadable"), 0o755)
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := asNobody(); err != nil {
			t.Error(err)
			return
		}
		_, err := l.Create(ctx, "closed/new")
		check(t, err, "create")
		check(t, l.PutIfAbsent(ctx, "closed/new", nil), "put if absent")
		check(t, l.Put(ctx, "closed/k", nil), "put")
		check(t, l.Put(ctx, "newdir/k", nil), "make a directory")
		check(t, l.Delete(ctx, "closed/k"), "delete")
		_, err = l.Open(ctx, "unreadable/k")
		check(t, err, "open")
		for _, err = range l.List(ctx, "unreadable/", "") {
			check(t, err, "list")
		}
		check(t, err, "list")
		err = storage.Probe(ctx, storage.Sub(l, "closed"))
		check(t, err, "probe")
		var perr *storage.ProbeError
		if errors.As(err, &perr) && perr.Right != storage.OpPutIfAbsent {
			t.Errorf("the probe names %s", perr.Right)
		}
	}()
	<-done
}

func check(t *testing.T, err error, what string) {
	t.Helper()
	if !errors.Is(err, storage.ErrPermission) {
		t.Errorf("%s: %v, want ErrPermission", what, err)
	}
}

func TestLocal_fullDisk_isErrNoSpaceAndKeepsTheOld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("cannot mount a small tmpfs: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	l := openLocal(t, dir)
	ctx := t.Context()
	require.NoError(t, l.Put(ctx, "d/hint", []byte("old")))
	big := make([]byte, 1<<20)
	require.ErrorIs(t, l.PutIfAbsent(ctx, "d/new", big), storage.ErrNoSpace)
	require.ErrorIs(t, l.Put(ctx, "d/hint", big), storage.ErrNoSpace)
	w, err := l.Create(ctx, "d/data")
	require.NoError(t, err)
	_, werr := w.Write(big)
	require.ErrorIs(t, werr, storage.ErrNoSpace)
	_, err = w.Commit(ctx)
	require.ErrorIs(t, err, storage.ErrNoSpace, "a write that failed is never committed")

	keys, err := listKeys(t, l, "")
	require.NoError(t, err)
	require.Equal(t, []string{"d/hint"}, keys)
	data, err := storage.ReadAll(ctx, l, "d/hint", 0)
	require.NoError(t, err)
	require.Equal(t, "old", string(data))
	require.NoError(t, l.Put(ctx, "d/small", make([]byte, 64<<10)), "failed writes give their space back")
}
