package activities

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/lakewarden/lakewarden/internal/notify"
	"github.com/lakewarden/lakewarden/spec"
)

// NotifyInput sends one event to the policy's channels. ID is the same for every
// attempt of one notification.
type NotifyInput struct {
	Run        Run         `json:"run"`
	Notify     spec.Notify `json:"notify"`
	ID         string      `json:"id"`
	Event      spec.Event  `json:"event"`
	At         time.Time   `json:"at"`
	Policy     string      `json:"policy"`
	Owner      string      `json:"owner"`
	Status     string      `json:"status"`
	Summary    string      `json:"summary"`
	Next       string      `json:"next,omitempty"`
	WorkflowID string      `json:"workflow_id"`
	AuditHead  string      `json:"audit_head,omitempty"`
	RowsDue    *int64      `json:"rows_due"`
	RowsGone   *int64      `json:"rows_gone"`
	Deadline   *time.Time  `json:"deadline,omitempty"`
	Error      string      `json:"error,omitempty"`
}

// NotifyResult says whether anybody was told.
type NotifyResult struct {
	Sent bool   `json:"sent"`
	Note string `json:"note,omitempty"` // why not
}

// Notify sends one event to the channel of a policy.
func (a *Activities) Notify(ctx context.Context, in NotifyInput) (*NotifyResult, error) {
	switch {
	case in.Notify.Webhook == nil:
		return &NotifyResult{Note: "the policy names no channel"}, nil
	case len(in.Notify.Events) > 0 && !slices.Contains(in.Notify.Events, in.Event):
		return &NotifyResult{Note: "the policy does not ask for this event"}, nil
	case a.LookupEnv == nil:
		return &NotifyResult{Note: "this worker notifies nobody"}, nil
	}
	hook, err := notify.FromEnv(*in.Notify.Webhook, a.LookupEnv, notify.Options{})
	if err != nil {
		return nil, temporal.NewApplicationErrorWithOptions(err.Error(), ErrorRefused, temporal.ApplicationErrorOptions{NonRetryable: true})
	}
	err = hook.Send(ctx, a.Now(), notify.Message{ID: in.ID, Event: in.Event, Time: in.At, Data: in.data()})
	var failed *notify.Error
	if errors.As(err, &failed) {
		return nil, temporal.NewApplicationErrorWithOptions(failed.Error(), ErrorUnavailable,
			temporal.ApplicationErrorOptions{NonRetryable: !failed.Retryable, NextRetryDelay: failed.RetryAfter})
	}
	return &NotifyResult{Sent: err == nil}, fail(ctx, err)
}

func (in NotifyInput) data() notify.Data {
	return notify.Data{
		RunID: in.Run.RunID, Table: in.Run.Table, Policy: in.Policy, Owner: in.Owner, Status: in.Status, Summary: in.Summary,
		Next: in.Next, WorkflowID: in.WorkflowID, PlanDigest: in.Run.PlanDigest, AuditHead: in.AuditHead,
		RowsDue: in.RowsDue, RowsGone: in.RowsGone, Deadline: in.Deadline, Error: in.Error,
	}
}
