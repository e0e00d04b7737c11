package evidence_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

// journal is the shape of deltaio.Journal, which the engine asks of a run folder.
type journal interface {
	Put(ctx context.Context, name string, data []byte) error
	PutIfAbsent(ctx context.Context, name string, data []byte) error
	Get(ctx context.Context, name string) ([]byte, error)
	List(ctx context.Context, prefix string) ([]string, error)
	URL() string
}

var _ journal = (*evidence.Folder)(nil)

func openRun(t *testing.T, s storage.Store, id string) *evidence.Folder {
	t.Helper()
	f, err := evidence.OpenRun(s, id)
	require.NoError(t, err)
	return f
}

func TestFolder_records_lie_under_the_run(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	f := openRun(t, s, "run-1")
	ctx := t.Context()
	require.NoError(t, f.Put(ctx, "mark/a.json", []byte("1")))
	require.NoError(t, f.Put(ctx, "mark/a.json", []byte("2")))
	require.NoError(t, f.PutIfAbsent(ctx, "mark/b.json", []byte("3")))
	require.NoError(t, f.Put(ctx, "plan.json", []byte("4")))
	require.NoError(t, openRun(t, s, "run-10").Put(ctx, "plan.json", []byte("5")))

	got, err := f.Get(ctx, "mark/a.json")
	require.NoError(t, err)
	require.Equal(t, "2", string(got))
	raw, err := storage.ReadAll(ctx, s, "runs/run-1/plan.json", 0)
	require.NoError(t, err)
	require.Equal(t, "4", string(raw))

	names, err := f.List(ctx, "")
	require.NoError(t, err)
	require.Equal(t, []string{"mark/a.json", "mark/b.json", "plan.json"}, names)
	names, err = f.List(ctx, "mark/b")
	require.NoError(t, err)
	require.Equal(t, []string{"mark/b.json"}, names)
	require.Contains(t, f.URL(), "/runs/run-1")
}

func TestFolder_errors_keep_the_store_sentinels_and_name_the_record(t *testing.T) {
	t.Parallel()
	f := openRun(t, storage.NewMemory(), "run-1")
	_, err := f.Get(t.Context(), "plan.json")
	require.ErrorIs(t, err, storage.ErrNotExist)
	require.ErrorContains(t, err, "plan.json")
	require.NoError(t, f.PutIfAbsent(t.Context(), "plan.json", []byte("1")))
	require.ErrorIs(t, f.PutIfAbsent(t.Context(), "plan.json", []byte("1")), storage.ErrExist, "even with the same content")
}

func TestFolder_names_that_lead_out_are_refused(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	f := openRun(t, s, "run-1")
	for _, name := range []string{"", "..", "../run-2/plan.json", "a/../../b", "/a", "a//b", "a/", "./a", `a\b`, "a\x00"} {
		require.ErrorIs(t, f.Put(t.Context(), name, nil), storage.ErrInvalidKey, name)
		require.ErrorIs(t, f.PutIfAbsent(t.Context(), name, nil), storage.ErrInvalidKey, name)
		_, err := f.Get(t.Context(), name)
		require.ErrorIs(t, err, storage.ErrInvalidKey, name)
	}
	for _, id := range []string{"", "..", "a/b", "-a", "a b", "é"} {
		_, err := evidence.OpenRun(s, id)
		require.ErrorContains(t, err, "run id", id)
	}
}

func TestGetJSON_a_record_that_changed_is_refused(t *testing.T) {
	t.Parallel()
	f := openRun(t, storage.NewMemory(), "run-1")
	ctx := t.Context()
	type plan struct{ B, A int }
	ref, err := evidence.PutJSON(ctx, f, "plan.json", plan{B: 1, A: 2})
	require.NoError(t, err)
	require.EqualValues(t, len(`{"A":2,"B":1}`), ref.Size)
	var back plan
	require.NoError(t, evidence.GetJSON(ctx, f, ref, &back))
	require.Equal(t, plan{B: 1, A: 2}, back)

	require.NoError(t, f.Put(ctx, "plan.json", []byte(`{"A":3,"B":1}`)))
	require.ErrorIs(t, evidence.GetJSON(ctx, f, ref, &back), evidence.ErrDigest)
}
