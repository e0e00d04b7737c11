// Command worker runs lakewarden's workflows and activities on a Temporal task
// queue, until it is told to stop.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // policies name time zones; the host may know none

	"github.com/lakewarden/lakewarden/internal/config"
	"github.com/lakewarden/lakewarden/internal/run"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := work(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

func work(ctx context.Context, args []string) error {
	var f config.Flags
	var roots multi
	fs := flag.NewFlagSet("worker", flag.ContinueOnError)
	fs.StringVar(&f.File, "config", "", "configuration file (default: "+config.DefaultFile+" where it exists; $"+config.EnvFile+")")
	fs.Var(&roots, "root", "lakehouse root: a path or URL, or schema,schema=URL; may be repeated ($"+config.EnvRoot+")")
	fs.StringVar(&f.RunFolder, "run-folders", "", "path or URL under which runs keep plans, manifests and certificates ($"+config.EnvRunFolder+")")
	fs.StringVar(&f.Queue, "queue", "", "Temporal task queue (default lakewarden; $"+config.EnvQueue+")")
	fs.IntVar(&f.Parallel, "parallel", 0, "files in flight per activity (default: CPUs, at most 8; $"+config.EnvParallel+")")
	fs.StringVar(&f.Address, "address", "", "Temporal server (default: $TEMPORAL_ADDRESS, the profile, localhost:7233)")
	fs.StringVar(&f.Namespace, "namespace", "", "Temporal namespace (default: $TEMPORAL_NAMESPACE, the profile, default)")
	fs.StringVar(&f.Profile, "profile", "", "profile of the Temporal CLI's configuration ($TEMPORAL_PROFILE)")
	version := fs.Bool("version", false, "print the version")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if *version {
		fmt.Println("worker version", run.Version)
		return nil
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("unknown argument %q; see --help", fs.Arg(0))
	}
	f.Roots = roots
	c, err := config.Load(f, os.LookupEnv)
	if err != nil {
		return err
	}
	return run.Worker(ctx, run.Options{Config: c, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))})
}

// multi is a flag that may be repeated.
type multi []string

func (m *multi) String() string     { return strings.Join(*m, " ") }
func (m *multi) Set(s string) error { *m = append(*m, s); return nil }
