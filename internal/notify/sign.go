package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Headers of a signed request.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

// Tolerance is how old or how far ahead a request may be.
const Tolerance = 5 * time.Minute

// minKey is the shortest key the specification allows, in bytes.
const minKey = 24

// ErrSignature means that a request was not signed with the secret, or not now.
var ErrSignature = errors.New("webhook signature is not valid")

// Secret is a signing secret: "whsec_" and base64, or the base64 alone. It
// prints as a placeholder.
type Secret struct{ key []byte }

// ParseSecret reads a secret. Its errors do not repeat it.
func ParseSecret(text string) (Secret, error) {
	encoded := strings.TrimRight(strings.TrimPrefix(strings.TrimSpace(text), "whsec_"), "=")
	key, err := base64.RawStdEncoding.DecodeString(encoded)
	if err != nil {
		return Secret{}, errors.New("webhook secret is not base64; make one with: echo whsec_$(openssl rand -base64 32)")
	}
	if len(key) < minKey {
		return Secret{}, fmt.Errorf("webhook secret has %d bytes, at least %d are needed; make one with: echo whsec_$(openssl rand -base64 32)", len(key), minKey)
	}
	return Secret{key: key}, nil
}

// String hides the secret.
func (Secret) String() string { return "whsec_…" }

// GoString hides the secret.
func (Secret) GoString() string { return "whsec_…" }

// sign gives the value of the signature header.
func (s Secret) sign(id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// Verify is the receiver's side: it checks that a request with these headers and
// body was signed with the secret within Tolerance of now.
func (s Secret) Verify(h http.Header, body []byte, now time.Time) error {
	stamp := h.Get(HeaderTimestamp)
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: timestamp %q", ErrSignature, stamp)
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > Tolerance || age < -Tolerance {
		return fmt.Errorf("%w: the request is %s old", ErrSignature, age)
	}
	want := s.sign(h.Get(HeaderID), stamp, body)
	for _, got := range strings.Fields(h.Get(HeaderSignature)) {
		if hmac.Equal([]byte(got), []byte(want)) {
			return nil
		}
	}
	return ErrSignature
}
