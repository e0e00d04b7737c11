package deltaio

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

// VacuumOptions say what a vacuum deletes.
type VacuumOptions struct {
	// Retention asked for. 0: the floor, which is the larger of the table's
	// property and 168 h.
	Retention time.Duration
	// Override allows a retention below the floor; it names the accepted risk and
	// goes into the commit. "": refuse.
	Override string
	// DryRun finds and deletes nothing, and commits nothing.
	DryRun bool
	// Journal keeps the cursor, so that a vacuum that was killed goes on where it
	// was. Nil: none.
	Journal Journal
	Info    map[string]any // further members of commitInfo
}

// RetentionError refuses a retention below the floor.
type RetentionError struct {
	Table            string
	Asked, Floor     time.Duration
	Property         time.Duration
	PropertyIsLarger bool // the floor comes from the table's property
}

func (e *RetentionError) Error() string {
	return fmt.Sprintf("%s: vacuum refused: a retention of %s is below the floor of %s (the larger of the table's %s and 168h): readers and writers that are at work could lose files; ask for at least the floor, or override it naming the risk",
		e.Table, e.Asked, e.Floor, e.Property)
}

// VacuumResult is what a vacuum found and did. Counts of a resumed vacuum
// include those of the calls before.
type VacuumResult struct {
	DryRun    bool          `json:"dryRun,omitempty"`
	Retention time.Duration `json:"retention"`
	Floor     time.Duration `json:"floor"`
	// Cutoff: what left the table, or was written without ever being part of it,
	// before this time is deleted.
	Cutoff time.Time `json:"cutoff"`
	// Clock is "store" when the store's clock was behind the caller's and set the
	// cutoff, else "caller".
	Clock string `json:"clock"`
	// VersionStart and VersionEnd are the versions of the VACUUM START and END
	// commits; -1 when there was nothing to delete.
	VersionStart int64 `json:"versionStart"`
	VersionEnd   int64 `json:"versionEnd"`
	Resumed      bool  `json:"resumed,omitempty"`

	// Found files may be deleted (in a dry run: would have been).
	Found      int64 `json:"found"`
	BytesFound int64 `json:"bytesFound"`
	// Deleted files existed before and are proven gone.
	Deleted      int64 `json:"deleted"`
	BytesDeleted int64 `json:"bytesDeleted"`
	// Absent files are known to the log and were gone before.
	Absent int64 `json:"absent"`
	// Pending files could not be deleted, or not be proven gone. The next vacuum
	// finds them again.
	Pending      int64         `json:"pending"`
	BytesPending int64         `json:"bytesPending"`
	PendingFiles []PendingFile `json:"pendingFiles,omitempty"` // at most maxPendingFiles
	// Sample names some of the files found.
	Sample []string `json:"sample,omitempty"`

	KeptReferenced int64 `json:"keptReferenced"` // listed, and live or a young tombstone
	KeptYoung      int64 `json:"keptYoung"`      // unknown to the log and younger than the cutoff
	// KeptUnproven are unknown to the log, old, and may have been part of the
	// table after the cutoff: the log no longer tells.
	KeptUnproven int64 `json:"keptUnproven"`

	// MissingLive are files that became live while the vacuum ran and do not
	// exist: a restore raced with it. The table must be repaired.
	MissingLive []string `json:"missingLive,omitempty"`
}

// PendingFile is a file that a vacuum could not delete.
type PendingFile struct {
	Key    string `json:"key"`
	Size   int64  `json:"size"`
	Reason string `json:"reason"`
}

const (
	vacuumFloor     = 168 * time.Hour
	maxPendingFiles = 1000
	maxVacuumSample = 20
	vacuumBatch     = 512 // files between two looks at the log and two cursor records
)

// Vacuum deletes files that no live file and no unexpired tombstone refers to.
//
// Who protects what: live files and young tombstones, with their deletion
// vectors, are protected by name. A tombstoned file ages from its removal, never
// from its modification time. Only a file that the log does not know ages from
// the modification time, so that files of running writers stay. Ages are taken
// by the slower of the caller's clock and the store's. The log is read again
// before each batch of deletions, so that a file that comes back (a restore, an
// undone mark) is seen. A deletion counts when the object was there before and a
// look-up afterwards does not find it.
//
// The result is given with an error too, as far as it came.
func Vacuum(ctx context.Context, t *Table, opt VacuumOptions) (*VacuumResult, error) {
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if err := snap.Check(WantVacuum); err != nil {
		return nil, err
	}
	v := &vacuum{t: t, opt: opt, start: snap, snap: snap}
	if err := v.plan(); err != nil {
		return nil, err
	}
	if err := v.resume(ctx); err != nil {
		return nil, err
	}
	if err := v.look(ctx); err != nil {
		return nil, err
	}
	if err := v.run(ctx); err != nil {
		return &v.res, fmt.Errorf("%s: vacuum: %w", t.URL(), err)
	}
	return &v.res, nil
}

// vacuum is one run.
type vacuum struct {
	t     *Table
	opt   VacuumOptions
	start *Snapshot // as the run began
	snap  *Snapshot // as of the last look
	keep  *keepSet
	cur   vacuumCursor
	began bool // START is committed and the store's clock is known
	res   VacuumResult
}

// plan settles retention, floor and, by the caller's clock, the cutoff.
func (v *vacuum) plan() error {
	property, err := v.snap.FileRetention()
	if err != nil {
		return err
	}
	floor := max(property, vacuumFloor)
	asked := v.opt.Retention
	switch {
	case asked < 0:
		return fmt.Errorf("%s: vacuum: retention %s is negative", v.t.URL(), asked)
	case asked == 0:
		asked = floor
	case asked < floor && v.opt.Override == "":
		return &RetentionError{Table: v.t.URL(), Asked: asked, Floor: floor, Property: property, PropertyIsLarger: property > vacuumFloor}
	}
	v.res = VacuumResult{
		DryRun: v.opt.DryRun, Retention: asked, Floor: floor, Clock: "caller",
		Cutoff: v.t.env.Now().UTC().Add(-asked), VersionStart: -1, VersionEnd: -1,
	}
	return nil
}

// look reads what the log protects now.
func (v *vacuum) look(ctx context.Context) error {
	keep, err := newKeepSet(ctx, v.snap, v.res.Cutoff.UnixMilli())
	if err != nil {
		return err
	}
	v.keep = keep
	return nil
}

func (v *vacuum) run(ctx context.Context) error {
	var batch []candidate
	for c, err := range v.candidates(ctx) {
		if err != nil {
			return err
		}
		if batch = append(batch, c); len(batch) < vacuumBatch {
			continue
		}
		if err := v.flush(ctx, batch); err != nil {
			return err
		}
		batch = batch[:0]
	}
	if err := v.flush(ctx, batch); err != nil {
		return err
	}
	if v.opt.DryRun {
		return nil
	}
	if err := v.sweep(ctx); err != nil {
		return err
	}
	return v.finish(ctx)
}

// begin commits VACUUM START and takes the store's clock from it. The cutoff can
// only move back, so that what was judged to stay still stays.
func (v *vacuum) begin(ctx context.Context) error {
	if v.began {
		return nil
	}
	v.began = true
	if v.res.VersionStart >= 0 {
		return nil // resumed: committed before, the cutoff with it
	}
	property, _ := v.snap.FileRetention() // plan has read it
	parameters := map[string]any{
		"retentionCheckEnabled":    v.opt.Override == "",
		"specifiedRetentionMillis": v.res.Retention.Milliseconds(),
		"defaultRetentionMillis":   property.Milliseconds(),
	}
	if v.opt.Override != "" {
		parameters["override"] = v.opt.Override
	}
	// What will be deleted is not known yet; metrics stay empty rather than wrong.
	version, err := v.commit(ctx, "VACUUM START", parameters, map[string]any{})
	if err != nil {
		return err
	}
	v.res.VersionStart = version
	info, err := v.t.store.Stat(ctx, log.CommitKey(version))
	if err != nil {
		return fmt.Errorf("the store's clock: %w", err)
	}
	if byStore := info.ModTime.UTC().Add(-v.res.Retention); byStore.Before(v.res.Cutoff) {
		v.res.Cutoff, v.res.Clock = byStore, "store"
	}
	return v.refresh(ctx, true)
}

func (v *vacuum) commit(ctx context.Context, operation string, parameters, metrics map[string]any) (int64, error) {
	res, err := v.t.Commit(ctx, nil, CommitOptions{
		Operation: operation, Parameters: parameters, Metrics: metrics, Info: v.opt.Info,
		Want: WantVacuum, AllowEmpty: true, Rebuild: fenceRetries,
	}, func(context.Context, *Snapshot, int) ([]log.Action, error) { return nil, nil })
	return res.Version, err
}

// refresh looks at the log again when it has grown.
func (v *vacuum) refresh(ctx context.Context, force bool) error {
	snap, err := v.t.Snapshot(ctx)
	if err != nil {
		return err
	}
	if !force && snap.Version() == v.snap.Version() {
		return nil
	}
	if err := snap.Check(WantVacuum); err != nil {
		return err
	}
	v.snap = snap
	return v.look(ctx)
}

// finish commits VACUUM END with what happened, and makes sure that nothing
// which is live now was deleted.
func (v *vacuum) finish(ctx context.Context) error {
	if v.res.VersionStart < 0 {
		return v.save(ctx, vacuumCursor{Done: true, Result: v.res})
	}
	status := "COMPLETED"
	if v.res.Pending > 0 {
		status = "FAILED" // Delta's word for a vacuum that left files behind
	}
	version, err := v.commit(ctx, "VACUUM END", map[string]any{"status": status}, map[string]any{
		"numDeletedFiles": v.res.Deleted, "sizeOfDeletedFiles": v.res.BytesDeleted, "numPendingFiles": v.res.Pending,
	})
	if err != nil {
		return err
	}
	v.res.VersionEnd = version
	if err := v.proveLive(ctx); err != nil {
		return err
	}
	return v.save(ctx, vacuumCursor{Done: true, Result: v.res})
}

// ErrLiveFilesGone: files that became live during a vacuum do not exist.
var ErrLiveFilesGone = errors.New("files that became live while the vacuum ran are gone: restore the table to a version before that commit")

// proveLive looks at the files that became live during the run. Others were
// protected all along.
func (v *vacuum) proveLive(ctx context.Context) error {
	snap, err := v.t.Snapshot(ctx)
	if err != nil {
		return err
	}
	before := keyed(v.start.state.Files)
	var fresh []*log.Add
	for _, a := range snap.state.Files {
		if before[a.Key()] == nil {
			fresh = append(fresh, a)
		}
	}
	if v.res.MissingLive, err = snap.missing(ctx, fresh); err != nil {
		return err
	}
	if len(v.res.MissingLive) > 0 {
		return fmt.Errorf("%w: %d files, such as %s", ErrLiveFilesGone, len(v.res.MissingLive), v.res.MissingLive[0])
	}
	return nil
}
