package purge

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

// maxExamples bounds the rows shown of a refusal.
const maxExamples = 100

// keysHit is the MERGE-on-key form's question: does a row of the table have the
// key of a row that leaves, without leaving itself? Such a row was never
// archived. Examples go to the run folder. Rows whose key holds a null are hit by
// no key; they leave by their flag.
func (d *deleting) keysHit(ctx context.Context, set *leaving, rec *deleteRecord) (bool, error) {
	if len(d.opt.MatchKeys) == 0 || set.rows == 0 {
		return false, nil
	}
	keys, err := newKeySet(set.snap.Schema(), d.opt.MatchKeys)
	if err != nil {
		return false, &CriteriaError{Table: d.t.URL(), Part: "delete keys", Err: err}
	}
	names, err := keys.bind(set.snap.Schema())
	if err != nil {
		return false, &CriteriaError{Table: d.t.URL(), Part: "delete keys", Err: err}
	}
	leavingOf := map[deltaio.FileKey]*leavingFile{}
	for _, f := range set.files {
		leavingOf[f.add.Key()] = f
		if err := d.collectKeys(ctx, set, f, keys, names); err != nil {
			return false, err
		}
	}
	keys.seal()
	examples := &hitRows{}
	files := set.snap.Files()
	m := newMeter(d.t, "delete: keys", len(files), 0)
	err = forEach(ctx, d.t, len(files), func(ctx context.Context, i int) error {
		if err := d.hits(ctx, set, files[i], leavingOf[files[i].Key()], keys, names, examples); err != nil {
			return fmt.Errorf("%s: %s: %w", d.t.URL(), files[i].Path, err)
		}
		m.file(0, files[i].Size)
		return nil
	})
	if err != nil || examples.Rows == 0 {
		return false, err
	}
	rec.Result.RowsUnflagged = examples.Rows
	rec.Result.Examples, _, err = writeRecord(ctx, d.opt.Run, "keys-hit", d.t.Env().NewID(), examples)
	return true, err
}

// hitRows are rows that a key hits and that are not to leave.
type hitRows struct {
	mu       sync.Mutex
	Rows     int64             `json:"rows"`
	Examples []json.RawMessage `json:"examples"`
}

func (h *hitRows) add(rec arrow.Record, row int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Rows++
	if len(h.Examples) >= maxExamples {
		return nil
	}
	one := rec.NewSlice(int64(row), int64(row)+1)
	defer one.Release()
	text, err := rowJSON(one)
	if err != nil {
		return err
	}
	h.Examples = append(h.Examples, text)
	return nil
}

// rowJSON renders a record of one row.
func rowJSON(rec arrow.Record) (json.RawMessage, error) {
	out := make(map[string]string, rec.NumCols())
	for i, c := range rec.Columns() {
		out[rec.ColumnName(i)] = c.ValueStr(0)
	}
	return json.Marshal(out)
}

func (d *deleting) collectKeys(ctx context.Context, set *leaving, f *leavingFile, keys *KeySet, names []string) error {
	if f.rows == 0 {
		return nil
	}
	file, err := set.snap.OpenFile(ctx, f.add)
	if err != nil {
		return err
	}
	defer file.Close() // nothing was written
	mask := f.mask
	if mask == nil {
		mask = file.Live()
	}
	for rec, err := range chosen(ctx, file, names, mask) {
		if err != nil {
			return err
		}
		err = keys.collect(rec, names)
		rec.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *deleting) hits(ctx context.Context, set *leaving, add *log.Add, leaves *leavingFile, keys *KeySet, names []string, out *hitRows) error {
	if leaves != nil && leaves.all() {
		return nil
	}
	f, err := set.snap.OpenFile(ctx, add)
	if err != nil {
		return err
	}
	defer f.Close() // nothing was written
	live := f.Live()
	for b, err := range f.Batches(ctx, names, nil) {
		if err != nil {
			return err
		}
		err = func() error {
			defer b.Record.Release()
			reader, err := newKeyReader(b.Record, names)
			if err != nil {
				return err
			}
			for i := range int(b.Record.NumRows()) {
				at := int(b.First) + i
				if live != nil && !live.Get(at) || leaves != nil && leaves.rows > 0 && leaves.mask.Get(at) {
					continue
				}
				if key, ok := reader.key(i); ok && keys.has(key) {
					if err := out.add(b.Record, i); err != nil {
						return err
					}
				}
			}
			return nil
		}()
		if err != nil {
			return err
		}
	}
	return nil
}
