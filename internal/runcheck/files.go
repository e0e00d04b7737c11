package runcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

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

// marker reads the marker column from the run's plan; "" where it flags nothing,
// or the plan is gone.
func (c *checker) marker(ctx context.Context) (string, error) {
	folder, err := c.lake.Run(ctx, c.report.RunID)
	if err != nil {
		return "", err
	}
	names, err := folder.List(ctx, "plan-")
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".json") {
			continue
		}
		data, err := folder.Get(ctx, name)
		if err != nil {
			return "", err
		}
		var plan struct {
			Policy struct {
				Mark struct {
					Column string `json:"column"`
				} `json:"mark"`
			} `json:"policy"`
		}
		if err := json.Unmarshal(data, &plan); err != nil {
			return "", fmt.Errorf("%s of %s: %w", name, folder.URL(), err)
		}
		if plan.Policy.Mark.Column == "none" {
			return "", nil
		}
		return plan.Policy.Mark.Column, nil
	}
	return "", nil
}
