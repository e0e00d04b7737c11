package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/sdk/client"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/config"
)

// State of a finding.
const (
	stateOK   = "ok"
	stateNote = "note" // runs work as it is, and would be better with it mended
	stateFail = "fail"
)

// finding is one thing that doctor looked at.
type finding struct {
	What   string `json:"what"`
	State  string `json:"state"` // ok, note or fail
	Detail string `json:"detail"`
	Do     string `json:"do,omitempty"`
}

// clockSkew is how far the store's clock may be off before ages go wrong.
const clockSkew = time.Minute

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Look whether server, namespace, worker, roots, rights and clocks are as a purge needs them", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &doctor{a: a}
			d.look(cmd.Context())
			if err := a.print(d.findings, func(w io.Writer) { printFindings(w, d.findings) }); err != nil {
				return err
			}
			return verdict(d.findings)
		},
	}
}

// verdict is the exit code: notes alone are none.
func verdict(fs []finding) error {
	if slices.ContainsFunc(fs, func(f finding) bool { return f.State == stateFail }) {
		return quietError{"something is wrong"}
	}
	return nil
}

func printFindings(w io.Writer, fs []finding) {
	for _, f := range fs {
		mark := f.State
		if mark == stateFail {
			mark = "FAIL"
		}
		fmt.Fprintf(w, "%-4s  %s: %s\n", mark, f.What, f.Detail)
		if f.Do != "" {
			fmt.Fprintf(w, "      → %s\n", f.Do)
		}
	}
}

type doctor struct {
	a        *app
	findings []finding
}

func (d *doctor) add(what, detail string, err error, do string) bool {
	f := finding{What: what, State: stateOK, Detail: detail}
	if err != nil {
		f.State, f.Detail, f.Do = stateFail, err.Error(), do
	}
	d.findings = append(d.findings, f)
	return err == nil
}

func (d *doctor) look(ctx context.Context) {
	c, err := d.a.config()
	if !d.add("configuration", "read", err, "Mend the file, flag or variable that is named.") {
		return
	}
	d.lakehouse(ctx, c)
	d.temporal(ctx, c)
}

func (d *doctor) lakehouse(ctx context.Context, c config.File) {
	l, err := c.Lake()
	if !d.add("lakehouse roots", fmt.Sprintf("%d", len(c.Roots)), err, "Give --root, "+config.EnvRoot+" or roots in "+config.DefaultFile+".") {
		return
	}
	for _, r := range c.Roots {
		s, err := storage.Open(ctx, r.URL)
		if err == nil {
			err = storage.Probe(ctx, s)
		}
		d.add("root "+r.URL, "list, write, create-if-absent, read and delete work", err, "Create it, or give the worker rights on it.")
		if err == nil {
			d.clock(ctx, s)
		}
	}
	d.add("run folders", "list, write, create-if-absent, read and delete work", l.Probe(ctx), "Give a root that holds the schema control, or run_folders.")
}

func (d *doctor) clock(ctx context.Context, s storage.Store) {
	at, err := storage.StoreNow(ctx, s)
	skew := d.a.now().Sub(at)
	if err == nil && skew.Abs() > clockSkew {
		err = fmt.Errorf("the store's clock is off by %s", skew)
	}
	d.add("clock of "+s.URL(), "agrees with this machine's", err, "Set the clocks by NTP: retention ages files by them.")
}

func (d *doctor) temporal(ctx context.Context, c config.File) {
	cl, err := c.Dial(ctx, quietLogger())
	if !d.add("Temporal server", "answers", err, "temporal server start-dev") {
		return
	}
	defer cl.Close()
	namespace, err := c.Namespace()
	if !d.add("namespace", namespace, err, "Mend the profile.") {
		return
	}
	d.attributes(ctx, cl, namespace)
	d.workers(ctx, cl, queueOf(c))
}

func (d *doctor) attributes(ctx context.Context, cl client.Client, namespace string) {
	r, err := cl.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	d.findings = append(d.findings, judgeAttributes(r.GetCustomAttributes(), err, namespace))
}

// judgeAttributes never fails: runs leave out what the namespace does not have.
func judgeAttributes(have map[string]enumspb.IndexedValueType, err error, namespace string) finding {
	f := finding{What: "search attributes", State: stateOK, Detail: strings.Join(activities.SearchAttributes, ", ")}
	if err != nil {
		f.State, f.Detail = stateNote, "cannot be listed: "+err.Error()
		f.Do = "temporal operator search-attribute list --namespace " + namespace
		return f
	}
	var missing []string
	for _, name := range activities.SearchAttributes {
		if have[name] != enumspb.INDEXED_VALUE_TYPE_KEYWORD {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return f
	}
	f.State = stateNote
	f.Detail = fmt.Sprintf("missing: %s; runs work without them, but cannot be searched for by table or outcome", strings.Join(missing, ", "))
	f.Do = "temporal operator search-attribute create --namespace " + namespace
	for _, m := range missing {
		f.Do += " --name " + m + " --type Keyword"
	}
	return f
}

func (d *doctor) workers(ctx context.Context, cl client.Client, queue string) {
	n, err := workersOn(ctx, cl, queue, d.a.now())
	if err == nil && n == 0 {
		err = fmt.Errorf("nobody polls queue %s: workflows would wait in silence", queue)
	}
	d.add("workers", fmt.Sprintf("%d on queue %s", n, queue), err, "Start one: worker --root URL, or name the queue that yours polls with --queue.")
}

// pollAge is how long ago a worker that lives has asked at most: a long poll
// lasts a minute. The server remembers those that are gone for longer.
const pollAge = 90 * time.Second

// workersOn counts the workers that poll a queue.
func workersOn(ctx context.Context, cl client.Client, queue string, now time.Time) (int, error) {
	r, err := cl.DescribeTaskQueue(ctx, queue, enumspb.TASK_QUEUE_TYPE_WORKFLOW)
	if err != nil {
		return 0, err
	}
	return polling(r.GetPollers(), now), nil
}

// polling counts the workers that have asked lately.
func polling(pollers []*taskqueuepb.PollerInfo, now time.Time) (n int) {
	for _, p := range pollers {
		if now.Sub(p.GetLastAccessTime().AsTime()) < pollAge {
			n++
		}
	}
	return n
}
