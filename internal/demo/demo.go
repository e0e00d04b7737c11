// Package demo starts what the demo needs beside lakewarden: a Temporal
// development server and a worker, as processes of their own. It owns the demo's
// folder and removes nothing else.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/sdk/client"
	tlog "go.temporal.io/sdk/log"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/config"
	"github.com/lakewarden/lakewarden/internal/sample"
)

// startTimeout bounds the wait for a process to come up.
const startTimeout = 60 * time.Second

// marker is a file by which the demo knows its own folder, and may empty it.
const marker = ".lakewarden-demo"

// Options of a demo.
type Options struct {
	Dir      string // of everything the demo writes
	Temporal string // the Temporal CLI; "": bin/temporal, then PATH
	Worker   string // the worker; "": beside this program
	Keep     bool   // leave the processes up
	Out      io.Writer
}

// Env is a running demo.
type Env struct {
	Address, Namespace, UI string
	Queue                  string
	Lake                   string // root folder of the lakehouse
	WorkerLog              string

	Dir     string // of everything the demo writes
	Foreign bool   // the server is the user's own

	opt   Options
	procs []*exec.Cmd
}

// Start empties the demo's folder and starts the server, or uses the one at
// TEMPORAL_ADDRESS. A demo that was kept up in the folder is left alone: this one
// takes a folder beside it.
func Start(ctx context.Context, o Options) (*Env, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	dir = besideKept(dir)
	e := &Env{opt: o, Dir: dir, Lake: filepath.Join(dir, "lake"), WorkerLog: filepath.Join(dir, "worker.log"), Namespace: client.DefaultNamespace}
	if addr := os.Getenv("TEMPORAL_ADDRESS"); addr != "" {
		e.Address, e.Foreign = addr, true
		if ns := os.Getenv("TEMPORAL_NAMESPACE"); ns != "" {
			e.Namespace = ns
		}
		cl, err := (config.File{}).Dial(ctx, slog.New(slog.DiscardHandler)) // before anything is written
		if err != nil {
			return nil, err
		}
		cl.Close()
	}
	if err := e.clean(); err != nil {
		return nil, err
	}
	if !e.Foreign {
		if err := e.startServer(ctx); err != nil {
			e.Stop()
			return nil, err
		}
	}
	// A queue of its own: no other worker may take the demo's steps.
	e.Queue = "lakewarden-demo-" + strconv.Itoa(os.Getpid())
	return e, nil
}

// besideKept is the folder, or the first one beside it whose demo is not up.
func besideKept(dir string) string {
	free := dir
	for i := 2; len(running(free)) > 0; i++ {
		free = dir + "-" + strconv.Itoa(i)
	}
	return free
}

// clean makes the folder fresh; one that is not the demo's is left alone.
func (e *Env) clean() error {
	entries, err := os.ReadDir(e.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(e.Dir, marker)); err != nil {
			return fmt.Errorf("%s is not empty and not a demo's folder; name another with --dir", e.Dir)
		}
		for _, x := range entries {
			if err := os.RemoveAll(filepath.Join(e.Dir, x.Name())); err != nil {
				return err
			}
		}
	}
	if err := os.MkdirAll(e.Lake, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(e.Dir, marker), nil, 0o644)
}

func (e *Env) startServer(ctx context.Context) error {
	cli, err := e.temporalCLI()
	if err != nil {
		return err
	}
	port, ui, err := freePorts()
	if err != nil {
		return err
	}
	args := []string{
		"server", "start-dev", "--ip", "127.0.0.1", "--port", port, "--ui-port", ui, "--log-level", "warn",
		"--db-filename", filepath.Join(e.Dir, "temporal.db"),
	}
	for _, name := range activities.SearchAttributes {
		args = append(args, "--search-attribute", name+"=Keyword")
	}
	e.Address, e.UI = "127.0.0.1:"+port, "http://127.0.0.1:"+ui
	if err := e.start("temporal", cli, args...); err != nil {
		return err
	}
	return waitFor(ctx, "the Temporal server", filepath.Join(e.Dir, "temporal.log"), startTimeout, func(ctx context.Context) error {
		cl, err := client.DialContext(ctx, client.Options{HostPort: e.Address, Logger: tlog.NewStructuredLogger(slog.New(slog.DiscardHandler))})
		if err == nil {
			cl.Close()
		}
		return err
	})
}

// freePorts gives the usual ports where they are free, else others.
func freePorts() (port, ui string, err error) {
	for _, c := range []struct {
		usual int
		to    *string
	}{{7233, &port}, {8233, &ui}} {
		l, lerr := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(c.usual))
		if lerr != nil {
			if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
				return "", "", err
			}
		}
		*c.to = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
		if err := l.Close(); err != nil {
			return "", "", err
		}
	}
	return port, ui, nil
}

func (e *Env) temporalCLI() (string, error) {
	if e.opt.Temporal != "" {
		return e.opt.Temporal, nil
	}
	if _, err := os.Stat("bin/temporal"); err == nil {
		return filepath.Abs("bin/temporal")
	}
	cli, err := exec.LookPath("temporal")
	if err != nil {
		return "", errors.New("no Temporal CLI in bin/ or on PATH; make demo builds one, or set TEMPORAL_ADDRESS")
	}
	return cli, nil
}

// StartWorker starts the worker on the demo's queue and lakehouse.
func (e *Env) StartWorker(ctx context.Context) error {
	program := e.opt.Worker
	if program == "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		program = filepath.Join(filepath.Dir(self), "worker")
	}
	if err := e.start("worker", program, "--root", e.Lake, "--queue", e.Queue, "--address", e.Address, "--namespace", e.Namespace); err != nil {
		return err
	}
	return waitFor(ctx, "the worker", e.WorkerLog, startTimeout, func(context.Context) error {
		data, err := os.ReadFile(e.WorkerLog)
		if err == nil && !strings.Contains(string(data), "worker started") {
			err = errors.New("it has not said that it started")
		}
		return err
	})
}

// start runs a program in a process group of its own, so that a Ctrl-C at the
// terminal does not reach it before the demo has stopped its run.
func (e *Env) start(name, program string, args ...string) error {
	log, err := os.Create(filepath.Join(e.Dir, name+".log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the child has its own copy
	c := exec.Command(program, args...)
	c.Stdout, c.Stderr = log, log
	c.Env = append(os.Environ(), "TEMPORAL_VERSION_CHECK_DISABLED=1")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	e.procs = append(e.procs, c)
	return os.WriteFile(filepath.Join(e.Dir, name+".pid"), []byte(strconv.Itoa(c.Process.Pid)), 0o644)
}

// waitFor asks until there is no error, and shows the log when there always is.
func waitFor(ctx context.Context, what, log string, within time.Duration, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			data, _ := os.ReadFile(log) // best effort: the message below stands without it
			return fmt.Errorf("waited in vain for %s, at most %s: %w\n%s", what, within, err, tail(data))
		case <-tick.C:
		}
	}
}

func tail(data []byte) string { return string(data[max(0, len(data)-2000):]) }

// Stop ends the processes, unless they are to be kept.
func (e *Env) Stop() {
	if e.opt.Keep {
		return
	}
	for i := len(e.procs) - 1; i >= 0; i-- {
		p := e.procs[i]
		_ = p.Process.Signal(syscall.SIGTERM) // it may have ended by itself
		_ = p.Wait()
	}
}

// Link is the run's page in the Web UI.
func (e *Env) Link(workflowID, runID string) string {
	ui := e.UI
	if ui == "" {
		ui = "http://localhost:8233"
	}
	return fmt.Sprintf("%s/namespaces/%s/workflows/%s/%s/history", ui, e.Namespace, workflowID, runID)
}

// Written describes the sample table.
type Written struct {
	Rows  int64
	Files int
	Bytes int64
}

// WriteVendas writes the sample table into a folder of the lakehouse.
func WriteVendas(ctx context.Context, s storage.Store, folder string, v sample.Vendas, env deltaio.Env) (Written, error) {
	sub := storage.Sub(s, folder)
	if err := v.Write(ctx, sub, env); err != nil {
		return Written{}, err
	}
	t, err := deltaio.Open(ctx, sub, env)
	if err != nil {
		return Written{}, err
	}
	d, err := deltaio.Detail(ctx, t)
	if err != nil {
		return Written{}, err
	}
	if d.Rows == nil {
		return Written{}, errors.New("the sample's statistics do not tell its rows")
	}
	return Written{Rows: *d.Rows, Files: d.Files, Bytes: d.Bytes}, nil
}
