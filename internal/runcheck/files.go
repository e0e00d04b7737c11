package runcheck

import (
	"context"
	"errors"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// missingFiles counts the files of a version that are no longer in storage.
func missingFiles(ctx context.Context, t *deltaio.Table, version int64) (missing int, err error) {
	snap, err := t.SnapshotAt(ctx, version)
	if err != nil {
		return 0, err
	}
	for _, f := range snap.Files() {
		_, err := t.Store().Stat(ctx, f.Key().Path)
		if errors.Is(err, storage.ErrNotExist) {
			missing++
			continue
		}
		if err != nil {
			return 0, err
		}
	}
	return missing, nil
}
