package log_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// FuzzReadCommit: any line is refused, or is JSON that writes and reads back to
// the same actions.
func FuzzReadCommit(f *testing.F) {
	for _, line := range []string{
		protocolLine, metadataLine, addLine("a%20b"), removeLine("x"), `{}`, `{"a":null}`,
		`{"txn":{"appId":"x","version":-1,"lastUpdated":1}}`, `{"commitInfo":{"a":[1,2.5e3,"\u00e9\ud83d\ude00"]}}`,
		`{"add":{"path":"p","partitionValues":{"a":null},"size":1,"deletionVector":{"storageType":"i","pathOrInlineDv":"x","sizeInBytes":1,"cardinality":1,"z":0}}}`,
		`{"domainMetadata":{"domain":"d","configuration":"","removed":true}}`, `{"cdc":{"path":"c","size":1,"tags":{"a":"b"}}}`,
		`{"sidecar":{"path":"s","sizeInBytes":1}}`, `{"checkpointMetadata":{"version":1,"tags":{}}}`, `{"later":{"x":true}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		s := storage.NewMemory()
		require.NoError(t, s.Put(t.Context(), log.CommitKey(0), line))
		actions, err := log.ReadCommit(t.Context(), s, 0)
		if err != nil {
			return
		}
		if !strings.ContainsAny(string(line), "\n") {
			require.True(t, json.Valid(line), "accepted what is no JSON")
		}
		data, err := log.EncodeCommit(actions)
		if err != nil {
			return
		}
		require.NoError(t, s.Put(t.Context(), log.CommitKey(1), data))
		again, err := log.ReadCommit(t.Context(), s, 1)
		require.NoError(t, err, "%s", data)
		once, err := log.EncodeCommit(again)
		require.NoError(t, err)
		require.Equal(t, string(data), string(once))
	})
}

// FuzzLoadCheckpoint: a checkpoint of any bytes gives an error or a state, never
// a panic.
func FuzzLoadCheckpoint(f *testing.F) {
	s := storage.NewMemory()
	require.NoError(f, s.Put(f.Context(), log.CommitKey(0), []byte(strings.Join([]string{
		protocolLine, metadataLine, addLine("a"), removeLine("b"), `{"txn":{"appId":"x","version":1}}`}, "\n"))))
	st, err := log.Load(f.Context(), s, -1)
	require.NoError(f, err)
	require.NoError(f, log.WriteCheckpoint(f.Context(), s, st, 0))
	data, err := storage.ReadAll(f.Context(), s, checkpointKey(0), 0)
	require.NoError(f, err)
	f.Add(data)
	st.Metadata.Configuration["delta.parquet.compression.codec"] = "lz4_raw"
	require.NoError(f, log.WriteCheckpoint(f.Context(), s, st, 0))
	data, err = storage.ReadAll(f.Context(), s, checkpointKey(0), 0)
	require.NoError(f, err)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := storage.NewMemory()
		require.NoError(t, s.Put(t.Context(), checkpointKey(3), data))
		require.NoError(t, s.Put(t.Context(), log.CommitKey(3), []byte(addLine("c"))))
		st, err := log.Load(t.Context(), s, -1)
		if err == nil {
			require.NotNil(t, st.Metadata)
			require.NotNil(t, st.Protocol)
		}
	})
}

// FuzzDecodePath: a key that comes out stays below the root.
func FuzzDecodePath(f *testing.F) {
	for _, p := range []string{"a%20b", "../x", "s3://b/x", "%2e%2e/x", "a//b", "x%00"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		key, err := log.DecodePath(p)
		if err != nil {
			return
		}
		for seg := range strings.SplitSeq(key, "/") {
			require.NotContains(t, []string{"", ".", ".."}, seg)
		}
		require.NotEqual(t, byte('/'), key[0])
	})
}

// FuzzHint: no hint keeps the newest version from being found.
func FuzzHint(f *testing.F) {
	f.Add([]byte(`{"version":0,"size":2,"v2Checkpoint":{"path":"x","sizeInBytes":1}}`))
	f.Fuzz(func(t *testing.T, hint []byte) {
		s := storage.NewMemory()
		putCommit(t, s, 0, protocolLine, metadataLine)
		putCommit(t, s, 1, addLine("a"))
		require.NoError(t, s.Put(t.Context(), hintKey, hint))
		st, err := log.Load(t.Context(), s, -1)
		require.NoError(t, err)
		require.EqualValues(t, 1, st.Version)
	})
}
