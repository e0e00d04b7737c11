package log

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

var errTodo = errors.New("not built yet")

// ReadCommit reads the actions of one version, in the order of its lines;
// storage.ErrNotExist when the log has no such commit.
func ReadCommit(ctx context.Context, s storage.Store, version int64) ([]Action, error) {
	return nil, errTodo
}

// EncodeCommit gives the bytes of a commit. It refuses what the protocol forbids
// within one commit: two actions that reconcile with each other, actions that
// belong to checkpoints, a commitInfo that is not first.
func EncodeCommit(actions []Action) ([]byte, error) { return nil, errTodo }

// CommitKey is the storage key of a version's commit.
func CommitKey(version int64) string { return "" }

// DecodePath turns the path of a file action, a URI, into the storage key
// relative to the table's root. It decodes once. Absolute ones are refused with
// *AbsolutePathError; see ResolvePath.
func DecodePath(p string) (string, error) { return "", errTodo }

// ResolvePath is DecodePath that also accepts absolute paths that lie inside
// the table's root, given as the store's URL.
func ResolvePath(rootURL, p string) (string, error) { return "", errTodo }

// EncodePath turns a storage key into the path of a file action, escaped as
// Spark does.
func EncodePath(key string) string { return "" }

// PartitionDir gives the Hive-style directory of a partition, such as
// "a=b/c=__HIVE_DEFAULT_PARTITION__", escaped as Spark does; it is a storage
// key, not yet a URI. "" without columns.
func PartitionDir(cols []string, values map[string]*string) string { return "" }

func reconcilePath(p string) string { return p }

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

// Stats are the statistics of a file. Columns are keyed by physical name and
// nest as the schema does; numbers are json.Number, exact.
type Stats struct {
	NumRecords  *int64 // rows in the data file, those hidden by a deletion vector included
	MinValues   map[string]any
	MaxValues   map[string]any
	NullCount   map[string]any
	TightBounds bool // true when absent
}

// ParseStats reads the file's statistics; nil without error when unknown.
func (a *Add) ParseStats() (*Stats, error) { return nil, errTodo }

// Stats is ParseStats.
func (st *State) Stats(a *Add) (*Stats, error) { return a.ParseStats() }

// NumRecords gives the physical row count, when the statistics know it.
func (a *Add) NumRecords() (int64, bool) { return 0, false }

// Schema parses the table's schema. Column mapping metadata is left out of
// tables in mode none, so that Field.PhysicalName is right.
func (m *Metadata) Schema() (*schema.Struct, error) { return nil, errTodo }

// MappingMode is none, name or id: delta.columnMapping.mode where the protocol
// supports it.
func (st *State) MappingMode() string { return "none" }

// InCommitTimestamps says whether commits of this table must carry one.
func (st *State) InCommitTimestamps() bool { return false }

// YoungTombstones are those that have not expired by
// delta.deletedFileRetentionDuration.
func (st *State) YoungTombstones(nowMillis int64) ([]*Remove, error) { return nil, errTodo }

// Interval reads a duration property of the table.
func (m *Metadata) Interval(property string, otherwise time.Duration) (time.Duration, error) {
	return 0, errTodo
}

// ParseInterval reads Spark's interval form, such as "interval 30 days" or
// "1 week 12 hours". Months and years have no fixed length and are refused.
func ParseInterval(text string) (time.Duration, error) { return 0, errTodo }

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

// CommitInfo accessors.

// Operation is the name of the operation, "" when absent.
func (c *CommitInfo) Operation() string { return "" }

// InCommitTimestamp is the in-commit timestamp, when there is one.
func (c *CommitInfo) InCommitTimestamp() (int64, bool) { return 0, false }

// Set puts a field.
func (c *CommitInfo) Set(name string, value any) error { return errTodo }

// Get decodes a field into v; false when absent or of another type.
func (c *CommitInfo) Get(name string, v any) bool { return false }
