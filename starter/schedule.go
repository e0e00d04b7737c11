package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

// catchup is how late a missed purge may still start: a stale one would use
// today's cutoff anyway, and a day's runs must not pile up after an outage.
const catchup = time.Hour

func (a *app) scheduleCommand() *cobra.Command {
	c := &cobra.Command{Use: "schedule", Short: "Purge on a Temporal Schedule"}
	c.AddCommand(a.scheduleCreate(), a.scheduleList(),
		a.scheduleChange("pause", "Stop a schedule for now", func(ctx context.Context, h client.ScheduleHandle) error {
			return h.Pause(ctx, client.SchedulePauseOptions{Note: "paused by " + me()})
		}),
		a.scheduleChange("resume", "Let a paused schedule go on", func(ctx context.Context, h client.ScheduleHandle) error {
			return h.Unpause(ctx, client.ScheduleUnpauseOptions{Note: "resumed by " + me()})
		}),
		a.scheduleChange("trigger", "Run a schedule's purge now", func(ctx context.Context, h client.ScheduleHandle) error {
			return h.Trigger(ctx, client.ScheduleTriggerOptions{Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP})
		}),
		a.scheduleChange("delete", "Delete a schedule; its runs stay", func(ctx context.Context, h client.ScheduleHandle) error { return h.Delete(ctx) }),
	)
	return c
}

func (a *app) scheduleCreate() *cobra.Command {
	var file, id, cron, zone string
	var paused bool
	c := &cobra.Command{
		Use: "create -f policy.yaml --cron '0 3 * * *'", Short: "Purge a table again and again", Args: cobra.NoArgs,
		Long: "Create a Temporal Schedule for a policy. A run that would overlap another is skipped, one that is more than an\nhour late is not caught up, and a run that fails pauses the schedule.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := readDocument(file, cmd.InOrStdin())
			if err != nil {
				return err
			}
			p, err := spec.Parse(data)
			if err != nil {
				return fmt.Errorf("%s is not valid, nothing was created:\n%w", file, err)
			}
			if id == "" {
				id = "purge-" + p.Name
			}
			if p.RequestedBy == "" {
				p.RequestedBy = "schedule:" + id
			}
			return a.createSchedule(cmd.Context(), id, cron, zone, paused, p)
		},
	}
	c.Flags().StringVarP(&file, "file", "f", "", "retention policy, YAML or JSON; - for standard input")
	c.Flags().StringVar(&id, "id", "", "schedule ID (default: purge- and the policy's name)")
	c.Flags().StringVar(&cron, "cron", "0 3 * * *", "when, as a cron expression")
	c.Flags().StringVar(&zone, "timezone", "UTC", "time zone of the cron expression")
	c.Flags().BoolVar(&paused, "paused", false, "create it paused")
	cobra.CheckErr(c.MarkFlagRequired("file"))
	return c
}

func (a *app) createSchedule(ctx context.Context, id, cron, zone string, paused bool, p spec.RetentionPolicy) error {
	cl, cfg, err := a.dial(ctx)
	if err != nil {
		return err
	}
	defer cl.Close()
	_, err = cl.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID: id, Paused: paused, PauseOnFailure: true, CatchupWindow: catchup, Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		Note: "created by " + me(), Spec: client.ScheduleSpec{CronExpressions: []string{cron}, TimeZoneName: zone},
		Action: &client.ScheduleWorkflowAction{
			// Another ID than the purge's own: the schedule appends a timestamp, and
			// the run delegates to the workflow that excludes others.
			ID: "scheduled-" + workflows.PurgeID(p.Table), Workflow: workflows.TypePurgeTable, Args: []any{p}, TaskQueue: queueOf(cfg),
			StaticSummary: "Purge " + p.Table + " by " + p.Name, StaticDetails: purgeDetails(p),
		},
	})
	if err != nil {
		return fmt.Errorf("schedule %s: %w", id, err)
	}
	return a.print(map[string]string{"schedule_id": id}, func(w io.Writer) { fmt.Fprintf(w, "schedule %s created: %s (%s)\n", id, cron, zone) })
}

// scheduleLine is one schedule as listed.
type scheduleLine struct {
	ID     string     `json:"id"`
	Paused bool       `json:"paused"`
	Note   string     `json:"note"`
	Next   *time.Time `json:"next"`
	Last   *time.Time `json:"last"`
}

func (a *app) scheduleList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List schedules of purges", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, _, err := a.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer cl.Close()
			lines, err := purgeSchedules(cmd.Context(), cl)
			if err != nil {
				return fmt.Errorf("list schedules: %w", err)
			}
			return a.print(lines, func(w io.Writer) { printSchedules(w, lines) })
		},
	}
}

func purgeSchedules(ctx context.Context, cl client.Client) ([]scheduleLine, error) {
	it, err := cl.ScheduleClient().List(ctx, client.ScheduleListOptions{})
	if err != nil {
		return nil, err
	}
	lines := []scheduleLine{}
	for it.HasNext() {
		s, err := it.Next()
		if err != nil {
			return nil, err
		}
		if s.WorkflowType.Name == workflows.TypePurgeTable || s.WorkflowType.Name == workflows.TypePurgeLakehouse {
			lines = append(lines, lineOf(s))
		}
	}
	return lines, nil
}

func lineOf(s *client.ScheduleListEntry) scheduleLine {
	l := scheduleLine{ID: s.ID, Paused: s.Paused, Note: s.Note}
	if len(s.NextActionTimes) > 0 {
		l.Next = &s.NextActionTimes[0]
	}
	if n := len(s.RecentActions); n > 0 {
		l.Last = &s.RecentActions[n-1].ActualTime
	}
	return l
}

func printSchedules(w io.Writer, lines []scheduleLine) {
	rows := make([][]string, len(lines))
	for i, l := range lines {
		state := "active"
		if l.Paused {
			state = "paused"
		}
		rows[i] = []string{l.ID, state, moment(l.Next), moment(l.Last), l.Note}
	}
	printTable(w, []string{"schedule", "state", "next", "last", "note"}, rows)
}

func (a *app) scheduleChange(name, short string, change func(context.Context, client.ScheduleHandle) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " SCHEDULE", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, _, err := a.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer cl.Close()
			if err := change(cmd.Context(), cl.ScheduleClient().GetHandle(cmd.Context(), args[0])); err != nil {
				return fmt.Errorf("%s schedule %s: %w", name, args[0], err)
			}
			return a.print(map[string]string{name: args[0]}, func(w io.Writer) { fmt.Fprintf(w, "%s: done for %s\n", name, args[0]) })
		},
	}
}
