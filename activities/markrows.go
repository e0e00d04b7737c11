package activities

import (
	"context"

	"github.com/lakewarden/lakewarden/deltaio/purge"
)

// MarkRowsInput flags the due rows of the planned version.
type MarkRowsInput struct {
	Run Run `json:"run"`
}

// MarkRowsResult says what lies flagged in the table now. With mark.column
// "none" nothing was written and VersionBefore equals VersionMarked.
type MarkRowsResult struct {
	RowsMarked    int64  `json:"rows_marked"`
	FilesMarked   int    `json:"files_marked"`
	BytesMarked   int64  `json:"bytes_marked"`
	VersionBefore int64  `json:"version_before"` // the version that time travel shows as before the purge
	VersionMarked int64  `json:"version_marked"`
	Record        string `json:"record"`  // name in the run folder
	Content       string `json:"content"` // multiset hash of the marked rows
	Replanned     bool   `json:"replanned"`
}

// UndoInput asks to fence a step and to undo what it did. Reason is for readers
// of the history.
type UndoInput struct {
	Run    Run    `json:"run"`
	Reason string `json:"reason"`
}

// FenceDeleteResult says whether the delete had been committed before the fence
// could be set: then nothing may be undone.
type FenceDeleteResult struct {
	Deleted bool               `json:"deleted"`
	Delete  *MergeDeleteResult `json:"delete,omitempty"`
}

// UnmarkRowsResult says how the flags were taken back.
type UnmarkRowsResult struct {
	RowsUnmarked   int64  `json:"rows_unmarked"`
	FilesRestored  int    `json:"files_restored"`  // original files brought back
	FilesRewritten int    `json:"files_rewritten"` // flag cleared by rewriting
	Version        int64  `json:"version"`
	Note           string `json:"note,omitempty"`
}

// MarkRows flags the due rows.
func (a *Activities) MarkRows(ctx context.Context, in MarkRowsInput) (*MarkRowsResult, error) {
	env, stop := a.beat(ctx, "mark")
	defer stop()
	l, err := a.load(ctx, in.Run, env)
	if err != nil {
		return nil, fail(ctx, err)
	}
	plan := l.plan.Counts
	if !l.plan.Policy.Mark.On() {
		return &MarkRowsResult{RowsMarked: plan.RowsDue, VersionBefore: plan.Version, VersionMarked: plan.Version, Record: plan.Record, FilesMarked: 0}, nil
	}
	run, err := a.purgeRun(ctx, l)
	if err != nil {
		return nil, fail(ctx, err)
	}
	r, err := purge.MarkRows(ctx, l.table, purge.MarkOptions{Run: run, Plan: plan.Record})
	if err != nil {
		return nil, fail(ctx, err)
	}
	if r.Outcome == purge.Fenced {
		return nil, fenced(StepMark, in.Run)
	}
	return &MarkRowsResult{
		RowsMarked: r.RowsMarked, FilesMarked: r.FilesMarked, BytesMarked: r.BytesWritten, VersionBefore: r.VersionBefore,
		VersionMarked: r.Version, Record: r.Record, Content: r.Sum.String(), Replanned: r.RowsMarked != plan.RowsDue,
	}, nil
}
