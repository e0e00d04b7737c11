package e2e_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	_ "time/tzdata"

	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/config"
	"github.com/lakewarden/lakewarden/internal/run"
)

// Environment of a worker process: this test binary, run again.
const (
	envWorker = "LAKEWARDEN_E2E_WORKER" // "1": be a worker
	envKill   = "LAKEWARDEN_E2E_KILL"   // substring of a key: SIGKILL at the first write of it
	envWhen   = "LAKEWARDEN_E2E_WHEN"   // before or after that write
	envOnce   = "LAKEWARDEN_E2E_ONCE"   // file that says that the kill has happened
)

func TestMain(m *testing.M) {
	if os.Getenv(envWorker) == "1" {
		if err := beWorker(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if sharedStarted.Load() {
		if s, err := shared(); err == nil {
			_ = s.stop() // the tests are over either way
		}
	}
	os.Exit(code)
}

// beWorker runs the product's worker, with a store that may kill the process.
func beWorker() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cfg, err := config.Load(config.Flags{}, os.LookupEnv)
	if err != nil {
		return err
	}
	return run.Worker(ctx, run.Options{
		Config: cfg, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)), Open: openDeadly,
	})
}

// openDeadly kills the process, as a power cut would, at one chosen write.
func openDeadly(ctx context.Context, url string) (storage.Store, error) {
	s, err := storage.Open(ctx, url)
	match, once := os.Getenv(envKill), os.Getenv(envOnce)
	if err != nil || match == "" {
		return s, err
	}
	if _, err := os.Stat(once); err == nil {
		return s, nil // it has happened
	}
	var dead atomic.Bool
	kill := func(_ context.Context, op storage.Op) error {
		if writes(op.Kind) && strings.Contains(op.Key, match) && dead.CompareAndSwap(false, true) {
			if err := os.WriteFile(once, []byte(op.Kind+" "+op.Key), 0o644); err != nil {
				return err
			}
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal is on its way
		}
		return nil
	}
	f := storage.NewFault(s)
	when := storage.BeforeCall
	if os.Getenv(envWhen) == "after" {
		when = storage.AfterCall
	}
	f.Do(when, kill)
	return f, nil
}

func writes(kind string) bool {
	switch kind {
	case storage.OpPutIfAbsent, storage.OpPut, storage.OpCommit, storage.OpDelete:
		return true
	}
	return false
}
