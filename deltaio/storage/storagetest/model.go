package storagetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

var modelTests = []namedTest{
	{"Model_anySequenceOfCallsBehavesAsAMap", anySequence},
}

// anySequence compares random calls with a map. Its keys never lie below one
// another, which is the one thing that file systems and object stores see
// differently.
func anySequence(t *testing.T, s storage.Store) {
	checks := 0
	rapid.Check(t, func(rt *rapid.T) {
		checks++
		m := &model{s: storage.Sub(s, fmt.Sprintf("m%d", checks)), want: map[string]string{}}
		ctx := t.Context()
		rt.Repeat(map[string]func(*rapid.T){
			"put-if-absent": func(rt *rapid.T) { m.putIfAbsent(ctx, rt) },
			"put":           func(rt *rapid.T) { m.put(ctx, rt) },
			"create":        func(rt *rapid.T) { m.create(ctx, rt) },
			"delete":        func(rt *rapid.T) { m.delete(ctx, rt) },
			"list":          func(rt *rapid.T) { m.list(ctx, rt) },
			"":              func(rt *rapid.T) { m.check(ctx, rt) },
		})
	})
}

type model struct {
	s    storage.Store
	want map[string]string
}

var modelDirs = []string{"", "a/", "a b/", "a/é/", "a-1/x=%2F/", "_delta_log/"}

func drawKey(rt *rapid.T) string {
	return rapid.SampledFrom(modelDirs).Draw(rt, "dir") + rapid.SampledFrom([]string{"k0", "k 1", "k%2"}).Draw(rt, "name")
}

func (m *model) putIfAbsent(ctx context.Context, rt *rapid.T) {
	key, data := drawKey(rt), rapid.String().Draw(rt, "data")
	err := m.s.PutIfAbsent(ctx, key, []byte(data))
	if _, taken := m.want[key]; taken {
		require.ErrorIs(rt, err, storage.ErrExist)
		return
	}
	require.NoError(rt, err)
	m.want[key] = data
}

func (m *model) put(ctx context.Context, rt *rapid.T) {
	key, data := drawKey(rt), rapid.String().Draw(rt, "data")
	require.NoError(rt, m.s.Put(ctx, key, []byte(data)))
	m.want[key] = data
}

func (m *model) create(ctx context.Context, rt *rapid.T) {
	key, parts := drawKey(rt), rapid.SliceOfN(rapid.String(), 0, 3).Draw(rt, "parts")
	w, err := m.s.Create(ctx, key)
	require.NoError(rt, err)
	defer w.Abort()
	for _, p := range parts {
		_, err := w.Write([]byte(p))
		require.NoError(rt, err)
	}
	if rapid.Bool().Draw(rt, "abort") {
		return
	}
	info, err := w.Commit(ctx)
	require.NoError(rt, err)
	m.want[key] = strings.Join(parts, "")
	require.Len(rt, m.want[key], int(info.Size))
}

func (m *model) delete(ctx context.Context, rt *rapid.T) {
	key := drawKey(rt)
	err := m.s.Delete(ctx, key)
	if _, there := m.want[key]; !there {
		require.ErrorIs(rt, err, storage.ErrNotExist)
		return
	}
	require.NoError(rt, err)
	delete(m.want, key)
}

func (m *model) list(ctx context.Context, rt *rapid.T) {
	prefix := rapid.SampledFrom(append(modelDirs, "a", "k")).Draw(rt, "prefix")
	after := rapid.SampledFrom(append(modelDirs, "a/k0", "a b/k 1", "z")).Draw(rt, "after")
	var want []string
	for key := range m.want {
		if strings.HasPrefix(key, prefix) && key > after {
			want = append(want, key)
		}
	}
	slices.Sort(want)
	got, err := list(ctx, m.s, prefix, after)
	require.NoError(rt, err)
	require.True(rt, slices.Equal(want, got), "prefix %q after %q: want %q, got %q", prefix, after, want, got)
}

// check reads one key at random after every step; the whole map is compared by
// list.
func (m *model) check(ctx context.Context, rt *rapid.T) {
	key := drawKey(rt)
	data, err := storage.ReadAll(ctx, m.s, key, 0)
	want, there := m.want[key]
	if !there {
		require.ErrorIs(rt, err, storage.ErrNotExist)
		return
	}
	require.NoError(rt, err)
	require.Equal(rt, want, string(data))
}
