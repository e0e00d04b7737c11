package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/internal/config"
	"github.com/lakewarden/lakewarden/workflows"
)

func count(n int64) *int64 { return &n }

func completed() workflows.PurgeResult {
	due := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	return workflows.PurgeResult{
		RunID: "r-1", Table: "bronze.vendas", Outcome: activities.StatusCompleted, RowsMarked: count(3), RowsArchived: count(3), RowsDeleted: count(3),
		RowsHeld: count(0), ArchiveTable: "archive.vendas", AuditTable: "control.expurgo_audit", AuditHead: "abc", ErasureDue: &due, ErasureID: "erasure:r-1",
	}
}

func finished(t *testing.T, asJSON bool, r workflows.PurgeResult, err error) said {
	t.Helper()
	var out bytes.Buffer
	a := newApp(&out, &bytes.Buffer{})
	a.json = asJSON
	err = a.finish(r, err)
	return said{out.String(), err}
}

func TestFinish_ofACompletedPurge_showsCountsAndWhatIsDue(t *testing.T) {
	s := finished(t, false, completed(), nil)
	require.NoError(t, s.err)
	for _, want := range []string{
		"bronze.vendas: completed", "marked 3, archived 3, deleted 3, held 0, released unknown", "archive.vendas", "head abc",
		"2026-03-01T03:00:00Z, proved by workflow erasure:r-1",
	} {
		require.Contains(t, s.out, want)
	}
}

func TestFinish_unknownCounts_areNullInJSON(t *testing.T) {
	s := finished(t, true, completed(), nil)
	require.NoError(t, s.err)
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(s.out), &got))
	require.InDelta(t, 3, got["rows_deleted"], 0)
	require.Contains(t, got, "rows_released")
	require.Nil(t, got["rows_released"])
}

func TestFinish_ofAPurgeThatDidNotHappen_failsWithItsOwnResult(t *testing.T) {
	refused := workflows.PurgeResult{RunID: "r-2", Table: "bronze.vendas", Outcome: activities.StatusRefused, Message: "too many rows"}
	cancelled := workflows.PurgeResult{RunID: "r-3", Table: "bronze.vendas", Outcome: activities.StatusCancelled}
	for _, c := range []struct {
		err  error
		want string
	}{
		{temporal.NewNonRetryableApplicationError("refused: too many rows", activities.ErrorRefused, nil, refused), "bronze.vendas: refused\n  too many rows"},
		{temporal.NewCanceledError(cancelled), "bronze.vendas: cancelled"},
	} {
		s := finished(t, false, workflows.PurgeResult{}, c.err)
		require.True(t, s.quiet(), "%v", s.err)
		require.Contains(t, s.out, c.want)
	}
}

func TestFinish_ofAStartThatDidNothing_fails(t *testing.T) {
	s := finished(t, false, workflows.PurgeResult{Table: "bronze.vendas", Outcome: workflows.OutcomeSkipped, Message: "another is running"}, nil)
	require.True(t, s.quiet(), "%v", s.err)
	require.Contains(t, s.out, "another is running")
}

func TestFinish_withoutAResult_isTheErrorItself(t *testing.T) {
	lost := errors.New("connection lost")
	s := finished(t, false, workflows.PurgeResult{}, lost)
	require.ErrorIs(t, s.err, lost)
	require.Empty(t, s.out)
}

func TestStageLine_saysWhatAPersonHasToDo_inCommandsThatWorkAsPasted(t *testing.T) {
	deadline := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	here := config.Flags{Address: "10.0.0.7:7233", Queue: "night shift", Roots: []string{"/data"}}
	require.Equal(t, "marking", stageLine(workflows.Status{Stage: workflows.StageMarking}, here))
	gate := &workflows.Approval{State: workflows.ApprovalWaiting, Rows: 7, Deadline: deadline, Digest: "1f0e", Approvers: []string{"data-steward", "dpo"}}
	waits := stageLine(workflows.Status{Table: "bronze.vendas", Stage: workflows.StageApproval, Approval: gate}, here)
	for _, want := range []string{
		"approval of 7 rows until 2026-03-01T03:00:00Z, by data-steward, dpo",
		"lakewarden approve bronze.vendas --by data-steward --digest 1f0e --address 10.0.0.7:7233",
		"lakewarden reject bronze.vendas --by data-steward --digest 1f0e --reason 'not now' --address 10.0.0.7:7233",
	} {
		require.Contains(t, waits, want)
	}
	held := workflows.Status{Table: "bronze.vendas", Stage: workflows.StageHeld, Error: "disk full", Next: "temporal workflow update"}
	require.Contains(t, stageLine(held, here), "disk full")
	require.Equal(t, []string{"lakewarden retry bronze.vendas"}, nextCommands(held, config.Flags{}))
	require.Equal(t, "lakewarden run purge -f 'my policy.yaml' --address 10.0.0.7:7233 --queue 'night shift'", command(here, "run", "purge", "-f", "my policy.yaml"))
}

func TestPlainText_ofAStatus_hasNoMarksOfMarkdown(t *testing.T) {
	s := workflows.Status{
		RunID: "r-1", Table: "bronze.vendas", Stage: workflows.StageApproval, Next: "temporal workflow update …",
		Plan: &activities.PlanPurgeResult{Criteria: "status RLIKE 'a|b`c'", Cutoff: "2025-01-01"},
	}
	text := plainText(s.Markdown())
	require.Contains(t, text, "bronze.vendas: waiting for approval")
	require.Contains(t, text, "  temporal workflow update …")
	require.Contains(t, text, "status RLIKE 'a|b")
	require.Regexp(t, "run +r-1", text)
	require.NotContains(t, text, "**")
	require.NotContains(t, text, "```")
	require.NotContains(t, text, "|---")
	for _, line := range strings.Split(text, "\n") {
		require.False(t, strings.HasPrefix(line, "|"), line)
	}
}

func TestWorkflowID_aTableStandsForItsPurge(t *testing.T) {
	require.Equal(t, "purge:bronze.vendas", workflowID("bronze.vendas"))
	require.Equal(t, "erasure:r-1", workflowID("erasure:r-1"))
}
