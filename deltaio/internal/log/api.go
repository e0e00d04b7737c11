package log

import (
	"context"
	"errors"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

var errTodo = errors.New("not built yet")

// WriteCheckpoint writes a checkpoint of the state and then the hint that names
// it.
func WriteCheckpoint(ctx context.Context, s storage.Store, st *State, nowMillis int64) error {
	return errTodo
}

// Cleanup says what CleanExpired did.
type Cleanup struct {
	Deleted    int    // objects of the log
	Oldest     int64  // version of the checkpoint that is now the oldest
	Skipped    string // why nothing was done, "" otherwise
	Unfinished string // why sidecars were left, "" otherwise
}

// CleanExpired deletes log files older than delta.logRetentionDuration that a
// readable checkpoint replaces.
func CleanExpired(ctx context.Context, s storage.Store, st *State, nowMillis int64) (Cleanup, error) {
	return Cleanup{}, errTodo
}
