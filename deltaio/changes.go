package deltaio

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Columns that a change feed adds to the table's own.
const (
	ChangeTypeColumn      = "_change_type" // insert, delete, update_preimage, update_postimage, or a writer's own word
	ChangeVersionColumn   = "_commit_version"
	ChangeTimestampColumn = "_commit_timestamp"
)

// ErrNoChangeFeed: a version of the range was committed while
// delta.enableChangeDataFeed was off, so that its changes are not recorded.
var ErrNoChangeFeed = errors.New("changes are not recorded")

// ChangesOptions choose the versions, both included.
type ChangesOptions struct {
	From int64
	To   int64 // -1: the newest
}

// ChangeFeed reads the rows that the commits of a range of versions changed
// (PROTOCOL.md, "Add CDC File"). A commit with change files is read from those
// alone; of another one the added files are inserts, the removed ones deletes,
// and where only a deletion vector changed, the rows it drops or brings back.
type ChangeFeed struct {
	from   int64
	end    *Snapshot
	schema *schema.Struct // with the three columns of the feed
}

// Changes opens the change feed of a range. Rows are read by the schema of its
// last version: older rows have nulls in columns that came later. It fails with
// ErrNoChangeFeed where a version's changes are not recorded, and refuses a range
// in which columns are dropped or change type.
func Changes(ctx context.Context, t *Table, opt ChangesOptions) (*ChangeFeed, error) {
	newest, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	end := newest
	switch {
	case opt.To < 0:
		opt.To = newest.Version()
	case opt.To != newest.Version():
		if end, err = t.SnapshotAt(ctx, opt.To); err != nil {
			return nil, err
		}
	}
	if opt.From < 0 || opt.From > opt.To {
		return nil, fmt.Errorf("%s: changes from version %d to %d: want 0 <= from <= to", t.URL(), opt.From, opt.To)
	}
	c := &ChangeFeed{from: opt.From, end: end, schema: &schema.Struct{Fields: slices.Clone(end.schema.Fields)}}
	for _, f := range changeFields() {
		if _, taken := end.schema.Field(f.Name); taken {
			return nil, fmt.Errorf("%s: changes: the table has a column %s of its own", t.URL(), f.Name)
		}
		c.schema.Fields = append(c.schema.Fields, f)
	}
	start, err := t.SnapshotAt(ctx, opt.From)
	if err != nil {
		return nil, err
	}
	if err := c.follows(start); err != nil {
		return nil, err
	}
	return c, nil
}

func changeFields() []schema.Field {
	return []schema.Field{
		{Name: ChangeTypeColumn, Type: schema.String}, {Name: ChangeVersionColumn, Type: schema.Long}, {Name: ChangeTimestampColumn, Type: schema.Timestamp},
	}
}

// Schema of the feed's rows.
func (c *ChangeFeed) Schema() *schema.Struct { return c.schema }

// From and To are the first and last version.
func (c *ChangeFeed) From() int64 { return c.from }

// To is the last version.
func (c *ChangeFeed) To() int64 { return c.end.Version() }

// follows says whether the changes of a version are recorded and can be read by
// the schema of the last.
func (c *ChangeFeed) follows(s *Snapshot) error {
	if !s.ChangeFeed() {
		return fmt.Errorf("%s: version %d: %w: delta.enableChangeDataFeed was not true; ask for versions after it was set, or set it for those to come",
			s.table.URL(), s.Version(), ErrNoChangeFeed)
	}
	if !slices.Equal(s.physicalPartition(), c.end.physicalPartition()) {
		return c.incompatible(s, "the partition columns are others")
	}
	if why := c.reads(s.schema, c.end.schema); why != "" {
		return c.incompatible(s, why)
	}
	return nil
}

func (c *ChangeFeed) incompatible(s *Snapshot, why string) error {
	return fmt.Errorf("%s: the changes of version %d cannot be read by the schema of version %d: %s; ask for the versions before and after the change separately",
		s.table.URL(), s.Version(), c.To(), why)
}

// reads says why rows of an older schema would lose something in a newer one.
func (c *ChangeFeed) reads(old, now *schema.Struct) string {
	named := func(f *schema.Field) string {
		if c.end.mapping == mappingNone {
			return f.Name
		}
		return f.PhysicalName()
	}
	for i := range old.Fields {
		f := &old.Fields[i]
		at := slices.IndexFunc(now.Fields, func(n schema.Field) bool { return named(&n) == named(f) })
		if at < 0 {
			return fmt.Sprintf("column %s is gone", f.Name)
		}
		was, ok1 := f.Type.(*schema.Struct)
		is, ok2 := now.Fields[at].Type.(*schema.Struct)
		if ok1 && ok2 {
			if why := c.reads(was, is); why != "" {
				return why
			}
		}
		// What else changed of a type is the reader's to widen or to refuse.
	}
	return ""
}

// Records yields the changes in the order of their versions. The consumer
// releases each record. Files that a vacuum has removed are an error that names
// their version.
func (c *ChangeFeed) Records(ctx context.Context) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		t := c.end.table
		for commit, err := range log.Commits(ctx, t.store, c.from, c.To()) {
			if err != nil {
				yield(nil, t.wrap(err))
				return
			}
			if !c.commit(ctx, commit, yield) {
				return
			}
		}
	}
}

// commit yields the changes of one commit; false ends the feed.
func (c *ChangeFeed) commit(ctx context.Context, commit log.Commit, yield func(arrow.Record, error) bool) bool {
	t := c.end.table
	if changesSchema(commit.Actions) {
		s, err := t.SnapshotAt(ctx, commit.Version)
		if err == nil {
			err = c.follows(s)
		}
		if err != nil {
			yield(nil, err)
			return false
		}
	}
	files, err := c.changedFiles(ctx, commit)
	if err != nil {
		yield(nil, fmt.Errorf("%s: changes of version %d: %w", t.URL(), commit.Version, err))
		return false
	}
	more := true
	readAhead(ctx, t.env.Parallel, files, c.read, func(rec arrow.Record, err error) bool {
		if err != nil {
			err = fmt.Errorf("%s: changes of version %d: %w", t.URL(), commit.Version, err)
		}
		more = yield(rec, err) && err == nil
		return more
	})
	return more
}

func changesSchema(actions []log.Action) bool {
	return slices.ContainsFunc(actions, func(a log.Action) bool { return a.Metadata != nil || a.Protocol != nil })
}

// VersionAt is the newest version committed at or before a time.
func (t *Table) VersionAt(ctx context.Context, at time.Time) (int64, error) {
	v, err := log.AtTime(ctx, t.store, at.UnixMilli())
	if err != nil {
		return 0, t.wrap(err)
	}
	return v, nil
}

// VersionSince is the oldest version committed at or after a time that the log
// still gives; one past the newest when there is none.
func (t *Table) VersionSince(ctx context.Context, at time.Time) (int64, error) {
	// In whole milliseconds, rounded up: no commit between them is left out.
	ms := at.Add(time.Millisecond - 1).UnixMilli()
	v, err := log.AtTime(ctx, t.store, ms-1)
	if errors.Is(err, log.ErrTimeBeforeFirst) {
		v, err = log.FirstVersion(ctx, t.store)
		return v, err
	}
	if err != nil {
		return 0, t.wrap(err)
	}
	return v + 1, nil
}
