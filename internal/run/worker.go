// Package run puts a worker together: client, lakehouse, activities, workflows.
// The worker's main and the end-to-end tests share it; it also owns the version
// that every program names.
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/config"
	"github.com/lakewarden/lakewarden/internal/lake"
	"github.com/lakewarden/lakewarden/workflows"
)

// Version of lakewarden, as commits name it in engineInfo and --version prints it.
const Version = "0.1.0"

// drain is how long running activities may take to stop on shutdown. They
// resume elsewhere from what they have staged.
const drain = 30 * time.Second

// Options of a worker. Config and Logger are needed; the rest is for tests.
type Options struct {
	Config config.File
	Logger *slog.Logger
	// Open opens stores. Nil: storage.Open.
	Open func(ctx context.Context, url string) (storage.Store, error)
	// Now is the worker's clock. Nil: time.Now.
	Now func() time.Time
}

// Worker connects and works until the context ends.
func Worker(ctx context.Context, o Options) error {
	if o.Open == nil {
		o.Open = storage.Open
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := o.Config
	l, err := lake.New(c.Config, o.Open)
	if err != nil {
		return err
	}
	if err := probeRoots(ctx, l, o); err != nil {
		return err
	}
	cl, err := c.Dial(ctx, o.Logger)
	if err != nil {
		return err
	}
	defer cl.Close()
	queue := cmp.Or(c.Queue, workflows.TaskQueue)
	w := worker.New(cl, queue, worker.Options{WorkerStopTimeout: drain})
	workflows.Register(w)
	w.RegisterActivity(&activities.Activities{
		Lake: l, Now: o.Now, Engine: "lakewarden/" + Version, Parallel: c.Parallel,
		Audit: auditlog.NewCache(), Runs: runStates{cl}, Namespace: searchAttributes(cl, c), LookupEnv: os.LookupEnv,
	})
	if err := w.Start(); err != nil {
		return fmt.Errorf("worker on queue %s: %w", queue, err)
	}
	defer w.Stop()
	o.Logger.Info("worker started", "queue", queue, "roots", len(l.Config().Roots), "version", Version)
	<-ctx.Done()
	o.Logger.Info("worker stops", "reason", context.Cause(ctx))
	return nil
}

// probeRoots names the roots, and refuses to work on one that cannot be worked
// on: purges would wait and fail one by one for what is known now.
func probeRoots(ctx context.Context, l *lake.Lake, o Options) error {
	for _, r := range l.Config().Roots {
		s, err := o.Open(ctx, r.URL)
		if err == nil {
			err = storage.Probe(ctx, s)
		}
		if err != nil {
			return fmt.Errorf("root %s: %w; make the folder, mend the rights or name another --root; `lakewarden doctor` looks at everything", r.URL, err)
		}
		schemas := "all others"
		if len(r.Schemas) > 0 {
			schemas = strings.Join(r.Schemas, ", ")
		}
		o.Logger.Info("root", "url", r.URL, "schemas", schemas)
	}
	return nil
}

// runStates asks the server whether workflow runs are over.
type runStates struct{ client client.Client }

// Closed reports whether the run is over; one that the server has forgotten is.
func (r runStates) Closed(ctx context.Context, workflowID, runID string) (bool, error) {
	d, err := r.client.DescribeWorkflow(ctx, workflowID, runID)
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return d.RawResponse.GetWorkflowExecutionInfo().GetCloseTime() != nil, nil
}

// searchAttributes lists the namespace's own search attributes.
func searchAttributes(cl client.Client, c config.File) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		namespace, err := c.Namespace()
		if err != nil {
			return nil, err
		}
		r, err := cl.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
		if err != nil {
			return nil, err
		}
		var names []string
		for name := range r.GetCustomAttributes() {
			names = append(names, name)
		}
		return names, nil
	}
}
