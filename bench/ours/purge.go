package main

import (
	"context"
	"fmt"
	"time"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

// step is the time of one step.
type step struct {
	Name string  `json:"name"`
	Wall float64 `json:"wall_s"`
	CPU  float64 `json:"cpu_s"`
}

// steps are timed one after the other.
type steps struct{ list []step }

func (s *steps) time(name string, do func() error) error {
	cpu, start := cpuTime(), time.Now()
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.list = append(s.list, step{name, time.Since(start).Seconds(), (cpuTime() - cpu).Seconds()})
	return nil
}

// purgeTable runs the whole sequence of a purge as the workflow does, the reading
// back of the archive, the check of the table and the audit row included; or the
// mark alone.
func purgeTable(ctx context.Context, s storage.Store, marker string, markOnly bool) (any, error) {
	now := time.Now()
	folder, err := evidence.OpenRun(s, "bench")
	if err != nil {
		return nil, err
	}
	run := purge.Run{ID: "bench", Journal: folder, Column: marker, Criteria: purge.Criteria{
		Match: expr.MustParse("event_date < DATE'" + cutoff + "'"), Undated: expr.MustParse("event_date IS NULL"), Context: expr.Context{Now: now, Zone: time.UTC},
	}}
	archive := storage.Sub(s, "archive")
	var (
		all  steps
		t    *deltaio.Table
		plan *purge.PlanResult
		a    *purge.ArchiveResult
		d    *purge.DeleteResult
	)
	do := func(name string, f func() error) {
		if err == nil {
			err = all.time(name, f)
		}
	}
	do("plan", func() (err error) {
		if t, err = deltaio.Open(ctx, storage.Sub(s, "table"), env()); err == nil {
			plan, err = purge.PlanPurge(ctx, t, purge.PlanOptions{Run: run})
		}
		return err
	})
	do("mark", func() error {
		_, err := purge.MarkRows(ctx, t, purge.MarkOptions{Run: run, Plan: plan.Record})
		return err
	})
	if markOnly {
		return all.list, err
	}
	do("archive", func() (err error) {
		a, err = purge.ArchiveRows(ctx, t, archive, env(), purge.ArchiveOptions{Run: run, Plan: plan.Record, Attempt: 1, ArchivedAt: now})
		return err
	})
	do("verify archive", func() error {
		v, err := purge.VerifyArchive(ctx, t, archive, env(), purge.VerifyArchiveOptions{Run: run, Archive: a.Record})
		if err == nil && !v.Agrees {
			err = fmt.Errorf("archive and table differ: %v", v.Reasons)
		}
		return err
	})
	do("delete", func() (err error) {
		d, err = purge.DeleteMarked(ctx, t, purge.DeleteOptions{Run: run, Plan: plan.Record, Archive: a.Record, ArchiveStore: archive})
		return err
	})
	do("verify table", func() error {
		_, err := purge.VerifyPurge(ctx, t, purge.VerifyPurgeOptions{Run: run})
		return err
	})
	do("audit", func() error {
		row := evidence.AuditRow{RunID: "bench", TargetTable: "bench.sales", ExecTime: now, Status: evidence.StatusCompleted, RowsDeleted: &d.RowsDeleted}
		_, err := auditlog.New(storage.Sub(s, "audit"), env()).Append(ctx, row)
		return err
	})
	return all.list, err
}

// scanTable reads every column of every row into Arrow.
func scanTable(ctx context.Context, s storage.Store) (any, error) {
	t, err := deltaio.Open(ctx, storage.Sub(s, "table"), env())
	if err != nil {
		return nil, err
	}
	snap, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	var rows int64
	for rec, err := range snap.Scan(ctx, deltaio.ScanOptions{}) {
		if err != nil {
			return nil, err
		}
		rows += rec.NumRows()
		rec.Release()
	}
	return rows, nil
}
