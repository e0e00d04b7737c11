package workflows

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
)

// conclude is what follows the delete: verify, record, vacuum, record again, and
// start the proof of erasure. Cancellation skips the vacuum, nothing else.
func (p *purge) conclude(ctx workflow.Context) (PurgeResult, error) {
	safe, _ := workflow.NewDisconnectedContext(ctx)

	// 6. Verify. A failure here holds vacuum and erasure until an operator says retry.
	p.enter(safe, StageVerifying)
	if err := p.insist(ctx, "The rows are deleted and archived, but the verification failed", p.verify); err != nil {
		return p.finishHeld(safe, err)
	}

	p.erase = p.policy.Erasure.On()
	return p.recordAndVacuum(ctx)
}

// recordAndVacuum records what happened before anything physical, vacuums, and
// starts the proof of erasure where rows were deleted.
func (p *purge) recordAndVacuum(ctx workflow.Context) (PurgeResult, error) {
	safe, _ := workflow.NewDisconnectedContext(ctx)

	// 7. Record what happened. The row is drawn once: a retry that finds it written
	// by an attempt whose answer was lost must not write another.
	row := p.auditRow(safe, activities.StatusCompleted)
	if err := p.insist(ctx, "The purge is done, but could not be recorded", func(ctx workflow.Context) error {
		return p.write(ctx, row)
	}); err != nil {
		return p.finishHeld(safe, err)
	}
	p.status.Outcome = activities.StatusCompleted

	// 8. Vacuum what is past retention, and record its figures.
	if err := p.vacuum(ctx); err != nil {
		workflow.GetLogger(ctx).Warn("vacuum is pending", "error", err)
		p.status.Error = "vacuum is pending: " + rootMessage(err)
	} else if err := p.record(safe, activities.StatusVacuumed, ""); err != nil {
		p.status.Error = "the vacuum could not be recorded: " + rootMessage(err)
	}

	// 9. The proof of erasure outlives this run.
	p.startErasure(safe)
	p.notify(safe, spec.EventCompleted, "Purge of "+p.policy.Table+" completed")
	return p.end(ctx, nil)
}

func (p *purge) verify(ctx workflow.Context) error {
	in := activities.VerifyPurgeInput{Run: p.runRef(), Mark: *p.status.Mark, Archive: p.status.Archive, Delete: *p.status.Delete}
	var v activities.VerifyPurgeResult
	if err := workflow.ExecuteActivity(data(ctx, "Check that table, archive and counts agree"), steps.VerifyPurge, in).Get(ctx, &v); err != nil {
		return err
	}
	p.status.Checks = v.Checks
	return nil
}

func (p *purge) vacuum(ctx workflow.Context) error {
	p.enter(ctx, StageVacuuming)
	var v activities.VacuumTableResult
	if err := workflow.ExecuteActivity(data(ctx, "Remove files past retention from storage"), steps.VacuumTable,
		activities.VacuumTableInput{Run: p.runRef(), Deleted: !p.deletedAt.IsZero()}).Get(ctx, &v); err != nil {
		return err
	}
	p.status.Vacuum, p.status.ErasureDue = &v, v.ErasureDue
	return nil
}

// insist repeats a step that may neither be skipped nor undone until it
// succeeds, holding for an operator's retry after each failure. It returns an
// error only when the run is cancelled while it holds. The step itself runs
// disconnected from cancellation.
func (p *purge) insist(ctx workflow.Context, what string, step func(workflow.Context) error) error {
	safe, _ := workflow.NewDisconnectedContext(ctx)
	for {
		err := step(safe)
		if err == nil {
			p.status.Error, p.status.Next = "", ""
			return nil
		}
		p.status.Error = what + ": " + rootMessage(err)
		p.status.Next = retryCommand(p.caller.WorkflowID)
		p.enter(safe, StageHeld)
		p.notify(safe, spec.EventFailed, what)
		asked := p.retry
		if ctx.Err() != nil {
			return err
		}
		if werr := workflow.Await(ctx, func() bool { return p.retry > asked }); werr != nil {
			return err
		}
		p.enter(safe, StageVerifying)
	}
}

// startErasure starts the child that waits for the retention and proves the
// erasure; it goes on when this run closes.
func (p *purge) startErasure(ctx workflow.Context) {
	if !p.erase {
		return
	}
	due := p.status.ErasureDue
	if due == nil { // the vacuum did not run
		at := workflow.Now(ctx).Add(p.status.Plan.VacuumRetention.Or(7 * 24 * time.Hour))
		due = &at
	}
	err := startProof(ctx, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, activities.ErasureOwed{
		Run: p.runRef(), Policy: p.policy.Name, LegalBasis: p.policy.LegalBasis, AuditTable: p.policy.Audit.Table,
		Notify: p.policy.Notify, Due: *due, Criteria: p.status.Plan.Criteria, RequestedBy: p.policy.RequestedBy, Owner: p.policy.Owner,
		RowsDeleted: p.status.Delete.RowsDeleted, VersionBefore: &p.status.Mark.VersionBefore, VersionAfter: &p.status.Delete.Version,
		DeletedAt: p.deletedAt, AuditHead: p.status.Audit.Head,
	})
	if err != nil && !temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		p.status.Error = "the proof of erasure could not be started: " + rootMessage(err)
		return
	}
	p.status.ErasureID, p.status.ErasureDue = ErasureID(p.status.RunID), due
}

// startOwed starts the proofs that earlier runs of the table, terminated since,
// could not start. One that runs, or ran, is not started again: whoever stopped it
// meant it.
func (p *purge) startOwed(ctx workflow.Context) {
	for _, o := range p.status.Plan.Owed {
		err := startProof(ctx, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, o)
		switch {
		case temporal.IsWorkflowExecutionAlreadyStartedError(err):
		case err != nil:
			workflow.GetLogger(ctx).Warn("a proof of erasure could not be started; the next purge of the table tries again", "run", o.Run.RunID, "error", err)
		default:
			p.status.Proofs = append(p.status.Proofs, ErasureID(o.Run.RunID))
		}
	}
	p.show(ctx)
}

// record appends the run's audit row of a status.
func (p *purge) record(ctx workflow.Context, status, problem string) error {
	in := p.auditRow(ctx, status)
	in.Error = problem
	return p.write(ctx, in)
}

func (p *purge) write(ctx workflow.Context, in activities.RecordAuditInput) error {
	var r activities.RecordAuditResult
	if err := workflow.ExecuteActivity(data(ctx, "Write the audit row: "+in.Status), steps.RecordAudit, in).Get(ctx, &r); err != nil {
		return err
	}
	p.status.Audit = &r
	return nil
}

// auditRow draws a row from the state. Rows after the first repeat no counts.
func (p *purge) auditRow(ctx workflow.Context, status string) activities.RecordAuditInput {
	in := activities.RecordAuditInput{
		Run: p.runRef(), AuditTable: p.policy.Audit.Table, Status: status, ExecTime: workflow.Now(ctx), Caller: p.caller,
		Policy: p.policy.Name, LegalBasis: p.policy.LegalBasis,
	}
	if plan := p.status.Plan; plan != nil {
		in.Criteria = plan.Criteria
	}
	if a := p.status.Approval; a != nil {
		in.Reason = a.Reason
		if a.State == ApprovalApproved {
			in.ApprovedBy, in.ApprovalIdentity = a.By, activities.IdentityClaimed
		}
	}
	if v := p.status.Vacuum; v != nil {
		in.VacuumFilesDeleted, in.VacuumPending, in.BytesReclaimed, in.ErasureDue = &v.FilesDeleted, &v.FilesPending, &v.BytesDeleted, v.ErasureDue
	}
	if status == activities.StatusVacuumed {
		return in
	}
	r := p.status.result(p.policy.Audit.Table)
	in.RowsMarked, in.RowsArchived, in.RowsDeleted = r.RowsMarked, r.RowsArchived, r.RowsDeleted
	in.RowsHeld, in.RowsUndated, in.RowsReleased = r.RowsHeld, r.RowsUndated, r.RowsReleased
	in.VersionBefore, in.VersionAfter, in.ArchiveTable = r.VersionBefore, r.VersionAfter, r.ArchiveTable
	if plan := p.status.Plan; plan != nil {
		in.BytesBefore = &plan.BytesBefore
		if in.VersionBefore == nil {
			in.VersionBefore = &plan.Version
		}
	}
	return in
}
