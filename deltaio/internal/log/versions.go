package log

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// Latest gives the newest version of the table.
func Latest(ctx context.Context, s storage.Store) (int64, error) {
	if h := readHint(ctx, s); h.version > 0 {
		if l, err := list(ctx, s, h.version); err == nil {
			// The hint's own commit shows that the hint speaks of this log.
			if _, ok := l.commit(h.version); ok {
				return l.latest()
			}
		}
	}
	l, err := list(ctx, s, 0)
	if err != nil {
		return 0, err
	}
	return l.latest()
}

// FirstVersion gives the oldest version that Load can still give, by the names
// of the log's files: a checkpoint may prove damaged when it is read.
func FirstVersion(ctx context.Context, s storage.Store) (int64, error) {
	l, err := list(ctx, s, 0)
	if err != nil {
		return 0, err
	}
	latest, err := l.latest()
	if err != nil {
		return 0, err
	}
	first := l.first(latest)
	if first > latest {
		return 0, l.uncovered(latest, l.runStart(latest))
	}
	return first, nil
}

// Commit is one version of the log.
type Commit struct {
	Version   int64
	Timestamp int64 // ms; in-commit when the commit carries one, else the file's time, made to rise
	Size      int64 // bytes of the commit file
	Actions   []Action
}

// Commits yields the commits of versions from to to (-1: the newest), oldest
// first. Versions whose commit file is gone from the front of the log are
// skipped; a gap is an error.
func Commits(ctx context.Context, s storage.Store, from, to int64) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		files, err := commitRun(ctx, s, from, to)
		if err != nil {
			yield(Commit{}, err)
			return
		}
		for _, f := range files {
			c, err := f.read(ctx, s)
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// A datedCommit is a commit file with the time it counts as committed by.
type datedCommit struct {
	commitFile
	timestamp int64
}

func (f datedCommit) read(ctx context.Context, s storage.Store) (Commit, error) {
	actions, err := ReadCommit(ctx, s, f.version)
	if err != nil {
		return Commit{}, err
	}
	c := Commit{Version: f.version, Timestamp: f.timestamp, Size: f.info.Size, Actions: actions}
	for i := range actions {
		if ms, ok := actions[i].CommitInfo.InCommitTimestamp(); ok {
			c.Timestamp = ms
		}
	}
	return c, nil
}

// commitRun lists the commits from to to without a gap between them.
func commitRun(ctx context.Context, s storage.Store, from, to int64) ([]datedCommit, error) {
	l, err := list(ctx, s, 0)
	if err != nil {
		return nil, err
	}
	latest, err := l.latest()
	if err != nil {
		return nil, err
	}
	if to < 0 {
		to = latest
	}
	if from > to {
		return nil, nil
	}
	if to > latest || from < 0 {
		return nil, fmt.Errorf("%s: %w", l.root, &VersionError{Version: max(from, to), First: l.runStart(latest), Latest: latest})
	}
	run := l.dated()
	var out []datedCommit
	for _, c := range run {
		if c.version < from || c.version > to {
			continue
		}
		if n := len(out); n > 0 && out[n-1].version != c.version-1 {
			return nil, &CorruptError{Key: CommitKey(out[n-1].version + 1), Reason: "the commit is missing"}
		}
		out = append(out, c)
	}
	if len(out) == 0 || out[len(out)-1].version != to {
		return nil, &CorruptError{Key: CommitKey(to), Reason: "the commit is missing"}
	}
	return out, nil
}

// dated gives the commit files with their times made to rise: a copied or
// repaired log has files out of order, and a time must name one version.
func (l *listing) dated() []datedCommit {
	out := make([]datedCommit, len(l.commits))
	for i, c := range l.commits {
		ms := c.info.ModTime.UnixMilli()
		if i > 0 {
			ms = max(ms, out[i-1].timestamp+1)
		}
		out[i] = datedCommit{c, ms}
	}
	return out
}

// AtTime gives the newest version committed at or before the time (ms since the
// epoch) that the log can still give; ErrTimeBeforeFirst when there is none.
// Commits count by their in-commit timestamps from the version on in which the
// table enabled them, before it by the times of their files, made to rise.
func AtTime(ctx context.Context, s storage.Store, ms int64) (int64, error) {
	l, err := list(ctx, s, 0)
	if err != nil {
		return 0, err
	}
	latest, err := l.latest()
	if err != nil {
		return 0, err
	}
	st, err := Load(ctx, s, latest)
	if err != nil {
		return 0, err
	}
	first := l.first(latest)
	versions := l.dated()
	for len(versions) > 0 && versions[0].version < first {
		versions = versions[1:]
	}
	if st.InCommitTimestamps() {
		since, sinceTime := st.inCommitSince()
		if ms >= sinceTime {
			return atInCommit(ctx, s, versions, max(first, since), ms)
		}
		versions = before(versions, since)
	}
	if len(versions) == 0 || versions[0].timestamp > ms {
		return 0, fmt.Errorf("%s: %w", l.root, ErrTimeBeforeFirst)
	}
	best := versions[0].version
	for _, c := range versions {
		if c.timestamp <= ms {
			best = c.version
		}
	}
	return best, nil
}

func before(versions []datedCommit, limit int64) []datedCommit {
	for i, c := range versions {
		if c.version >= limit {
			return versions[:i]
		}
	}
	return versions
}

// inCommitSince says from which version and time on commits carry their own
// timestamp: from the start, unless the table's properties say otherwise.
func (st *State) inCommitSince() (version, ms int64) {
	ms = -1 << 63
	if v, err := strconv.ParseInt(st.Metadata.Configuration[propICTVersion], 10, 64); err == nil {
		if t, err := strconv.ParseInt(st.Metadata.Configuration[propICTTimestamp], 10, 64); err == nil {
			return v, t
		}
	}
	return 0, ms
}

// atInCommit searches the commits from since on, whose in-commit timestamps
// rise, in a number of reads that is the logarithm of theirs.
func atInCommit(ctx context.Context, s storage.Store, versions []datedCommit, since, ms int64) (int64, error) {
	for len(versions) > 0 && versions[0].version < since {
		versions = versions[1:]
	}
	lo, hi := 0, len(versions) // versions[:lo] are at or before ms
	for lo < hi {
		mid := (lo + hi) / 2
		at, err := inCommitTimestamp(ctx, s, versions[mid].version)
		if err != nil {
			return 0, fmt.Errorf("version at %d ms: %w", ms, err)
		}
		if at <= ms {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return 0, fmt.Errorf("%s: %w", s.URL(), ErrTimeBeforeFirst)
	}
	return versions[lo-1].version, nil
}

// Exists says whether the store holds a Delta table.
func Exists(ctx context.Context, s storage.Store) (bool, error) {
	_, err := Latest(ctx, s)
	if errors.Is(err, ErrNoTable) {
		return false, nil
	}
	return err == nil, err
}
