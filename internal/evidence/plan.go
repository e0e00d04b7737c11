package evidence

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// PlanPrefix starts the names of a run's plans in its folder.
const PlanPrefix = "plan-"

// ErrNoPlan: the run folder holds no plan.
var ErrNoPlan = errors.New("the run folder holds no plan")

// ReadPlan reads into v the plan of a run of which only the id is known: the
// first one that was made with counts, else any. A run that planned again left
// several. ErrNoPlan when there is none.
func ReadPlan(ctx context.Context, f *Folder, v any) error {
	names, err := f.List(ctx, PlanPrefix)
	if err != nil {
		return err
	}
	var best []byte
	for _, name := range names {
		if strings.Contains(name, "/") || !strings.HasSuffix(name, ".json") {
			continue
		}
		data, err := f.Get(ctx, name)
		if err != nil {
			return err
		}
		var plan struct {
			Counts *json.RawMessage `json:"counts"`
		}
		if err := json.Unmarshal(data, &plan); err != nil {
			return fmt.Errorf("record %s of %s: %w", name, f.URL(), err)
		}
		best = data
		if plan.Counts != nil {
			break
		}
	}
	if best == nil {
		return fmt.Errorf("%s: %w", f.URL(), ErrNoPlan)
	}
	if err := json.Unmarshal(best, v); err != nil {
		return fmt.Errorf("plan of %s: %w", f.URL(), err)
	}
	return nil
}
