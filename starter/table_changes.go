package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lakewarden/lakewarden/deltaio"
)

func (a *app) tableChanges() *cobra.Command {
	var from, to string
	var limit int
	var full bool
	c := &cobra.Command{
		Use: "changes TABLE --from VERSION [--to VERSION]", Short: "Print the rows that commits changed (change data feed)", Args: cobra.ExactArgs(1),
		Long: `Print the rows that the commits of a range changed, with _change_type, _commit_version
and _commit_timestamp. Both ends are included; each is a version or a time. The table
must have delta.enableChangeDataFeed on for the whole range.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return fmt.Errorf("--limit %d: want a number of rows, 0 for all", limit)
			}
			if from == "" {
				return errors.New("--from is missing: the first version, or a time")
			}
			t, done, err := a.openTable(cmd.Context(), args[0])
			defer done()
			if err != nil {
				return err
			}
			opt := deltaio.ChangesOptions{To: -1}
			if opt.From, err = changeVersion(cmd.Context(), from, t.VersionSince); err != nil {
				return fmt.Errorf("--from %s: %w", from, err)
			}
			if to != "" {
				if opt.To, err = changeVersion(cmd.Context(), to, t.VersionAt); err != nil {
					return fmt.Errorf("--to %s: %w", to, err)
				}
			}
			feed, err := deltaio.Changes(cmd.Context(), t, opt)
			if err != nil {
				return err
			}
			return a.printRows(feed.Records(cmd.Context()), &rowPrinter{schema: feed.Schema(), limit: limit, full: full}, feed.To())
		},
	}
	c.Flags().StringVar(&from, "from", "", "first version, or the first at or after a time")
	c.Flags().StringVar(&to, "to", "", "last version, or the last at or before a time (default the newest)")
	c.Flags().IntVar(&limit, "limit", 0, "rows to print; 0: all")
	c.Flags().BoolVar(&full, "full", false, fmt.Sprintf("do not cut values at %d characters", cellWidth))
	return c
}

// changeVersion reads an end of a range.
func changeVersion(ctx context.Context, text string, at func(context.Context, time.Time) (int64, error)) (int64, error) {
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		return v, nil
	}
	when, err := parseMoment(text)
	if err != nil {
		return 0, fmt.Errorf("want a version or a time: %w", err)
	}
	return at(ctx, when)
}
