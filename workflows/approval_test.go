package workflows_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

func askedPolicy() spec.RetentionPolicy {
	p := policy()
	p.Approval = spec.Approval{On: spec.ApprovalMarked, Approvers: []string{"dpo", "ana"}, Deadline: "72h"}
	p.RequestedBy = "ana"
	return p
}

// answer is how an update was taken; it is filled in by the next workflow task.
type answer struct {
	accepted bool
	rejected error
}

func decide(env *testsuite.TestWorkflowEnvironment, name string, d workflows.Decision) *answer {
	a := &answer{}
	env.UpdateWorkflow(name, name+d.By+d.Digest, &testsuite.TestUpdateCallback{
		OnReject: func(err error) { a.rejected = err }, OnAccept: func() { a.accepted = true }, OnComplete: func(any, error) {},
	}, d)
	return a
}

func TestApproval_only_an_allowed_approver_with_the_digest_that_was_shown_lets_the_purge_go_on(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	env := newEnv(t, f, "bronze.vendas")
	refused := map[string]*answer{}
	var allowed *answer
	env.RegisterDelayedCallback(func() {
		s := status(t, env)
		require.Equal(t, workflows.StageApproval, s.Stage)
		require.Contains(t, s.Next, s.Approval.Digest)
		digest := s.Approval.Digest
		for want, d := range map[string]workflows.Decision{
			"not an approver":        {By: "eve", Digest: digest},
			"asked for this purge":   {By: "ana", Digest: digest},
			"read the status again":  {By: "dpo", Digest: "old"},
			`"by"`:                   {Digest: digest},
			"both go into the audit": {By: "bob", Digest: digest, Reason: strings.Repeat("x", 3000)},
		} {
			refused[want] = decide(env, workflows.UpdateApprove, d)
		}
	}, time.Hour)
	env.RegisterDelayedCallback(func() {
		require.Equal(t, workflows.StageApproval, status(t, env).Stage, "nothing went on")
		allowed = decide(env, workflows.UpdateApprove, workflows.Decision{By: "dpo", Digest: status(t, env).Approval.Digest})
	}, 2*time.Hour)
	env.ExecuteWorkflow(workflows.PurgeTable, askedPolicy())
	require.NoError(t, env.GetWorkflowError())
	require.Len(t, refused, 5)
	for want, a := range refused {
		require.False(t, a.accepted, want)
		require.ErrorContains(t, a.rejected, want)
	}
	require.True(t, allowed.accepted)
	require.Equal(t, "dpo", f.audit[0].ApprovedBy)
	require.Equal(t, "claimed", f.audit[0].ApprovalIdentity)
}

func TestApproval_rejected_undoes_and_fails_as_rejected(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	env := newEnv(t, f, "bronze.vendas")
	env.RegisterDelayedCallback(func() {
		decide(env, workflows.UpdateReject, workflows.Decision{By: "dpo", Digest: status(t, env).Approval.Digest, Reason: "audit season"})
	}, time.Hour)
	env.ExecuteWorkflow(workflows.PurgeTable, askedPolicy())
	app := appError(t, env.GetWorkflowError())
	require.Equal(t, workflows.TypeRejected, app.Type())
	require.Contains(t, app.Message(), "audit season")
	require.Empty(t, f.audit[0].ApprovedBy, "who rejected has not approved")
	require.Equal(t, "audit season", f.audit[0].Reason)
	require.False(t, f.marked)
	require.Equal(t, []string{activities.StatusRejected}, f.statuses())
}

func TestApproval_nobody_decides_expires_before_half_of_the_retention(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	f.plan.TableRetention = "48h"
	env := newEnv(t, f, "bronze.vendas")
	var at time.Time
	f.hook["UnmarkRows"] = func() { at = env.Now() }
	start := env.Now()
	env.ExecuteWorkflow(workflows.PurgeTable, askedPolicy())
	require.Equal(t, workflows.TypeExpired, appError(t, env.GetWorkflowError()).Type())
	require.WithinDuration(t, start.Add(24*time.Hour), at, time.Minute)
	require.Equal(t, []string{activities.StatusExpired}, f.statuses())
}

func TestApproval_more_rows_than_approved_asks_again_with_another_digest(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	f.deletes = []string{activities.MoreThanApproved}
	env := newEnv(t, f, "bronze.vendas")
	var digests []string
	approve := func() {
		a := status(t, env).Approval
		digests = append(digests, a.Digest)
		decide(env, workflows.UpdateApprove, workflows.Decision{By: "dpo", Digest: a.Digest})
	}
	env.RegisterDelayedCallback(approve, time.Hour)
	env.RegisterDelayedCallback(approve, 2*time.Hour)
	env.ExecuteWorkflow(workflows.PurgeTable, askedPolicy())
	require.NoError(t, env.GetWorkflowError())
	require.Len(t, digests, 2)
	require.NotEqual(t, digests[0], digests[1])
}

func TestApproval_cancelled_while_waiting_undoes_and_shows_nothing_as_waiting(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	env := newEnv(t, f, "bronze.vendas")
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
	var whileUndoing workflows.Status
	f.hook["UnmarkRows"] = func() { whileUndoing = status(t, env) }
	env.ExecuteWorkflow(workflows.PurgeTable, askedPolicy())
	require.False(t, f.marked)
	require.Equal(t, []string{activities.StatusCancelled}, f.statuses())
	for _, s := range []workflows.Status{whileUndoing, status(t, env)} {
		require.Equal(t, workflows.ApprovalCancelled, s.Approval.State)
		require.Empty(t, s.Approval.Approve)
		require.Empty(t, s.Next)
		require.NotContains(t, s.Markdown(), "waiting until")
	}
}

func TestApproval_who_may_decide_and_who_did_is_shown(t *testing.T) {
	t.Parallel()
	f := newFake(5)
	env := newEnv(t, f, "bronze.vendas")
	env.RegisterDelayedCallback(func() {
		s := status(t, env)
		require.Equal(t, []string{"dpo", "ana"}, s.Approval.Approvers)
		require.Contains(t, s.Markdown(), "| approvers | dpo, ana |")
		decide(env, workflows.UpdateApprove, workflows.Decision{By: "dpo", Digest: s.Approval.Digest, Reason: "looked at"})
	}, time.Hour)
	env.ExecuteWorkflow(workflows.PurgeTable, askedPolicy())
	require.NoError(t, env.GetWorkflowError())
	require.Contains(t, ptr(status(t, env)).Markdown(), "approved by dpo: looked at")
	require.Equal(t, "looked at", f.audit[0].Reason)
}

func TestApproval_expired_says_that_nobody_decided(t *testing.T) {
	t.Parallel()
	env := newEnv(t, newFake(5), "bronze.vendas")
	env.ExecuteWorkflow(workflows.PurgeTable, askedPolicy())
	require.Contains(t, ptr(status(t, env)).Markdown(), "expired, nobody decided")
}

func ptr[T any](v T) *T { return &v }
