package activities

import (
	"context"
	"fmt"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
)

// MergeDeleteInput deletes what was archived, and only that. With archive
// "none" Verified is nil.
type MergeDeleteInput struct {
	Run          Run                  `json:"run"`
	Attempt      int                  `json:"attempt"`
	Verified     *VerifyArchiveResult `json:"verified,omitempty"`
	RowsApproved *int64               `json:"rows_approved,omitempty"` // nil: no approval was asked
}

// Outcomes of MergeDelete.
const (
	Deleted          = "deleted"
	RowsChanged      = "rows_changed"       // archive anew: the table's flagged rows differ from the archive
	KeysHitUnflagged = "keys_hit_unflagged" // match: keys would delete rows that were never archived
	MoreThanApproved = "more_than_approved" // ask again
	NothingLeft      = "nothing_left"       // others cleared every flag: nothing was deleted
)

// MergeDeleteResult: counts come from the commit's own actions.
type MergeDeleteResult struct {
	Outcome        string `json:"outcome"`
	RowsDeleted    *int64 `json:"rows_deleted"`
	RowsReleased   *int64 `json:"rows_released"` // flagged once, kept: held, changed or no longer due
	RowsHeld       *int64 `json:"rows_held"`
	RowsDue        int64  `json:"rows_due"` // that a delete would remove now
	FilesRemoved   int    `json:"files_removed"`
	FilesRewritten int    `json:"files_rewritten"`
	BytesRemoved   int64  `json:"bytes_removed"`
	BytesAdded     int64  `json:"bytes_added"`
	Version        int64  `json:"version"`
	Record         string `json:"record"`
	Detail         string `json:"detail,omitempty"`
}

// VerifyPurgeInput checks the table after the delete.
type VerifyPurgeInput struct {
	Run     Run                `json:"run"`
	Mark    MarkRowsResult     `json:"mark"`
	Archive *ArchiveRowsResult `json:"archive,omitempty"`
	Delete  MergeDeleteResult  `json:"delete"`
}

// Check is one line of a verification.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// VerifyPurgeResult lists the checks; the activity fails unless all are OK.
type VerifyPurgeResult struct {
	Checks []Check `json:"checks"`
}

// MergeDelete deletes what was archived, and only that.
func (a *Activities) MergeDelete(ctx context.Context, in MergeDeleteInput) (*MergeDeleteResult, error) {
	env, stop := a.beat(ctx, "delete")
	defer stop()
	l, err := a.load(ctx, in.Run, env)
	if err != nil {
		return nil, fail(ctx, err)
	}
	held, err := a.holdVersions(ctx, l, env) // before the holds are read
	if err != nil {
		return nil, fail(ctx, err)
	}
	run, err := a.purgeRun(ctx, l)
	if err != nil {
		return nil, fail(ctx, err)
	}
	opt := purge.DeleteOptions{
		Run: run, Plan: l.plan.Counts.Record, MaxRows: in.RowsApproved,
		Guard: func(ctx context.Context) error { return a.sameHolds(ctx, l, held, env) },
	}
	if in.Verified != nil {
		opt.Archive = in.Verified.Record
		if opt.ArchiveStore, err = a.Lake.Table(ctx, l.plan.Policy.Archive.Table); err != nil {
			return nil, fail(ctx, err)
		}
	} else {
		opt.NoArchive = true
		if opt.MaxRows == nil {
			opt.MaxRows = &l.plan.Counts.RowsDue
		}
	}
	if l.plan.Policy.Delete.Match == spec.MatchKeys {
		opt.MatchKeys = l.plan.Policy.Delete.Keys
	}
	r, err := purge.DeleteMarked(ctx, l.table, opt)
	if err != nil {
		return nil, fail(ctx, err)
	}
	return deleteResult(r, in.RowsApproved, in.Run)
}

// deleteResult names each outcome: one that is not known is no delete.
func deleteResult(r *purge.DeleteResult, approved *int64, run Run) (*MergeDeleteResult, error) {
	out := &MergeDeleteResult{
		RowsDue: r.RowsFound, FilesRemoved: r.FilesRemoved, FilesRewritten: r.FilesAdded, BytesRemoved: r.BytesRemoved,
		BytesAdded: r.BytesAdded, Version: r.Version, Record: r.Record,
	}
	switch r.Outcome {
	case purge.Changed:
		out.Outcome = RowsChanged
		if approved != nil && r.RowsFound > *approved {
			out.Outcome = MoreThanApproved
		}
		out.Detail = fmt.Sprintf("%d rows would go now, %d were archived", r.RowsFound, r.Expected.Count)
		if len(r.ArchiveDiffers) > 0 {
			out.Detail = "the archive no longer holds what was archived: " + strings.Join(r.ArchiveDiffers, "; ")
		}
	case purge.NothingLeft:
		out.Outcome = NothingLeft
		out.Detail = "other writers cleared every flag of this run, or removed its rows, before the delete; nothing was deleted; plan again"
	case purge.KeysHitUnflagged:
		out.Outcome = KeysHitUnflagged
		out.Detail = fmt.Sprintf("deleting by key would hit %d rows that are not flagged and were never archived; examples lie in the run folder as %s; nothing was deleted",
			r.RowsUnflagged, r.Examples)
	case purge.Done, purge.AlreadyDone:
		out.Outcome = Deleted
		out.RowsDeleted, out.RowsReleased, out.RowsHeld = &r.RowsDeleted, &r.RowsReleased, &r.RowsHeld
	case purge.Fenced:
		return nil, fenced(StepDelete, run)
	default:
		return nil, halt("the delete of run %s ended as %q, which this version does not know", run.RunID, r.Outcome)
	}
	return out, nil
}

// VerifyPurge checks the table after the delete; it fails unless all agrees.
func (a *Activities) VerifyPurge(ctx context.Context, in VerifyPurgeInput) (*VerifyPurgeResult, error) {
	env, stop := a.beat(ctx, "verify")
	defer stop()
	l, run, err := a.loadRun(ctx, in.Run, env)
	if err != nil {
		return nil, fail(ctx, err)
	}
	r, err := purge.VerifyPurge(ctx, l.table, purge.VerifyPurgeOptions{Run: run})
	if err != nil {
		return nil, fail(ctx, err)
	}
	out := &VerifyPurgeResult{Checks: purgeChecks(in, r)}
	if in.Archive != nil && in.Archive.Record != "" {
		c, err := a.archiveCheck(ctx, l, run, in, env)
		if err != nil {
			return nil, fail(ctx, err)
		}
		out.Checks = append(out.Checks, c)
	}
	for _, c := range out.Checks {
		if !c.OK {
			return nil, halt("check %q failed: %s (%v)", c.Name, c.Detail, r.Reasons)
		}
	}
	return out, nil
}

// archiveCheck looks at the archive itself, not at what was reported of it.
func (a *Activities) archiveCheck(ctx context.Context, l *loaded, run purge.Run, in VerifyPurgeInput, env deltaio.Env) (Check, error) {
	dst, err := a.Lake.Table(ctx, l.plan.Policy.Archive.Table)
	if err != nil {
		return Check{}, err
	}
	ok, why, err := purge.ArchiveHolds(ctx, l.table, dst, env, purge.VerifyArchiveOptions{Run: run, Archive: in.Archive.Record})
	if err != nil {
		return Check{}, err
	}
	same := in.Delete.RowsDeleted != nil && in.Archive.Rows == *in.Delete.RowsDeleted
	detail := fmt.Sprintf("%d rows archived, %s deleted", in.Archive.Rows, evidence.Count(in.Delete.RowsDeleted))
	if !ok {
		detail += "; the archive no longer holds what was archived: " + strings.Join(why, "; ")
	}
	return Check{Name: "the archive holds exactly the deleted rows", OK: ok && same, Detail: detail}, nil
}
