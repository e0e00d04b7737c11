package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/lakewarden/lakewarden/spec"
)

// DefaultTimeout bounds one attempt.
const DefaultTimeout = 15 * time.Second

// Webhook sends messages to one address. Safe for concurrent use.
type Webhook struct {
	address *url.URL
	secret  Secret
	client  *http.Client
}

// Options of a webhook. The zero value is ready to use.
type Options struct {
	// Timeout bounds one attempt; 0 means DefaultTimeout.
	Timeout time.Duration
	// Transport carries requests; nil means http.DefaultTransport.
	Transport http.RoundTripper
}

// NewWebhook checks address and secret, which its errors do not repeat.
func NewWebhook(address, secret string, opt Options) (*Webhook, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return nil, errors.New("webhook address is not an http or https URL")
	}
	key, err := ParseSecret(secret)
	if err != nil {
		return nil, err
	}
	if opt.Timeout == 0 {
		opt.Timeout = DefaultTimeout
	}
	return &Webhook{address: u, secret: key, client: &http.Client{
		Timeout:   opt.Timeout,
		Transport: opt.Transport,
		// A redirect could take the signed message to whoever controls it.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// FromEnv makes the webhook that a policy names: its address and secret are in
// the worker's environment, which lookup reads (os.LookupEnv).
func FromEnv(w spec.Webhook, lookup func(string) (string, bool), opt Options) (*Webhook, error) {
	address, ok := lookup(w.URLEnv)
	if !ok || address == "" {
		return nil, fmt.Errorf("notify.webhook.url_env: the worker's environment has no %s; set it to the webhook's URL and restart the worker", w.URLEnv)
	}
	secret, ok := lookup(w.SecretEnv)
	if !ok || secret == "" {
		return nil, fmt.Errorf("notify.webhook.secret_env: the worker's environment has no %s; set it to the signing secret and restart the worker", w.SecretEnv)
	}
	hook, err := NewWebhook(address, secret, opt)
	if err != nil {
		return nil, fmt.Errorf("notify.webhook (%s, %s): %w", w.URLEnv, w.SecretEnv, err)
	}
	return hook, nil
}

// String is the address without path, query and credentials, which may be
// secrets.
func (w *Webhook) String() string { return w.address.Scheme + "://" + w.address.Host + "/…" }

// Error is a failed attempt.
type Error struct {
	// Address is the receiver, without what may be secret.
	Address string
	// Status is the receiver's answer; 0 where none came.
	Status int
	// Retryable says whether a later attempt may succeed.
	Retryable bool
	// RetryAfter is how long the receiver asks to wait; 0 where it does not.
	RetryAfter time.Duration
	// Reason says what happened, without secrets.
	Reason string
}

func (e *Error) Error() string { return "webhook " + e.Address + ": " + e.Reason }

// Send makes one attempt to deliver m, signed as of now. Its errors are *Error
// where an attempt was made. After an error the receiver may still have got it.
func (w *Webhook) Send(ctx context.Context, now time.Time, m Message) error {
	if err := m.check(); err != nil {
		return err
	}
	body, err := m.body()
	if err != nil {
		return fmt.Errorf("notification %s: %w", m.ID, err)
	}
	req, err := w.request(ctx, now, m.ID, body)
	if err != nil {
		return w.failed(err)
	}
	res, err := w.client.Do(req)
	if err != nil {
		return w.failed(err)
	}
	defer func() { _ = res.Body.Close() }() // the answer is judged by its status
	said, _ := io.ReadAll(io.LimitReader(res.Body, 512))
	return w.judge(res, said)
}

func (w *Webhook) request(ctx context.Context, now time.Time, id string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	stamp := strconv.FormatInt(now.Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "lakewarden")
	req.Header.Set(HeaderID, id)
	req.Header.Set(HeaderTimestamp, stamp)
	req.Header.Set(HeaderSignature, w.secret.sign(id, stamp, body))
	return req, nil
}

// failed is an attempt without an answer. The errors of net/http repeat the
// whole address: only what lies below is kept.
func (w *Webhook) failed(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	reason := "no answer: " + w.redact(err.Error())
	if errors.Is(err, context.DeadlineExceeded) || u != nil && u.Timeout() {
		reason = "no answer in time"
	}
	return &Error{Address: w.String(), Retryable: !errors.Is(err, context.Canceled), Reason: reason}
}

// redact takes out of s what of the address may be secret: all of it but scheme
// and host, as a whole and in its parts.
func (w *Webhook) redact(s string) string {
	hidden := []string{w.address.String(), w.address.RequestURI(), w.address.Path}
	parts := w.address.Path + "/" + w.address.RawQuery + "/" + w.address.Fragment
	if user := w.address.User; user != nil {
		password, _ := user.Password()
		parts += "/" + user.Username() + "/" + password
	}
	for _, part := range strings.FieldsFunc(parts, func(r rune) bool { return strings.ContainsRune("/&=;", r) }) {
		if len(part) >= 4 { // shorter ones are no secrets, and occur in any text
			hidden = append(hidden, part)
		}
	}
	for _, h := range hidden {
		if len(h) > 1 {
			s = strings.ReplaceAll(s, h, "…")
		}
	}
	return s
}

// judge turns the receiver's answer into success or an error.
func (w *Webhook) judge(res *http.Response, said []byte) error {
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return nil
	}
	e := &Error{Address: w.String(), Status: res.StatusCode, Reason: "answered " + strconv.Itoa(res.StatusCode)}
	switch code := res.StatusCode; {
	case code == http.StatusRequestTimeout || code == http.StatusTooManyRequests || code >= 500:
		e.Retryable = true
		e.RetryAfter = retryAfter(res.Header.Get("Retry-After"))
	case code >= 300 && code < 400:
		e.Reason += ", a redirect, which is not followed; set the webhook's final address"
		return e
	}
	if text := strings.Join(strings.Fields(strings.ToValidUTF8(string(said), "")), " "); text != "" {
		e.Reason += ": " + w.redact(fmt.Sprintf("%.200s", text))
	}
	return e
}

// retryAfter reads the header's seconds; its other form, a date, needs a clock
// and is left to the caller's own schedule.
func retryAfter(header string) time.Duration {
	seconds, err := strconv.Atoi(header)
	if err != nil || seconds < 0 || seconds > 86400 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
