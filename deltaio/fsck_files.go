package deltaio

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/lakewarden/lakewarden/deltaio/internal/dv"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
)

// files opens every live file: its footer, its deletion vector and, where it
// looks deep, all its pages.
func (f *fsck) files(ctx context.Context) error {
	var mu sync.Mutex
	done := Progress{Phase: "files", FilesTotal: len(f.s.state.Files)}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(f.s.table.env.Parallel)
	for _, a := range f.s.state.Files {
		if gctx.Err() != nil {
			break
		}
		g.Go(func() error {
			found, err := f.file(gctx, a)
			if err != nil {
				return fmt.Errorf("file %s: %w", a.Path, err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, x := range found {
				f.record(x)
			}
			f.report.Files++
			f.report.Bytes += a.Size
			done.FilesDone++
			f.s.table.env.Progress(done)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// file gives what is wrong with one file. An error means that the store did not
// let it look.
func (f *fsck) file(ctx context.Context, a *log.Add) (found []Finding, err error) {
	note := func(kind FindingKind, path, format string, args ...any) {
		found = append(found, Finding{Kind: kind, Path: path, Detail: fmt.Sprintf(format, args...)})
	}
	key, err := log.ResolvePath(f.s.table.URL(), a.Path)
	if outside(err) {
		note(FindingOutside, a.Path, "the path leads out of the table, or is absolute: it was not looked at")
		return found, nil
	}
	if err != nil {
		note(FindingLog, a.Path, "the path does not parse: %v", err)
		return found, nil
	}
	r, err := f.s.table.store.Open(ctx, key)
	if isNotExist(err) {
		note(FindingMissing, key, "the log names it as live, %d bytes, and it is not in storage", a.Size)
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // only read
	short := false
	switch size := r.Info().Size; {
	case size < a.Size:
		short = true
		note(FindingTruncated, key, "%d bytes in storage, %d by the log", size, a.Size)
	case size > a.Size:
		note(FindingSize, key, "%d bytes in storage, %d by the log", size, a.Size)
	}
	file, err := scan.Open(r)
	switch {
	case err != nil && (errors.Is(err, scan.ErrCorrupt) || errors.Is(err, scan.ErrUnsupported)):
		if !short { // one thing wrong, one finding
			note(FindingUnreadable, key, "%v", err)
		}
		return found, nil
	case err != nil:
		return nil, err
	}
	if n, known := a.NumRecords(); known && n != file.NumRows() {
		note(FindingRows, key, "%d rows in the file, %d by the log", file.NumRows(), n)
	}
	live, err := f.s.liveRows(ctx, a, file.NumRows())
	switch {
	case err != nil && (errors.Is(err, dv.ErrCorrupt) || isNotExist(err) || outside(err)):
		note(FindingVector, vectorPath(f.s.table.URL(), a, key), "%s: %v", key, err)
	case err != nil:
		return nil, err
	}
	if !f.opt.Deep {
		return found, nil
	}
	why, err := f.pages(ctx, &DataFile{snap: f.s, add: a, key: key, r: r, file: file, live: live})
	if why != nil {
		note(FindingPage, key, "%v", why)
	}
	return found, err
}

func vectorPath(root string, a *log.Add, file string) string {
	if key, inFile, err := dv.Key(root, a.DeletionVector); err == nil && inFile {
		return key
	}
	return file // inline, or not placed
}

// pages decodes the whole file: damage is why, another failure is err.
func (f *fsck) pages(ctx context.Context, file *DataFile) (why, err error) {
	for b, err := range file.Batches(ctx, nil, nil) {
		if err == nil {
			b.Record.Release()
			continue
		}
		if errors.Is(err, scan.ErrCorrupt) || errors.Is(err, scan.ErrUnsupported) {
			return err, nil
		}
		return nil, err
	}
	return nil, nil
}
