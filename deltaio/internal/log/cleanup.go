package log

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// Cleanup says what CleanExpired did.
type Cleanup struct {
	Deleted    int    // objects of the log that are gone now
	Oldest     int64  // version of the checkpoint that is now the oldest
	Skipped    string // why nothing was done, "" otherwise
	Unfinished string // why unreferenced sidecars were left, "" otherwise
}

const day = 24 * time.Hour

// CleanExpired deletes log files older than delta.logRetentionDuration that a
// checkpoint replaces (PROTOCOL.md, "Metadata Cleanup"). The checkpoint is read
// whole before anything is deleted; it, its commit and all that follows stay. A
// commit is as old as its file's time says, made to rise; the limit is cut to
// midnight. Where it fails half-way, what is left is a valid log.
func CleanExpired(ctx context.Context, s storage.Store, st *State, nowMillis int64) (Cleanup, error) {
	if why := st.keepsLog(); why != "" {
		return Cleanup{Skipped: why}, nil
	}
	retention, err := st.Metadata.Interval(propLogRetention, defaultLogRetention)
	if err != nil {
		return Cleanup{}, err
	}
	l, err := list(ctx, s, 0)
	if err != nil {
		return Cleanup{}, err
	}
	keep, found, err := l.coveringCheckpoint(ctx, s, midnight(nowMillis-retention.Milliseconds()))
	if err != nil || !found {
		return Cleanup{Skipped: "no readable checkpoint is older than the retention of the log"}, err
	}
	out := Cleanup{Oldest: keep}
	if err := deleteBefore(ctx, s, keep, &out); err != nil {
		return out, fmt.Errorf("clean the log before version %d: %w", keep, err)
	}
	if err := deleteSidecars(ctx, s, midnight(nowMillis)-day.Milliseconds(), &out); err != nil {
		return out, fmt.Errorf("clean the sidecars: %w", err)
	}
	return out, nil
}

// keepsLog says why the log of the table must not be cleaned, "" when it may.
func (st *State) keepsLog() string {
	if !st.Metadata.enabled(propLogCleanup, true) {
		return propLogCleanup + " is false"
	}
	for _, f := range []string{"checkpointProtection", "catalogManaged", "catalogOwned-preview"} {
		if st.Protocol.HasWriterFeature(f) {
			return "table feature " + f + " forbids it"
		}
	}
	return ""
}

func midnight(ms int64) int64 { return floorDiv(ms, day.Milliseconds()) * day.Milliseconds() }

// coveringCheckpoint finds the newest checkpoint at or before the newest commit
// that is not younger than the cutoff, and reads it.
func (l *listing) coveringCheckpoint(ctx context.Context, s storage.Store, cutoff int64) (int64, bool, error) {
	latest, err := l.latest()
	if err != nil {
		return 0, false, err
	}
	start := l.runStart(latest)
	limit := int64(-1)
	for _, c := range l.dated() {
		if c.timestamp <= cutoff && c.version >= start {
			limit = c.version
		}
	}
	for _, c := range l.checkpoints {
		if _, ok := l.commit(c.version); !ok || c.version > limit || c.version < start {
			continue
		}
		_, err := readCheckpoint(ctx, s, c, noHint())
		if err == nil {
			return c.version, true, nil
		}
		if ctx.Err() != nil || !passOver(err) {
			return 0, false, err
		}
	}
	return 0, false, nil
}

// deleteBefore deletes the files of versions before keep, oldest first, and
// compacted commits that begin at or before it.
func deleteBefore(ctx context.Context, s storage.Store, keep int64, out *Cleanup) error {
	var doomed []string
	err := eachLogFile(ctx, s, 0, func(n logName, info storage.Info) {
		if n.version < keep || n.kind == kindCompacted && n.version == keep {
			doomed = append(doomed, info.Key)
		}
	})
	if err != nil {
		return err
	}
	return deleteAll(ctx, s, doomed, out)
}

func deleteAll(ctx context.Context, s storage.Store, keys []string, out *Cleanup) error {
	for _, k := range keys {
		err := s.Delete(ctx, k)
		if errors.Is(err, storage.ErrNotExist) { // another cleaner was here
			continue
		}
		if err != nil {
			return err
		}
		out.Deleted++
	}
	return nil
}

// deleteSidecars deletes sidecars that no checkpoint refers to and that are
// older than the limit: a younger one may belong to a checkpoint that is being
// written. When a checkpoint does not read, all stay.
func deleteSidecars(ctx context.Context, s storage.Store, limit int64, out *Cleanup) error {
	var old []string
	for info, err := range s.List(ctx, sidecarDir, "") {
		if err != nil {
			return err
		}
		if strings.HasSuffix(info.Key, ".parquet") && info.ModTime.UnixMilli() < limit {
			old = append(old, info.Key)
		}
	}
	if len(old) == 0 {
		return nil
	}
	used, err := usedSidecars(ctx, s)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		out.Unfinished = err.Error()
		return nil
	}
	var doomed []string
	for _, k := range old {
		if !used[k] {
			doomed = append(doomed, k)
		}
	}
	return deleteAll(ctx, s, doomed, out)
}

// usedSidecars names the sidecars of every checkpoint in the log.
func usedSidecars(ctx context.Context, s storage.Store) (map[string]bool, error) {
	l, err := list(ctx, s, 0)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for _, c := range l.checkpoints {
		if c.kind == kindPart { // V1 by definition
			continue
		}
		b := newBase()
		key := c.files[0].Key
		if c.kind == kindUUIDJSON {
			err = b.readJSON(ctx, s, key, newInterner())
		} else {
			err = readActions(ctx, s, parquetFile{key: key}, newInterner(), b.apply)
		}
		if err != nil {
			return nil, err
		}
		for _, sc := range b.sidecars {
			k, err := sidecarKey(s.URL(), sc.Path)
			if err != nil {
				return nil, err
			}
			used[k] = true
		}
	}
	return used, nil
}
