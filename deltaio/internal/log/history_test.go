package log_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// A tableModel is what a log must give: a plain replay in memory.
type tableModel struct {
	files   map[string]string // path -> deletion vector
	tombs   map[log.FileKey]bool
	txns    map[string]int64
	domains map[string]string
	config  string
}

func newModel() *tableModel {
	return &tableModel{files: map[string]string{}, tombs: map[log.FileKey]bool{}, txns: map[string]int64{}, domains: map[string]string{}}
}

func (m *tableModel) clone() *tableModel {
	return &tableModel{maps.Clone(m.files), maps.Clone(m.tombs), maps.Clone(m.txns), maps.Clone(m.domains), m.config}
}

func (m *tableModel) check(t *rapid.T, st *log.State) {
	files := map[string]string{}
	for _, a := range st.Files {
		files[a.Path] = a.DeletionVector.ID()
	}
	require.Equal(t, m.files, files)
	require.True(t, slices.IsSortedFunc(st.Files, func(a, b *log.Add) int {
		if a.Path < b.Path {
			return -1
		}
		return 1
	}))
	tombs := map[log.FileKey]bool{}
	for _, r := range st.Tombstones {
		tombs[r.Key()] = true
	}
	require.Equal(t, m.tombs, tombs)
	require.Len(t, st.Tombstones, len(tombs))
	txns := map[string]int64{}
	for k, v := range st.Txns {
		txns[k] = v.Version
	}
	require.Equal(t, m.txns, txns)
	domains := map[string]string{}
	for k, v := range st.Domains {
		domains[k] = v.Configuration
	}
	require.Equal(t, m.domains, domains)
	require.Equal(t, m.config, st.Metadata.Configuration["n"])
}

// drawCommit draws the actions of a version and applies them to the model.
func drawCommit(t *rapid.T, m *tableModel, version int) []log.Action {
	var out []log.Action
	if version == 0 {
		out = append(out, log.Action{Protocol: &log.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{"v2Checkpoint"}, WriterFeatures: []string{"v2Checkpoint"}}})
	}
	if version == 0 || rapid.IntRange(0, 4).Draw(t, "metadata") == 0 {
		m.config = strconv.Itoa(version)
		out = append(out, log.Action{Metadata: &log.Metadata{ID: "t", SchemaString: schemaOf(field("a", "long")), Configuration: map[string]string{
			"n": m.config, "delta.checkpoint.writeStatsAsStruct": rapid.SampledFrom([]string{"true", "false"}).Draw(t, "structs")}}})
	}
	paths := []string{"a", "b", "c%20d", "e", "f"}
	for _, p := range rapid.SliceOfNDistinct(rapid.SampledFrom(paths), 0, 5, rapid.ID[string]).Draw(t, "paths") {
		out = append(out, drawFileActions(t, m, p, version)...)
	}
	for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y"}), 0, 2, rapid.ID[string]).Draw(t, "txns") {
		m.txns[id] = int64(rapid.IntRange(-5, 5).Draw(t, "txn"))
		out = append(out, log.Action{Txn: &log.Txn{AppID: id, Version: m.txns[id]}})
	}
	if d := rapid.SampledFrom([]string{"", "p", "q"}).Draw(t, "domain"); d != "" {
		removed := rapid.Bool().Draw(t, "removed")
		m.domains[d] = strconv.Itoa(version)
		out = append(out, log.Action{Domain: &log.DomainMetadata{Domain: d, Configuration: m.domains[d], Removed: removed}})
		if removed {
			delete(m.domains, d)
		}
	}
	if len(out) == 0 {
		out = append(out, log.Action{CommitInfo: &log.CommitInfo{}})
	}
	if shuffled := rapid.Permutation(out).Draw(t, "order"); version > 0 && shuffled[0].CommitInfo == nil {
		out = shuffled
	}
	return out
}

// drawFileActions replaces, adds or removes one file.
func drawFileActions(t *rapid.T, m *tableModel, path string, version int) (out []log.Action) {
	dv := func(id string) *log.DeletionVector {
		if id == "" {
			return nil
		}
		return &log.DeletionVector{StorageType: "i", PathOrInlineDv: id[1:], SizeInBytes: 4, Cardinality: 1}
	}
	next := rapid.SampledFrom([]string{"", "i1", "i2", "gone"}).Draw(t, "next")
	old, live := m.files[path]
	if live && next != old {
		out = append(out, log.Action{Remove: (&log.Add{Path: path, Size: 1, DeletionVector: dv(old)}).Remove(int64(version), true)})
		m.tombs[log.FileKey{Path: decoded(path), DV: old}] = true
		delete(m.files, path)
	}
	if next != "gone" { // an add of the same file brings new statistics
		out = append(out, log.Action{Add: &log.Add{Path: path, Size: int64(version), DeletionVector: dv(next),
			Stats: fmt.Sprintf(`{"numRecords":%d,"minValues":{"a":%d},"nullCount":{"a":0}}`, version, version)}})
		m.files[path] = next
		delete(m.tombs, log.FileKey{Path: decoded(path), DV: next})
	}
	return out
}

func decoded(path string) string {
	key, _ := log.DecodePath(path) //nolint:errcheck // the paths here decode
	return key
}

func TestLoad_any_history_through_any_checkpoint_equals_the_commits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		ctx := t.Context()
		s := storage.NewMemory()
		models := []*tableModel{}
		m := newModel()
		versions := rapid.IntRange(1, 12).Draw(rt, "versions")
		for v := range versions {
			data, err := log.EncodeCommit(drawCommit(rt, m, v))
			require.NoError(rt, err)
			require.NoError(rt, s.PutIfAbsent(ctx, log.CommitKey(int64(v)), data))
			models = append(models, m.clone())
		}
		plain := make([]*log.State, versions) // by the commits alone
		for v := range versions {
			st, err := log.Load(ctx, s, int64(v))
			require.NoError(rt, err)
			models[v].check(rt, st)
			plain[v] = st
		}
		marks := rapid.SliceOfDistinct(rapid.IntRange(0, versions-1), rapid.ID[int]).Draw(rt, "checkpoints")
		for _, v := range marks {
			st, err := log.Load(ctx, s, int64(v))
			require.NoError(rt, err)
			require.NoError(rt, log.WriteCheckpoint(ctx, s, st, 0))
		}
		from := rapid.IntRange(0, versions-1).Draw(rt, "advance from")
		for v := range versions {
			st, err := log.Load(ctx, s, int64(v))
			require.NoError(rt, err)
			requireSameState(t, plain[v], st)
			if v >= from {
				next, err := plain[from].Advance(ctx, s, int64(v))
				require.NoError(rt, err)
				requireSameState(t, plain[v], next)
			}
		}
	})
}
