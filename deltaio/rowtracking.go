package deltaio

import (
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Row tracking, as the protocol has it: every file gets fresh row ids and the
// version that commits it (assignRowIDs); rows that a rewrite takes over keep
// theirs in two columns of the file, which the table's configuration names and
// no schema shows. A null there means the fresh value. Rows that were updated
// keep their id alone.

// stableRowIDs says whether rows have ids that writers should preserve.
func (s *Snapshot) stableRowIDs() bool {
	return s.rowTracking() && s.flag(propRowTracking)
}

// materialized are the columns that preserve ids and commit versions of the
// file's rows in what is made of it: none where the table does not track rows.
func (f *DataFile) materialized(updated *pq.Bitmap) []pq.Column {
	ids, ok1 := f.snap.Property(propRowIDColumn)
	versions, ok2 := f.snap.Property(propRowVersionColumn)
	if !f.snap.stableRowIDs() || !ok1 || !ok2 || !tracked(f.add.BaseRowID, f.add.DefaultRowCommitVersion) {
		return nil
	}
	column := func(name string, fill pq.Fill) pq.Column {
		return pq.Column{Field: schema.Field{Name: name, Type: schema.Long, Nullable: true}, Source: name, Fill: &fill}
	}
	return []pq.Column{
		column(ids, pq.Fill{Base: *f.add.BaseRowID, Step: 1}),
		column(versions, pq.Fill{Base: *f.add.DefaultRowCommitVersion, Null: updated}),
	}
}

func tracked(id, version *int64) bool { return id != nil && version != nil }

// keptRowIDs says whether a commit whose files were all made by Rewrite, or hold
// new rows alone, has preserved what rows had.
func (c *committer) keptRowIDs() bool {
	if !c.opt.Rewritten || !c.base.stableRowIDs() {
		return false
	}
	for _, name := range []string{propRowIDColumn, propRowVersionColumn} {
		if _, ok := c.base.Property(name); !ok {
			return false
		}
	}
	for _, a := range c.actions {
		if a.Remove != nil && !tracked(a.Remove.BaseRowID, a.Remove.DefaultRowCommitVersion) {
			return false
		}
	}
	return true
}

// preservesRows says whether no row may have been copied under fresh ids.
func preservesRows(actions []log.Action) bool {
	fresh, removes := false, false
	for _, a := range actions {
		removes = removes || a.Remove != nil
		fresh = fresh || a.Add != nil && a.Add.BaseRowID == nil
	}
	return !fresh || !removes
}
