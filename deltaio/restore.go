package deltaio

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/lakewarden/lakewarden/deltaio/internal/dv"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

// RestoreOptions name the version whose files become the table's again.
type RestoreOptions struct {
	Version int64
	Step    *Step
	Info    map[string]any
	// Guard as in CommitOptions. Without one a restore also takes back what others
	// commit while it runs.
	Guard func(context.Context) error
}

// RestoreResult counts the files.
type RestoreResult struct {
	CommitResult
	Restored, Removed           int
	RestoredBytes, RemovedBytes int64
}

// MissingFilesError: files that a version needs are gone, as a vacuum leaves
// them. Nothing was committed.
type MissingFilesError struct {
	Table   string
	Version int64
	Missing []string // some of them
	Count   int
}

func (e *MissingFilesError) Error() string {
	return fmt.Sprintf("%s: version %d cannot be restored: %d of its files are gone, such as %s", e.Table, e.Version, e.Count, e.Missing[0])
}

// Restore commits the files, schema and properties of an older version. Files
// must still exist. txn entries, the row-id watermark, the protocol and the
// highest column id are never lowered.
func Restore(ctx context.Context, t *Table, opt RestoreOptions) (*RestoreResult, error) {
	out := &RestoreResult{}
	metrics := map[string]any{} // filled in by the plan
	res, err := t.Commit(ctx, nil, CommitOptions{
		Operation: "RESTORE", Parameters: map[string]any{"version": opt.Version, "timestamp": nil},
		Step: opt.Step, Info: opt.Info, Reads: ReadSet{All: true}, IsolationSerializable: true, Rebuild: appendRetries,
		Metrics: metrics, Guard: opt.Guard,
	}, func(ctx context.Context, base *Snapshot, _ int) ([]log.Action, error) {
		target, err := t.SnapshotAt(ctx, opt.Version)
		if err != nil {
			return nil, err
		}
		if target.TableID() != base.TableID() {
			return nil, fmt.Errorf("%s: version %d belongs to another table (id %s)", t.URL(), opt.Version, target.TableID())
		}
		actions, err := base.restoreActions(ctx, target, t.env.nowMillis())
		restoreMetrics(metrics, target, actions)
		return actions, err
	})
	out.CommitResult = res
	out.count(res.Actions)
	return out, err
}

func (r *RestoreResult) count(actions []log.Action) {
	for _, a := range actions {
		switch {
		case a.Add != nil:
			r.Restored, r.RestoredBytes = r.Restored+1, r.RestoredBytes+a.Add.Size
		case a.Remove != nil:
			r.Removed++
			if a.Remove.Size != nil {
				r.RemovedBytes += *a.Remove.Size
			}
		}
	}
}

// restoreMetrics are the figures that Delta's history shows of a restore.
func restoreMetrics(m map[string]any, target *Snapshot, actions []log.Action) {
	var r RestoreResult
	r.count(actions)
	size := int64(0)
	for _, a := range target.state.Files {
		size += a.Size
	}
	m["tableSizeAfterRestore"], m["numOfFilesAfterRestore"] = size, len(target.state.Files)
	m["numRestoredFiles"], m["restoredFilesSize"] = r.Restored, r.RestoredBytes
	m["numRemovedFiles"], m["removedFilesSize"] = r.Removed, r.RemovedBytes
}

func (s *Snapshot) restoreActions(ctx context.Context, target *Snapshot, now int64) ([]log.Action, error) {
	have, want := keyed(s.state.Files), keyed(target.state.Files)
	var actions []log.Action
	var back []*log.Add
	for _, a := range s.state.Files {
		if want[a.Key()] == nil {
			actions = append(actions, log.Action{Remove: a.Remove(now, true)})
		}
	}
	for _, a := range target.state.Files {
		if have[a.Key()] != nil {
			continue
		}
		add := *a
		add.DataChange = true
		back = append(back, &add)
		actions = append(actions, log.Action{Add: &add})
	}
	if err := s.mustExist(ctx, back, target.Version()); err != nil {
		return nil, err
	}
	m, err := s.restoredMetadata(target)
	if err != nil {
		return nil, err
	}
	if m != nil {
		actions = append(actions, log.Action{Metadata: m})
	}
	return actions, nil
}

func keyed(files []*log.Add) map[FileKey]*log.Add {
	out := make(map[FileKey]*log.Add, len(files))
	for _, a := range files {
		out[a.Key()] = a
	}
	return out
}

// keptProperties describe what has happened to the table, not how it should be:
// a restore does not undo them.
var keptProperties = []string{
	propICT, propICTVersion, propICTTimestamp,
	propRowTracking, propRowTrackingOff, propRowIDColumn, propRowVersionColumn,
}

// restoredMetadata is the target's metadata with the marks that only rise; nil
// when nothing changes.
func (s *Snapshot) restoredMetadata(target *Snapshot) (*log.Metadata, error) {
	now, then := s.state.Metadata, target.state.Metadata
	m := *then
	m.Configuration = maps.Clone(then.Configuration)
	if m.Configuration == nil {
		m.Configuration = map[string]string{}
	}
	for _, k := range keptProperties {
		if v, ok := now.Configuration[k]; ok {
			m.Configuration[k] = v
		} else {
			delete(m.Configuration, k)
		}
	}
	current, err := s.integer(propMaxColumnID, 0)
	if err != nil {
		return nil, err
	}
	old, err := target.integer(propMaxColumnID, 0)
	if err != nil {
		return nil, err
	}
	if current > old {
		m.Configuration[propMaxColumnID] = strconv.FormatInt(current, 10)
	}
	if s.mapping != target.mapping {
		return nil, fmt.Errorf("%s: version %d had column mapping %s, the table has %s now: restoring across that change is not supported", s.table.URL(), target.Version(), target.mapping, s.mapping)
	}
	if m.SchemaString == now.SchemaString && maps.Equal(m.Configuration, now.Configuration) {
		return nil, nil
	}
	return &m, nil
}

// maxMissing bounds the names in a MissingFilesError.
const maxMissing = 20

// mustExist looks at every file, and at the files of their deletion vectors.
func (s *Snapshot) mustExist(ctx context.Context, files []*log.Add, version int64) error {
	missing, err := s.missing(ctx, files)
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		return nil
	}
	return &MissingFilesError{Table: s.table.URL(), Version: version, Missing: missing[:min(len(missing), maxMissing)], Count: len(missing)}
}

// Missing gives the storage keys of files, and of their deletion vectors, that
// do not exist.
func (s *Snapshot) Missing(ctx context.Context, files []*log.Add) ([]string, error) {
	return s.missing(ctx, files)
}

func (s *Snapshot) missing(ctx context.Context, files []*log.Add) ([]string, error) {
	var mu sync.Mutex
	var gone []string
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(s.table.env.Parallel, 8))
	for _, a := range files {
		g.Go(func() error {
			keys, err := fileKeys(s.table.URL(), a)
			if err != nil {
				return err
			}
			for _, key := range keys {
				if _, err := s.table.store.Stat(ctx, key); isNotExist(err) {
					mu.Lock()
					gone = append(gone, key)
					mu.Unlock()
				} else if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("%s: look for files: %w", s.table.URL(), err)
	}
	return gone, nil
}

// fileKeys are the objects a live file needs: itself and its deletion vector.
func fileKeys(root string, a *log.Add) ([]string, error) {
	key, err := log.ResolvePath(root, a.Path)
	if err != nil {
		return nil, err
	}
	keys := []string{key}
	if a.DeletionVector == nil {
		return keys, nil
	}
	dvKey, inFile, err := dv.Key(root, a.DeletionVector)
	if err != nil {
		return nil, err
	}
	if inFile {
		keys = append(keys, dvKey)
	}
	return keys, nil
}
