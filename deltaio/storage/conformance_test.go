package storage_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/deltaio/storage/storagetest"
)

func newLocal(t *testing.T) storage.Store {
	t.Helper()
	s, err := storage.OpenLocal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func newMemory(*testing.T) storage.Store { return storage.NewMemory() }

func TestLocal_keepsTheContract(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, newLocal)
}

func TestMemory_keepsTheContract(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, newMemory)
}

func TestSub_keepsTheContract(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		storagetest.Run(t, func(*testing.T) storage.Store {
			return storage.Sub(storage.Sub(storage.NewMemory(), "lake house/"), "bronze/vendas %20")
		})
	})
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		storagetest.Run(t, func(t *testing.T) storage.Store {
			t.Helper()
			return storage.Sub(newLocal(t), "lake house")
		})
	})
}

func TestWrappers_withNothingToDoKeepTheContract(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, func(*testing.T) storage.Store {
		s := storage.Trace(storage.NewMemory(), func(storage.Op) {})
		s = storage.Hook(s, storage.Hooks{})
		s = storage.Hook(s, storage.Hooks{Before: func(context.Context, storage.Op) error { return nil }})
		return storage.NewFault(s)
	})
}
