package notify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/internal/notify"
	"github.com/lakewarden/lakewarden/spec"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

var now = time.Unix(1_614_265_330, 0).UTC()

func message() notify.Message {
	due := int64(12)
	return notify.Message{ID: "run-1/approval_due", Event: spec.EventApprovalDue, Time: now, Data: notify.Data{
		RunID: "run-1", Table: "bronze.vendas", RowsDue: &due, Summary: "12 rows are due", Next: "lakewarden approve run-1",
	}}
}

// receiver answers with the status and keeps what it got.
func receiver(t *testing.T, answer http.HandlerFunc) (*notify.Webhook, *httptest.Server) {
	t.Helper()
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	hook, err := notify.NewWebhook(srv.URL+"/hooks/t0ps3cretpath?token=qu3ry", secret, notify.Options{Timeout: 2 * time.Second})
	require.NoError(t, err)
	return hook, srv
}

func TestSend_the_receiver_can_verify_what_it_got(t *testing.T) {
	t.Parallel()
	var header http.Header
	var body []byte
	hook, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusNoContent)
	})
	require.NoError(t, hook.Send(t.Context(), now, message()))

	key, err := notify.ParseSecret(secret)
	require.NoError(t, err)
	require.NoError(t, key.Verify(header, body, now.Add(time.Minute)))
	require.Equal(t, "run-1/approval_due", header.Get("Webhook-Id"))
	require.Equal(t, "application/json", header.Get("Content-Type"))

	var got map[string]any
	require.NoError(t, json.Unmarshal(body, &got))
	require.Equal(t, "lakewarden.purge.approval_due", got["type"])
	require.Equal(t, "2021-02-25T15:02:10Z", got["timestamp"])
	data := got["data"].(map[string]any)
	require.EqualValues(t, 12, data["rows_due"])
	require.Nil(t, data["rows_gone"], "an unknown count is null")
	require.Contains(t, data, "rows_gone")
}

func TestVerify_agrees_with_the_specification_and_refuses_anything_else(t *testing.T) {
	t.Parallel()
	// The example of the Standard Webhooks libraries.
	key, err := notify.ParseSecret(secret)
	require.NoError(t, err)
	body := []byte(`{"test": 2432232314}`)
	right := func() http.Header {
		h := http.Header{}
		h.Set(notify.HeaderID, "msg_p5jXN8AQM9LWM0D4loKWxJek")
		h.Set(notify.HeaderTimestamp, "1614265330")
		h.Set(notify.HeaderSignature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
		return h
	}
	require.NoError(t, key.Verify(right(), body, now))
	rotated := right()
	rotated.Set(notify.HeaderSignature, "v1,AAAA v1a,BBBB "+right().Get(notify.HeaderSignature))
	require.NoError(t, key.Verify(rotated, body, now))

	for name, change := range map[string]func(http.Header){
		"other id":        func(h http.Header) { h.Set(notify.HeaderID, "msg_x") },
		"other time":      func(h http.Header) { h.Set(notify.HeaderTimestamp, "1614265331") },
		"no time":         func(h http.Header) { h.Del(notify.HeaderTimestamp) },
		"no signature":    func(h http.Header) { h.Del(notify.HeaderSignature) },
		"other version":   func(h http.Header) { h.Set(notify.HeaderSignature, "v2,"+right().Get(notify.HeaderSignature)[3:]) },
		"other signature": func(h http.Header) { h.Set(notify.HeaderSignature, "v1,AAAA") },
	} {
		h := right()
		change(h)
		require.ErrorIs(t, key.Verify(h, body, now), notify.ErrSignature, name)
	}
	require.ErrorIs(t, key.Verify(right(), []byte(`{}`), now), notify.ErrSignature)
	require.ErrorIs(t, key.Verify(right(), body, now.Add(6*time.Minute)), notify.ErrSignature, "too old")
	require.ErrorIs(t, key.Verify(right(), body, now.Add(-6*time.Minute)), notify.ErrSignature, "from the future")
}

func TestSend_the_answer_says_whether_to_try_again(t *testing.T) {
	t.Parallel()
	for status, retryable := range map[int]bool{
		400: false, 401: false, 404: false, 408: true, 410: false, 413: false, 429: true, 500: true, 502: true, 503: true,
		301: false, 302: false, 307: false, 308: false,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			hook, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(status)
				_, _ = w.Write([]byte("no such\n\tpath " + r.URL.String() + ", no t0ps3cretpath and no qu3ry"))
			})
			err := hook.Send(t.Context(), now, message())
			var failed *notify.Error
			require.ErrorAs(t, err, &failed)
			require.Equal(t, status, failed.Status)
			require.Equal(t, retryable, failed.Retryable)
			if retryable {
				require.Equal(t, 7*time.Second, failed.RetryAfter)
			}
			requireNoSecret(t, err.Error())
		})
	}
}

func requireNoSecret(t *testing.T, text string) {
	t.Helper()
	for _, s := range []string{"t0ps3cretpath", "qu3ry", "MfKQ9r8", "p4ssw0rd"} {
		require.NotContains(t, text, s)
	}
}

func TestSend_a_redirect_is_not_followed(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the signed message left for another host")
	}))
	t.Cleanup(elsewhere.Close)
	hook, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusPermanentRedirect)
	})
	require.ErrorContains(t, hook.Send(t.Context(), now, message()), "final address")
}

func TestSend_no_answer_is_retryable_and_tells_no_secret(t *testing.T) {
	t.Parallel()
	hook, srv := receiver(t, nil)
	srv.Close()
	err := hook.Send(t.Context(), now, message())
	var failed *notify.Error
	require.ErrorAs(t, err, &failed)
	require.True(t, failed.Retryable)
	require.Zero(t, failed.Status)
	requireNoSecret(t, err.Error())
}

func TestSend_a_silent_receiver_ends_at_the_timeout(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(release) })
	hook, err := notify.NewWebhook(srv.URL, secret, notify.Options{Timeout: 20 * time.Millisecond})
	require.NoError(t, err)
	var failed *notify.Error
	require.ErrorAs(t, hook.Send(t.Context(), now, message()), &failed)
	require.True(t, failed.Retryable)
	require.Equal(t, "no answer in time", failed.Reason)
}

func TestSend_a_cancelled_attempt_is_not_retryable(t *testing.T) {
	t.Parallel()
	hook, _ := receiver(t, func(http.ResponseWriter, *http.Request) {})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var failed *notify.Error
	require.ErrorAs(t, hook.Send(ctx, now, message()), &failed)
	require.False(t, failed.Retryable)
}

func TestSend_a_message_without_id_event_or_time_is_refused(t *testing.T) {
	t.Parallel()
	hook, _ := receiver(t, func(http.ResponseWriter, *http.Request) { t.Error("sent") })
	for _, change := range []func(*notify.Message){
		func(m *notify.Message) { m.ID = "" },
		func(m *notify.Message) { m.Event = "" },
		func(m *notify.Message) { m.Time = time.Time{} },
	} {
		m := message()
		change(&m)
		require.ErrorContains(t, hook.Send(t.Context(), now, m), "are needed")
	}
}

func TestFromEnv_names_the_missing_variable_and_never_its_content(t *testing.T) {
	t.Parallel()
	names := spec.Webhook{URLEnv: "LAKEWARDEN_PURGE_URL", SecretEnv: "LAKEWARDEN_PURGE_SECRET"}
	const address = "https://user:p4ssw0rd@example.org/t0ps3cretpath?qu3ry"
	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"no address":     {map[string]string{}, "has no LAKEWARDEN_PURGE_URL"},
		"no secret":      {map[string]string{"LAKEWARDEN_PURGE_URL": address}, "has no LAKEWARDEN_PURGE_SECRET"},
		"not an address": {map[string]string{"LAKEWARDEN_PURGE_URL": "qu3ry://t0ps3cretpath", "LAKEWARDEN_PURGE_SECRET": secret}, "not an http or https URL"},
		"broken address": {map[string]string{"LAKEWARDEN_PURGE_URL": "https://t0ps3cretpath:x:y/\x7f", "LAKEWARDEN_PURGE_SECRET": secret}, "not an http or https URL"},
		"short secret":   {map[string]string{"LAKEWARDEN_PURGE_URL": address, "LAKEWARDEN_PURGE_SECRET": "whsec_cDRzc3cwcmQ="}, "at least 24"},
		"no base64":      {map[string]string{"LAKEWARDEN_PURGE_URL": address, "LAKEWARDEN_PURGE_SECRET": "p4ssw0rd p4ssw0rd p4ssw0rd"}, "not base64"},
	} {
		_, err := notify.FromEnv(names, lookup(c.env), notify.Options{})
		require.ErrorContains(t, err, c.want, name)
		requireNoSecret(t, err.Error())
	}
	hook, err := notify.FromEnv(names, lookup(map[string]string{"LAKEWARDEN_PURGE_URL": address, "LAKEWARDEN_PURGE_SECRET": secret}), notify.Options{})
	require.NoError(t, err)
	require.Equal(t, "https://example.org/…", hook.String())
	key, err := notify.ParseSecret(secret)
	require.NoError(t, err)
	requireNoSecret(t, fmt.Sprintf("%v %+v %#v %s", key, key, key, key))
}

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}
}
