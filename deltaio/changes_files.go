package deltaio

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
)

// changedFile is a file whose rows, or some of them, are changes of one commit.
type changedFile struct {
	add       *log.Add   // path, partition, deletion vector: all that reading needs
	change    ChangeType // "": the file says so itself, row by row
	version   int64
	timestamp int64 // ms
	// but: rows that this deletion vector drops as well are no change.
	but *log.DeletionVector
	// dropped: the change are the rows that add's deletion vector drops, not those
	// that it leaves.
	dropped bool
}

// changedFiles lists what of a commit holds changes.
func (c *ChangeFeed) changedFiles(ctx context.Context, commit log.Commit) ([]changedFile, error) {
	var out []changedFile
	for _, a := range commit.Actions {
		if a.CDC != nil {
			out = append(out, changedFile{
				add:     &log.Add{Path: a.CDC.Path, PartitionValues: a.CDC.PartitionValues, Size: a.CDC.Size},
				version: commit.Version, timestamp: commit.Timestamp,
			})
		}
	}
	if len(out) > 0 {
		return out, nil // complete: the protocol makes the others ignore
	}
	return c.plainChanges(ctx, commit)
}

// plainChanges reads a commit without change files.
func (c *ChangeFeed) plainChanges(ctx context.Context, commit log.Commit) ([]changedFile, error) {
	removed := map[string]*log.Add{}
	var order []string
	for _, a := range commit.Actions {
		if a.Remove == nil || !a.Remove.DataChange {
			continue
		}
		was, err := c.removedFile(ctx, commit.Version, a.Remove)
		if err != nil {
			return nil, err
		}
		path := a.Remove.Key().Path
		removed[path] = was
		order = append(order, path)
	}
	var out []changedFile
	add := func(f changedFile) {
		f.version, f.timestamp = commit.Version, commit.Timestamp
		out = append(out, f)
	}
	for _, a := range commit.Actions {
		if a.Add == nil || !a.Add.DataChange {
			continue
		}
		path := a.Add.Key().Path
		was, same := removed[path]
		if !same {
			add(changedFile{add: a.Add, change: ChangeInsert})
			continue
		}
		delete(removed, path)
		if a.Add.DeletionVector != nil {
			add(changedFile{add: a.Add, change: ChangeDelete, but: was.DeletionVector, dropped: true})
		}
		if was.DeletionVector != nil {
			add(changedFile{add: was, change: ChangeInsert, but: a.Add.DeletionVector, dropped: true})
		}
	}
	for _, path := range order {
		if was, ok := removed[path]; ok {
			add(changedFile{add: was, change: ChangeDelete})
		}
	}
	return out, nil
}

// removedFile is the file as it was. Removes of old writers leave the partition
// values out: the version before has them.
func (c *ChangeFeed) removedFile(ctx context.Context, version int64, r *log.Remove) (*log.Add, error) {
	if r.PartitionValues != nil || len(c.end.partition) == 0 {
		return &log.Add{Path: r.Path, PartitionValues: r.PartitionValues, DeletionVector: r.DeletionVector}, nil
	}
	before, err := log.Load(ctx, c.end.table.store, version-1)
	if err != nil {
		return nil, fmt.Errorf("file %s was removed without its partition values: %w", r.Path, err)
	}
	for _, a := range before.Files {
		if a.Key() == r.Key() {
			return a, nil
		}
	}
	return nil, fmt.Errorf("file %s was removed without its partition values, and was not live before", r.Path)
}

// read sends the changes of one file to emit.
func (c *ChangeFeed) read(ctx context.Context, cf changedFile, emit func(arrow.Record) bool) (err error) {
	f, err := c.end.openFile(ctx, cf.add)
	if isNotExist(err) {
		return fmt.Errorf("file %s is not in storage any more, a vacuum may have removed it: ask for younger versions: %w", cf.add.Path, err)
	}
	if err != nil {
		return fmt.Errorf("file %s: %w", cf.add.Path, err)
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	rows, err := c.rowsOf(ctx, f, cf)
	if err != nil {
		return fmt.Errorf("file %s: %w", cf.add.Path, err)
	}
	return c.emitRows(ctx, f, cf, rows, emit)
}

// rowsOf gives the rows of the file that are changes; nil: all.
func (c *ChangeFeed) rowsOf(ctx context.Context, f *DataFile, cf changedFile) (*pq.Bitmap, error) {
	if !cf.dropped {
		return f.live, nil
	}
	rows := pq.FullBitmap(int(f.NumRows()))
	if f.live == nil {
		return pq.NewBitmap(int(f.NumRows())), nil
	}
	rows.AndNot(f.live)
	if cf.but == nil {
		return rows, nil
	}
	left, err := c.end.liveRows(ctx, &log.Add{Path: cf.add.Path, DeletionVector: cf.but}, f.NumRows())
	if err != nil {
		return nil, err
	}
	if left != nil {
		rows.And(left)
	}
	return rows, nil
}

// options reads the table's columns and those of the feed: constants of the
// commit, but for the kind of change of a change file.
func (c *ChangeFeed) options(f *DataFile, cf changedFile, group int) scan.Options {
	opt := f.options(c.schema, []int{group})
	opt.ByName = []string{ChangeTypeColumn}
	opt.Const = map[string]any{ChangeVersionColumn: cf.version, ChangeTimestampColumn: expr.Timestamp(cf.timestamp * 1000)}
	if cf.change != "" {
		opt.Const[ChangeTypeColumn] = string(cf.change)
	}
	return opt
}

func (c *ChangeFeed) emitRows(ctx context.Context, f *DataFile, cf changedFile, rows *pq.Bitmap, emit func(arrow.Record) bool) error {
	if cf.change == "" && !f.file.HasColumn(ChangeTypeColumn) {
		return fmt.Errorf("change file %s has no column %s", cf.add.Path, ChangeTypeColumn)
	}
	first := 0
	for g, n := range f.file.RowGroupRows() {
		if n == 0 || rows != nil && !rows.Any(first, first+int(n)) {
			first += int(n)
			continue
		}
		at := first
		for rec, err := range f.file.Batches(ctx, c.options(f, cf, g)) {
			if err != nil {
				return err
			}
			out, err := filterRecord(ctx, rec, rows, at)
			at += int(rec.NumRows())
			rec.Release()
			if err != nil {
				return fmt.Errorf("file %s: %w", cf.add.Path, err)
			}
			if out.NumRows() == 0 {
				out.Release()
				continue
			}
			if !emit(out) {
				return nil
			}
		}
		if first += int(n); at != first {
			return fmt.Errorf("file %s: row group %d gave %d rows of %d", cf.add.Path, g, int(n)-(first-at), n)
		}
	}
	return nil
}
