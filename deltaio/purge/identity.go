package purge

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/rowhash"
)

// identity says when two rows are the same: by key columns, or as a whole.
type identity struct {
	set     *KeySet
	columns []string
	whole   *content // nil: by key
}

func newIdentity(snap *deltaio.Snapshot, c *content, keys []string) (*identity, error) {
	if len(keys) == 0 {
		return &identity{set: &KeySet{}, columns: c.columns, whole: c}, nil
	}
	set, err := newKeySet(snap.Schema(), keys)
	if err != nil {
		return nil, err
	}
	names, err := set.bind(snap.Schema())
	return &identity{set: set, columns: names}, err
}

func (d *identity) collect(rec arrow.Record) error {
	if d.whole == nil {
		return d.set.collect(rec, d.columns)
	}
	return d.each(rec, func(_ int, k key128) error { d.set.add(k); return nil })
}

// repeated seals the set and says whether rows share a key.
func (d *identity) repeated(rows int64) bool {
	d.set.seal()
	return d.whole == nil && int64(d.set.Len())+d.set.Nulls() != rows
}

func (d *identity) find(rec arrow.Record, out *hitRows) error {
	return d.each(rec, func(i int, k key128) error {
		if d.set.has(k) {
			return out.add(rec, i)
		}
		return nil
	})
}

// each visits the rows that have a key, with it.
func (d *identity) each(rec arrow.Record, visit func(int, key128) error) error {
	if d.whole != nil {
		hashes, err := d.whole.hasher.Rows(rec)
		if err != nil {
			return err
		}
		for i, h := range hashes {
			if err := visit(i, hashKey(h)); err != nil {
				return err
			}
		}
		return nil
	}
	reader, err := newKeyReader(rec, d.columns)
	if err != nil {
		return err
	}
	for i := range int(rec.NumRows()) {
		if k, ok := reader.key(i); ok {
			if err := visit(i, k); err != nil {
				return err
			}
		}
	}
	return nil
}

func hashKey(h rowhash.Hash128) (k key128) {
	for i := range 8 {
		k[i], k[8+i] = byte(h.Hi>>(56-8*i)), byte(h.Lo>>(56-8*i))
	}
	return k
}
