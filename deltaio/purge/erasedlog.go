package purge

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// defaultLogRetention is Delta's when the table names none.
const defaultLogRetention = 30 * 24 * time.Hour

// log finds the entries of the log that still name files which held purged rows:
// their statistics hold smallest and largest values of them. They go when the
// log is cleaned up; until then they are dated.
func (p *proof) log(ctx context.Context) error {
	retention, err := p.snap.State().Metadata.Interval("delta.logRetentionDuration", defaultLogRetention)
	if err != nil {
		return fmt.Errorf("%s: %w", p.t.URL(), err)
	}
	cleaned := true
	if v, ok := p.snap.Property("delta.enableExpiredLogCleanup"); ok && !strings.EqualFold(v, "true") {
		cleaned = false
	}
	for info, err := range p.t.Store().List(ctx, "_delta_log/", "") {
		if err != nil {
			return fmt.Errorf("%s: look through the log: %w", p.t.URL(), err)
		}
		named, stats, err := p.entry(ctx, info)
		if err != nil {
			return err
		}
		if !named {
			continue
		}
		p.out.LogEntries++
		if stats {
			p.out.LogStatistics++
		}
		// Log files age by the day: a cleaner keeps the day of the cut.
		end := info.ModTime.UTC().Add(retention).Truncate(24 * time.Hour).Add(24 * time.Hour)
		if cleaned && (p.out.LogExpires == nil || end.After(*p.out.LogExpires)) {
			p.out.LogExpires = &end
		}
	}
	if p.out.LogEntries > 0 && !cleaned {
		p.left("%d log entries name files that held purged rows, and delta.enableExpiredLogCleanup is off: they never expire", p.out.LogEntries)
	}
	return nil
}

// entry says whether an object of the log names a known file, and whether it
// holds statistics of one.
func (p *proof) entry(ctx context.Context, info storage.Info) (named, stats bool, err error) {
	name := strings.TrimPrefix(info.Key, "_delta_log/")
	version, err := strconv.ParseInt(strings.SplitN(name, ".", 2)[0], 10, 64)
	isVersion := err == nil
	switch {
	case isVersion && info.Key == log.CommitKey(version):
		return p.commit(ctx, version)
	case name == "_last_checkpoint":
		return false, false, nil
	case isVersion && info.Key == log.ChecksumKey(version):
		// Most checksums count files; some writers' list them with statistics.
		if sum, err := log.ReadChecksum(ctx, p.t.Store(), version); err == nil && !sum.ListsFiles {
			return false, false, nil
		}
	case strings.HasPrefix(name, "_sidecars/"):
		version, isVersion = -1, true // of a checkpoint of unknown version: as if it were old
		if p.h.deleted >= 0 && info.ModTime.After(p.h.deletedAt) {
			version = p.h.deleted
		}
	}
	if !isVersion {
		return false, false, nil
	}
	// Checkpoints, checksums, compacted logs. Those from before the delete list
	// the files as live, with statistics; later ones may list the tombstones. They
	// are not read: counting one too many is the safe side.
	old := version < p.h.deleted
	if p.h.deleted < 0 {
		old = !info.ModTime.After(p.h.deletedAt)
	}
	retention, err := p.snap.FileRetention()
	if err != nil {
		return false, false, err
	}
	tombstoned := info.ModTime.Before(p.h.deletedAt.Add(retention))
	return old || tombstoned, old, nil
}

func (p *proof) commit(ctx context.Context, version int64) (named, stats bool, err error) {
	actions, err := log.ReadCommit(ctx, p.t.Store(), version)
	if errors.Is(err, storage.ErrNotExist) { // cleaned up meanwhile
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	for _, a := range actions {
		var path, statistics string
		switch {
		case a.Add != nil:
			path, statistics = a.Add.Key().Path, a.Add.Stats
		case a.Remove != nil:
			path, statistics = a.Remove.Key().Path, a.Remove.Stats
		case a.CDC != nil:
			path, _ = log.DecodePath(a.CDC.Path) // an odd path names no file of ours
		default:
			continue
		}
		if _, ok := p.h.files[path]; ok {
			named, stats = true, stats || statistics != ""
		}
	}
	return named, stats, nil
}

// rows counts what live files hold of the run: flagged rows, and due rows in
// files that others brought back from before the delete.
func (p *proof) rows(ctx context.Context) error {
	flagged, err := flaggedRows(ctx, p.t, p.snap, p.opt.Run)
	if err != nil {
		return err
	}
	if p.opt.Criteria.Match == nil && p.opt.Criteria.MatchKeys == nil {
		p.left("without criteria live files cannot be searched for the rows")
		return nil
	}
	j, err := newJudge(p.snap, p.opt.Run, true)
	if err != nil {
		return err
	}
	revived, whole, err := p.revived(ctx)
	if err != nil {
		return err
	}
	count := func(files []*log.Add, phase string) (due, held int64, err error) {
		verdicts, err := classifyAll(ctx, p.t, j, files, phase)
		for _, v := range verdicts {
			if v != nil {
				due, held = due+v.nDue, held+v.nHeld
			}
		}
		return due, held, err
	}
	if p.opt.ScanLive || !whole {
		due, _, err := count(p.snap.Files(), "prove: live files")
		if err != nil {
			return err
		}
		p.out.LiveMatching = &due
	}
	due, held, err := count(revived, "prove: revived files")
	if err != nil {
		return err
	}
	n := flagged + due + held
	switch {
	case whole, *p.out.LiveMatching == 0:
		p.out.RunRows = &n
	default:
		p.left("%d live rows meet the criteria, and the log no longer tells whether they came back or came later", *p.out.LiveMatching)
	}
	if n > 0 {
		p.left("%d rows of the run are in live files again", n)
	}
	return nil
}

// revived are live files that are known ones brought back by a commit after the
// delete, or made of such.
func (p *proof) revived(ctx context.Context) (files []*log.Add, whole bool, err error) {
	if p.h.deleted < 0 {
		return nil, false, nil
	}
	line := fileSet{}
	next := p.h.deleted + 1
	if next <= p.snap.Version() {
		for c, err := range log.Commits(ctx, p.t.Store(), next, p.snap.Version()) {
			if err != nil {
				return nil, false, err
			}
			if c.Version != next {
				return nil, false, nil
			}
			next++
			from := removesAny(c.Actions, line)
			for _, a := range c.Actions {
				if a.Add == nil {
					continue
				}
				if _, known := p.h.files[a.Add.Key().Path]; known || from {
					line.add(a.Add.Key())
				}
			}
		}
	}
	for _, a := range p.snap.Files() {
		if line.has(a.Key()) {
			files = append(files, a)
		}
	}
	return files, next == p.snap.Version()+1, nil
}
