package activities

import (
	"context"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// ArchiveRowsInput copies the flagged rows to the archive. Attempt counts from
// 1; a later attempt replaces the files of the one before in one commit.
type ArchiveRowsInput struct {
	Run        Run       `json:"run"`
	Attempt    int       `json:"attempt"`
	ArchivedAt time.Time `json:"archived_at"`
}

// ArchiveRowsResult says what the archive holds of this run.
type ArchiveRowsResult struct {
	Attempt        int    `json:"attempt"`
	ArchiveTable   string `json:"archive_table"`
	Rows           int64  `json:"rows"`
	RowsHeld       int64  `json:"rows_held"` // flagged, but held since
	Files          int    `json:"files"`
	Bytes          int64  `json:"bytes"`
	ArchiveVersion int64  `json:"archive_version"`
	SourceVersion  int64  `json:"source_version"`
	Content        string `json:"content"` // multiset hash over source columns
	Record         string `json:"record"`
	// AppendOnly: the archive forbids replacing; rows changed since the first
	// attempt, so that this run cannot go on.
	AppendOnly bool `json:"append_only,omitempty"`
}

// VerifyArchiveInput re-reads the archive from storage.
type VerifyArchiveInput struct {
	Run     Run               `json:"run"`
	Archive ArchiveRowsResult `json:"archive"`
}

// VerifyArchiveResult is the proof that MergeDelete asks for.
type VerifyArchiveResult struct {
	Rows    int64  `json:"rows"`
	Content string `json:"content"`
	Files   int    `json:"files"`
	Record  string `json:"record"` // of the archive that was verified
}

// RemoveArchivedResult says what became of this run's archive files.
type RemoveArchivedResult struct {
	Files int    `json:"files"`
	Rows  int64  `json:"rows"`
	Kept  bool   `json:"kept"` // an append-only archive keeps them
	Note  string `json:"note,omitempty"`
}

// ArchiveRows copies the flagged rows to the archive.
func (a *Activities) ArchiveRows(ctx context.Context, in ArchiveRowsInput) (*ArchiveRowsResult, error) {
	env, stop := a.beat(ctx, "archive")
	defer stop()
	l, run, dst, err := a.loadArchive(ctx, in.Run, env)
	if err != nil {
		return nil, fail(ctx, err)
	}
	r, err := purge.ArchiveRows(ctx, l.table, dst, env, purge.ArchiveOptions{Run: run, Plan: l.plan.Counts.Record, Attempt: in.Attempt, ArchivedAt: in.ArchivedAt})
	if err != nil {
		return nil, fail(ctx, err)
	}
	if r.Outcome == purge.Fenced {
		return nil, fenced(StepArchive, in.Run)
	}
	return &ArchiveRowsResult{
		Attempt: in.Attempt, ArchiveTable: l.plan.Policy.Archive.Table, Rows: r.Rows, RowsHeld: r.RowsHeld, Files: r.Files, Bytes: r.Bytes,
		ArchiveVersion: r.Version, SourceVersion: r.SourceVersion, Content: r.Sum.String(), Record: r.Record,
		AppendOnly: r.Outcome == purge.ArchiveAppendOnly,
	}, nil
}

// VerifyArchive reads the archive again from storage; it fails for good when what
// lies there is not what was archived.
func (a *Activities) VerifyArchive(ctx context.Context, in VerifyArchiveInput) (*VerifyArchiveResult, error) {
	env, stop := a.beat(ctx, "verify archive")
	defer stop()
	l, run, dst, err := a.loadArchive(ctx, in.Run, env)
	if err != nil {
		return nil, fail(ctx, err)
	}
	r, err := purge.VerifyArchive(ctx, l.table, dst, env, purge.VerifyArchiveOptions{Run: run, Archive: in.Archive.Record})
	if err != nil {
		return nil, fail(ctx, err)
	}
	if !r.Agrees {
		return nil, halt("the archive %s does not hold what was archived: %v; nothing was deleted", in.Archive.ArchiveTable, r.Reasons)
	}
	return &VerifyArchiveResult{Rows: r.Rows, Content: r.Sum.String(), Files: r.Files, Record: in.Archive.Record}, nil
}

// RemoveArchived fences the archive step and removes this run's archive files.
func (a *Activities) RemoveArchived(ctx context.Context, in UndoInput) (*RemoveArchivedResult, error) {
	env, stop := a.beat(ctx, "remove archived rows")
	defer stop()
	l, run, dst, err := a.loadArchive(ctx, in.Run, env)
	if err != nil {
		return nil, fail(ctx, err)
	}
	if err := fenceFirst(ctx, l.table, run); err != nil {
		return nil, fail(ctx, err)
	}
	r, err := purge.RemoveArchived(ctx, dst, env, purge.RemoveArchivedOptions{Run: run, Attempt: MaxArchiveAttempts})
	if err != nil {
		return nil, fail(ctx, err)
	}
	out := &RemoveArchivedResult{Files: r.FilesRemoved, Rows: r.RowsRemoved}
	if r.Outcome == purge.ArchiveAppendOnly {
		out.Kept, out.Rows = true, r.RowsLeft
	}
	return out, nil
}

// loadArchive opens a run with the store of its archive.
func (a *Activities) loadArchive(ctx context.Context, in Run, env deltaio.Env) (*loaded, purge.Run, storage.Store, error) {
	l, run, err := a.loadRun(ctx, in, env)
	if err != nil {
		return nil, purge.Run{}, nil, err
	}
	dst, err := a.Lake.Table(ctx, l.plan.Policy.Archive.Table)
	return l, run, dst, err
}
