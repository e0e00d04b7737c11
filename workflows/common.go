package workflows

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
)

// RetryRequest is the input of the update retry.
type RetryRequest struct {
	By string `json:"by"`
}

// handleRetry registers the update that lets a held run try again.
func handleRetry(ctx workflow.Context, status *Status, asked *int) error {
	return workflow.SetUpdateHandlerWithOptions(ctx, UpdateRetry,
		func(_ workflow.Context, _ RetryRequest) (string, error) {
			*asked++
			return "trying again", nil
		},
		workflow.UpdateHandlerOptions{
			Description: "Try again what holds this run",
			Validator: func(_ workflow.Context, _ RetryRequest) error {
				if status.Stage != StageHeld {
					return invalidUpdate("nothing is held: the run is " + status.Stage)
				}
				return nil
			},
		})
}

func retryCommand(workflowID string) string {
	return `temporal workflow update execute --workflow-id '` + workflowID + `' --name ` + UpdateRetry + ` --input '{"by":"YOU"}'`
}

// drawID draws a run's identity once; replays and resets see the same.
func drawID(ctx workflow.Context) (string, error) {
	var id string
	err := workflow.SideEffect(ctx, func(workflow.Context) any { return uuid.NewString() }).Get(&id)
	return id, err
}

// hasSearchAttributes asks the namespace once, through an activity, so that the
// answer stands in history.
func hasSearchAttributes(ctx workflow.Context) bool {
	var probe activities.ProbeNamespaceResult
	err := workflow.ExecuteActivity(courtesy(ctx, "See which search attributes the namespace has"), steps.ProbeNamespace).Get(ctx, &probe)
	return err == nil && probe.SearchAttributes
}

// childOptions are those of a purge or restore that excludes others on its table.
// A parent that is terminated asks its child to cancel, and so to undo.
func childOptions(ctx workflow.Context, id, summary, details string) workflow.Context {
	return workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: id, ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, WaitForCancellation: true,
		StaticSummary: cut(summary, maxSummary), StaticDetails: cut(details, maxDetails),
	})
}

// purgeChild are the options of a purge that another workflow starts.
func purgeChild(ctx workflow.Context, p spec.RetentionPolicy) workflow.Context {
	return childOptions(ctx, PurgeID(p.Table), "Purge "+p.Table+" by "+p.Name, purgeDetails(p))
}

// purgeDetails tells, in Markdown, what a purge is for.
func purgeDetails(p spec.RetentionPolicy) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "- %s: %s\n", name, cell.Replace(value))
		}
	}
	line("policy", p.Name)
	line("owner", p.Owner)
	line("legal basis", p.LegalBasis)
	line("requested by", p.RequestedBy)
	line("started by", "workflow of another ID; this one excludes every other purge of the table")
	return b.String()
}

// What Temporal takes as summary and as details is a little more.
const (
	maxSummary = 300
	maxDetails = 4000
)

// cut shortens a text: one that is too long fails the workflow task.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// sleepUntil waits durably; already past is fine. What is waited for is shown
// beside the timer.
func sleepUntil(ctx workflow.Context, at time.Time, what string) error {
	left := at.Sub(workflow.Now(ctx))
	if left <= 0 {
		return nil
	}
	return workflow.NewTimerWithOptions(ctx, left, workflow.TimerOptions{Summary: cut(what, maxSummary)}).Get(ctx, nil)
}
