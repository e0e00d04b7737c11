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

// nameDigits is how much of a certificate's digest its name carries.
const nameDigits = 8

// CertificateName is the record of a certificate whose proof was taken at that
// time, without its ending: .json and .md. The digest in it keeps a proof that
// comes late from writing over another of the same time, which the audit may name.
func CertificateName(verified time.Time, digest string) string {
	hex := strings.TrimPrefix(digest, "sha256:")
	return fmt.Sprintf("%s%d-%s", certificatePrefix, verified.UnixMilli(), hex[:min(nameDigits, len(hex))])
}

// NewestCertificate reads the certificate of the last proof; ErrNoCertificate
// when there is none. It does not judge it: CheckCertificate does.
func NewestCertificate(ctx context.Context, f *Folder) (name string, data []byte, err error) {
	names, err := certificates(ctx, f)
	if err != nil {
		return "", nil, err
	}
	name = names[len(names)-1]
	data, err = f.Get(ctx, name)
	return name, data, err
}

// FindCertificate reads the certificate of that digest; ErrNoCertificate when
// there is none.
func FindCertificate(ctx context.Context, f *Folder, digest string) (name string, data []byte, err error) {
	names, err := certificates(ctx, f)
	if err != nil {
		return "", nil, err
	}
	for _, name := range slices.Backward(names) {
		if data, err = f.Get(ctx, name); err != nil || Digest(data) == digest {
			return name, data, err
		}
	}
	return "", nil, fmt.Errorf("%s: none of digest %s: %w", f.URL(), digest, ErrNoCertificate)
}

// certificates lists the records of certificates, the oldest first, and at least
// one.
func certificates(ctx context.Context, f *Folder) ([]string, error) {
	names, err := f.List(ctx, certificatePrefix)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return strings.Contains(n, "/") || !strings.HasSuffix(n, ".json") })
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: %w", f.URL(), ErrNoCertificate)
	}
	slices.SortFunc(names, func(a, b string) int {
		x, y := takenAt(a), takenAt(b)
		// Milliseconds: the longer number is the later one.
		return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y), strings.Compare(a, b))
	})
	return names, nil
}

// takenAt is the time in a certificate's name.
func takenAt(name string) string {
	name = strings.TrimPrefix(name, certificatePrefix)
	return name[:strings.IndexAny(name+".", "-.")]
}
