package deltaio

import (
	"context"
	"time"

	"github.com/lakewarden/lakewarden/deltaio/internal/dv"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// objects lists the table's folder and judges what no live file refers to.
// Names that start with "_" or "." are the log's and other programs' own, as for
// a vacuum.
func (f *fsck) objects(ctx context.Context) error {
	live, removed := f.referred()
	unknown := map[string]storage.Info{}
	v := &vacuum{t: f.s.table, snap: f.s}
	for after := ""; ; {
		jump := ""
		for info, err := range f.s.table.store.List(ctx, "", after) {
			if err != nil {
				return err
			}
			if dir, hidden := v.hidden(info.Key); hidden {
				if dir == "" {
					continue
				}
				jump = lastOf(dir)
				break
			}
			f.report.Objects++
			if f.report.Objects%1000 == 0 {
				f.s.table.env.Progress(Progress{Phase: "objects", FilesDone: f.report.Objects})
			}
			if _, ok := live[info.Key]; ok {
				continue
			}
			if at, ok := removed[info.Key]; ok {
				f.tombstone(at)
				continue
			}
			unknown[info.Key] = info
		}
		if jump == "" {
			break
		}
		after = jump
	}
	return f.judge(ctx, unknown)
}

// referred gives the keys that live files name, and those that tombstones do,
// with the time of the removal in ms.
func (f *fsck) referred() (live map[string]struct{}, removed map[string]int64) {
	root := f.s.table.URL()
	live, removed = make(map[string]struct{}, len(f.s.state.Files)), map[string]int64{}
	each := func(p string, d *log.DeletionVector, put func(key string)) {
		if key, err := log.ResolvePath(root, p); err == nil {
			put(key)
		}
		if d != nil {
			if key, inFile, err := dv.Key(root, d); err == nil && inFile {
				put(key)
			}
		}
	}
	for _, a := range f.s.state.Files {
		each(a.Path, a.DeletionVector, func(key string) { live[key] = struct{}{} })
	}
	for _, r := range f.s.state.Tombstones {
		at := int64(0)
		if r.DeletionTimestamp != nil {
			at = *r.DeletionTimestamp
		}
		each(r.Path, r.DeletionVector, func(key string) { removed[key] = max(removed[key], at) })
	}
	return live, removed
}

// tombstone counts an object that was removed at a time.
func (f *fsck) tombstone(at int64) {
	f.report.Removed++
	if f.expired(at) {
		f.report.Due++
	}
}

func (f *fsck) expired(at int64) bool {
	return at < f.now.Add(-f.report.Retention).UnixMilli()
}

// judge looks for unknown objects in the commits that the log still has, change
// files among them. A change file of a young commit has to be there.
func (f *fsck) judge(ctx context.Context, unknown map[string]storage.Info) error {
	if len(unknown) > 0 || f.s.ChangeFeed() {
		if err := f.namedByCommits(ctx, unknown); err != nil {
			return err
		}
	}
	for key, info := range unknown {
		age, old := f.now.Sub(info.ModTime), f.expired(info.ModTime.UnixMilli())
		x := Finding{Kind: FindingUnreferenced, Path: key, Age: max(age, 0).Round(time.Second).String(), Expired: &old,
			Detail: "no commit in the log names it; it is younger than the retention and may belong to a writer at work"}
		if old {
			x.Detail = "no commit in the log names it; it is older than the retention, and a vacuum takes it"
		}
		f.record(x)
	}
	return nil
}

// namedByCommits takes out of unknown what commits name.
func (f *fsck) namedByCommits(ctx context.Context, unknown map[string]storage.Info) error {
	root := f.s.table.URL()
	for c, err := range log.Commits(ctx, f.s.table.store, 0, -1) {
		if err != nil {
			if IsDamaged(err) { // said already where it matters; what it named is not known
				f.found(FindingLog, logDir, "a commit does not read, so that objects it names count as unreferenced: %v", err)
				return nil
			}
			return err
		}
		for _, a := range c.Actions {
			switch {
			case a.Add != nil:
				f.named(unknown, root, a.Add.Path, a.Add.DeletionVector, c.Timestamp)
			case a.Remove != nil:
				f.named(unknown, root, a.Remove.Path, a.Remove.DeletionVector, c.Timestamp)
			case a.CDC != nil:
				if err := f.changeFile(ctx, unknown, a.CDC, c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (f *fsck) named(unknown map[string]storage.Info, root, p string, d *log.DeletionVector, at int64) {
	take := func(key string) {
		if _, ok := unknown[key]; ok {
			delete(unknown, key)
			f.tombstone(at)
		}
	}
	if key, err := log.ResolvePath(root, p); err == nil {
		take(key)
	}
	if d == nil {
		return
	}
	if key, inFile, err := dv.Key(root, d); err == nil && inFile {
		take(key)
	}
}

func (f *fsck) changeFile(ctx context.Context, unknown map[string]storage.Info, a *log.AddCDCFile, c log.Commit) error {
	key, err := log.ResolvePath(f.s.table.URL(), a.Path)
	if err != nil {
		f.found(FindingOutside, a.Path, "a change file of version %d: %v", c.Version, err)
		return nil
	}
	info, ok := unknown[key]
	delete(unknown, key)
	if !ok { // hidden from the listing, or gone
		if info, err = f.s.table.store.Stat(ctx, key); err != nil && !isNotExist(err) {
			return err
		}
	}
	switch {
	case err != nil && f.expired(c.Timestamp): // a vacuum took it, as it should
	case err != nil:
		f.found(FindingChange, key, "version %d, which is younger than the retention, names it and it is not in storage", c.Version)
	case info.Size < a.Size:
		f.found(FindingTruncated, key, "%d bytes in storage, %d by version %d", info.Size, a.Size, c.Version)
	case info.Size > a.Size:
		f.found(FindingSize, key, "%d bytes in storage, %d by version %d", info.Size, a.Size, c.Version)
	}
	return nil
}
