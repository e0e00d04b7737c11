package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func (a *app) tableCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "table", Short: "Look into a Delta table, without any other engine",
		Long: `Look into a Delta table, without any other engine and without Temporal. A table is a
name such as bronze.vendas, which lies under the configured roots, or a path or URL:
what holds a slash, or starts with a dot, is a path. Nothing is ever written.`,
	}
	c.AddCommand(
		a.tableDetail(), a.tableHistory(), a.tableSchema(), a.tableFiles(), a.tablePartitions(),
		a.tableShow(), a.tableChecksum(), a.tableChanges(), a.tableFsck(),
	)
	return c
}

// moment in a table's life: the flags that choose a version.
type tableAt struct {
	version   int64
	timestamp string
}

func (at *tableAt) flags(c *cobra.Command) {
	c.Flags().Int64Var(&at.version, "version", -1, "the table at this version (default the newest)")
	c.Flags().StringVar(&at.timestamp, "timestamp", "", "the table as it was at this time: 2026-01-31, 2026-01-31T10:00:00Z; UTC where no zone is said")
	c.MarkFlagsMutuallyExclusive("version", "timestamp")
}

// given says that a version was asked for, whatever it is.
func (at *tableAt) given(c *cobra.Command) bool {
	return c.Flags().Changed("version") || c.Flags().Changed("timestamp")
}

// openTable opens the table that an argument names. close is never nil.
func (a *app) openTable(ctx context.Context, arg string) (t *deltaio.Table, done func(), err error) {
	done = func() {}
	var store storage.Store
	if isPath(arg) {
		store, err = openPath(ctx, arg)
	} else {
		store, err = a.openName(ctx, arg)
	}
	if err != nil {
		return nil, done, err
	}
	if c, ok := store.(interface{ Close() error }); ok {
		done = func() { _ = c.Close() } // it was only read
	}
	t, err = deltaio.Open(ctx, store, a.env())
	if errors.Is(err, deltaio.ErrNotATable) {
		err = fmt.Errorf("%w: it has no _delta_log with commits in it", err)
	}
	return t, done, err
}

// isPath tells paths and URLs from names, which never hold a slash.
func isPath(arg string) bool {
	return strings.ContainsAny(arg, `/\`) || strings.HasPrefix(arg, ".")
}

func openPath(ctx context.Context, arg string) (storage.Store, error) {
	address := arg
	if !strings.Contains(arg, "://") {
		abs, err := filepath.Abs(arg)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", arg, err)
		}
		address = abs
	}
	s, err := storage.Open(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", arg, err)
	}
	return s, nil
}

func (a *app) openName(ctx context.Context, name string) (storage.Store, error) {
	l, err := a.lake()
	if err == nil {
		var s storage.Store
		if s, err = l.Table(ctx, name); err == nil {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%w (a folder is written as a path, such as ./%s)", err, name)
}

// openSnapshot opens a table at the version that the flags choose.
func (a *app) openSnapshot(cmd *cobra.Command, arg string, at *tableAt) (*deltaio.Snapshot, func(), error) {
	t, done, err := a.openTable(cmd.Context(), arg)
	if err != nil {
		return nil, done, err
	}
	s, err := at.snapshot(cmd, t)
	return s, done, err
}

func (at *tableAt) snapshot(cmd *cobra.Command, t *deltaio.Table) (*deltaio.Snapshot, error) {
	switch {
	case cmd.Flags().Changed("version"):
		return t.SnapshotAt(cmd.Context(), at.version)
	case cmd.Flags().Changed("timestamp"):
		when, err := parseMoment(at.timestamp)
		if err != nil {
			return nil, fmt.Errorf("--timestamp: %w", err)
		}
		return t.SnapshotAsOf(cmd.Context(), when)
	}
	return t.Snapshot(cmd.Context())
}

// parseMoment reads a time as people write it.
func parseMoment(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: want 2026-01-31 or 2026-01-31T10:00:00Z", text)
}
