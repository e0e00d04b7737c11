package evidence

import (
	"fmt"
	"strings"
	"time"
)

// Markdown renders the certificate for people. It is derived from the JSON,
// which is what counts, and names its digest.
func (c Certificate) Markdown() (string, error) {
	_, digest, err := c.JSON()
	if err != nil {
		return "", err
	}
	var m markdown
	m.line("# Erasure certificate: %s", plain(c.Table))
	m.line("%s", c.headline())
	m.facts("Subject", [][2]string{
		{"Run", c.RunID}, {"Table", c.Table}, {"Table id", c.TableID}, {"Address", c.TableURL},
		{"Policy", c.Policy}, {"Owner", c.Owner}, {"Legal basis", c.LegalBasis},
		{"Criteria", c.Criteria}, {"Cutoff", c.Cutoff}, {"Rows", Count(c.RowsErased)},
		{"Version before", Count(c.VersionBefore)}, {"Version after", Count(c.VersionAfter)},
		{"Deleted", stamp(c.DeletedAt)}, {"Files past retention", stamp(c.DueAt)},
		{"Proof taken", stamp(c.VerifiedAt)}, {"Issued", stamp(c.IssuedAt)},
	})
	m.facts("Proof", c.proof())
	m.list("What is missing or still there", c.Shortfalls())
	m.list("Scope: what this covers", c.Scope.Covers)
	holders := make([]string, len(c.Scope.MayStillHold))
	for i, h := range c.Scope.MayStillHold {
		holders[i] = h.Where + ": " + h.Why
	}
	m.list("Outside this scope: what may still hold copies", holders)
	m.facts("Evidence", [][2]string{
		{"Digest of this certificate's JSON", digest}, {"Manifest of files", c.Manifest.Name},
		{"Digest of the manifest", c.Manifest.Digest}, {"Digest of the plan", c.PlanDigest},
		{"Head of the audit chain", c.AuditHead}, {"Workflow", c.WorkflowID}, {"Workflow run", c.WorkflowRunID},
	})
	return m.String(), nil
}

func (c Certificate) headline() string {
	if c.Status == StatusErased {
		return "**Erased.** Within the scope below, no object under the table's root holds the purged rows any more."
	}
	return "**Erasure incomplete.** The rows are deleted from the table, but it is not proved that no object still holds them."
}

func (c Certificate) proof() [][2]string {
	f := c.Files
	canary := "not seen in the listing"
	if f.CanarySeen {
		canary = "seen in the listing"
	}
	log := Count(c.Log.Entries)
	if c.Log.ExpiresAt != nil {
		log += ", the last goes on " + stamp(*c.Log.ExpiresAt)
	}
	return [][2]string{
		{"Files that held the rows", Count(f.Known)},
		{"Of these, absent by a request of their own", Count(f.Gone)},
		{"Objects listed under the root", Count(f.Listed)},
		{"Of the files, seen in the listing", Count(f.KnownSeen)},
		{"Object known to exist: " + f.Canary, canary},
		{"Live files scanned", Count(f.Live)},
		{"Rows found in them", Count(f.RowsFound)},
		{"Objects unknown to the log", Count(f.Unknown)},
		{"Soft-deleted copies", Count(c.Copies.SoftDeleted)},
		{"Noncurrent versions", Count(c.Copies.Noncurrent)},
		{"How copies were looked for", c.Copies.How},
		{"Log entries with values of the rows", log},
	}
}

// markdown builds a document.
type markdown struct{ strings.Builder }

func (m *markdown) line(format string, args ...any) {
	fmt.Fprintf(m, format+"\n\n", args...)
}

// facts writes a table of names and values; empty values are left out.
func (m *markdown) facts(title string, rows [][2]string) {
	m.line("## %s", title)
	m.WriteString("| | |\n|---|---|\n")
	for _, r := range rows {
		if r[1] != "" {
			fmt.Fprintf(m, "| %s | %s |\n", plain(r[0]), plain(r[1]))
		}
	}
	m.WriteString("\n")
}

func (m *markdown) list(title string, items []string) {
	m.line("## %s", title)
	if len(items) == 0 {
		m.line("Nothing.")
		return
	}
	for _, item := range items {
		fmt.Fprintf(m, "- %s\n", plain(item))
	}
	m.WriteString("\n")
}

// plain escapes text that came from a policy or a table, so that it cannot
// change how the certificate reads.
var escaper = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`, "\r", " ", "\n", " ",
)

func plain(s string) string { return escaper.Replace(s) }

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
