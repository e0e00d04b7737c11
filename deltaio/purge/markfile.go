package purge

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/rowhash"
)

// CorruptionError: a file that was just written does not hold the rows that went
// into it. Nothing was committed.
type CorruptionError struct {
	File      string
	Got, Want rowhash.Sum
}

func (e *CorruptionError) Error() string {
	return fmt.Sprintf("file %s holds rows %s where %s were written: storage or engine damage them; nothing was committed", e.File, e.Got, e.Want)
}

// markFiles makes marked and kept files.
type markFiles struct {
	judge   *judge
	content *content
	stager  *stager
	snap    *deltaio.Snapshot
}

// one splits a file. nil: it has nothing that is due.
func (w *markFiles) one(ctx context.Context, add *log.Add) (*markedFile, []*log.AddCDCFile, error) {
	f, err := w.snap.OpenFile(ctx, add)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() // nothing was written
	v, err := w.judge.open(ctx, f, add)
	if err != nil {
		return nil, nil, err
	}
	if v.nFlagged > 0 {
		return nil, nil, &FlagsError{Table: w.snap.Table().URL(), Column: w.judge.marker, Rows: v.nFlagged, Files: []string{add.Path}}
	}
	out := &markedFile{Verdict: v.kind(), Original: add}
	switch out.Verdict {
	case keepFile:
		return nil, nil, nil
	case emptyFile:
		return out, nil, nil
	}
	due := v.dueRows(f)
	kept := without(liveRows(f), due)
	sums, rest, err := w.content.sum(ctx, f, due, true)
	if err != nil {
		return nil, nil, err
	}
	if err := w.write(ctx, f, out, due, kept, v); err != nil {
		return nil, nil, err
	}
	out.Sum = sums
	if err := w.check(ctx, out, rest); err != nil {
		return nil, nil, err
	}
	changes, err := w.changes(ctx, f, due, out)
	return out, changes, err
}

// dueRows are the due rows as a mask.
func (v *verdict) dueRows(f *deltaio.DataFile) *pq.Bitmap {
	switch {
	case v.due != nil:
		return v.due
	case v.all:
		return liveRows(f)
	}
	return pq.NewBitmap(int(f.NumRows()))
}

func liveRows(f *deltaio.DataFile) *pq.Bitmap {
	if live := f.Live(); live != nil {
		return live.Clone()
	}
	return pq.FullBitmap(int(f.NumRows()))
}

func without(a, b *pq.Bitmap) *pq.Bitmap {
	out := a.Clone()
	out.AndNot(b)
	return out
}

func (w *markFiles) write(ctx context.Context, f *deltaio.DataFile, out *markedFile, due, kept *pq.Bitmap, v *verdict) error {
	keptOut := deltaio.RewriteOutput{Rows: kept}
	if v.nPlain == 0 { // no marker value to preserve
		keptOut.Omit = []string{w.judge.marker}
	}
	staged, err := w.stager.rewrite(ctx, w.snap, out.Original, f, []deltaio.RewriteOutput{
		{Rows: due, Set: map[string]any{w.judge.marker: true}},
		keptOut,
	})
	if err != nil {
		return err
	}
	if s := staged[0]; s != nil {
		out.Marked, out.Rows = s.Add, s.Rows
	}
	if s := staged[1]; s != nil {
		out.Kept, out.RowsKept = s.Add, s.Rows
	}
	if n := int64(due.Count()); n != out.Rows {
		return fmt.Errorf("marked %d rows where %d are due", out.Rows, n)
	}
	if n := int64(kept.Count()); n != out.RowsKept {
		return fmt.Errorf("kept %d rows where %d stay", out.RowsKept, n)
	}
	return nil
}

// check reads the kept rows back: they will be nobody's copy but ours. The
// marked rows are read back when they are archived.
func (w *markFiles) check(ctx context.Context, out *markedFile, rest rowhash.Sum) error {
	if out.Kept == nil {
		return nil
	}
	got, err := w.content.fileSum(ctx, w.snap, out.Kept)
	if err != nil {
		return fmt.Errorf("read back %s: %w", out.Kept.Path, err)
	}
	if got != rest {
		return &CorruptionError{File: out.Kept.Path, Got: got, Want: rest}
	}
	return nil
}

// changes are the change data of flagging: each marked row before and after.
func (w *markFiles) changes(ctx context.Context, f *deltaio.DataFile, due *pq.Bitmap, out *markedFile) ([]*log.AddCDCFile, error) {
	if !w.snap.ChangeFeed() || out.Rows == 0 {
		return nil, nil
	}
	before, err := w.snap.StageChanges(ctx, deltaio.ChangePreimage, chosen(ctx, f, nil, due))
	if err != nil {
		return nil, fmt.Errorf("change data: %w", err)
	}
	flagged := withConst(chosen(ctx, f, nil, due), w.judge.marker, arrow.FixedWidthTypes.Boolean, true)
	after, err := w.snap.StageChanges(ctx, deltaio.ChangePostimage, flagged)
	if err != nil {
		return nil, fmt.Errorf("change data: %w", err)
	}
	return append(before, after...), nil
}
