package activities

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/purge"
)

// states answers for workflow runs by their id.
type states map[string]bool

func (s states) Closed(_ context.Context, _, runID string) (bool, error) {
	closed, known := s[runID]
	if !known {
		return false, errors.New("no answer")
	}
	return closed, nil
}

var old = Caller{WorkflowID: "purge:bronze.vendas", WorkflowRunID: "w-old"}

func (s *site) settle(runID string) (*planner, []string, error) {
	p := &planner{a: s.Activities, env: s.env(), in: PlanPurgeInput{RunID: runID}, out: &PlanPurgeResult{}, table: s.table(vendas)}
	closed, err := p.settle(s.t.Context())
	return p, closed, err
}

func TestSettle_anOpenRun_refusesAndStaysAsItIs(t *testing.T) {
	t.Parallel()
	for name, runs := range map[string]RunStates{"open": states{"w-old": false}, "nobody can be asked": nil} {
		s := newSite(t)
		s.withVendas()
		s.began("r-old", old)
		s.Runs = runs
		p, closed, err := s.settle("r-new")
		require.NoError(t, err, name)
		require.Empty(t, closed)
		require.Len(t, p.out.Refusals, 1)
		require.Equal(t, "run_open", p.out.Refusals[0].Code)
		require.Contains(t, p.out.Refusals[0].Message, "run r-old of workflow purge:bronze.vendas")
		require.EqualValues(t, 10, s.rows(vendas, flag+" = TRUE"))
		require.EqualValues(t, 10, s.rows(archive, "TRUE"))
	}
}

func TestSettle_aClosedRun_isUndoneAndNamed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.withVendas()
	s.began("r-old", old)
	s.Runs = states{"w-old": true}
	p, closed, err := s.settle("r-new")
	require.NoError(t, err)
	require.Equal(t, []string{"r-old"}, closed)
	require.Empty(t, p.out.Refusals)
	require.Len(t, p.out.Warnings, 1)
	require.Contains(t, p.out.Warnings[0], "run r-old")
	require.EqualValues(t, 0, s.rows(vendas, flag+" = TRUE"))
	require.EqualValues(t, 40, s.rows(vendas, "TRUE"))
	require.EqualValues(t, 0, s.rows(archive, "TRUE"))
	require.NotNil(t, p.snap, "the plan is made on the table as it is now")

	_, closed, err = s.settle("r-new")
	require.NoError(t, err)
	require.Empty(t, closed, "once is enough")
}

func TestSettle_aRunWithoutAPlan_refuses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	table := s.withVendas()
	l := s.began("r-old", old)
	lost, err := s.Lake.Run(t.Context(), "r-lost") // its flags are there, its plan is not
	require.NoError(t, err)
	run, err := s.purgeRun(t.Context(), l)
	require.NoError(t, err)
	_, err = purge.UnmarkRows(t.Context(), table, purge.UnmarkOptions{Run: run})
	require.NoError(t, err)
	run.ID, run.Journal = "r-lost", lost
	plan, err := purge.PlanPurge(t.Context(), table, purge.PlanOptions{Run: run})
	require.NoError(t, err)
	_, err = purge.MarkRows(t.Context(), table, purge.MarkOptions{Run: run, Plan: plan.Record})
	require.NoError(t, err)

	s.Runs = states{}
	p, closed, err := s.settle("r-new")
	require.NoError(t, err)
	require.Empty(t, closed)
	require.Len(t, p.out.Refusals, 1)
	require.Equal(t, "leftover_unknown", p.out.Refusals[0].Code)
	require.Contains(t, p.out.Refusals[0].Message, "r-lost")
	require.EqualValues(t, 10, s.rows(vendas, flag+" = TRUE"))
}

func TestSettle_ofTheRunItself_orWithoutAnAnswer_touchesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.withVendas()
	s.began("r-old", old)
	s.Runs = states{}
	p, closed, err := s.settle("r-old")
	require.NoError(t, err)
	require.Empty(t, closed)
	require.Empty(t, p.out.Refusals)

	_, _, err = s.settle("r-new")
	require.ErrorContains(t, err, "no answer")
	require.EqualValues(t, 10, s.rows(vendas, flag+" = TRUE"))
}
