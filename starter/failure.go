package main

import (
	"errors"

	"go.temporal.io/sdk/temporal"
)

// plainError says what a failure of a workflow says itself, without the layers
// of workflow, child and activity that Temporal wraps around it; they stay
// below, for errors.As.
type plainError struct{ error }

func (e plainError) Unwrap() error { return e.error }

func (e plainError) Error() string {
	var app *temporal.ApplicationError
	var cancelled *temporal.CanceledError
	var terminated *temporal.TerminatedError
	switch {
	case errors.As(e.error, &app):
		return app.Message()
	case errors.As(e.error, &cancelled):
		return "cancelled"
	case errors.As(e.error, &terminated):
		return "terminated"
	}
	return e.error.Error()
}

// plain gives the error for people; nil stays nil.
func plain(err error) error {
	if err == nil {
		return nil
	}
	return plainError{err}
}
