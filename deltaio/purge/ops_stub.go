package purge

import (
	"context"
	"errors"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

var errNotYet = errors.New("purge: not there yet")

// KeySet is a set of key tuples, in memory as 16 bytes each.
type KeySet struct{}

// LoadKeys reads the key columns of a table into a set that is matched against
// the target's columns, position by position.
func LoadKeys(ctx context.Context, snap *deltaio.Snapshot, tableColumns, columns []string) (*KeySet, error) {
	return nil, errNotYet
}

// PlanPurge classifies every file of a version and counts what is due.
func PlanPurge(ctx context.Context, t *deltaio.Table, opt PlanOptions) (*PlanResult, error) {
	return nil, errNotYet
}

// MarkRows flags the planned rows.
func MarkRows(ctx context.Context, t *deltaio.Table, opt MarkOptions) (*MarkResult, error) {
	return nil, errNotYet
}

// UnmarkRows fences the run's steps on the table and takes its flags back.
func UnmarkRows(ctx context.Context, t *deltaio.Table, opt UnmarkOptions) (*UnmarkResult, error) {
	return nil, errNotYet
}

// CheckArchive says whether the archive under the store can take the rows of
// src, without writing anything: *ArchiveError when it cannot.
func CheckArchive(ctx context.Context, src *deltaio.Snapshot, dst storage.Store, env deltaio.Env, column string) (*ArchiveCheck, error) {
	return nil, errNotYet
}

// ArchiveRows appends the rows that are to be deleted to the archive under dst,
// which it creates when missing and to which it adds missing columns.
func ArchiveRows(ctx context.Context, src *deltaio.Table, dst storage.Store, env deltaio.Env, opt ArchiveOptions) (*ArchiveResult, error) {
	return nil, errNotYet
}

// VerifyArchive reads the archived rows back from storage.
func VerifyArchive(ctx context.Context, src *deltaio.Table, dst storage.Store, env deltaio.Env, opt VerifyArchiveOptions) (*VerifyResult, error) {
	return nil, errNotYet
}

// RemoveArchived fences archiving and takes the run's rows out of the archive.
func RemoveArchived(ctx context.Context, dst storage.Store, env deltaio.Env, opt RemoveArchivedOptions) (*RemoveArchivedResult, error) {
	return nil, errNotYet
}

// DeleteMarked removes the rows whose archived copies were verified.
func DeleteMarked(ctx context.Context, t *deltaio.Table, opt DeleteOptions) (*DeleteResult, error) {
	return nil, errNotYet
}

// VerifyPurge checks the table after the delete.
func VerifyPurge(ctx context.Context, t *deltaio.Table, opt VerifyPurgeOptions) (*VerifyPurgeResult, error) {
	return nil, errNotYet
}

// RestoreRows appends a run's archived rows to the table they came from.
func RestoreRows(ctx context.Context, t, archive *deltaio.Table, opt RestoreOptions) (*RestoreResult, error) {
	return nil, errNotYet
}

// FindLeftovers lists the runs whose steps on the table have no end.
func FindLeftovers(ctx context.Context, t *deltaio.Table) ([]Leftover, error) {
	return nil, errNotYet
}

// ProveErased accounts for every object under the table's root.
func ProveErased(ctx context.Context, t *deltaio.Table, opt ProveOptions) (*ProveResult, error) {
	return nil, errNotYet
}

// ProbeRights lists, writes and deletes an object under the root.
func ProbeRights(ctx context.Context, s storage.Store, id string) error { return errNotYet }
