package runcheck

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/internal/calendar"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
)

// flagless is the question of flags.
const flagless = "no row of the table carries a flag of this run"

// flags looks for rows that still carry a flag. A flag does not say who set it:
// where the table's log shows another run that flagged rows and has not ended, as
// one that waits for approval, the flags are that run's.
func (c *checker) flags(ctx context.Context) error {
	column, err := c.marker(ctx, c.report.RunID)
	if err != nil || column == "" {
		return err
	}
	t, err := c.open(ctx, c.report.Table)
	if err != nil {
		return err
	}
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return err
	}
	if _, ok := snap.Schema().Field(column); !ok {
		c.add(true, flagless, "there is no column %s", column)
		return nil
	}
	n, err := count(ctx, snap, calendar.QuoteColumn(column)+" = TRUE")
	if err != nil {
		return err
	}
	detail := fmt.Sprintf("%d rows with %s in version %d", n, column, snap.Version())
	if n == 0 {
		c.add(true, flagless, "%s", detail)
		return nil
	}
	own, others, err := c.flaggers(ctx, t, column)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		detail += "; flagged by a run that has not ended: " + strings.Join(others, ", ")
	}
	c.add(!own && len(others) > 0, flagless, "%s", detail)
	return nil
}

// flaggers finds the runs whose flags lie in the column: whether this one is
// among them, and the others. A run whose plan is lost may have used any column.
func (c *checker) flaggers(ctx context.Context, t *deltaio.Table, column string) (own bool, others []string, err error) {
	left, err := purge.FindLeftovers(ctx, t)
	if err != nil {
		return false, nil, err
	}
	for _, l := range left {
		if !l.Marked {
			continue
		}
		if l.RunID == c.report.RunID {
			own = true
			continue
		}
		if used, err := c.marker(ctx, l.RunID); err != nil {
			return false, nil, err
		} else if used == "" || strings.EqualFold(used, column) {
			others = append(others, l.RunID)
		}
	}
	return own, others, nil
}

// marker reads the marker column from a run's plan; "" where it flags nothing,
// or the plan is gone.
func (c *checker) marker(ctx context.Context, runID string) (string, error) {
	folder, err := c.lake.Run(ctx, runID)
	if err != nil {
		return "", err
	}
	var plan struct {
		Policy struct {
			Mark spec.Mark `json:"mark"`
		} `json:"policy"`
	}
	err = evidence.ReadPlan(ctx, folder, &plan)
	if errors.Is(err, evidence.ErrNoPlan) || err == nil && !plan.Policy.Mark.On() {
		return "", nil
	}
	return plan.Policy.Mark.Column, err
}
