package log_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// copyLog copies the log of a table into memory, file times included.
func copyLog(t *testing.T, src storage.Store) *storage.Memory {
	t.Helper()
	dst := storage.NewMemory()
	for info, err := range src.List(t.Context(), "_delta_log/", "") {
		require.NoError(t, err)
		data, err := storage.ReadAll(t.Context(), src, info.Key, 0)
		require.NoError(t, err)
		require.NoError(t, dst.Put(t.Context(), info.Key, data))
		require.NoError(t, dst.SetModTime(info.Key, info.ModTime))
	}
	return dst
}

// removeCheckpoints leaves the commits alone.
func removeCheckpoints(t *testing.T, s storage.Store) {
	t.Helper()
	for _, key := range keys(t, s, "_delta_log/") {
		if strings.Contains(key, "checkpoint") || strings.Contains(key, "_sidecars/") {
			require.NoError(t, s.Delete(t.Context(), key))
		}
	}
}

func keys(t *testing.T, s storage.Store, prefix string) (keys []string) {
	t.Helper()
	for info, err := range s.List(t.Context(), prefix, "") {
		require.NoError(t, err)
		keys = append(keys, info.Key)
	}
	return keys
}

// requireSameState compares two states but for what checkpoints leave out: Extra
// fields, and statistics and tags of tombstones. Statistics compare by value.
func requireSameState(t *testing.T, want, got *log.State) {
	t.Helper()
	require.Equal(t, want.Version, got.Version)
	require.Equal(t, want.Timestamp, got.Timestamp)
	require.Equal(t, plainMetadata(want), plainMetadata(got))
	require.Equal(t, want.Protocol.MinReaderVersion, got.Protocol.MinReaderVersion)
	require.Equal(t, want.Protocol.MinWriterVersion, got.Protocol.MinWriterVersion)
	require.Equal(t, want.Protocol.ReaderFeatures, got.Protocol.ReaderFeatures)
	require.Equal(t, want.Protocol.WriterFeatures, got.Protocol.WriterFeatures)
	require.Equal(t, want.Txns, got.Txns)
	require.Equal(t, want.Domains, got.Domains)
	require.Equal(t, len(want.Files), len(got.Files))
	for i := range want.Files {
		a, b := *want.Files[i], *got.Files[i]
		if keepsStats(want) {
			require.Equal(t, normalStats(t, a.Stats), normalStats(t, b.Stats), a.Path)
		}
		a.Stats, b.Stats, a.Extra, b.Extra = "", "", nil, nil
		if len(a.Tags)+len(b.Tags) == 0 {
			a.Tags, b.Tags = nil, nil
		}
		require.Equal(t, a, b)
	}
	requireSameTombstones(t, want.Tombstones, got.Tombstones)
}

// keepsStats says whether checkpoints of the table hold statistics at all.
func keepsStats(st *log.State) bool {
	c := st.Metadata.Configuration
	return c["delta.checkpoint.writeStatsAsJson"] != "false" || c["delta.checkpoint.writeStatsAsStruct"] == "true"
}

func plainMetadata(st *log.State) log.Metadata {
	m := *st.Metadata
	m.Extra = nil
	m.Configuration = map[string]string{}
	for k, v := range st.Metadata.Configuration {
		if !strings.HasPrefix(k, "delta.checkpoint.write") {
			m.Configuration[k] = v
		}
	}
	return m
}

func requireSameTombstones(t *testing.T, want, got []*log.Remove) {
	t.Helper()
	require.Equal(t, len(want), len(got))
	for i := range want {
		a, b := *want[i], *got[i]
		a.Stats, b.Stats, a.Tags, b.Tags, a.Extra, b.Extra = "", "", nil, nil, nil, nil
		require.Equal(t, a, b)
	}
}

// normalStats gives statistics in a form that does not depend on how numbers and
// instants are written, and without members that say nothing.
func normalStats(t *testing.T, stats string) any {
	t.Helper()
	if stats == "" {
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(stats))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v), stats)
	return normal(v)
}

func normal(v any) any {
	switch x := v.(type) {
	case json.Number:
		if r, ok := new(big.Rat).SetString(x.String()); ok {
			return r.String()
		}
	case string:
		if t, err := time.Parse("2006-01-02T15:04:05Z07:00", x); err == nil {
			return t.UTC().String()
		}
		for _, form := range []string{"2006-01-02T15:04:05", time.DateOnly} {
			if t, err := time.Parse(form, x); err == nil {
				return t.String()
			}
		}
	case map[string]any:
		out := map[string]any{}
		for k, e := range x {
			e = normal(e)
			if m, ok := e.(map[string]any); e == nil || ok && len(m) == 0 {
				continue
			}
			out[k] = e
		}
		return out
	}
	return v
}
