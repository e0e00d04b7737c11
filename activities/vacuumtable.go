package activities

import (
	"context"
	"fmt"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/spec"
)

// VacuumTableInput removes files past retention from storage.
type VacuumTableInput struct {
	Run    Run  `json:"run"`
	DryRun bool `json:"dry_run"`
	// Deleted: the run's delete is committed, so that its files have a due date.
	Deleted bool `json:"deleted"`
}

// VacuumTableResult: only proven deletions count as deleted.
type VacuumTableResult struct {
	FilesDeleted int64         `json:"files_deleted"`
	BytesDeleted int64         `json:"bytes_deleted"`
	FilesPending int64         `json:"files_pending"` // may go, but could not be deleted
	FilesYoung   int64         `json:"files_young"`   // tombstoned, not past retention yet
	Retention    spec.Duration `json:"retention"`
	// ErasureDue is when the last file this run removed is past retention.
	ErasureDue *time.Time `json:"erasure_due"`
	Record     string     `json:"record"`
	Note       string     `json:"note,omitempty"`
}

// ProveErasedInput accounts for every object under the table's root.
type ProveErasedInput struct {
	Run Run `json:"run"`
	// What the certificate says of the delete.
	RowsDeleted   *int64    `json:"rows_deleted"`
	VersionBefore *int64    `json:"version_before"`
	VersionAfter  *int64    `json:"version_after"`
	DeletedAt     time.Time `json:"deleted_at"`
	Due           time.Time `json:"due"`
	AuditHead     string    `json:"audit_head"`
}

// ProveErasedResult: Erased only when each known path is proven gone.
type ProveErasedResult struct {
	Erased       bool       `json:"erased"`
	PathsKnown   int64      `json:"paths_known"`
	PathsGone    int64      `json:"paths_gone"`
	PathsLeft    int64      `json:"paths_left"`
	UnknownFiles int64      `json:"unknown_files"`
	LogEntries   int64      `json:"log_entries"` // commits and checkpoints that still name the files
	LogExpires   *time.Time `json:"log_expires"`
	NextDue      *time.Time `json:"next_due"`          // when to look again, if not erased
	Residue      []string   `json:"residue,omitempty"` // at most 10 lines; the rest in Record
	Certificate  string     `json:"certificate"`       // name in the run folder
	CertDigest   string     `json:"certificate_digest"`
	Record       string     `json:"record"`
}

// VacuumTable removes files past retention.
func (a *Activities) VacuumTable(ctx context.Context, in VacuumTableInput) (*VacuumTableResult, error) {
	env, stop := a.beat(ctx, "vacuum")
	defer stop()
	l, err := a.load(ctx, in.Run, env)
	if err != nil {
		return nil, fail(ctx, err)
	}
	snap, err := l.table.Snapshot(ctx)
	if err != nil {
		return nil, fail(ctx, err)
	}
	own, err := snap.FileRetention()
	if err != nil {
		return nil, fail(ctx, err)
	}
	opt := deltaio.VacuumOptions{Retention: vacuumRetention(l.plan.Policy, own), DryRun: in.DryRun, Journal: l.folder}
	if o := l.plan.Policy.Vacuum.AllowBelowFloor; o != nil {
		opt.Override = o.Risk
	}
	r, err := deltaio.Vacuum(ctx, l.table, opt)
	if err != nil {
		return nil, fail(ctx, err)
	}
	out := &VacuumTableResult{
		FilesDeleted: r.Deleted, BytesDeleted: r.BytesDeleted, FilesPending: r.Pending,
		Retention: spec.DurationOf(opt.Retention),
	}
	if in.Deleted {
		due, young, err := purge.ErasureDue(ctx, l.table, purge.Run{ID: l.plan.RunID, Journal: l.folder}, opt.Retention)
		if err != nil {
			return nil, fail(ctx, err)
		}
		out.ErasureDue, out.FilesYoung = due, int64(young)
	}
	if r.Pending > 0 {
		out.Note = fmt.Sprintf("%d files could not be deleted and are tried again by the next vacuum", r.Pending)
	}
	return out, nil
}

// vacuumRetention is the age at which files may go: what the policy asks for, but
// never less than the floor and the table's own, unless the risk is named.
func vacuumRetention(p spec.RetentionPolicy, table time.Duration) time.Duration {
	asked := p.Vacuum.Retention.Or(vacuumFloor)
	if p.Vacuum.AllowBelowFloor != nil {
		return asked
	}
	return max(asked, table, vacuumFloor)
}
