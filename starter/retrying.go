package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// retrying is a step that failed and is tried again.
type retrying struct {
	Step      string     `json:"step"`
	Attempt   int32      `json:"attempt"`
	LastError string     `json:"last_error"`
	NextTry   *time.Time `json:"next_try,omitempty"` // null: it runs now
}

func (r retrying) String() string {
	next := "running now"
	if r.NextTry != nil {
		next = "next try at " + moment(r.NextTry)
	}
	return fmt.Sprintf("%s: attempt %d, last error: %s, %s", r.Step, r.Attempt, strings.Join(strings.Fields(r.LastError), " "), next)
}

// retries gives the steps that are being tried again.
func retries(pending []*workflowpb.PendingActivityInfo) []retrying {
	var rs []retrying
	for _, p := range pending {
		if p.GetAttempt() < 2 || p.GetLastFailure() == nil {
			continue
		}
		r := retrying{Step: p.GetActivityType().GetName(), Attempt: p.GetAttempt(), LastError: p.GetLastFailure().GetMessage()}
		if at := p.GetNextAttemptScheduleTime(); at != nil {
			next := at.AsTime()
			r.NextTry = &next
		}
		rs = append(rs, r)
	}
	return rs
}

// describe asks the server what it knows of a workflow; nil when it does not
// answer. That explains a state and decides nothing, so that no answer is taken
// for nothing to tell.
func describe(ctx context.Context, cl client.Client, id, runID string) *workflowservice.DescribeWorkflowExecutionResponse {
	d, err := cl.DescribeWorkflow(ctx, id, runID)
	if err != nil {
		return nil
	}
	return d.RawResponse
}
