package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/lakewarden/lakewarden/internal/config"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

// started is what a verb that starts a workflow prints.
type started struct {
	WorkflowID string `json:"workflow_id"`
	RunID      string `json:"workflow_run_id"`
	Table      string `json:"table,omitempty"`
}

func (a *app) runCommand() *cobra.Command {
	c := &cobra.Command{Use: "run", Short: "Start a purge"}
	c.AddCommand(a.runPurge(), a.runLakehouse())
	return c
}

func (a *app) runPurge() *cobra.Command {
	var file, by string
	var wait, dry bool
	c := &cobra.Command{
		Use: "purge -f policy.yaml", Short: "Purge one table by its policy", Args: cobra.NoArgs,
		Example: "  lakewarden run purge -f examples/vendas-365d.yaml --wait",
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := readDocument(file, cmd.InOrStdin())
			if err != nil {
				return err
			}
			p, err := spec.Parse(data)
			if err != nil {
				return fmt.Errorf("%s is not valid, nothing was started:\n%w", file, err)
			}
			p.DryRun = p.DryRun || dry
			if by != "" {
				p.RequestedBy = by
			} else if p.RequestedBy == "" {
				p.RequestedBy = me()
			}
			return a.startPurge(cmd.Context(), p, wait)
		},
	}
	c.Flags().StringVarP(&file, "file", "f", "", "retention policy, YAML or JSON; - for standard input")
	c.Flags().BoolVar(&wait, "wait", false, "show progress until the purge ends; the exit code is its outcome")
	c.Flags().BoolVar(&dry, "dry-run", false, "plan and report, and change nothing")
	c.Flags().StringVar(&by, "requested-by", "", "who asks; this person cannot approve (default: you)")
	cobra.CheckErr(c.MarkFlagRequired("file"))
	return c
}

func (a *app) startPurge(ctx context.Context, p spec.RetentionPolicy, wait bool) error {
	cl, cfg, err := a.dial(ctx)
	if err != nil {
		return err
	}
	defer cl.Close()
	s, err := startWorkflow(ctx, cl, cfg, workflows.TypePurgeTable, workflows.PurgeID(p.Table), "Purge "+p.Table+" by "+p.Name, purgeDetails(p), p)
	if err != nil {
		return err
	}
	s.Table = p.Table
	if !wait {
		return a.print(s, func(w io.Writer) {
			fmt.Fprintf(w, "started workflow %s (run %s)\nwatch it: %s\n", s.WorkflowID, s.RunID, command(a.flags, "watch", p.Table))
		})
	}
	return a.watch(ctx, cl, s.WorkflowID, s.RunID)
}

// startWorkflow starts a workflow under an ID that excludes others.
func startWorkflow(ctx context.Context, cl client.Client, cfg config.File, kind, id, summary, details string, input any) (started, error) {
	w, err := cl.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: queueOf(cfg), StaticSummary: summary, StaticDetails: details,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
	}, kind, input)
	var running *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &running) {
		return started{}, fmt.Errorf("workflow %s is running already (run %s); nothing was started; see it: lakewarden status %s", id, running.RunId, id)
	}
	if err != nil {
		return started{}, fmt.Errorf("start workflow %s: %w", id, err)
	}
	return started{WorkflowID: w.GetID(), RunID: w.GetRunID()}, nil
}

func purgeDetails(p spec.RetentionPolicy) string {
	return fmt.Sprintf("**Owner** %s\n\n**Legal basis** %s\n\n**Archive** %s\n\nQuery `status` tells the state and the next command.", p.Owner, p.LegalBasis, p.Archive.Table)
}

func (a *app) runLakehouse() *cobra.Command {
	var file string
	var wait bool
	c := &cobra.Command{
		Use: "lakehouse -f list.yaml", Short: "Purge many tables, a few at a time", Args: cobra.NoArgs,
		Example: "  lakewarden run lakehouse -f examples/nightly.yaml --wait",
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := readDocument(file, cmd.InOrStdin())
			if err != nil {
				return err
			}
			list, err := spec.ParsePurgeLakehouse(data)
			if err != nil {
				return fmt.Errorf("%s is not valid, nothing was started:\n%w", file, err)
			}
			if list.RequestedBy == "" {
				list.RequestedBy = me()
			}
			return a.startLakehouse(cmd.Context(), list, wait)
		},
	}
	c.Flags().StringVarP(&file, "file", "f", "", "list of policies, YAML or JSON; - for standard input")
	c.Flags().BoolVar(&wait, "wait", false, "wait for the summary; the exit code says whether all purges are done")
	cobra.CheckErr(c.MarkFlagRequired("file"))
	return c
}

func (a *app) startLakehouse(ctx context.Context, list spec.PurgeLakehouse, wait bool) error {
	cl, cfg, err := a.dial(ctx)
	if err != nil {
		return err
	}
	defer cl.Close()
	s, err := startWorkflow(ctx, cl, cfg, workflows.TypePurgeLakehouse, "purge-lakehouse:"+list.Name,
		fmt.Sprintf("Purge %d tables", len(list.Policies)), "", list)
	if err != nil {
		return err
	}
	if !wait {
		return a.print(s, func(w io.Writer) { fmt.Fprintf(w, "started workflow %s (run %s)\n", s.WorkflowID, s.RunID) })
	}
	var r workflows.LakehouseResult
	failed := cl.GetWorkflow(ctx, s.WorkflowID, s.RunID).Get(ctx, &r)
	if failed != nil {
		if v, err := cl.QueryWorkflow(ctx, s.WorkflowID, s.RunID, workflows.QueryStatus); err == nil {
			_ = v.Get(&r) // the failure itself is reported below
		}
	}
	if err := a.print(r, func(w io.Writer) { fmt.Fprintln(w, plainText(r.Markdown())) }); err != nil {
		return err
	}
	return plain(failed)
}
