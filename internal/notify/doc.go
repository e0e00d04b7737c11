// Package notify tells people about a run by a signed HTTP request, in the form
// of the Standard Webhooks specification: headers webhook-id, webhook-timestamp
// and webhook-signature (HMAC-SHA256 over id, timestamp and body).
//
// It owns one attempt: signing, sending, judging the answer. It refuses to
// retry, to follow redirects, and to say an address or secret in an error.
// Whether to try again is the caller's choice; Error says whether it makes sense.
//
// Invariants:
//  1. A message has one id in all its attempts, so that receivers can tell a
//     repetition.
//  2. No error carries the secret, or of the address more than scheme and host.
//  3. Time is passed in.
package notify
