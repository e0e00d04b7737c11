package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/internal/lake"
)

// Types of the application errors that activities return. Only ErrorConflict and
// ErrorUnavailable are retried.
const (
	// ErrorRefused: the request must not be carried out; nothing was touched.
	ErrorRefused = "Refused"
	// ErrorUnsupported: a feature of the table that we do not handle.
	ErrorUnsupported = "Unsupported"
	// ErrorConflict: other writers were in the way; plan again.
	ErrorConflict = "Conflict"
	// ErrorFenced: the step was undone by its run; this attempt came too late.
	ErrorFenced = "Fenced"
	// ErrorHalt: a person must look before anything goes on.
	ErrorHalt = "Halt"
	// ErrorUnavailable: a store or server did not answer.
	ErrorUnavailable = "Unavailable"
)

// fail is the one table that maps errors of the core to Temporal's.
func fail(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return err
	}
	if ctx.Err() != nil { // cancelled, or the worker shuts down
		return ctx.Err()
	}
	kind, retry := classify(err)
	text := err.Error()
	if deltaio.IsDamaged(err) {
		text += damagedAdvice
	}
	// No cause: its text is the message's, and history would hold it twice.
	return temporal.NewApplicationErrorWithOptions(short(text), kind, temporal.ApplicationErrorOptions{NonRetryable: !retry})
}

// damagedAdvice is what to do about damage in a table's own objects.
const damagedAdvice = "; trying again does not help: bring the object back from a backup, or repair the table with its engine, then start again"

// maxMessage bounds what an error carries into history, status and audit: a list
// of thousands of files would burst them.
const maxMessage = 2000

func short(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	half := maxMessage / 2
	return strings.ToValidUTF8(text[:half], "") + " […] " + strings.ToValidUTF8(text[len(text)-half:], "")
}

func classify(err error) (kind string, retry bool) {
	var (
		conflict   *deltaio.ConflictError
		constraint *deltaio.ConstraintError
		invalid    *deltaio.InvalidActionsError
		flags      *purge.FlagsError
		archive    *purge.ArchiveError
		changed    *purge.ArchiveChangedError
		criteria   *purge.CriteriaError
		lost       *purge.LostRecordError
		corrupt    *purge.CorruptionError
		gone       *deltaio.LostFileError
		syntax     *expr.SyntaxError
		bind       *expr.BindError
		outside    *deltaio.OutsideError
		text       *json.SyntaxError // a record that is no JSON, or not of its kind
		member     *json.UnmarshalTypeError
	)
	switch {
	case deltaio.IsUnsupported(err):
		return ErrorUnsupported, false
	case errors.As(err, &conflict):
		return ErrorConflict, true
	case errors.As(err, &flags), errors.As(err, &archive), errors.As(err, &changed), errors.As(err, &criteria), errors.As(err, &outside), errors.As(err, &syntax), errors.As(err, &bind),
		errors.Is(err, lake.ErrNoRoot), errors.Is(err, deltaio.ErrNotATable):
		return ErrorRefused, false
	case errors.As(err, &lost), errors.As(err, &corrupt), errors.As(err, &gone), errors.As(err, &constraint), errors.As(err, &invalid), deltaio.IsDamaged(err),
		errors.As(err, &text), errors.As(err, &member), errors.Is(err, evidence.ErrDigest), errors.Is(err, evidence.ErrNoPlan),
		errors.Is(err, evidence.ErrAuditTable), errors.Is(err, auditlog.ErrRowsLost), errors.Is(err, storage.ErrInvalidKey):
		return ErrorHalt, false
	case errors.Is(err, storage.ErrUnsupported):
		return ErrorUnsupported, false
	}
	// Full disks and lost rights are retried like a store that is away:
	// compensation must outlast them.
	return ErrorUnavailable, true
}

// refused is an error that no retry mends and that leaves everything as it was.
func refused(format string, args ...any) error {
	return temporal.NewApplicationErrorWithOptions(short(fmt.Sprintf(format, args...)), ErrorRefused, temporal.ApplicationErrorOptions{NonRetryable: true})
}

// halt asks for a person.
func halt(format string, args ...any) error {
	return temporal.NewApplicationErrorWithOptions(short(fmt.Sprintf(format, args...)), ErrorHalt, temporal.ApplicationErrorOptions{NonRetryable: true})
}

// fenced tells a late attempt that its step was undone.
func fenced(step string, run Run) error {
	return temporal.NewApplicationErrorWithOptions(
		fmt.Sprintf("step %s of run %s was undone; this attempt came too late and wrote nothing; start a new purge", step, run.RunID),
		ErrorFenced, temporal.ApplicationErrorOptions{NonRetryable: true})
}
