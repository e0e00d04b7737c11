package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

func TestPurgeLakehouse_one_that_waits_for_approval_frees_its_slot_for_the_next(t *testing.T) {
	t.Parallel()
	x := newSite(t, sharedServer(t))
	x.worker()
	one := 1
	list := spec.PurgeLakehouse{APIVersion: spec.APIVersion, Kind: spec.KindPurgeLakehouse, Name: x.queue, MaxParallel: &one}
	first, second := x.asked(), x.asked()
	second.Name, second.Table = "second", "bronze.missing"
	third := x.policy()
	third.Name, third.Table = "third", "bronze.missing2"
	list.Policies = []spec.RetentionPolicy{first, second, third}
	w, err := x.server.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "lakehouse-" + x.queue, TaskQueue: x.queue}, workflows.TypePurgeLakehouse, list)
	require.NoError(t, err)
	digest := x.until(workflows.PurgeID(x.table), workflows.StageApproval).Approval.Digest
	// The others run and are refused (their tables are missing) while the first waits.
	require.Eventually(t, func() bool {
		v, err := x.server.client.QueryWorkflow(t.Context(), w.GetID(), "", workflows.QueryStatus)
		var r workflows.LakehouseResult
		return err == nil && v.Get(&r) == nil && r.Failed == 2
	}, wait, poll)
	require.NoError(t, x.update(workflows.PurgeID(x.table), workflows.UpdateApprove, workflows.Decision{By: "dpo", Digest: digest}))
	require.ErrorContains(t, w.Get(t.Context(), nil), "2 of 3 purges failed")
	x.completed(x.result(x.server.client.GetWorkflow(t.Context(), workflows.PurgeID(x.table), "")))
}
