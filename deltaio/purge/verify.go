package purge

import (
	"context"
	"fmt"
	"slices"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/rowhash"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// VerifyArchive reads the run's rows back from the archive's storage, wherever
// they lie now, and compares count and content with what was archived. It
// writes nothing.
func VerifyArchive(ctx context.Context, src *deltaio.Table, dst storage.Store, env deltaio.Env, opt VerifyArchiveOptions) (*VerifyResult, error) {
	if err := opt.Run.check(); err != nil {
		return nil, err
	}
	var rec archiveRecord
	snap, err := archiveOf(ctx, src, dst, env, opt, &rec)
	if err != nil {
		return nil, err
	}
	t := snap.Table()
	out := &VerifyResult{Version: snap.Version(), Expected: rec.Result.Sum}
	fail := func(format string, args ...any) { out.Reasons = append(out.Reasons, fmt.Sprintf(format, args...)) }

	step := stepOf(opt.ID, StepArchive, rec.Result.Attempt)
	if v, _ := snap.Txn(step.AppID); v != step.Version {
		fail("the archive's log shows step %s at %d, not %d: it was replaced, undone or restored", step.AppID, v, step.Version)
	}
	archived, err := schema.Parse(rec.Schema)
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", opt.Archive, err)
	}
	files, err := findRunFiles(ctx, t, snap, opt.ID)
	if err != nil {
		return nil, err
	}
	out.Files = len(files)
	if err := foreignRows(ctx, snap, &rec, files, fail); err != nil {
		return nil, err
	}
	if out.Sum, err = sumArchived(ctx, t, snap, archived, files); err != nil {
		return nil, err
	}
	if out.Rows = int64(out.Sum.Count); out.Rows != rec.Result.Rows {
		fail("%d rows of run %s lie in the archive, %d were archived", out.Rows, opt.ID, rec.Result.Rows)
	}
	if out.Sum != rec.Result.Sum {
		fail("content %s differs from what was archived, %s", out.Sum, rec.Result.Sum)
	}
	out.Agrees = len(out.Reasons) == 0
	return out, nil
}

// archiveOf reads the record of what was archived and opens the archive, which
// must be another table than the source.
func archiveOf(ctx context.Context, src *deltaio.Table, dst storage.Store, env deltaio.Env, opt VerifyArchiveOptions, rec *archiveRecord) (*deltaio.Snapshot, error) {
	if err := readRecord(ctx, opt.Run, opt.Archive, rec); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	t, err := deltaio.Open(ctx, dst, env)
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	if snap.TableID() == rec.SourceID {
		return nil, fmt.Errorf("archive %s is the purged table %s itself", t.URL(), src.URL())
	}
	return snap, nil
}

// foreignRows: the files that the run wrote hold rows of the run alone.
func foreignRows(ctx context.Context, snap *deltaio.Snapshot, rec *archiveRecord, files []runFile, fail func(string, ...any)) error {
	byKey := map[deltaio.FileKey]runFile{}
	for _, f := range files {
		byKey[f.add.Key()] = f
	}
	live := fileSet{}
	for _, add := range snap.Files() {
		live.add(add.Key())
	}
	for _, add := range rec.Files {
		if !live.has(add.Key()) {
			continue // moved by others; its rows are counted where they lie now
		}
		f, err := snap.OpenFile(ctx, add)
		if err != nil {
			return err
		}
		n := f.LiveRows()
		if err := f.Close(); err != nil {
			return err
		}
		if got := byKey[add.Key()].n; got != n {
			fail("file %s: %d of %d rows carry the run's id", add.Path, got, n)
		}
	}
	return nil
}

// sumArchived hashes archived rows over the source's columns, under the source's
// names.
func sumArchived(ctx context.Context, t *deltaio.Table, snap *deltaio.Snapshot, source *schema.Struct, files []runFile) (rowhash.Sum, error) {
	c, names, err := archivedContent(snap, source)
	if err != nil {
		return rowhash.Sum{}, err
	}
	sums := make([]rowhash.Sum, len(files))
	m := newMeter(t, "verify archive", len(files), 0)
	err = forEach(ctx, t, len(files), func(ctx context.Context, i int) error {
		var err error
		if sums[i], err = archivedSum(ctx, snap, c, names, files[i].add, files[i].rows); err != nil {
			return fmt.Errorf("%s: %s: %w", t.URL(), files[i].add.Path, err)
		}
		m.file(files[i].n, files[i].add.Size)
		return nil
	})
	var total rowhash.Sum
	for _, s := range sums {
		total = total.Add(s)
	}
	return total, err
}

// archivedContent hashes by the source's schema; names gives the source's
// spelling of each archive column.
func archivedContent(snap *deltaio.Snapshot, source *schema.Struct) (*content, map[string]string, error) {
	c := newContent(source, "")
	names := map[string]string{}
	c.columns = slices.Clone(c.columns)
	for i, col := range c.columns {
		f, ok := snap.Schema().Field(col)
		if !ok {
			return nil, nil, fmt.Errorf("%s: column %s is gone from the archive", snap.Table().URL(), col)
		}
		names[f.Name] = col
		c.columns[i] = f.Name
	}
	return c, names, nil
}

func archivedSum(ctx context.Context, snap *deltaio.Snapshot, c *content, names map[string]string, add *log.Add, rows *pq.Bitmap) (sum rowhash.Sum, err error) {
	f, err := snap.OpenFile(ctx, add)
	if err != nil {
		return sum, err
	}
	defer f.Close() // nothing was written
	for b, err := range f.Batches(ctx, c.columns, rows) {
		if err != nil {
			return sum, err
		}
		named := renameColumns(b.Record, names)
		s, err := c.hasher.Masked(named, func(i int) bool { return rows.Get(int(b.First) + i) })
		named.Release()
		b.Record.Release()
		if err != nil {
			return sum, err
		}
		sum = sum.Add(s)
	}
	return sum, nil
}
