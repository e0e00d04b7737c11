package auditlog

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

// ErrRowsLost: files of the audit table are gone that its log lists.
var ErrRowsLost = errors.New("rows of the audit table are lost")

// readAtOnce bounds the files in flight; audit files are small.
const readAtOnce = 8

// Rows reads the whole table.
func (l *Log) Rows(ctx context.Context) ([]evidence.AuditRow, error) {
	t, err := deltaio.Open(ctx, l.store, l.env)
	if err != nil {
		return nil, err
	}
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return l.rows(ctx, snap)
}

// rows gives the rows of a snapshot in the order of its files; only files that
// the cache does not know are read.
func (l *Log) rows(ctx context.Context, snap *deltaio.Snapshot) ([]evidence.AuditRow, error) {
	known := l.cache.known(snap)
	files := snap.Files()
	keys, rows := make([]string, len(files)), make([][]evidence.AuditRow, len(files))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(readAtOnce)
	for i, f := range files {
		keys[i] = fmt.Sprintf("%s\x00%d\x00%d\x00%s", f.Path, f.Size, f.ModificationTime, f.DeletionVector.ID())
		if had, ok := known[keys[i]]; ok {
			rows[i] = had
			continue
		}
		g.Go(func() (err error) {
			rows[i], err = readFile(gctx, snap, deltaio.ScanOptions{Files: files[i : i+1]})
			if errors.Is(err, storage.ErrNotExist) {
				err = missingFile(snap, f.Path, err)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	l.cache.keep(snap, keys, rows)
	return slices.Concat(rows...), nil
}

func readFile(ctx context.Context, snap *deltaio.Snapshot, one deltaio.ScanOptions) ([]evidence.AuditRow, error) {
	var rows []evidence.AuditRow
	for rec, err := range snap.Scan(ctx, one) {
		if err != nil {
			return nil, err
		}
		batch, err := evidence.AuditRows(rec)
		rec.Release()
		if err != nil {
			return nil, fmt.Errorf("%s: version %d: %w", snap.Table().URL(), snap.Version(), err)
		}
		rows = append(rows, batch...)
	}
	return rows, nil
}

// missingFile says what it means that a file is gone which the log lists.
func missingFile(snap *deltaio.Snapshot, path string, err error) error {
	return fmt.Errorf("audit table %s: the row file %s is missing: version %d of the table lists it, so it was removed from storage behind the table's back; "+
		"its rows cannot be read or verified until it is put back from a backup: %w: %w", snap.Table().URL(), path, snap.Version(), ErrRowsLost, err)
}
