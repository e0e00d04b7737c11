package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lakewarden/lakewarden/deltaio"
)

// commitShown is one commit.
type commitShown struct {
	Version    int64             `json:"version"`
	Time       time.Time         `json:"time"`
	Operation  string            `json:"operation"`
	User       string            `json:"user,omitempty"`
	Engine     string            `json:"engine,omitempty"`
	RunID      string            `json:"run_id,omitempty"` // of lakewarden
	Step       string            `json:"step,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"`
	Metrics    map[string]string `json:"metrics,omitempty"`
	Added      int               `json:"files_added"`
	Removed    int               `json:"files_removed"`
	Changes    int               `json:"change_files"`
	Blind      *bool             `json:"blind_append,omitempty"`
	TxnID      string            `json:"txn_id,omitempty"`
	Job        json.RawMessage   `json:"job,omitempty"`
}

func (a *app) tableHistory() *cobra.Command {
	var at tableAt
	var limit int
	c := &cobra.Command{
		Use: "history TABLE", Short: "List the commits, newest first", Args: cobra.ExactArgs(1),
		Long: `List the commits, newest first: operation, figures, user, and the run and step of
lakewarden that made them. --version and --timestamp leave out what came later. It
also works on tables whose features are not known here.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return fmt.Errorf("--limit %d: want a number of commits, 0 for all", limit)
			}
			t, done, err := a.openTable(cmd.Context(), args[0])
			defer done()
			if err != nil {
				return err
			}
			entries, err := history(cmd, t, &at, limit)
			if err != nil {
				return err
			}
			shown := make([]commitShown, len(entries))
			for i := range entries {
				shown[i] = shownCommit(&entries[i])
			}
			return a.print(shown, func(w io.Writer) { printHistory(w, shown) })
		},
	}
	at.flags(c)
	c.Flags().IntVar(&limit, "limit", 20, "commits to list; 0: all that the log holds")
	return c
}

// history gives the newest commits up to the version asked for.
func history(cmd *cobra.Command, t *deltaio.Table, at *tableAt, limit int) ([]deltaio.HistoryEntry, error) {
	ctx := cmd.Context()
	if !at.given(cmd) {
		return deltaio.History(ctx, t, limit)
	}
	to := at.version
	if cmd.Flags().Changed("timestamp") {
		when, err := parseMoment(at.timestamp)
		if err != nil {
			return nil, fmt.Errorf("--timestamp: %w", err)
		}
		if to, err = t.VersionAt(ctx, when); err != nil {
			return nil, err
		}
	}
	if to < 0 {
		return nil, fmt.Errorf("--version %d: %w", to, deltaio.ErrNoVersion)
	}
	after := int64(-1)
	if limit > 0 {
		after = max(after, to-int64(limit))
	}
	var out []deltaio.HistoryEntry
	for e, err := range t.Commits(ctx, after, to) {
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	slices.Reverse(out)
	return out, nil
}

func shownCommit(e *deltaio.HistoryEntry) commitShown {
	c := commitShown{
		Version: e.Version, Time: e.Time, Operation: e.Operation, Engine: e.Engine, Parameters: e.Parameters, Metrics: e.Metrics, Blind: e.BlindAppend, TxnID: e.TxnID,
	}
	for _, a := range e.Actions {
		switch {
		case a.Add != nil:
			c.Added++
		case a.Remove != nil:
			c.Removed++
		case a.CDC != nil:
			c.Changes++
		}
	}
	if e.Info == nil {
		return c
	}
	var ours struct {
		RunID string `json:"runId"`
		Step  string `json:"step"`
	}
	if e.Info.Get("lakewarden", &ours) {
		c.RunID, c.Step = ours.RunID, ours.Step
	}
	if !e.Info.Get("userName", &c.User) {
		e.Info.Get("userId", &c.User)
	}
	if e.Info.Get("job", &c.Job) && string(c.Job) == "null" {
		c.Job = nil
	}
	return c
}

func printHistory(w io.Writer, commits []commitShown) {
	rows := make([][]string, len(commits))
	for i, c := range commits {
		run := strings.TrimSpace(c.RunID + " " + c.Step)
		rows[i] = []string{
			fmt.Sprint(c.Version), c.Time.UTC().Format("2006-01-02T15:04:05.000Z"), cell(c.Operation, cellWidth), cell(run, 0), cell(c.User, cellWidth),
			cell(figures(c), 2*cellWidth), cell(c.Engine, cellWidth),
		}
	}
	printGrid(w, []string{"version", "time", "operation", "run and step", "user", "figures", "engine"}, rows)
}

// figures are the metrics; of commits without them what the log itself shows.
func figures(c commitShown) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(c.Metrics)) {
		if v := c.Metrics[k]; v != "0" {
			out = append(out, k+" "+v)
		}
	}
	if len(c.Metrics) == 0 && c.Added+c.Removed+c.Changes > 0 {
		out = append(out, fmt.Sprintf("files added %d, removed %d", c.Added, c.Removed))
	}
	return strings.Join(out, ", ")
}
