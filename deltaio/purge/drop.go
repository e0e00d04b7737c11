package purge

import (
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/rowhash"
)

// dropper takes rows out of files and clears flags of others: a file of which
// nothing stays goes by metadata alone, any other is rewritten.
type dropper struct {
	snap    *deltaio.Snapshot
	content *content
	stager  *stager
	marker  string
}

// dropOrder is what is to become of one file.
type dropOrder struct {
	add   *log.Add
	drop  *pq.Bitmap // rows that go; nil: every live row
	clear *pq.Bitmap // rows that stay with their flag cleared; nil: none
	plain bool       // rows that stay may have the marker FALSE, which is preserved
	// wantSum asks for the digest of the rows that go even where no byte of them
	// would have to be read.
	wantSum bool
}

// dropped is what became of one file.
type dropped struct {
	removed *log.Add
	added   []*log.Add
	rows    int64 // that went
	cleared int64
	live    int64       // before
	sum     rowhash.Sum // of the rows that went, if asked for
	order   dropOrder
	lost    bool // removed is not in storage: nothing is known of its rows
}

// changesRows says whether readers of the change feed must be told row by row:
// some rows of the file went or changed while others stayed.
func (d *dropped) changesRows() bool {
	return len(d.added) > 0 && (d.rows > 0 || d.cleared > 0)
}

// dataChange is false when no live row went or changed: only rows behind the
// deletion vector are gone.
func (d *dropped) dataChange() bool { return d.rows > 0 || d.cleared > 0 || d.live == 0 }

func (w *dropper) file(ctx context.Context, o dropOrder) (*dropped, error) {
	f, err := w.snap.OpenFile(ctx, o.add)
	if err != nil {
		return nil, err
	}
	defer f.Close() // nothing was written
	live := liveRows(f)
	drop := live
	if o.drop != nil {
		drop = o.drop
	}
	d := &dropped{removed: o.add, order: o, rows: int64(drop.Count()), live: int64(live.Count())}
	if o.wantSum {
		if d.sum, _, err = w.content.sum(ctx, f, drop, false); err != nil {
			return nil, err
		}
	}
	rest := without(live, drop)
	if rest.Count() == 0 {
		return d, nil
	}
	return d, w.rewrite(ctx, f, d, rest)
}

// rewrite writes the rows that stay and reads them back.
func (w *dropper) rewrite(ctx context.Context, f *deltaio.DataFile, d *dropped, rest *pq.Bitmap) error {
	outs := w.outputs(d, rest)
	want, _, err := w.content.sum(ctx, f, rest, false)
	if err != nil {
		return err
	}
	staged, err := w.stager.rewrite(ctx, w.snap, d.removed, f, outs)
	if err != nil {
		return err
	}
	var got rowhash.Sum
	for _, s := range staged {
		if s == nil {
			continue
		}
		sum, err := w.content.fileSum(ctx, w.snap, s.Add)
		if err != nil {
			return fmt.Errorf("read back %s: %w", s.Key, err)
		}
		got = got.Add(sum)
		d.added = append(d.added, s.Add)
	}
	if got != want {
		return &CorruptionError{File: d.removed.Path + ", rewritten", Got: got, Want: want}
	}
	return nil
}

func (w *dropper) outputs(d *dropped, rest *pq.Bitmap) []deltaio.RewriteOutput {
	o := d.order
	if o.clear != nil {
		d.cleared = int64(o.clear.Count())
	}
	switch {
	case w.marker == "":
		return []deltaio.RewriteOutput{{Rows: rest}}
	case !o.plain: // nothing but cleared flags: the column can go
		return []deltaio.RewriteOutput{{Rows: rest, Omit: []string{w.marker}, Updated: o.clear}}
	case d.cleared == 0:
		return []deltaio.RewriteOutput{{Rows: rest}}
	}
	return []deltaio.RewriteOutput{
		{Rows: o.clear, Omit: []string{w.marker}, Updated: o.clear},
		{Rows: without(rest, o.clear)},
	}
}

// actions replace the file.
func (d *dropped) actions(now int64) []log.Action {
	out := []log.Action{{Remove: d.removed.Remove(now, d.dataChange())}}
	for _, add := range d.added {
		a := *add
		a.DataChange = d.dataChange()
		out = append(out, log.Action{Add: &a})
	}
	return out
}

// changes are the change data of a commit that drops rows: none when only whole
// files go, else all of them, since a reader that finds any looks at nothing
// else.
func (w *dropper) changes(ctx context.Context, all []*dropped) ([]*log.AddCDCFile, error) {
	if !w.snap.ChangeFeed() {
		return nil, nil
	}
	due := false
	for _, d := range all {
		due = due || d.changesRows()
	}
	if !due {
		return nil, nil
	}
	var out []*log.AddCDCFile
	for _, d := range all {
		files, err := w.changesOf(ctx, d)
		if err != nil {
			return nil, fmt.Errorf("change data of %s: %w", d.removed.Path, err)
		}
		out = append(out, files...)
	}
	return out, nil
}

func (w *dropper) changesOf(ctx context.Context, d *dropped) (out []*log.AddCDCFile, err error) {
	if d.lost {
		return nil, nil
	}
	f, err := w.snap.OpenFile(ctx, d.removed)
	if err != nil {
		return nil, err
	}
	defer f.Close() // nothing was written
	stage := func(kind deltaio.ChangeType, rows iter.Seq2[arrow.Record, error]) {
		if err != nil {
			return
		}
		var files []*log.AddCDCFile
		files, err = w.snap.StageChanges(ctx, kind, rows)
		out = append(out, files...)
	}
	if d.rows > 0 {
		drop := d.order.drop
		if drop == nil {
			drop = liveRows(f)
		}
		stage(deltaio.ChangeDelete, chosen(ctx, f, nil, drop))
	}
	if d.cleared > 0 {
		stage(deltaio.ChangePreimage, chosen(ctx, f, nil, d.order.clear))
		cleared := withConst(chosen(ctx, f, nil, d.order.clear), w.marker, arrow.FixedWidthTypes.Boolean, nil)
		stage(deltaio.ChangePostimage, cleared)
	}
	return out, err
}
