package workflows

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
)

// TableOutcome is one line of the summary.
type TableOutcome struct {
	Table       string `json:"table"`
	Policy      string `json:"policy"`
	Outcome     string `json:"outcome"` // of PurgeTable, or not_started
	RunID       string `json:"run_id,omitempty"`
	RowsDeleted *int64 `json:"rows_deleted"`
	Error       string `json:"error,omitempty"`
}

// OutcomeNotStarted is the outcome, in a PurgeLakehouse's summary, of a policy
// whose turn did not come.
const OutcomeNotStarted = "not_started"

// LakehouseResult is the result of PurgeLakehouse.
type LakehouseResult struct {
	Tables    []TableOutcome `json:"tables"`
	Completed int            `json:"completed"`
	Failed    int            `json:"failed"`
	Skipped   int            `json:"skipped"`
	// Running are under way; Waiting of these wait for people. Policies is how many
	// there are in all.
	Running  int `json:"running,omitempty"`
	Waiting  int `json:"waiting,omitempty"`
	Policies int `json:"policies,omitempty"`
}

// parked is the payload of signalParked.
type parked struct {
	Table   string `json:"table"`
	Waiting bool   `json:"waiting"`
}

// PurgeLakehouse runs many policies through a sliding window of children. One
// that fails does not stop the others unless the list says so; one that waits for
// people frees its slot. It fails at the end when any purge failed.
func PurgeLakehouse(ctx workflow.Context, list spec.PurgeLakehouse) (LakehouseResult, error) {
	list = list.Defaults()
	if err := list.Validate(nil).Err(); err != nil {
		return LakehouseResult{}, failure(TypeInvalidPolicy, "the list is not valid, nothing was touched:\n"+err.Error(), nil)
	}
	l := &lakehouse{list: list, waiting: map[string]bool{}}
	if err := workflow.SetQueryHandler(ctx, QueryStatus, func() (LakehouseResult, error) { return l.result(), nil }); err != nil {
		return LakehouseResult{}, err
	}
	l.listen(ctx)
	workflow.SetCurrentDetails(ctx, ptr(l.result()).Markdown())
	return l.run(ctx)
}

type lakehouse struct {
	list    spec.PurgeLakehouse
	done    []TableOutcome
	running int
	parked  int
	waiting map[string]bool
}

func (l *lakehouse) run(ctx workflow.Context) (LakehouseResult, error) {
	for _, policy := range l.list.Policies {
		why := ""
		if err := workflow.Await(ctx, func() bool { return l.running-l.parked < *l.list.MaxParallel }); err != nil {
			why = "cancelled" // and the children are being cancelled too
		} else if l.stopped() {
			why = "an earlier policy failed"
		}
		if why != "" {
			l.done = append(l.done, TableOutcome{Table: policy.Table, Policy: policy.Name, Outcome: OutcomeNotStarted, Error: why})
			continue
		}
		l.start(ctx, policy)
		workflow.SetCurrentDetails(ctx, ptr(l.result()).Markdown())
	}
	safe, _ := workflow.NewDisconnectedContext(ctx)
	if err := workflow.Await(safe, func() bool { return l.running == 0 }); err != nil {
		return LakehouseResult{}, err
	}
	out := l.result()
	workflow.SetCurrentDetails(safe, out.Markdown())
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if out.Failed > 0 {
		return out, failure("LakehouseIncomplete", fmt.Sprintf("%d of %d purges failed; the others are done", out.Failed, len(out.Tables)), out)
	}
	return out, nil
}

func (l *lakehouse) stopped() bool { return !*l.list.ContinueOnFailure && l.result().Failed > 0 }

func (l *lakehouse) start(ctx workflow.Context, policy spec.RetentionPolicy) {
	policy.DryRun = policy.DryRun || l.list.DryRun
	if policy.RequestedBy == "" {
		policy.RequestedBy = l.list.RequestedBy
	}
	l.running++
	workflow.Go(ctx, func(ctx workflow.Context) {
		var r PurgeResult
		err := l.child(ctx, policy, &r)
		line := TableOutcome{Table: policy.Table, Policy: policy.Name, Outcome: r.Outcome, RunID: r.RunID, RowsDeleted: r.RowsDeleted, Error: brief(r.Message)}
		switch {
		case temporal.IsWorkflowExecutionAlreadyStartedError(err):
			line.Outcome, line.Error = OutcomeSkipped, "another purge or restore of this table is running as workflow "+PurgeID(policy.Table)
		case err != nil:
			line.Error = brief(rootMessage(err))
			line.RunID, line.Outcome = detailsOf(err, activities.StatusFailed)
		}
		l.park(parked{Table: policy.Table})
		l.running--
		l.done = append(l.done, line)
		workflow.SetCurrentDetails(ctx, ptr(l.result()).Markdown())
	})
}

func (l *lakehouse) child(ctx workflow.Context, policy spec.RetentionPolicy, out *PurgeResult) error {
	o := workflow.GetChildWorkflowOptions(purgeChild(ctx, policy))
	o.Memo = map[string]any{memoParent: TypePurgeLakehouse}
	child := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, o), TypePurgeTable, policy)
	return unwrapChild(child.Get(ctx, out))
}

// listen takes the children's word on whether they wait for people.
func (l *lakehouse) listen(ctx workflow.Context) {
	ch := workflow.GetSignalChannel(ctx, signalParked)
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			var s parked
			if more := ch.Receive(ctx, &s); !more {
				return
			}
			l.park(s)
			workflow.SetCurrentDetails(ctx, ptr(l.result()).Markdown())
		}
	})
}

func (l *lakehouse) park(s parked) {
	if l.waiting[s.Table] == s.Waiting {
		return
	}
	l.waiting[s.Table] = s.Waiting
	if s.Waiting {
		l.parked++
	} else {
		l.parked--
	}
}

func (l *lakehouse) result() LakehouseResult {
	r := LakehouseResult{Tables: l.done, Running: l.running, Waiting: l.parked, Policies: len(l.list.Policies)}
	for _, t := range l.done {
		switch t.Outcome {
		case activities.StatusCompleted, activities.StatusDryRun:
			r.Completed++
		case OutcomeSkipped, OutcomeNotStarted:
			r.Skipped++
		default:
			r.Failed++
		}
	}
	return r
}

// maxLine bounds what one table says in the summary, so that a list of thousands
// stays one payload.
const maxLine = 300

func brief(message string) string { return cut(message, maxLine) }

// cell keeps a message inside its cell of a table.
var cell = strings.NewReplacer("\n", " ", "|", `\|`)

// Markdown renders the summary for the Web UI.
func (r *LakehouseResult) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %d done, %d failed, %d skipped\n\n", r.Completed, r.Failed, r.Skipped)
	if r.Running > 0 {
		fmt.Fprintf(&b, "%d under way, %d of them wait for approval; %d policies in all\n\n", r.Running, r.Waiting, r.Policies)
	}
	b.WriteString("| table | outcome | rows deleted | |\n|---|---|---|---|\n")
	for _, t := range r.Tables {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", t.Table, t.Outcome, count(t.RowsDeleted), cell.Replace(t.Error))
	}
	return b.String()
}

func ptr[T any](v T) *T { return &v }
