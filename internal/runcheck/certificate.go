package runcheck

import (
	"context"
	"errors"
	"time"

	"github.com/lakewarden/lakewarden/internal/evidence"
)

// certificate checks the erasure certificate in the run folder, the very one whose
// digest the audit names, else the newest: that its proof carries its status, that
// it is of this run, and that the audit does not claim more. An erased run without
// one fails too.
func (c *checker) certificate(ctx context.Context) error {
	const name = "the erasure certificate says no more than its proof"
	erased := c.newestOf(evidence.StatusErased)
	folder, err := c.lake.Run(ctx, c.report.RunID)
	if err != nil {
		return err
	}
	record, data, err := named(ctx, folder, erased)
	if errors.Is(err, evidence.ErrNoCertificate) {
		if erased != nil {
			c.add(false, name, "the audit says erased, but %v", err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	cert, err := evidence.CheckCertificate(data, "")
	switch {
	case err != nil:
		c.add(false, name, "%s: %v", record, err)
	case cert.RunID != c.report.RunID || cert.Table != c.report.Table:
		c.add(false, name, "%s is of run %s of %s", record, cert.RunID, cert.Table)
	case erased != nil && cert.Status != evidence.StatusErased:
		c.add(false, name, "the audit says erased, %s says %s", record, cert.Status)
	default:
		c.add(true, name, "%s: %s, proof taken on %s", record, cert.Status, cert.VerifiedAt.UTC().Format(time.DateOnly))
	}
	return nil
}

// named reads the certificate that the audit names; rows of before that column
// name none.
func named(ctx context.Context, f *evidence.Folder, erased *evidence.AuditRow) (record string, data []byte, err error) {
	if erased == nil || erased.CertificateDigest == "" {
		return evidence.NewestCertificate(ctx, f)
	}
	return evidence.FindCertificate(ctx, f, erased.CertificateDigest)
}
