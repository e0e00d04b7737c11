package activities

import (
	"context"
	"errors"
)

// Activities carries what the steps need from outside; its exported methods are
// the registered activities.
type Activities struct{}

var errNotYet = errors.New("not implemented")

// PlanPurge gates, counts and freezes a run; it writes nothing to the table.
func (a *Activities) PlanPurge(ctx context.Context, in PlanPurgeInput) (*PlanPurgeResult, error) {
	return nil, errNotYet
}

// MarkRows flags the due rows.
func (a *Activities) MarkRows(ctx context.Context, in MarkRowsInput) (*MarkRowsResult, error) {
	return nil, errNotYet
}

// ArchiveRows copies the flagged rows to the archive.
func (a *Activities) ArchiveRows(ctx context.Context, in ArchiveRowsInput) (*ArchiveRowsResult, error) {
	return nil, errNotYet
}

// VerifyArchive re-reads the archive.
func (a *Activities) VerifyArchive(ctx context.Context, in VerifyArchiveInput) (*VerifyArchiveResult, error) {
	return nil, errNotYet
}

// MergeDelete deletes what was archived.
func (a *Activities) MergeDelete(ctx context.Context, in MergeDeleteInput) (*MergeDeleteResult, error) {
	return nil, errNotYet
}

// VerifyPurge checks the table after the delete.
func (a *Activities) VerifyPurge(ctx context.Context, in VerifyPurgeInput) (*VerifyPurgeResult, error) {
	return nil, errNotYet
}

// VacuumTable removes files past retention.
func (a *Activities) VacuumTable(ctx context.Context, in VacuumTableInput) (*VacuumTableResult, error) {
	return nil, errNotYet
}

// ProveErased accounts for every object under the table's root.
func (a *Activities) ProveErased(ctx context.Context, in ProveErasedInput) (*ProveErasedResult, error) {
	return nil, errNotYet
}

// RecordAudit appends to the audit chain.
func (a *Activities) RecordAudit(ctx context.Context, in RecordAuditInput) (*RecordAuditResult, error) {
	return nil, errNotYet
}

// FenceDelete makes sure that no attempt can delete any more, and says whether
// one had.
func (a *Activities) FenceDelete(ctx context.Context, in UndoInput) (*FenceDeleteResult, error) {
	return nil, errNotYet
}

// UnmarkRows fences the mark and takes the flags back.
func (a *Activities) UnmarkRows(ctx context.Context, in UndoInput) (*UnmarkRowsResult, error) {
	return nil, errNotYet
}

// RemoveArchived fences the archive step and removes this run's archive files.
func (a *Activities) RemoveArchived(ctx context.Context, in UndoInput) (*RemoveArchivedResult, error) {
	return nil, errNotYet
}

// FindRun looks a run up without Temporal's history.
func (a *Activities) FindRun(ctx context.Context, in FindRunInput) (*FindRunResult, error) {
	return nil, errNotYet
}

// RestoreRows puts archived rows back.
func (a *Activities) RestoreRows(ctx context.Context, in RestoreRowsInput) (*RestoreRowsResult, error) {
	return nil, errNotYet
}

// Notify sends one event; a channel that fails is a result, not an error.
func (a *Activities) Notify(ctx context.Context, in NotifyInput) (*NotifyResult, error) {
	return nil, errNotYet
}

// ProbeNamespace says whether the namespace has our search attributes.
func (a *Activities) ProbeNamespace(ctx context.Context) (*ProbeNamespaceResult, error) {
	return nil, errNotYet
}
