package workflows

import (
	"cmp"
	"errors"
	"strings"

	"go.temporal.io/sdk/temporal"

	"github.com/lakewarden/lakewarden/activities"
)

// Types of the application errors that close a workflow; those of activities are
// in activities/errors.go.
const (
	TypeInvalidPolicy = "InvalidPolicy"
	TypeRefused       = activities.ErrorRefused
	TypeConflict      = activities.ErrorConflict
	TypeHalt          = activities.ErrorHalt
	TypeRolledBack    = "RolledBack"
	TypeRejected      = "Rejected"
	TypeExpired       = "Expired"
)

// outcomeError ends a run with a named outcome of its own.
type outcomeError struct{ status, message string }

func (e outcomeError) Error() string { return summary(e.status, e.message) }

// summary is an outcome with its reason, in one sentence: "rejected by dpo", but
// "failed: disk full".
func summary(outcome, reason string) string {
	if reason == "" || strings.HasPrefix(reason, outcome) {
		return cmp.Or(reason, outcome)
	}
	return outcome + ": " + reason
}

func failure(kind, message string, details any) error {
	o := temporal.ApplicationErrorOptions{NonRetryable: true}
	if details != nil {
		o.Details = []any{details}
	}
	return temporal.NewApplicationErrorWithOptions(message, kind, o)
}

// refusal turns the plan's reasons into the error that closes the workflow.
func refusal(rs []activities.Refusal) error {
	lines := make([]string, len(rs))
	for i, r := range rs {
		lines[i] = r.Message + " (" + r.Code + "). " + r.Do
	}
	return failure(TypeRefused, strings.Join(lines, "\n"), nil)
}

func isType(err error, kind string) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.Type() == kind
}

// typeOf chooses the error type that closes the workflow.
func typeOf(outcome string, cause error) string {
	switch outcome {
	case activities.StatusRejected:
		return TypeRejected
	case activities.StatusExpired:
		return TypeExpired
	case activities.StatusRolledBack:
		return TypeRolledBack
	}
	var app *temporal.ApplicationError
	if errors.As(cause, &app) && app.Type() != "" {
		return app.Type()
	}
	return TypeHalt
}

// rootMessage is what the innermost error says, without the layers that Temporal
// wraps around an activity's failure.
func rootMessage(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Message()
	}
	var o outcomeError
	if errors.As(err, &o) {
		return o.message
	}
	if temporal.IsCanceledError(err) {
		return "cancelled"
	}
	return err.Error()
}

// unwrapChild passes a child's own failure on, so that a delegating workflow
// fails with the same type and message.
func unwrapChild(err error) error {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		var details PurgeResult
		if app.HasDetails() && app.Details(&details) == nil {
			return failure(app.Type(), app.Message(), details)
		}
		return failure(app.Type(), app.Message(), nil)
	}
	return err
}

func reasonSuffix(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// detailsOf reads the outcome of a purge that failed or was cancelled from its
// error.
func detailsOf(err error, fallback string) (runID, outcome string) {
	var app *temporal.ApplicationError
	var cancelled *temporal.CanceledError
	var details PurgeResult
	switch {
	case errors.As(err, &app) && app.HasDetails() && app.Details(&details) == nil && details.Outcome != "":
		return details.RunID, details.Outcome
	case errors.As(err, &cancelled):
		if cancelled.HasDetails() && cancelled.Details(&details) == nil {
			return details.RunID, activities.StatusCancelled
		}
		return "", activities.StatusCancelled
	}
	return "", fallback
}
