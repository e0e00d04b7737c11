package purge

import (
	"context"
	"errors"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
)

// ErasureDue is when the last file that held purged rows leaves a retention, and
// how many of them are still within it; nil when none is left in storage.
func ErasureDue(ctx context.Context, t *deltaio.Table, r Run, retention time.Duration) (due *time.Time, young int, err error) {
	return nil, 0, errors.New("purge: not there yet")
}

// ProveErased accounts for every object under the table's root.
func ProveErased(ctx context.Context, t *deltaio.Table, opt ProveOptions) (*ProveResult, error) {
	return nil, errors.New("purge: not there yet")
}
