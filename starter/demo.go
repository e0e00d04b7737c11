package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/config"
	"github.com/lakewarden/lakewarden/internal/demo"
	"github.com/lakewarden/lakewarden/internal/runcheck"
	"github.com/lakewarden/lakewarden/internal/sample"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

func (a *app) demoCommand() *cobra.Command {
	o := demo.Options{}
	var rows int
	var policy string
	var stop bool
	c := &cobra.Command{
		Use: "demo", Short: "Purge a sample lakehouse from start to end, on a Temporal development server", Args: cobra.NoArgs,
		Long: "Start a Temporal development server (or use the one at $TEMPORAL_ADDRESS) and a worker, write a sample lakehouse,\npurge it with the approval played through, and check the result. The exit code says whether every check passed.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if stop {
				return a.demoStop(o.Dir)
			}
			o.Out = a.out
			return a.demo(cmd.Context(), o, rows, policy)
		},
	}
	c.Flags().StringVar(&o.Dir, "dir", ".demo", "folder of the demo: lakehouse, server state, logs")
	c.Flags().StringVar(&o.Temporal, "temporal", "", "Temporal CLI (default: bin/temporal, then PATH)")
	c.Flags().StringVar(&o.Worker, "worker", "", "worker program (default: beside this one)")
	c.Flags().BoolVar(&o.Keep, "keep", false, "leave server and worker up")
	c.Flags().BoolVar(&stop, "stop", false, "stop what an earlier demo with --keep left up, and do nothing else")
	c.Flags().IntVar(&rows, "rows", 0, "rows of bronze.vendas (default 2,000,000)")
	c.Flags().StringVar(&policy, "policy", "examples/vendas-365d.yaml", "retention policy")
	return c
}

// demo is the tour: each numbered line is one thing a user would do.
func (a *app) demo(ctx context.Context, o demo.Options, rows int, policyFile string) error {
	say := func(format string, args ...any) { fmt.Fprintf(a.out, format+"\n", args...) }
	began := a.now()
	env, err := demo.Start(ctx, o)
	if err != nil {
		return err
	}
	defer env.Stop()
	say("1. Temporal at %s, Web UI %s", env.Address, orNone(env.UI))

	if err := a.demoLake(ctx, env, rows, say); err != nil {
		return err
	}
	if err := env.StartWorker(ctx); err != nil {
		return err
	}
	say("3. worker up, log in %s", env.WorkerLog)

	a.flags = config.Flags{Roots: []string{env.Lake}, Address: env.Address, Namespace: env.Namespace, Queue: env.Queue}
	result, err := a.demoPurge(ctx, env, policyFile, say)
	if err != nil {
		return err
	}
	say("\n5. what lies in storage now, read again:")
	report, err := a.demoVerify(ctx, result)
	if err != nil {
		return err
	}
	say("\ntook %s", a.now().Sub(began).Round(100*time.Millisecond))
	a.demoEnd(ctx, env, o.Keep, result, say)
	if !report.OK {
		return quietError{"a check failed"}
	}
	return nil
}

// demoEnd says what stays and how to go on from there.
func (a *app) demoEnd(ctx context.Context, env *demo.Env, keep bool, r demoResult, say func(string, ...any)) {
	link := env.Link(workflows.PurgeID(r.Table), r.workflowRun)
	if keep {
		say("run in the Web UI: %s", link)
		say("\nserver and worker stay up on queue %s, lakehouse %s. Look around:", env.Queue, env.Lake)
		at := a.flags
		at.Roots = nil
		root := []string{"--root", env.Lake}
		for _, line := range []string{
			command(at, "status", r.Table),
			command(at, append([]string{"verify", r.RunID}, root...)...),
			command(at, append([]string{"audit", "list"}, root...)...),
			command(at, "run", "purge", "-f", "examples/vendas-365d.yaml", "--wait"),
		} {
			say("  %s", line)
		}
		say("stop them: %s demo --stop --dir %s", quoted(program), quoted(env.Dir))
		return
	}
	if env.Foreign {
		say("run in the Web UI: %s", link)
		a.demoForget(ctx, r, say)
	} else {
		say("the server is stopped now, its Web UI with it; make demo KEEP=1 leaves them up. The lakehouse stays in %s", env.Lake)
	}
}

// demoForget takes the proof of erasure off the user's own server: nobody would
// work on it when the demo's worker is gone.
func (a *app) demoForget(ctx context.Context, r demoResult, say func(string, ...any)) {
	if r.ErasureID == "" {
		return
	}
	cl, _, err := a.dial(ctx)
	if err == nil {
		defer cl.Close()
		err = cl.TerminateWorkflow(ctx, r.ErasureID, "", "the demo is over and its worker gone")
	}
	if err != nil {
		say("workflow %s waits on for a worker that is gone: %v; end it: temporal workflow terminate --workflow-id %s", r.ErasureID, err, r.ErasureID)
		return
	}
	say("workflow %s was terminated: the demo's worker, which would prove the erasure, is gone", r.ErasureID)
}

func (a *app) demoStop(dir string) error {
	stopped, err := demo.StopProcesses(dir)
	if err != nil {
		return err
	}
	if len(stopped) == 0 {
		fmt.Fprintf(a.out, "nothing of a demo is up in %s\n", dir)
	}
	for _, s := range stopped {
		fmt.Fprintf(a.out, "stopped %s\n", s)
	}
	return nil
}

// demoVerify checks the purge as the verb verify does.
func (a *app) demoVerify(ctx context.Context, result demoResult) (*runcheck.Report, error) {
	l, err := a.lake()
	if err != nil {
		return nil, err
	}
	report, err := runcheck.Verify(ctx, l, a.env(), result.AuditTable, result.RunID)
	if err != nil {
		return nil, err
	}
	printChecks(a.out, report)
	return report, nil
}

func orNone(s string) string {
	if s == "" {
		return "(not known)"
	}
	return s
}

// demoLake writes bronze.vendas, as three years that end today.
func (a *app) demoLake(ctx context.Context, env *demo.Env, rows int, say func(string, ...any)) error {
	began := a.now()
	s, err := storage.Open(ctx, env.Lake)
	if err != nil {
		return err
	}
	table := filepath.Join("bronze", "vendas")
	v := sample.Vendas{Rows: rows, Until: a.now().UTC(), Seed: 1}
	detail, err := demo.WriteVendas(ctx, s, table, v, a.env())
	if err != nil {
		return err
	}
	say("2. sample lakehouse in %s: bronze.vendas, %d rows in %d files (%.1f MB), %s", env.Lake, detail.Rows, detail.Files,
		float64(detail.Bytes)/1e6, a.now().Sub(began).Round(100*time.Millisecond))
	return nil
}

// demoResult is a purge's result with Temporal's id of the run.
type demoResult struct {
	workflows.PurgeResult
	workflowRun string
}

// demoPurge starts the policy's purge, approves it as its data steward, and waits.
func (a *app) demoPurge(ctx context.Context, env *demo.Env, policyFile string, say func(string, ...any)) (demoResult, error) {
	data, err := readDocument(policyFile, nil)
	if err != nil {
		return demoResult{}, err
	}
	p, err := spec.Parse(data)
	if err != nil {
		return demoResult{}, fmt.Errorf("%s: %w", policyFile, err)
	}
	p.RequestedBy = me()
	cl, cfg, err := a.dial(ctx)
	if err != nil {
		return demoResult{}, err
	}
	defer cl.Close()
	s, err := startWorkflow(ctx, cl, cfg, workflows.TypePurgeTable, workflows.PurgeID(p.Table), "Purge "+p.Table+" by "+p.Name, purgeDetails(p), p)
	if err != nil {
		return demoResult{}, err
	}
	say("4. PurgeTable started as %s\n   %s", s.WorkflowID, env.Link(s.WorkflowID, s.RunID))
	go a.demoApprove(ctx, cl, s, p)
	result, err := a.view(a.out).follow(ctx, cl, s.WorkflowID, s.RunID)
	if err != nil {
		return demoResult{}, err
	}
	return demoResult{result, s.RunID}, a.print(result, func(w io.Writer) { printResult(w, result) })
}

// demoApprove plays the approver: it reads the status, and approves what it saw.
func (a *app) demoApprove(ctx context.Context, cl client.Client, s started, p spec.RetentionPolicy) {
	if !p.Defaults().Approval.Asked() {
		return
	}
	by := "data-steward"
	if len(p.Approval.Approvers) > 0 {
		by = p.Approval.Approvers[0]
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		st, err := queryStatus(ctx, cl, s.WorkflowID, s.RunID)
		if err != nil || st.Stage != workflows.StageApproval || st.Approval == nil || st.Approval.State != workflows.ApprovalWaiting {
			continue
		}
		d := workflows.Decision{By: by, Digest: st.Approval.Digest, Reason: "demo"}
		if err := updateWorkflow(ctx, cl, s.WorkflowID, workflows.UpdateApprove, d, nil); err != nil {
			fmt.Fprintf(a.out, "          not approved: %v; by hand: %s\n", err, st.Approval.Approve)
			return
		}
		fmt.Fprintf(a.out, "          approved by %s (the demo's own update)\n", by)
		return
	}
}
