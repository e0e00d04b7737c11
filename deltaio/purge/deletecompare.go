package purge

import (
	"context"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio/rowhash"
)

// compare says whether the rows that leave are those of the archive. What the
// archive read and nobody touched since is not read again: its bytes are the
// same.
func (d *deleting) compare(ctx context.Context, set *leaving, rec *deleteRecord) (bool, error) {
	if d.archive == nil {
		return true, nil
	}
	if uint64(set.rows) != d.archive.Result.Sum.Count || !set.content.covers(d.archive.Schema) {
		return false, nil
	}
	known := map[archivedFile]rowhash.Sum{}
	for _, f := range d.archive.Sources {
		known[archivedFile{Path: f.Path, DV: f.DV, Mask: f.Mask}] = f.Sum
	}
	sums := make([]rowhash.Sum, len(set.files))
	m := newMeter(d.t, "delete: compare", len(set.files), 0)
	err := forEach(ctx, d.t, len(set.files), func(ctx context.Context, i int) error {
		f := set.files[i]
		k := f.add.Key()
		sum, ok := known[archivedFile{Path: k.Path, DV: k.DV, Mask: f.maskDigest()}]
		var err error
		if !ok && f.rows > 0 {
			if sum, err = maskSum(ctx, set, f); err != nil {
				return fmt.Errorf("%s: %s: %w", d.t.URL(), k.Path, err)
			}
		}
		sums[i] = sum
		m.file(f.rows, f.add.Size)
		return nil
	})
	if err != nil {
		return false, err
	}
	for _, s := range sums {
		rec.Result.Sum = rec.Result.Sum.Add(s)
	}
	return rec.Result.Sum == d.archive.Result.Sum, nil
}

func maskSum(ctx context.Context, set *leaving, f *leavingFile) (rowhash.Sum, error) {
	file, err := set.snap.OpenFile(ctx, f.add)
	if err != nil {
		return rowhash.Sum{}, err
	}
	defer file.Close() // nothing was written
	sum, _, err := set.content.sum(ctx, file, f.mask, false)
	return sum, err
}
