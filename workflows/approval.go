package workflows

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/spec"
)

// Decision is the input of the updates approve and reject.
type Decision struct {
	// By is who decides. Temporal does not prove it: the audit calls it claimed.
	By string `json:"by"`
	// Digest binds the decision to what was shown: the one of the status query.
	Digest string `json:"digest"`
	Reason string `json:"reason,omitempty"`
}

// Approval is the state of the gate, as the status query shows it.
type Approval struct {
	State     string    `json:"state"` // waiting | approved | rejected | expired | cancelled
	Attempt   int       `json:"attempt"`
	Digest    string    `json:"digest"`
	Rows      int64     `json:"rows"` // how many rows the approval covers
	Approvers []string  `json:"approvers,omitempty"`
	Deadline  time.Time `json:"deadline"`
	By        string    `json:"by,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	At        time.Time `json:"at,omitzero"`
	Approve   string    `json:"approve_command,omitempty"`
	Reject    string    `json:"reject_command,omitempty"`
}

// Approval states.
const (
	ApprovalWaiting  = "waiting"
	ApprovalApproved = "approved"
	ApprovalRejected = "rejected"
	ApprovalExpired  = "expired"
	// ApprovalCancelled: the run was cancelled while it waited; nobody decided.
	ApprovalCancelled = "cancelled"
)

// digestDigits is how much of the digest people copy: 64 bits.
const digestDigits = 16

// What people say goes into history, status and audit.
const (
	maxBy     = 200
	maxReason = 2000
)

// gate asks people. One gate serves all attempts of a run.
type gate struct {
	policy    spec.Approval
	requester string
	state     *Approval
}

// open starts an attempt. The digest binds plan, attempt and row count, so that
// an update which a reset delivers again cannot approve other rows.
func (g *gate) open(workflowID, planDigest, content string, rows int64, deadline time.Time) *Approval {
	attempt := 1
	if g.state != nil {
		attempt = g.state.Attempt + 1
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d\n%d", planDigest, content, rows, attempt))
	digest := hex.EncodeToString(sum[:])[:digestDigits]
	command := func(name string) string {
		return fmt.Sprintf(`temporal workflow update execute --workflow-id '%s' --name %s --input '{"by":"YOU","digest":"%s"}'`, workflowID, name, digest)
	}
	g.state = &Approval{
		State: ApprovalWaiting, Attempt: attempt, Digest: digest, Rows: rows, Approvers: g.policy.Approvers,
		Deadline: deadline, Approve: command(UpdateApprove), Reject: command(UpdateReject),
	}
	return g.state
}

// validate refuses a decision before it enters history.
func (g *gate) validate(d Decision) error {
	switch {
	case g.state == nil:
		return invalidUpdate("nothing waits for approval yet; the status query says when")
	case g.state.State != ApprovalWaiting:
		return invalidUpdate("it is decided already: " + g.state.decision())
	case strings.TrimSpace(d.By) == "":
		return invalidUpdate(`"by" must say who decides, for example {"by":"dpo","digest":"` + g.state.Digest + `"}`)
	case len(d.By) > maxBy || len(d.Reason) > maxReason:
		return invalidUpdate(fmt.Sprintf("\"by\" takes up to %d bytes and \"reason\" up to %d: both go into the audit", maxBy, maxReason))
	case d.Digest != g.state.Digest:
		return invalidUpdate(fmt.Sprintf("digest %q is not that of the plan that waits (%s): read the status again, since what was shown has changed", d.Digest, g.state.Digest))
	case d.By == g.requester:
		return invalidUpdate(fmt.Sprintf("%s asked for this purge and cannot decide it", d.By))
	case len(g.policy.Approvers) > 0 && !slices.Contains(g.policy.Approvers, d.By):
		return invalidUpdate(fmt.Sprintf("%s is not an approver of this policy (%s)", d.By, strings.Join(g.policy.Approvers, ", ")))
	}
	return nil
}

func invalidUpdate(msg string) error {
	return temporal.NewApplicationErrorWithOptions(msg, "InvalidDecision", temporal.ApplicationErrorOptions{NonRetryable: true})
}

func (g *gate) decide(ctx workflow.Context, d Decision, state string) (Approval, error) {
	// Two updates may pass their validators before either runs.
	if err := g.validate(d); err != nil {
		return Approval{}, err
	}
	g.state.State, g.state.By, g.state.Reason, g.state.At = state, d.By, d.Reason, workflow.Now(ctx)
	return *g.state, nil
}

// handle registers approve and reject.
func (g *gate) handle(ctx workflow.Context) error {
	for _, u := range []struct{ name, state, description string }{
		{UpdateApprove, ApprovalApproved, "Let the purge go on"},
		{UpdateReject, ApprovalRejected, "Stop the purge and undo it"},
	} {
		err := workflow.SetUpdateHandlerWithOptions(ctx, u.name,
			func(ctx workflow.Context, d Decision) (Approval, error) { return g.decide(ctx, d, u.state) },
			workflow.UpdateHandlerOptions{
				Validator:   func(_ workflow.Context, d Decision) error { return g.validate(d) },
				Description: u.description,
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// wait blocks until the gate is decided or its deadline is over; remind is called
// at each reminder. However it ends, nothing is shown as waiting afterwards.
func (g *gate) wait(ctx workflow.Context, remind func()) error {
	defer func() { g.state.Approve, g.state.Reject = "", "" }()
	every := g.policy.RemindEvery.Or(24 * time.Hour)
	for g.state.State == ApprovalWaiting {
		left := g.state.Deadline.Sub(workflow.Now(ctx))
		if left <= 0 {
			g.state.State = ApprovalExpired
			break
		}
		summary := "Approval: next reminder; deadline " + g.state.Deadline.UTC().Format(time.RFC3339)
		if left <= every {
			summary = "Approval: deadline, then the purge undoes itself"
		}
		decided, err := workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
			Timeout: min(left, every), TimerOptions: workflow.TimerOptions{Summary: summary},
		}, func() bool { return g.state.State != ApprovalWaiting })
		if err != nil {
			if g.state.State == ApprovalWaiting {
				g.state.State = ApprovalCancelled
			}
			return err
		}
		if !decided && left > every {
			remind()
		}
	}
	return nil
}

// decision says what became of the gate, for people.
func (a *Approval) decision() string {
	if a.By == "" {
		return a.State + ", nobody decided"
	}
	return a.State + " by " + a.By + reasonSuffix(a.Reason)
}

// who says who may decide.
func (a *Approval) who() string {
	if len(a.Approvers) == 0 {
		return "anybody but who asked for the purge"
	}
	return strings.Join(a.Approvers, ", ")
}
