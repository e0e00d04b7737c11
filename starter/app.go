package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/internal/config"
	"github.com/lakewarden/lakewarden/internal/lake"
	"github.com/lakewarden/lakewarden/internal/run"
	"github.com/lakewarden/lakewarden/workflows"
)

// app carries what the verbs share.
type app struct {
	out, err io.Writer
	flags    config.Flags
	json     bool
	now      func() time.Time
}

func newApp(out, err io.Writer) *app { return &app{out: out, err: err, now: time.Now} }

// quietError ends the program with exit code 1 without another message.
type quietError struct{ reason string }

func (e quietError) Error() string { return e.reason }

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "lakewarden",
		Short: "Durable retention purge for Delta lakehouses",
		Long: `lakewarden purges rows past their retention from Delta tables, durably: plan,
mark, approve, archive, verify, delete, verify, audit, vacuum, prove erasure.
Runs are Temporal workflows; a worker does the work.`,
		SilenceUsage: true, SilenceErrors: true, Version: run.Version,
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	f := root.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "print JSON")
	f.StringVar(&a.flags.File, "config", "", "configuration file (default "+config.DefaultFile+" where it exists; $"+config.EnvFile+")")
	f.StringArrayVar(&a.flags.Roots, "root", nil, "lakehouse root: a path or URL, or schema,schema=URL; may be repeated ($"+config.EnvRoot+")")
	f.StringVar(&a.flags.RunFolder, "run-folders", "", "path or URL under which runs keep plans, manifests and certificates ($"+config.EnvRunFolder+")")
	f.StringVar(&a.flags.Queue, "queue", "", "Temporal task queue (default "+workflows.TaskQueue+"; $"+config.EnvQueue+")")
	f.StringVar(&a.flags.Address, "address", "", "Temporal server (default $TEMPORAL_ADDRESS, the profile, localhost:7233)")
	f.StringVar(&a.flags.Namespace, "namespace", "", "Temporal namespace (default $TEMPORAL_NAMESPACE, the profile, default)")
	f.StringVar(&a.flags.Profile, "profile", "", "profile of the Temporal CLI's configuration ($TEMPORAL_PROFILE)")
	root.AddCommand(
		a.runCommand(), a.decideCommand(workflows.UpdateApprove), a.decideCommand(workflows.UpdateReject), a.retryCommand(), a.cancelCommand(),
		a.statusCommand(), a.watchCommand(), a.scheduleCommand(), a.restoreCommand(), a.verifyCommand(), a.auditCommand(),
		a.tableCommand(), a.specCommand(), a.doctorCommand(), a.demoCommand(), a.sampleCommand(),
	)
	return root
}

func (a *app) config() (config.File, error) { return config.Load(a.flags, os.LookupEnv) }

// dial connects to Temporal. The SDK's own log lines would spoil the output.
func (a *app) dial(ctx context.Context) (client.Client, config.File, error) {
	c, err := a.config()
	if err != nil {
		return nil, c, err
	}
	cl, err := c.Dial(ctx, quietLogger())
	return cl, c, err
}

func (a *app) lake() (*lake.Lake, error) {
	c, err := a.config()
	if err != nil {
		return nil, err
	}
	return c.Lake()
}

func (a *app) env() deltaio.Env { return deltaio.Env{Now: a.now, Engine: "lakewarden/" + run.Version} }

func queueOf(c config.File) string { return cmp.Or(c.Queue, workflows.TaskQueue) }

// workflowID reads an argument: a table stands for its purge.
func workflowID(arg string) string {
	if strings.Contains(arg, ":") {
		return arg
	}
	return workflows.PurgeID(arg)
}

// me names the person at the terminal, as they claim to be.
func me() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		return name + "@" + host
	}
	return name
}

func readDocument(path string, stdin io.Reader) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(stdin)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	return data, nil
}
