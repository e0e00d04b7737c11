package runcheck

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/internal/lake"
)

const certified = "the erasure certificate says no more than its proof"

// certificate is a whole proof about run r-1.
func certificate(t *testing.T, change func(*evidence.Certificate)) string {
	t.Helper()
	zero, n := int64(0), int64(3)
	c := evidence.Certificate{
		RunID: "r-1", Table: table, TableID: "t", Criteria: "TRUE", DeletedAt: at, DueAt: at, VerifiedAt: at,
		Files:  evidence.FilesProof{Known: &n, Gone: &n, Listed: &n, KnownSeen: &zero, Canary: "x", CanarySeen: true, Live: &n, RowsFound: &zero, Unknown: &zero},
		Copies: evidence.CopiesProof{SoftDeleted: &zero, Noncurrent: &zero}, Log: evidence.LogProof{Entries: &zero},
		Scope: evidence.TableScope(table, ""),
	}
	change(&c)
	c, err := c.Issue(at)
	require.NoError(t, err)
	data, _, err := c.JSON()
	require.NoError(t, err)
	return string(data)
}

func put(t *testing.T, l *lake.Lake, verified time.Time, text string) {
	t.Helper()
	f, err := l.Run(t.Context(), "r-1")
	require.NoError(t, err)
	require.NoError(t, f.Put(t.Context(), evidence.CertificateName(verified, evidence.Digest([]byte(text)))+".json", []byte(text)))
}

func TestVerify_certificate_isCheckedAgainstItsProof(t *testing.T) {
	t.Parallel()
	right := func(*evidence.Certificate) {}
	gap := func(c *evidence.Certificate) { one := int64(1); c.Files.RowsFound = &one }
	erased := evidence.AuditRow{Status: evidence.StatusErased}
	pinned, moved := erased, erased
	pinned.CertificateDigest = evidence.Digest([]byte(certificate(t, right)))
	moved.CertificateDigest = evidence.Digest([]byte("another"))
	for name, c := range map[string]struct {
		text, want string
		rows       []evidence.AuditRow
		ok         bool
	}{
		"right":              {certificate(t, right), "erased, proof taken on 2026-01-01", []evidence.AuditRow{erased}, true},
		"as the audit says":  {certificate(t, right), "erased", []evidence.AuditRow{pinned}, true},
		"another one":        {certificate(t, right), "none of digest", []evidence.AuditRow{moved}, false},
		"before its record":  {certificate(t, right), "erased", nil, true},
		"incomplete":         {certificate(t, gap), "erasure_incomplete", nil, true},
		"audit claims more":  {certificate(t, gap), "says erasure_incomplete", []evidence.AuditRow{erased}, false},
		"forged":             {strings.Replace(certificate(t, gap), `"erasure_incomplete"`, `"erased"`, 1), "says erased, but: 1 rows were found", []evidence.AuditRow{erased}, false},
		"of another run":     {certificate(t, func(c *evidence.Certificate) { c.RunID = "r-9" }), "is of run r-9", []evidence.AuditRow{erased}, false},
		"of another table":   {certificate(t, func(c *evidence.Certificate) { c.Table = "a.b" }), "of a.b", []evidence.AuditRow{erased}, false},
		"not a certificate":  {`{}`, "not an erasure certificate", []evidence.AuditRow{erased}, false},
		"not even JSON":      {`{`, "certificate-", []evidence.AuditRow{erased}, false},
		"erased without one": {"", "holds no erasure certificate", []evidence.AuditRow{erased}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := site(t, append([]evidence.AuditRow{done(99)}, c.rows...)...)
			if c.text != "" {
				put(t, l, at, c.text)
			}
			got := check(t, l, certified)
			require.Equal(t, c.ok, got.OK, got.Detail)
			require.Contains(t, got.Detail, c.want)
		})
	}
}

func TestVerify_certificate_theNewestOneCounts(t *testing.T) {
	t.Parallel()
	l := site(t, done(1))
	put(t, l, time.UnixMilli(999), `{}`)
	put(t, l, at, certificate(t, func(*evidence.Certificate) {}))
	require.True(t, check(t, l, certified).OK)
	put(t, l, at.Add(time.Hour), `{}`)
	require.False(t, check(t, l, certified).OK)
}

// A proof that was paused may write its certificate after the one that counted.
func TestVerify_certificate_thatTheAuditNames_countsWhateverComesLater(t *testing.T) {
	t.Parallel()
	text := certificate(t, func(*evidence.Certificate) {})
	gap := certificate(t, func(c *evidence.Certificate) { one := int64(1); c.Files.RowsFound = &one })
	l := site(t, done(99), evidence.AuditRow{Status: evidence.StatusErased, CertificateDigest: evidence.Digest([]byte(text))})
	put(t, l, at, text)
	put(t, l, at, gap) // at the very same time
	put(t, l, at.Add(time.Hour), gap)
	require.True(t, check(t, l, certified).OK)
}

func TestVerify_certificate_isNotMissedBeforeAnErasure(t *testing.T) {
	t.Parallel()
	r, err := Verify(t.Context(), site(t, done(1)), env(), audit, "r-1")
	require.NoError(t, err)
	for _, c := range r.Checks {
		require.NotEqual(t, certified, c.Name)
	}
}
