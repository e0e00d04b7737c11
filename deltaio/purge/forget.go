package purge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// forgetStatistics takes file statistics out of the run's records: they hold
// smallest and largest values of purged rows, and once the delete is committed
// nobody needs them any more. Records without any stay as they are.
func forgetStatistics(ctx context.Context, r Run) error {
	for _, prefix := range []string{StepMark, StepArchive, StepDelete, "un" + StepMark, "un" + StepArchive} {
		names, err := r.Journal.List(ctx, prefix)
		if err != nil {
			return fmt.Errorf("list run folder %s: %w", r.Journal.URL(), err)
		}
		for _, name := range names {
			if err := forgetIn(ctx, r, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func forgetIn(ctx context.Context, r Run, name string) error {
	data, err := r.Journal.Get(ctx, name)
	if errors.Is(err, storage.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s from run folder %s: %w", name, r.Journal.URL(), err)
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // 64-bit numbers must survive
	if d.Decode(&v) != nil || !dropStatistics(v) {
		return nil // none of ours, or nothing to forget
	}
	if data, err = json.Marshal(v); err != nil {
		return fmt.Errorf("record %s: %w", name, err)
	}
	if err := r.Journal.Put(ctx, name, data); err != nil {
		return fmt.Errorf("write %s to run folder %s: %w", name, r.Journal.URL(), err)
	}
	return nil
}

// dropStatistics empties every member called Stats and says whether there was
// one.
func dropStatistics(v any) (changed bool) {
	switch x := v.(type) {
	case map[string]any:
		for k, member := range x {
			if s, isText := member.(string); k == "Stats" && isText {
				if s != "" {
					x[k], changed = "", true
				}
				continue
			}
			changed = dropStatistics(member) || changed
		}
	case []any:
		for _, member := range x {
			changed = dropStatistics(member) || changed
		}
	}
	return changed
}
