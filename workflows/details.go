package workflows

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/activities"
)

// show puts the state where people look: current details (Markdown) and search
// attributes.
func (p *purge) show(ctx workflow.Context) {
	workflow.SetCurrentDetails(ctx, p.status.Markdown())
	if !p.attrs {
		return
	}
	outcome := p.status.Outcome
	if outcome == "" {
		outcome = "running"
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, AttrTable.ValueSet(p.policy.Table), AttrRun.ValueSet(p.status.RunID),
		AttrStage.ValueSet(p.status.Stage), AttrOutcome.ValueSet(outcome)); err != nil {
		workflow.GetLogger(ctx).Warn("search attributes not set", "error", err)
	}
}

// Markdown renders the state for the Web UI and for terminals.
func (s *Status) Markdown() string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", name, cell.Replace(value))
		}
	}
	title := s.Stage
	if s.Outcome != "" {
		title = s.Outcome
	}
	fmt.Fprintf(&b, "### %s: %s\n\n", s.Table, strings.ReplaceAll(title, "_", " "))
	if s.Next != "" {
		fmt.Fprintf(&b, "**Next:**\n\n```\n%s\n```\n\n", s.Next)
	}
	if s.Error != "" {
		fmt.Fprintf(&b, "**%s**\n\n", s.Error)
	}
	b.WriteString("| | |\n|---|---|\n")
	line("run", s.RunID)
	line("policy", s.Policy)
	line("purge", s.DelegatedTo)
	if p := s.Plan; p != nil {
		line("cutoff", p.Cutoff)
		line("criteria", activities.CodeSpan(p.Criteria))
		line("rows due", count(p.RowsDue)+" of "+count(p.RowsTotal))
		line("rows held", count(p.RowsHeld))
		line("rows undated (kept)", count(p.RowsUndated))
		line("run folder", p.RunFolder)
	}
	if s.Approval != nil {
		line("approval", s.approvalLine())
		line("approvers", s.Approval.who())
	}
	s.stepLines(line)
	for _, u := range s.Undone {
		line("undone", u)
	}
	return b.String()
}

func (s *Status) approvalLine() string {
	a := s.Approval
	if a.State == ApprovalWaiting {
		return fmt.Sprintf("waiting until %s for %s rows, digest `%s`", a.Deadline.UTC().Format(time.RFC3339), strconv.FormatInt(a.Rows, 10), a.Digest)
	}
	return a.decision()
}

func (s *Status) stepLines(line func(name, value string)) {
	if m := s.Mark; m != nil {
		line("rows marked", fmt.Sprintf("%d in %d files, version %d to %d", m.RowsMarked, m.FilesMarked, m.VersionBefore, m.VersionMarked))
	}
	if a := s.Archive; a != nil {
		line("rows archived", fmt.Sprintf("%d in %s, version %d", a.Rows, a.ArchiveTable, a.ArchiveVersion))
	}
	if v := s.Verified; v != nil {
		line("archive verified", fmt.Sprintf("%d rows read again, content %s", v.Rows, v.Content))
	}
	if d := s.Delete; d != nil && d.Outcome == activities.Deleted {
		line("rows deleted", fmt.Sprintf("%s, released %s, version %d", count(d.RowsDeleted), count(d.RowsReleased), d.Version))
	}
	for _, c := range s.Checks {
		mark := "✓"
		if !c.OK {
			mark = "✗"
		}
		line("check", mark+" "+c.Name+": "+c.Detail)
	}
	if v := s.Vacuum; v != nil {
		line("vacuum", fmt.Sprintf("%d files removed, %d pending, %d not past retention yet", v.FilesDeleted, v.FilesPending, v.FilesYoung))
	}
	if s.ErasureDue != nil {
		by := ""
		if s.ErasureID != "" {
			by = ", proved by workflow `" + s.ErasureID + "`"
		}
		line("physical erasure due", s.ErasureDue.UTC().Format(time.RFC3339)+by)
	}
	if e := s.Erasure; e != nil {
		line("erasure", erasureLine(e))
		line("certificate", e.Certificate)
		for _, r := range e.Residue {
			line("residue", r)
		}
	}
	for _, id := range s.Proofs {
		line("proof of an earlier run", "started as workflow `"+id+"`")
	}
	if s.Audit != nil {
		line("audit head", s.Audit.Head)
	}
}

func erasureLine(e *activities.ProveErasedResult) string {
	if e.Erased {
		return fmt.Sprintf("proved: %d of %d files gone", e.PathsGone, e.PathsKnown)
	}
	return fmt.Sprintf("not proved yet: %d of %d files gone", e.PathsGone, e.PathsKnown)
}

// count renders a count that may be unknown, as evidence.Count does for code that is not replayed.
func count(n *int64) string {
	if n == nil {
		return "unknown"
	}
	return strconv.FormatInt(*n, 10)
}

func unmarkNote(r activities.UnmarkRowsResult) string {
	if r.Note != "" {
		return r.Note
	}
	return fmt.Sprintf("%d rows unmarked, %d files brought back, %d rewritten, version %d", r.RowsUnmarked, r.FilesRestored, r.FilesRewritten, r.Version)
}

func removeNote(r activities.RemoveArchivedResult) string {
	switch {
	case r.Kept:
		return fmt.Sprintf("the archive is append-only: %d rows stay there", r.Rows)
	case r.Note != "":
		return r.Note
	}
	return fmt.Sprintf("%d rows in %d files removed", r.Rows, r.Files)
}
