package deltaio

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// candidate is an object that may be deleted as far as is known.
type candidate struct {
	key  string
	size int64 // -1: not looked up yet
	// unknown: the log does not know it; modified decides.
	unknown  bool
	modified int64 // ms
}

// vacuumCursor is the record a vacuum leaves after each batch.
type vacuumCursor struct {
	TableID string `json:"tableId"`
	// Listing: the tombstones are done. After is the last key judged in the phase.
	Listing bool   `json:"listing"`
	After   string `json:"after"`
	// Deleting are files that existed when their deletion began: of those that
	// are gone when the run is resumed, this run was the one to delete them.
	Deleting []PendingFile `json:"deleting,omitempty"`
	Done     bool          `json:"done"`
	Result   VacuumResult  `json:"result"`
}

const vacuumCursorName = "vacuum/cursor.json"

// lastOf is a key behind every key of a directory.
func lastOf(dir string) string { return dir + "/\U0010ffff" }

// resume goes on where a vacuum of this table and retention was killed.
func (v *vacuum) resume(ctx context.Context) error {
	if v.opt.Journal == nil || v.opt.DryRun {
		return nil
	}
	data, err := v.opt.Journal.Get(ctx, vacuumCursorName)
	if isNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: vacuum cursor: %w", v.t.URL(), err)
	}
	var c vacuumCursor
	if json.Unmarshal(data, &c) != nil || c.Done || c.TableID != v.snap.TableID() || c.Result.Retention != v.res.Retention {
		return nil // unreadable, finished or another's: start from the front
	}
	floor := v.res.Floor
	v.cur, v.res = c, c.Result
	v.res.Resumed, v.res.Floor = true, floor
	return v.settle(ctx)
}

// settle counts what the batch that was under way had deleted already. What is
// still there is found again, since the cursor lies before it.
func (v *vacuum) settle(ctx context.Context) error {
	for _, f := range v.cur.Deleting {
		_, err := v.t.store.Stat(ctx, f.Key)
		switch {
		case isNotExist(err):
			v.found(candidate{key: f.Key, size: f.Size})
			v.count(fate{candidate: candidate{key: f.Key, size: f.Size}})
		case err != nil:
			return fmt.Errorf("%s: vacuum: %w", v.t.URL(), err)
		}
	}
	v.cur.Deleting = nil
	return v.save(ctx, v.cur)
}

// save records how far the run is.
func (v *vacuum) save(ctx context.Context, c vacuumCursor) error {
	if v.opt.Journal == nil || v.opt.DryRun {
		return nil
	}
	c.TableID, c.Result = v.snap.TableID(), v.res
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	if err := v.opt.Journal.Put(ctx, vacuumCursorName, data); err != nil {
		return fmt.Errorf("cursor: %w", err)
	}
	return nil
}

// candidates yields what the tombstones name first, which needs no listing, then
// what a listing of the root shows beyond that. It judges by the keep set of the
// moment, which flush renews.
func (v *vacuum) candidates(ctx context.Context) iter.Seq2[candidate, error] {
	return func(yield func(candidate, error) bool) {
		after := v.cur.After
		if !v.cur.Listing {
			for _, key := range slices.Sorted(maps.Keys(v.keep.expired)) {
				if key > after && !yield(candidate{key: key, size: -1}, nil) {
					return
				}
			}
			after = ""
		}
		v.list(ctx, after, yield)
	}
}

// list walks the objects under the root. Hidden directories at the top, the log
// among them, are jumped over.
func (v *vacuum) list(ctx context.Context, after string, yield func(candidate, error) bool) {
	for {
		jump := ""
		for info, err := range v.t.store.List(ctx, "", after) {
			if err != nil {
				yield(candidate{}, err)
				return
			}
			if dir, hidden := v.hidden(info.Key); hidden {
				if dir != "" {
					jump = lastOf(dir)
					break
				}
				continue
			}
			if c, ok := v.judge(info); ok && !yield(c, nil) {
				return
			}
		}
		if jump == "" {
			return
		}
		after = jump
	}
}

// judge says whether a listed object may be deleted, and counts those that may
// not. Objects that tombstones name are done already.
func (v *vacuum) judge(info storage.Info) (candidate, bool) {
	if _, done := v.keep.expired[info.Key]; done {
		return candidate{}, false
	}
	c := candidate{key: info.Key, size: info.Size, unknown: true, modified: info.ModTime.UnixMilli()}
	switch {
	case v.keep.protects(info.Key):
		v.res.KeptReferenced++
	case !v.old(c):
		v.res.KeptYoung++
	case v.keep.unproven && v.opt.Override == "":
		v.res.KeptUnproven++
	default:
		return c, true
	}
	return candidate{}, false
}

func (v *vacuum) old(c candidate) bool {
	return !c.unknown || c.modified < v.res.Cutoff.UnixMilli()
}

// eligible judges a candidate again after the keep set or the cutoff changed.
func (v *vacuum) eligible(c candidate) bool {
	if v.keep.protects(c.key) {
		return false
	}
	_, expired := v.keep.expired[c.key]
	return c.unknown && v.old(c) || expired
}

// hidden says whether an object is none of the table's data: names that start
// with "_" or ".", except change data and partition directories, which may start
// with "_" too; and the Iceberg metadata that other engines keep at the root.
// dir is the hidden directory at the top, if that is what hides it.
func (v *vacuum) hidden(key string) (dir string, hidden bool) {
	parts := strings.Split(key, "/")
	for i, p := range parts {
		isDir := i < len(parts)-1
		switch {
		case i == 0 && isDir && p == "metadata":
			return p, true
		case !strings.HasPrefix(p, "_") && !strings.HasPrefix(p, "."):
		case i == 0 && isDir && p == changeDataDir:
		case isDir && v.isPartitionDir(p):
		case i == 0 && isDir:
			return p, true
		default:
			return "", true
		}
	}
	return "", false
}

// isPartitionDir knows directories by the columns' logical and physical names,
// plain or as Hive escapes them.
func (v *vacuum) isPartitionDir(segment string) bool {
	name, _, ok := strings.Cut(segment, "=")
	if !ok {
		return false
	}
	for i, physical := range v.snap.physicalPartition() {
		for _, col := range []string{v.snap.partition[i], physical} {
			if name == col || name == hiveName(col) {
				return true
			}
		}
	}
	return false
}
