// Command lakewarden is the command line for people: it starts purges, answers
// approvals, watches runs, and reads audit, evidence and tables without Temporal.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // policies name time zones; the host may know none
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	program = os.Args[0]
	a := newApp(os.Stdout, os.Stderr)
	err := a.root().ExecuteContext(ctx)
	var quiet quietError
	switch {
	case err == nil:
		return
	case errors.As(err, &quiet): // the answer has been printed
	default:
		fmt.Fprintln(os.Stderr, "lakewarden:", err)
	}
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		os.Exit(coded.ExitCode())
	}
	os.Exit(1)
}
