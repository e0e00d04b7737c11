package evidence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const certificatePrefix = "certificate-"

// ErrNoCertificate: the run folder holds no erasure certificate.
var ErrNoCertificate = errors.New("the run folder holds no erasure certificate")

// CertificateName is the record of a certificate whose proof was taken at that
// time, without its ending: .json and .md.
func CertificateName(verified time.Time) string {
	return fmt.Sprintf("%s%d", certificatePrefix, verified.UnixMilli())
}

// NewestCertificate reads the certificate of the last proof; ErrNoCertificate
// when there is none. It does not judge it: CheckCertificate does.
func NewestCertificate(ctx context.Context, f *Folder) (name string, data []byte, err error) {
	names, err := f.List(ctx, certificatePrefix)
	if err != nil {
		return "", nil, err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return strings.Contains(n, "/") || !strings.HasSuffix(n, ".json") })
	if len(names) == 0 {
		return "", nil, fmt.Errorf("%s: %w", f.URL(), ErrNoCertificate)
	}
	// Milliseconds: the longer number is the later one.
	name = slices.MaxFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
	data, err = f.Get(ctx, name)
	return name, data, err
}
