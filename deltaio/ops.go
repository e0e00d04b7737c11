package deltaio

import (
	"context"
	"errors"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// AddColumnOptions add one nullable column at the end of the schema.
type AddColumnOptions struct {
	Base    *Snapshot
	Name    string
	Type    schema.Type
	Comment string
	Step    *Step
	Info    map[string]any
}

// AddColumn adds the column. NothingToDo when a nullable column of that name and
// type exists; an error when it has another type.
func AddColumn(ctx context.Context, t *Table, opt AddColumnOptions) (CommitResult, error) {
	return CommitResult{}, errors.ErrUnsupported
}

// RestoreOptions name the version whose files become the table's again.
type RestoreOptions struct {
	Version int64
	Step    *Step
	Info    map[string]any
}

// RestoreResult counts the files.
type RestoreResult struct {
	CommitResult
	Restored, Removed int
}

// Restore commits the files of an older version. Files must still exist.
func Restore(ctx context.Context, t *Table, opt RestoreOptions) (*RestoreResult, error) {
	return nil, errors.ErrUnsupported
}

// VacuumOptions say what a vacuum deletes.
type VacuumOptions struct {
	// Retention asked for. 0: the table's property, else 168 h.
	Retention time.Duration
	// Override allows a retention below the floor; it names the accepted risk and
	// goes into the commit. "": refuse.
	Override string
	DryRun   bool
	Journal  Journal // optional: cursor and pending deletions survive the process
	Info     map[string]any
}

// VacuumResult is what a vacuum found and did.
type VacuumResult struct {
	Deleted, Absent, Pending int
	BytesDeleted             int64
}

// Vacuum deletes files that no live file and no unexpired tombstone refers to.
func Vacuum(ctx context.Context, t *Table, opt VacuumOptions) (*VacuumResult, error) {
	return nil, errors.ErrUnsupported
}

// Checkpoint writes a checkpoint of the newest version.
func Checkpoint(ctx context.Context, t *Table) (int64, error) { return 0, errors.ErrUnsupported }

// HistoryEntry is one commit.
type HistoryEntry struct {
	Version   int64
	Time      time.Time
	Operation string
	Info      *log.CommitInfo
}

// History gives the newest limit commits, newest first. 0: all that the log holds.
func History(ctx context.Context, t *Table, limit int) ([]HistoryEntry, error) {
	return nil, errors.ErrUnsupported
}

// TableDetail describes the newest version.
type TableDetail struct {
	ID, Name, URL string
	Version       int64
	Files         int
	Bytes         int64
}

// Detail describes the newest version.
func Detail(ctx context.Context, t *Table) (*TableDetail, error) { return nil, errors.ErrUnsupported }

// Fence commits the even version after a step, so that a worker that wakes late
// cannot apply it. step.Version is even.
func Fence(ctx context.Context, t *Table, step Step, info map[string]any) (CommitResult, error) {
	return CommitResult{}, errors.ErrUnsupported
}
