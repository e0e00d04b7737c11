package runcheck

import (
	"context"
	"errors"
	"time"

	"github.com/lakewarden/lakewarden/internal/evidence"
)

// certificate checks the newest erasure certificate in the run folder: that its
// proof carries its status, that it is of this run, that the audit does not claim
// more, and that it is the very one whose digest the audit names. An erased run without one fails too.
func (c *checker) certificate(ctx context.Context) error {
	const name = "the erasure certificate says no more than its proof"
	erased := c.of(evidence.StatusErased)
	folder, err := c.lake.Run(ctx, c.report.RunID)
	if err != nil {
		return err
	}
	record, data, err := evidence.NewestCertificate(ctx, folder)
	if errors.Is(err, evidence.ErrNoCertificate) {
		if erased != nil {
			c.add(false, name, "the audit says erased, and %s holds no certificate", folder.URL())
		}
		return nil
	}
	if err != nil {
		return err
	}
	digest := ""
	if erased != nil && erased.CertificateDigest != "" {
		digest = erased.CertificateDigest
	}
	cert, err := evidence.CheckCertificate(data, digest)
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
