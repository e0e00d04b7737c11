package log

import (
	"context"
	"errors"
	"iter"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

var errTodo = errors.New("not built yet")

// ReadCommit reads the actions of one version, in the order of its lines;
// storage.ErrNotExist when the log has no such commit.
func ReadCommit(ctx context.Context, s storage.Store, version int64) ([]Action, error) {
	return nil, errTodo
}

// CommitKey is the storage key of a version's commit.
func CommitKey(version int64) string { return "" }

// Latest gives the newest version of the table.
func Latest(ctx context.Context, s storage.Store) (int64, error) { return 0, errTodo }

// FirstVersion gives the oldest version that Load can still give.
func FirstVersion(ctx context.Context, s storage.Store) (int64, error) { return 0, errTodo }

// Commit is one version of the log.
type Commit struct {
	Version   int64
	Timestamp int64 // ms; in-commit when the commit carries one, else the file's time, made to rise
	Size      int64 // bytes of the commit file
	Actions   []Action
}

// Commits yields the commits of versions from to to (-1: the newest), oldest
// first. Versions whose commit file is gone from the front of the log are
// skipped; a gap is an error.
func Commits(ctx context.Context, s storage.Store, from, to int64) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) { yield(Commit{}, errTodo) }
}

// AtTime gives the newest version committed at or before the time (ms since the
// epoch).
func AtTime(ctx context.Context, s storage.Store, ms int64) (int64, error) { return 0, errTodo }

// State is the table at one version. It is immutable and shared.
type State struct {
	Version   int64
	Timestamp int64 // ms; in-commit timestamp where enabled, else the commit file's time
	Protocol  *Protocol
	Metadata  *Metadata
	Txns      map[string]Txn
	Domains   map[string]DomainMetadata // live ones
	Files     []*Add                    // sorted by path
	// Tombstones are the removed files the log still knows, sorted by path.
	// Expired ones may be among them or not, see YoungTombstones.
	Tombstones []*Remove
}

// Load gives the table at a version; -1 is the newest.
func Load(ctx context.Context, s storage.Store, version int64) (*State, error) { return nil, errTodo }

// Advance gives the table at a newer version (-1: the newest) by reading only
// the commits in between. The receiver itself when there is nothing newer.
func (st *State) Advance(ctx context.Context, s storage.Store, to int64) (*State, error) {
	return nil, errTodo
}

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
