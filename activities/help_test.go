package activities

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/lake"
	"github.com/lakewarden/lakewarden/internal/sample"
	"github.com/lakewarden/lakewarden/spec"
)

const (
	vendas  = "bronze.vendas"
	archive = "archive.vendas"
	flag    = "_flag"
)

var today = time.Date(2026, 1, 15, 3, 0, 0, 0, time.UTC)

// site is a lakehouse in memory.
type site struct {
	*Activities
	t *testing.T
}

func newSite(t *testing.T) *site {
	t.Helper()
	memory := storage.NewMemory()
	l, err := lake.New(lake.Config{Roots: []lake.Root{{URL: "memory"}}}, func(context.Context, string) (storage.Store, error) { return memory, nil })
	require.NoError(t, err)
	return &site{t: t, Activities: &Activities{Lake: l, Now: func() time.Time { return today }, Engine: "test"}}
}

// withVendas adds the sample table, of 40 rows with the ids 1 to 40.
func (s *site) withVendas() *deltaio.Table {
	s.t.Helper()
	store, err := s.Lake.Table(s.t.Context(), vendas)
	require.NoError(s.t, err)
	require.NoError(s.t, sample.Vendas{Rows: 40, Years: 1, Until: today}.Write(s.t.Context(), store, s.env()))
	return s.table(vendas)
}

func (s *site) table(name string) *deltaio.Table {
	s.t.Helper()
	t, err := s.open(s.t.Context(), name, s.env())
	require.NoError(s.t, err)
	return t
}

// rows counts the rows of a table for which the predicate is TRUE.
func (s *site) rows(name, where string) (n int64) {
	s.t.Helper()
	snap, err := s.table(name).Snapshot(s.t.Context())
	require.NoError(s.t, err)
	for rec, err := range snap.Scan(s.t.Context(), deltaio.ScanOptions{Where: expr.MustParse(where), Context: expr.Context{Now: today}}) {
		require.NoError(s.t, err)
		n += rec.NumRows()
		rec.Release()
	}
	return n
}

// began plans a run over the ids up to 10, freezes the plan, flags the rows and
// archives them: there its worker died.
func (s *site) began(runID string, c Caller) *loaded {
	s.t.Helper()
	ctx := s.t.Context()
	folder, err := s.Lake.Run(ctx, runID)
	require.NoError(s.t, err)
	l := &loaded{folder: folder, table: s.table(vendas), env: s.env(), plan: frozenPlan{
		RunID: runID, Caller: c, Now: today, Zone: "UTC", Match: "id <= 10",
		Policy: spec.RetentionPolicy{
			Table: vendas, Criteria: spec.Criteria{Where: "id <= 10"}, Mark: spec.Mark{Column: flag}, Archive: spec.Archive{Table: archive},
		},
	}}
	run, err := s.purgeRun(ctx, l)
	require.NoError(s.t, err)
	l.plan.Counts, err = purge.PlanPurge(ctx, l.table, purge.PlanOptions{Run: run})
	require.NoError(s.t, err)
	_, err = l.plan.save(ctx, folder)
	require.NoError(s.t, err)
	_, err = purge.MarkRows(ctx, l.table, purge.MarkOptions{Run: run, Plan: l.plan.Counts.Record})
	require.NoError(s.t, err)
	store, err := s.Lake.Table(ctx, archive)
	require.NoError(s.t, err)
	_, err = purge.ArchiveRows(ctx, l.table, store, l.env, purge.ArchiveOptions{Run: run, Plan: l.plan.Counts.Record, Attempt: 1, ArchivedAt: today})
	require.NoError(s.t, err)
	require.EqualValues(s.t, 10, s.rows(vendas, flag+" = TRUE"))
	require.EqualValues(s.t, 10, s.rows(archive, "TRUE"))
	return l
}
