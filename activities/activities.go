package activities

import (
	"context"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/lake"
)

// Activities carries what the steps need from outside; its exported methods are
// the registered activities.
type Activities struct {
	// Lake resolves tables and run folders.
	Lake *lake.Lake
	// Now is the worker's clock.
	Now func() time.Time
	// Engine goes into the commits' engineInfo, such as "lakewarden/0.1.0".
	Engine string
	// Parallel bounds the files in flight per activity. 0: deltaio's default.
	Parallel int
	// Audit queues the writers of audit tables and keeps the rows they read. Nil:
	// none, each reads for itself.
	Audit *auditlog.Cache
	// Runs tells whether a workflow run is over. Nil: unknown, taken as open.
	Runs RunStates
	// Namespace lists the search attributes of the Temporal namespace. Nil: none.
	Namespace func(ctx context.Context) (names []string, err error)
	// LookupEnv reads the worker's environment, where addresses and secrets of
	// webhooks are: os.LookupEnv. Nil: nobody is notified.
	LookupEnv func(name string) (string, bool)
}

// RunStates asks Temporal about workflow runs.
type RunStates interface {
	// Closed reports whether the run is over, or unknown to the server because
	// its retention has passed.
	Closed(ctx context.Context, workflowID, runID string) (bool, error)
}

// env is deltaio's surroundings for short calls.
func (a *Activities) env() deltaio.Env {
	return deltaio.Env{Now: a.Now, Engine: a.Engine, Parallel: a.Parallel}
}
