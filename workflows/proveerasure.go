package workflows

import (
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
)

// ErasureInput is the input of ProveErasure: what is owed, and how often it was
// tried.
type ErasureInput struct {
	activities.ErasureOwed
	// Attempt counts the tries so far, across continue-as-new.
	Attempt int `json:"attempt,omitempty"`
}

// ErasureResult is the result of ProveErasure.
type ErasureResult struct {
	RunID   string                        `json:"run_id"`
	Table   string                        `json:"table"`
	Outcome string                        `json:"outcome"` // erased | erasure_incomplete
	Proof   *activities.ProveErasedResult `json:"proof,omitempty"`
	Audit   *activities.RecordAuditResult `json:"audit,omitempty"`
}

const (
	// erasureAttempts bounds how often residue is looked at again: a month of days.
	erasureAttempts = 30
	erasureRecheck  = 24 * time.Hour
	// erasureMargin is how long after the retention the proof starts: the clocks of
	// server, worker and store differ, and the slowest one decides what may go.
	erasureMargin = time.Hour
)

// ProveErasure waits until the files of a run are past retention, vacuums, and
// accounts for every object under the table's root. It ends with erased, or
// looks again every day and ends with erasure_incomplete, naming the residue.
func ProveErasure(ctx workflow.Context, in ErasureInput) (ErasureResult, error) {
	if in.Run.RunID == "" || in.Run.Table == "" || in.AuditTable == "" || in.Due.IsZero() {
		return ErasureResult{}, failure(TypeInvalidPolicy,
			`run, audit_table and due are needed, for example {"run":{"run_id":"…","table":"bronze.vendas","plan_digest":"…"},"audit_table":"control.expurgo_audit","due":"2026-01-31T00:00:00Z"}; PurgeTable starts this by itself`, nil)
	}
	// The stage is there before anything is awaited: a status asked for at once has one.
	e := &erasure{in: in, status: Status{
		RunID: in.Run.RunID, Table: in.Run.Table, Policy: in.Policy, ErasureDue: &in.Due, ErasureID: workflow.GetInfo(ctx).WorkflowExecution.ID,
		Stage: StageWaiting, Since: workflow.Now(ctx),
	}}
	if err := workflow.SetQueryHandler(ctx, QueryStatus, func() (Status, error) { return e.status, nil }); err != nil {
		return ErasureResult{}, err
	}
	e.enter(ctx, StageWaiting)
	e.attrs = hasSearchAttributes(ctx)
	out, err := e.run(ctx)
	if ctx.Err() != nil && temporal.IsCanceledError(err) {
		e.stopped(ctx)
	}
	return out, err
}

// startProof starts a ProveErasure that outlives its parent. Whether one that ran
// before may run again is the caller's to say.
func startProof(ctx workflow.Context, reuse enumspb.WorkflowIdReusePolicy, in activities.ErasureOwed) error {
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: ErasureID(in.Run.RunID), ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_ABANDON, WorkflowIDReusePolicy: reuse,
		StaticSummary: cut("Prove that purged rows of "+in.Run.Table+" are erased", maxSummary),
		StaticDetails: cut(fmt.Sprintf("Run %s deleted %s rows of %s by policy %s. Their files may go on %s; then they are removed, every object under the table is accounted for, and a certificate is written.\n\nLegal basis: %s\n\nQuery `status` tells the state. Cancelling stops the proof, not the retention.",
			in.Run.RunID, count(in.RowsDeleted), in.Run.Table, in.Policy, in.Due.UTC().Format(time.RFC3339), cell.Replace(in.LegalBasis)), maxDetails),
	})
	return workflow.ExecuteChildWorkflow(ctx, TypeProveErasure, ErasureInput{ErasureOwed: in}).GetChildWorkflowExecution().Get(ctx, nil)
}

type erasure struct {
	in     ErasureInput
	status Status
	attrs  bool
}

// stopped shows a proof that was cancelled: nothing was proved.
func (e *erasure) stopped(ctx workflow.Context) {
	safe, _ := workflow.NewDisconnectedContext(ctx)
	e.status.Outcome = activities.StatusCancelled
	e.status.Error = "the proof was stopped: by a restore of the run, or by somebody who cancelled this workflow; nothing is proved"
	e.enter(safe, StageDone)
}

func (e *erasure) run(ctx workflow.Context) (ErasureResult, error) {
	due := e.in.Due
	if e.in.Attempt == 0 {
		due = due.Add(erasureMargin)
	}
	for {
		// 1. Wait, durably, for the retention.
		e.enter(ctx, StageWaiting)
		if err := sleepUntil(ctx, due, e.waitsFor(due)); err != nil {
			return ErasureResult{}, err
		}

		// 2. Vacuum, then account for everything.
		err := e.prove(ctx)
		if ctx.Err() != nil {
			return ErasureResult{}, ctx.Err()
		}
		e.in.Attempt++
		e.status.Error = ""
		if err == nil && e.status.Erasure.Erased {
			return e.conclude(ctx, activities.StatusErased)
		}

		// 3. Say so, and look again, unless a person must look first.
		if err != nil {
			e.status.Error = rootMessage(err)
		}
		if e.in.Attempt >= erasureAttempts || isType(err, activities.ErrorHalt) || isType(err, activities.ErrorRefused) || isType(err, activities.ErrorUnsupported) {
			return e.conclude(ctx, activities.StatusErasureIncomplete)
		}
		if e.in.Attempt == 1 {
			if err := e.record(ctx, activities.StatusErasureIncomplete); err != nil {
				return ErasureResult{}, err
			}
		}
		due = workflow.Now(ctx).Add(erasureRecheck)
		if r := e.status.Erasure; r != nil && r.NextDue != nil && r.NextDue.Add(erasureMargin).After(due) {
			due = r.NextDue.Add(erasureMargin)
		}
		e.status.ErasureDue = &due
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			e.in.Due = due
			return ErasureResult{}, workflow.NewContinueAsNewError(ctx, TypeProveErasure, e.in)
		}
	}
}

func (e *erasure) prove(ctx workflow.Context) error {
	e.status.Vacuum, e.status.Erasure = nil, nil
	e.enter(ctx, StageVacuuming)
	var v activities.VacuumTableResult
	if err := workflow.ExecuteActivity(data(ctx, "Remove files past retention from storage"), steps.VacuumTable,
		activities.VacuumTableInput{Run: e.in.Run, Deleted: true}).Get(ctx, &v); err != nil {
		return err
	}
	e.status.Vacuum = &v
	e.enter(ctx, StageProving)
	var r activities.ProveErasedResult
	if err := workflow.ExecuteActivity(data(ctx, "Account for every object under the table"), steps.ProveErased,
		e.proofInput()).Get(ctx, &r); err != nil {
		return err
	}
	e.status.Erasure = &r
	return nil
}

func (e *erasure) proofInput() activities.ProveErasedInput {
	return activities.ProveErasedInput{
		Run: e.in.Run, RowsDeleted: e.in.RowsDeleted, VersionBefore: e.in.VersionBefore, VersionAfter: e.in.VersionAfter,
		DeletedAt: e.in.DeletedAt, Due: e.in.Due, AuditHead: e.in.AuditHead,
	}
}

// waitsFor says what the timer is for.
func (e *erasure) waitsFor(due time.Time) string {
	if e.in.Attempt == 0 {
		return "Retention of the purged files ends; proof from " + due.UTC().Format(time.RFC3339) + " on"
	}
	return fmt.Sprintf("Residue is looked at again, attempt %d of %d", e.in.Attempt+1, erasureAttempts)
}

// conclude records how the proof ended, and only then shows it. What is proved is
// recorded also when somebody cancels meanwhile.
func (e *erasure) conclude(ctx workflow.Context, outcome string) (ErasureResult, error) {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	e.enter(ctx, StageRecording)
	if err := e.record(ctx, outcome); err != nil {
		return ErasureResult{}, err
	}
	e.status.Outcome = outcome
	if outcome == activities.StatusErased {
		e.status.ErasureDue = nil
	}
	e.tellEnd(ctx, outcome)
	e.enter(ctx, StageDone)
	out := ErasureResult{RunID: e.in.Run.RunID, Table: e.in.Run.Table, Outcome: outcome, Proof: e.status.Erasure, Audit: e.status.Audit}
	if outcome == activities.StatusErased {
		return out, nil
	}
	message := "files of the purge are still there; see the residue"
	if e.status.Error != "" {
		message = "the erasure could not be proved: " + e.status.Error
	}
	return out, temporal.NewApplicationErrorWithOptions(message, "ErasureIncomplete",
		temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{out}})
}

func (e *erasure) tellEnd(ctx workflow.Context, outcome string) {
	if e.in.Notify == nil {
		return
	}
	event := spec.EventErased
	if outcome != activities.StatusErased {
		event = spec.EventFailed
	}
	tell(ctx, activities.NotifyInput{
		Run: e.in.Run, Notify: *e.in.Notify, ID: e.in.Run.RunID + "-erasure", Event: event, At: workflow.Now(ctx), Policy: e.in.Policy,
		Owner: e.in.Owner, Status: outcome, Summary: "Erasure of purged rows of " + e.in.Run.Table + ": " + outcome,
		WorkflowID: e.status.ErasureID, AuditHead: e.status.Audit.Head, RowsGone: e.in.RowsDeleted, Error: e.status.Error,
	})
}

func (e *erasure) record(ctx workflow.Context, status string) error {
	info := workflow.GetInfo(ctx)
	in := activities.RecordAuditInput{
		Run: e.in.Run, AuditTable: e.in.AuditTable, Status: status, ExecTime: workflow.Now(ctx), Criteria: e.in.Criteria,
		Caller: activities.Caller{WorkflowID: info.WorkflowExecution.ID, WorkflowRunID: info.WorkflowExecution.RunID, RequestedBy: e.in.RequestedBy},
		Policy: e.in.Policy, LegalBasis: e.in.LegalBasis, Error: e.status.Error,
	}
	if v := e.status.Vacuum; v != nil {
		in.VacuumFilesDeleted, in.VacuumPending, in.BytesReclaimed = &v.FilesDeleted, &v.FilesPending, &v.BytesDeleted
	}
	if p := e.status.Erasure; p != nil {
		in.ErasureDue, in.CertificateDigest = p.NextDue, p.CertDigest
	}
	var r activities.RecordAuditResult
	if err := workflow.ExecuteActivity(undo(ctx, "Write the audit row: "+status), steps.RecordAudit, in).Get(ctx, &r); err != nil {
		return err
	}
	e.status.Audit = &r
	return nil
}

func (e *erasure) enter(ctx workflow.Context, stage string) {
	p := &purge{status: e.status, attrs: e.attrs, policy: spec.RetentionPolicy{Table: e.in.Run.Table}}
	p.enter(ctx, stage)
	e.status.Stage, e.status.Since = p.status.Stage, p.status.Since
}
