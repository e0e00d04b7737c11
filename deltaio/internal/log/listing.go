package log

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// A checkpoint is one complete set of checkpoint files.
type checkpoint struct {
	version int64
	kind    fileKind // kindPart stands for the whole set
	files   []storage.Info
}

// A listing is what _delta_log holds from some version on.
type listing struct {
	root        string // the store's address, for errors
	partial     bool   // older files were not listed
	commits     []commitFile
	checkpoints []checkpoint // complete ones, newest first
	checksums   []int64      // versions with a checksum file, ascending
}

type commitFile struct {
	version int64
	info    storage.Info
}

// list lists the log. Files of versions below from are left out.
func list(ctx context.Context, s storage.Store, from int64) (*listing, error) {
	l := &listing{root: s.URL(), partial: from > 0}
	parts := map[[2]int64][]storage.Info{}
	err := eachLogFile(ctx, s, from, func(n logName, info storage.Info) {
		switch n.kind {
		case kindCommit:
			l.commits = append(l.commits, commitFile{n.version, info})
		case kindChecksum:
			l.checksums = append(l.checksums, n.version)
		case kindClassic, kindUUIDParquet, kindUUIDJSON:
			l.checkpoints = append(l.checkpoints, checkpoint{n.version, n.kind, []storage.Info{info}})
		case kindPart:
			k := [2]int64{n.version, int64(n.parts)}
			parts[k] = append(parts[k], info)
		}
	})
	if err != nil {
		return nil, err
	}
	for k, files := range parts {
		// Names are unique and their part number is checked, so that the count
		// alone tells a complete set.
		if int64(len(files)) == k[1] {
			slices.SortFunc(files, func(a, b storage.Info) int { return cmp.Compare(a.Key, b.Key) })
			l.checkpoints = append(l.checkpoints, checkpoint{k[0], kindPart, files})
		}
	}
	slices.SortFunc(l.checkpoints, func(a, b checkpoint) int {
		return cmp.Or(cmp.Compare(b.version, a.version), cmp.Compare(a.kind, b.kind), cmp.Compare(b.files[0].Key, a.files[0].Key))
	})
	return l, nil
}

// eachLogFile visits the versioned files of the log, oldest version first, and
// stops where the listing leaves them: names of the protocol that are no version
// sort behind the digits.
func eachLogFile(ctx context.Context, s storage.Store, from int64, visit func(logName, storage.Info)) error {
	after := fmt.Sprintf("%s%020d", logDir, from)
	for info, err := range s.List(ctx, logDir, after) {
		if err != nil {
			return fmt.Errorf("list the log: %w", err)
		}
		name := strings.TrimPrefix(info.Key, logDir)
		if name > "9~" {
			return nil
		}
		if n := parseName(name); n.kind != kindOther && n.version >= from {
			visit(n, info)
		}
	}
	return nil
}

// errPartial: the listing from the hint on does not suffice.
var errPartial = errors.New("the listing does not reach back far enough")

// latest is the newest version. Its commit must be there: a checkpoint newer
// than every commit says that commits are lost, and writing on would hide it.
func (l *listing) latest() (int64, error) {
	newest := int64(-1)
	if n := len(l.commits); n > 0 {
		newest = l.commits[n-1].version
	}
	if len(l.checkpoints) > 0 && l.checkpoints[0].version > newest {
		v := l.checkpoints[0].version
		return 0, &CorruptError{Key: CommitKey(v), Reason: fmt.Sprintf(
			"there is a checkpoint of version %d but not its commit; restore the missing commits, or move the checkpoint away if it belongs to another table", v)}
	}
	if newest < 0 {
		if l.partial {
			return 0, errPartial
		}
		return 0, fmt.Errorf("%s: %w", l.root, ErrNoTable)
	}
	return newest, nil
}

// commit finds a version's commit.
func (l *listing) commit(version int64) (storage.Info, bool) {
	i, ok := slices.BinarySearchFunc(l.commits, version, func(c commitFile, v int64) int { return cmp.Compare(c.version, v) })
	if !ok {
		return storage.Info{}, false
	}
	return l.commits[i].info, true
}

// runStart is the oldest version of the unbroken run of commits that ends at
// version.
func (l *listing) runStart(version int64) int64 {
	i, ok := slices.BinarySearchFunc(l.commits, version, func(c commitFile, v int64) int { return cmp.Compare(c.version, v) })
	if !ok {
		return version + 1
	}
	for ; i > 0 && l.commits[i-1].version == l.commits[i].version-1; i-- {
	}
	return l.commits[i].version
}

// first is the oldest version that can be loaded, by the names alone.
func (l *listing) first(latest int64) int64 {
	start := l.runStart(latest)
	if start == 0 {
		return 0
	}
	first := latest + 1
	for _, c := range l.checkpoints {
		if c.version >= start-1 {
			first = max(c.version, start)
		}
	}
	return first
}

// bases are the checkpoints a version can be loaded from, best first, and
// whether the commits alone can give it.
func (l *listing) bases(version int64) (usable []checkpoint, fromStart bool, err error) {
	start := l.runStart(version)
	for _, c := range l.checkpoints {
		if c.version <= version && c.version >= start-1 {
			usable = append(usable, c)
		}
	}
	fromStart = start == 0
	if len(usable) > 0 || fromStart {
		return usable, fromStart, nil
	}
	if l.partial {
		return nil, false, errPartial
	}
	return nil, false, l.uncovered(version, start)
}

// uncovered says why a version cannot be loaded.
func (l *listing) uncovered(version, start int64) error {
	latest, err := l.latest()
	if err != nil {
		return err
	}
	if first := l.first(latest); first <= latest && version < first || version > latest {
		return fmt.Errorf("%s: %w", l.root, &VersionError{Version: version, First: first, Latest: latest})
	}
	return fmt.Errorf("%s: %w", l.root, &CorruptError{Key: CommitKey(start - 1), Reason: fmt.Sprintf(
		"the commit is missing and no complete checkpoint of versions %d to %d replaces it", start-1, version)})
}
