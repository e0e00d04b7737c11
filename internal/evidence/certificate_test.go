package evidence_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/internal/evidence"
)

var proved = time.Date(2025, 3, 20, 9, 0, 0, 0, time.UTC)

// whole is a certificate whose proof has no shortfall.
func whole() evidence.Certificate {
	zero, three := ptr(int64(0)), ptr(int64(3))
	return evidence.Certificate{
		RunID: "run-1", Table: "bronze.vendas", TableID: "t-1", TableURL: "s3://lake/bronze/vendas",
		Policy: "vendas-365d", Owner: "sales-data", LegalBasis: "Commercial records",
		Criteria: "`event_date` < DATE'2025-02-08' | x", Cutoff: "before 2025-02-08 in UTC (2025-02-08T00:00:00Z)",
		RowsErased: ptr(int64(120)), VersionBefore: ptr(int64(7)), VersionAfter: ptr(int64(9)),
		DeletedAt: proved.AddDate(0, 0, -10), DueAt: proved.AddDate(0, 0, -3), VerifiedAt: proved,
		Files:  evidence.FilesProof{Known: three, Gone: three, Listed: ptr(int64(40)), KnownSeen: zero, Canary: "_delta_log/00000000000000000009.json", CanarySeen: true, Live: ptr(int64(12)), RowsFound: zero, Unknown: zero},
		Copies: evidence.CopiesProof{SoftDeleted: zero, Noncurrent: zero, How: "list of versions"},
		Log:    evidence.LogProof{Entries: zero},
		Scope:  evidence.TableScope("bronze.vendas", "archive.vendas_expurgo"),
	}
}

func TestIssue_a_whole_proof_is_erased(t *testing.T) {
	t.Parallel()
	c, err := whole().Issue(proved)
	require.NoError(t, err)
	require.Equal(t, evidence.StatusErased, c.Status)
	data, digest, err := c.JSON()
	require.NoError(t, err)
	back, err := evidence.CheckCertificate(data, digest)
	require.NoError(t, err)
	require.Equal(t, c, back)
}

func TestIssue_any_gap_in_the_proof_is_incomplete_and_named(t *testing.T) {
	t.Parallel()
	one := ptr(int64(1))
	for want, change := range map[string]func(*evidence.Certificate){
		"not known which files held the rows":  func(c *evidence.Certificate) { c.Files.Known = nil },
		"1 of 3 files are shown to be gone":    func(c *evidence.Certificate) { c.Files.Gone = one },
		"unknown of 3 files":                   func(c *evidence.Certificate) { c.Files.Gone = nil },
		"listing was not shown to be complete": func(c *evidence.Certificate) { c.Files.CanarySeen = false },
		"the object known to exist":            func(c *evidence.Certificate) { c.Files.Canary = "" },
		"was not listed":                       func(c *evidence.Certificate) { c.Files.Listed = nil },
		"1 of the files were seen":             func(c *evidence.Certificate) { c.Files.KnownSeen = one },
		"live files were not scanned":          func(c *evidence.Certificate) { c.Files.Live = nil },
		"unknown rows were found":              func(c *evidence.Certificate) { c.Files.RowsFound = nil },
		"1 objects under the root are unknown": func(c *evidence.Certificate) { c.Files.Unknown = one },
		"unknown soft-deleted copies":          func(c *evidence.Certificate) { c.Copies.SoftDeleted = nil },
		"1 noncurrent versions":                func(c *evidence.Certificate) { c.Copies.Noncurrent = one },
		"not known whether log entries":        func(c *evidence.Certificate) { c.Log.Entries = nil },
		"nothing says when they go":            func(c *evidence.Certificate) { c.Log.Entries = one },
		"before the files were past":           func(c *evidence.Certificate) { c.VerifiedAt = c.DueAt.Add(-1) },
		"a.parquet: file still in storage": func(c *evidence.Certificate) {
			c.Residue = []evidence.Residue{{Path: "a.parquet", What: "file still in storage"}}
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			c := whole()
			change(&c)
			c, err := c.Issue(proved)
			require.NoError(t, err)
			require.Equal(t, evidence.StatusErasureIncomplete, c.Status)
			text, err := c.Markdown()
			require.NoError(t, err)
			require.Contains(t, strings.Join(c.Shortfalls(), "\n"), want)
			require.Contains(t, text, "Erasure incomplete")
			require.NotContains(t, text, "**Erased.**")

			c.Status = evidence.StatusErased
			data, digest, err := c.JSON()
			require.NoError(t, err)
			_, err = evidence.CheckCertificate(data, digest)
			require.ErrorContains(t, err, want, "a certificate cannot claim more than its proof")
		})
	}
}

func TestIssue_dated_log_entries_are_no_gap(t *testing.T) {
	t.Parallel()
	c := whole()
	c.Log = evidence.LogProof{Entries: ptr(int64(2)), ExpiresAt: ptr(proved.AddDate(0, 1, 0))}
	c, err := c.Issue(proved)
	require.NoError(t, err)
	require.Equal(t, evidence.StatusErased, c.Status)
	text, err := c.Markdown()
	require.NoError(t, err)
	require.Contains(t, text, "2, the last goes on 2025-04-20T09:00:00Z")
}

func TestIssue_a_certificate_that_does_not_say_what_of_is_refused(t *testing.T) {
	t.Parallel()
	_, err := evidence.Certificate{}.Issue(proved)
	require.EqualError(t, err, "erasure certificate: missing criteria, deleted_at, due_at, run_id, scope, table, table_id, verified_at")
}

func TestCheckCertificate_changed_bytes_are_refused(t *testing.T) {
	t.Parallel()
	c, err := whole().Issue(proved)
	require.NoError(t, err)
	data, digest, err := c.JSON()
	require.NoError(t, err)
	_, err = evidence.CheckCertificate([]byte(strings.Replace(string(data), "120", "121", 1)), digest)
	require.ErrorIs(t, err, evidence.ErrDigest)
	_, err = evidence.CheckCertificate([]byte(`{}`), "")
	require.ErrorContains(t, err, "not an erasure certificate")
	_, err = evidence.CheckCertificate([]byte(`x`), "")
	require.Error(t, err)
}

func TestMarkdown_states_scope_and_cannot_be_changed_by_what_it_quotes(t *testing.T) {
	t.Parallel()
	c := whole()
	c.Owner = "x |\n\n# Erased <b>**all**</b>"
	c.RowsErased = nil
	c, err := c.Issue(proved)
	require.NoError(t, err)
	text, err := c.Markdown()
	require.NoError(t, err)
	_, digest, err := c.JSON()
	require.NoError(t, err)
	for _, want := range []string{
		"# Erasure certificate: bronze.vendas", "Outside this scope", "archive.vendas\\_expurgo: the archive keeps",
		"clones of bronze.vendas", "replicas and backups", digest, "| Rows | unknown |",
		`x \|  \# Erased &lt;b&gt;\*\*all\*\*&lt;/b&gt;`,
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "\n# Erased")
	require.NotContains(t, evidence.TableScope("a.b", "").MayStillHold[0].Where, "archive")
}
