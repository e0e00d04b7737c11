package activities

import (
	"fmt"
	"strings"

	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
)

// markdown renders the plan for approvers and for the Web UI.
func (r *PlanPurgeResult) markdown(policy spec.RetentionPolicy) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Plan: purge %s by %s\n\n", policy.Table, policy.Name)
	for _, x := range r.Refusals {
		fmt.Fprintf(&b, "- **refused** (%s): %s %s\n", x.Code, x.Message, x.Do)
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "- note: %s\n", w)
	}
	b.WriteString("\n| | |\n|---|---|\n")
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "| %s | %s |\n", name, strings.ReplaceAll(fmt.Sprintf(format, args...), "|", "\\|"))
	}
	row("table", "%s, version %d", r.TableURL, r.Version)
	if r.Cutoff != "" {
		row("cutoff", "%s", r.Cutoff)
	}
	row("criteria", "%s", CodeSpan(r.Criteria))
	if r.Hold != "" {
		row("hold", "%s", CodeSpan(r.Hold))
	}
	row("legal basis", "%s (owner %s)", policy.LegalBasis, policy.Owner)
	row("rows due", "%s of %s%s", evidence.Count(r.RowsDue), evidence.Count(r.RowsTotal), percent(r.Share))
	row("rows held", "%s", evidence.Count(r.RowsHeld))
	row("rows without a readable date (kept)", "%s", evidence.Count(r.RowsUndated))
	row("files", "%d of %d hold due rows: %d whole, %d to split; %d bytes to rewrite, in %d partitions",
		r.FilesWhole+r.FilesSplit, r.FilesTotal, r.FilesWhole, r.FilesSplit, r.BytesToRewrite, r.Partitions)
	row("archive", "%s", archiveLine(r, policy))
	row("who will notice", "%s", r.notice(policy))
	row("vacuum", "files leave storage %s after they are removed", r.VacuumRetention)
	return b.String()
}

// CodeSpan renders one line of code in Markdown, between more backticks than the
// code has in a row.
func CodeSpan(code string) string {
	code = strings.ReplaceAll(code, "\n", " ")
	fence := "`"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	if strings.HasPrefix(code, "`") || strings.HasSuffix(code, "`") {
		code = " " + code + " " // Markdown takes the spaces off again
	}
	return fence + code + fence
}

func percent(share *float64) string {
	if share == nil {
		return ""
	}
	return fmt.Sprintf(" (%.2f%%)", *share*100)
}

func archiveLine(r *PlanPurgeResult, policy spec.RetentionPolicy) string {
	switch {
	case !policy.Archive.On():
		return "none: " + policy.Archive.Reason
	case r.ArchiveExists:
		return r.ArchiveTable
	}
	return r.ArchiveTable + " (will be created)"
}

// notice says who besides us will see the purge.
func (r *PlanPurgeResult) notice(policy spec.RetentionPolicy) string {
	var parts []string
	if r.AddsColumn {
		parts = append(parts, "a new column "+policy.Mark.Column)
	}
	if r.ChangeFeed {
		parts = append(parts, "readers of the change feed")
	}
	if len(r.OtherWriters) > 0 {
		parts = append(parts, "other writers: "+strings.Join(r.OtherWriters, ", "))
	}
	if len(parts) == 0 {
		return "nobody that the log shows"
	}
	return strings.Join(parts, "; ")
}
