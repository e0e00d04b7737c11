package e2e_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/lake"
	"github.com/lakewarden/lakewarden/internal/runcheck"
	"github.com/lakewarden/lakewarden/internal/sample"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

// server is a Temporal development server of the tests' own.
type server struct {
	cli, address, db string
	port             string
	cmd              *exec.Cmd
	client           client.Client
}

// shared is the server that most tests use; the first that asks starts it.
var shared = sync.OnceValues(func() (*server, error) {
	dir, err := os.MkdirTemp("", "lakewarden-e2e-")
	if err != nil {
		return nil, err
	}
	return newServer(dir)
})

// sharedStarted says that shared has been asked, so that it is stopped.
var sharedStarted atomic.Bool

func sharedServer(t *testing.T) *server {
	t.Helper()
	sharedStarted.Store(true)
	s, err := shared()
	require.NoError(t, err)
	return s
}

func findCLI() (string, error) {
	for _, name := range []string{"../../bin/temporal", "temporal"} {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", errors.New("no Temporal CLI in bin/ or on PATH: make temporal builds it")
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

func newServer(dir string) (*server, error) {
	cli, err := findCLI()
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &server{cli: cli, port: port, address: "127.0.0.1:" + port, db: filepath.Join(dir, "temporal.db")}
	return s, s.start()
}

// start brings the server up on its database; stop and start is a restart.
func (s *server) start() error {
	args := []string{"server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", s.port, "--db-filename", s.db, "--log-level", "error"}
	for _, name := range activities.SearchAttributes {
		args = append(args, "--search-attribute", name+"=Keyword")
	}
	s.cmd = exec.Command(s.cli, args...)
	s.cmd.Env = append(os.Environ(), "TEMPORAL_VERSION_CHECK_DISABLED=1")
	if err := s.cmd.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		var err error
		if s.client, err = client.DialContext(ctx, client.Options{HostPort: s.address, Logger: quiet{}}); err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		pause(100 * time.Millisecond)
	}
}

func (s *server) stop() error {
	s.client.Close()
	if err := s.cmd.Process.Kill(); err != nil {
		return err
	}
	_ = s.cmd.Wait() // killed: its error says just that
	return nil
}

// site is a lakehouse with a queue of its own on a server.
type site struct {
	t      *testing.T
	server *server
	dir    string
	queue  string
	table  string
	rows   int
}

// newSite writes a small bronze.vendas under a table name of its own: workflow
// IDs are made of it.
func newSite(t *testing.T, s *server) *site {
	t.Helper()
	x := &site{t: t, server: s, dir: t.TempDir(), queue: "e2e-" + strconv.FormatInt(time.Now().UnixNano(), 36), rows: 3000}
	x.table = "bronze.v" + x.queue[4:]
	store, err := storage.Open(t.Context(), x.dir)
	require.NoError(t, err)
	v := sample.Vendas{Rows: x.rows, Years: 2, Until: time.Now().UTC(), Seed: 7}
	require.NoError(t, v.Write(t.Context(), storage.Sub(store, "bronze/"+x.table[7:]), x.env()))
	return x
}

func (x *site) env() deltaio.Env { return deltaio.Env{Now: time.Now, Engine: "e2e"} }

func (x *site) policy() spec.RetentionPolicy {
	p, err := spec.Parse([]byte(`
apiVersion: lakewarden/v1
kind: RetentionPolicy
name: e2e
owner: tests
legal_basis: test
table: ` + x.table + `
criteria: {older_than: {column: event_date, days: 365, timezone: Europe/Lisbon}}
hold: {where: "status = 'LITIGATION'"}
mark: {column: _expurgo_flag}
archive: {table: archive.vendas_expurgo}
limits: {max_share_of_rows: 60%, first_run: {max_share_of_rows: 90%}}
audit: {table: control.expurgo_audit}
`))
	require.NoError(x.t, err)
	return p
}

// worker starts a worker process; env adds to its environment.
func (x *site) worker(env ...string) *exec.Cmd {
	x.t.Helper()
	log, err := os.OpenFile(filepath.Join(x.dir, "..", filepath.Base(x.dir)+"-worker.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(x.t, err)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), append([]string{
		envWorker + "=1", "LAKEWARDEN_ROOT=" + x.dir, "LAKEWARDEN_QUEUE=" + x.queue, "TEMPORAL_ADDRESS=" + x.server.address,
	}, env...)...)
	c.Stdout, c.Stderr = log, log
	require.NoError(x.t, c.Start())
	x.t.Cleanup(func() {
		_ = c.Process.Kill() // it may be dead by design
		_ = c.Wait()
		_ = log.Close()
		if x.t.Failed() {
			data, _ := os.ReadFile(log.Name())
			x.t.Logf("worker log:\n%s", data[max(0, len(data)-4000):])
		}
	})
	return c
}

func (x *site) start(p spec.RetentionPolicy) client.WorkflowRun {
	x.t.Helper()
	return x.startAs(workflows.PurgeID(x.table), p)
}

func (x *site) startAs(id string, p spec.RetentionPolicy) client.WorkflowRun {
	x.t.Helper()
	w, err := x.server.client.ExecuteWorkflow(x.t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: x.queue}, workflows.TypePurgeTable, p)
	require.NoError(x.t, err)
	return w
}

func (x *site) result(w client.WorkflowRun) workflows.PurgeResult {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), 3*time.Minute)
	defer cancel()
	var r workflows.PurgeResult
	require.NoError(x.t, w.Get(ctx, &r))
	return r
}

func (x *site) status(id string) (s workflows.Status, err error) {
	v, err := x.server.client.QueryWorkflow(x.t.Context(), id, "", workflows.QueryStatus)
	if err != nil {
		return s, err
	}
	return s, v.Get(&s)
}

// How long conditions are waited for, and how often they are looked at.
const (
	wait = 2 * time.Minute
	poll = 100 * time.Millisecond
)

// until waits for a stage.
func (x *site) until(id, stage string) workflows.Status {
	x.t.Helper()
	var s workflows.Status
	require.Eventually(x.t, func() bool {
		var err error
		s, err = x.status(id)
		return err == nil && s.Stage == stage
	}, wait, poll, "stage %s", stage)
	return s
}

func (x *site) lake() *lake.Lake {
	l, err := lake.New(lake.Config{Roots: []lake.Root{{URL: x.dir}}}, storage.Open)
	require.NoError(x.t, err)
	return l
}

// verify runs the checks of `lakewarden verify`, and counts the rows again.
func (x *site) verify(runID string) *runcheck.Report {
	x.t.Helper()
	r, err := runcheck.Verify(x.t.Context(), x.lake(), x.env(), "control.expurgo_audit", runID)
	require.NoError(x.t, err)
	for _, c := range r.Checks {
		require.True(x.t, c.OK, "%s: %s", c.Name, c.Detail)
	}
	return r
}

// count counts the rows of a table by reading them; 0 where there is none.
func (x *site) count(name string) int {
	x.t.Helper()
	store, err := x.lake().Table(x.t.Context(), name)
	require.NoError(x.t, err)
	t, err := deltaio.Open(x.t.Context(), store, x.env())
	if errors.Is(err, deltaio.ErrNotATable) {
		return 0
	}
	require.NoError(x.t, err)
	snap, err := t.Snapshot(x.t.Context())
	require.NoError(x.t, err)
	n := 0
	for rec, err := range snap.Scan(x.t.Context(), deltaio.ScanOptions{Columns: []string{"id"}}) {
		require.NoError(x.t, err)
		n += int(rec.NumRows())
		rec.Release()
	}
	return n
}

// completed checks what a purge that completed must have left.
func (x *site) completed(r workflows.PurgeResult) {
	x.t.Helper()
	require.Equal(x.t, activities.StatusCompleted, r.Outcome)
	x.verify(r.RunID)
	require.Equal(x.t, x.rows, x.count(x.table)+x.count("archive.vendas_expurgo"), "rows = kept + archived")
	require.Positive(x.t, *r.RowsDeleted)
}

// untouched checks what a purge that was undone must have left.
func (x *site) untouched(runID string) {
	x.t.Helper()
	x.verify(runID)
	require.Equal(x.t, x.rows, x.count(x.table))
	require.Zero(x.t, x.count("archive.vendas_expurgo"))
}

type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
