package workflows

import (
	"fmt"
	"strings"

	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
)

// TableOutcome is one line of the summary.
type TableOutcome struct {
	Table       string `json:"table"`
	Policy      string `json:"policy"`
	Outcome     string `json:"outcome"`
	RunID       string `json:"run_id,omitempty"`
	RowsDeleted *int64 `json:"rows_deleted"`
	Error       string `json:"error,omitempty"`
}

// LakehouseResult is the result of PurgeLakehouse.
type LakehouseResult struct {
	Tables    []TableOutcome `json:"tables"`
	Completed int            `json:"completed"`
	Failed    int            `json:"failed"`
	Skipped   int            `json:"skipped"`
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
		if err := workflow.Await(ctx, func() bool { return l.running-l.parked < *l.list.MaxParallel }); err != nil {
			break // cancelled: the children are being cancelled too
		}
		if l.stopped() {
			l.done = append(l.done, TableOutcome{Table: policy.Table, Policy: policy.Name, Outcome: "not_started", Error: "an earlier policy failed"})
			continue
		}
		l.start(ctx, policy)
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
		line := TableOutcome{Table: policy.Table, Policy: policy.Name, Outcome: r.Outcome, RunID: r.RunID, RowsDeleted: r.RowsDeleted}
		if err != nil {
			line.Outcome, line.Error = activities.StatusFailed, rootMessage(err)
			line.RunID, line.Outcome = detailsOf(err, line.Outcome)
		}
		l.park(parked{Table: policy.Table})
		l.running--
		l.done = append(l.done, line)
		workflow.SetCurrentDetails(ctx, ptr(l.result()).Markdown())
	})
}

func (l *lakehouse) child(ctx workflow.Context, policy spec.RetentionPolicy, out *PurgeResult) error {
	o := workflow.GetChildWorkflowOptions(childOptions(ctx, PurgeID(policy.Table), policy.Table, policy.Name))
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
	r := LakehouseResult{Tables: l.done}
	for _, t := range l.done {
		switch t.Outcome {
		case activities.StatusCompleted, activities.StatusDryRun:
			r.Completed++
		case OutcomeSkipped, "not_started":
			r.Skipped++
		default:
			r.Failed++
		}
	}
	return r
}

// cell keeps a message inside its cell of a table.
var cell = strings.NewReplacer("\n", " ", "|", `\|`)

// Markdown renders the summary for the Web UI.
func (r *LakehouseResult) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %d done, %d failed, %d skipped\n\n| table | outcome | rows deleted | |\n|---|---|---|---|\n", r.Completed, r.Failed, r.Skipped)
	for _, t := range r.Tables {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", t.Table, t.Outcome, count(t.RowsDeleted), cell.Replace(t.Error))
	}
	return b.String()
}

func ptr[T any](v T) *T { return &v }
