package log_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

const hintKey = "_delta_log/_last_checkpoint"

func checkpointKey(v int64) string { return fmt.Sprintf("_delta_log/%020d.checkpoint.parquet", v) }

// smallTable has versions 0 to 6; version n > 0 adds f<n>, and 5 removes f1.
func smallTable(t *testing.T) *storage.Memory {
	t.Helper()
	s := storage.NewMemory()
	putCommit(t, s, 0, protocolLine, metadataLine, addLine("f0"), `{"txn":{"appId":"a","version":1}}`)
	for v := int64(1); v <= 6; v++ {
		lines := []string{addLine(fmt.Sprintf("f%d", v)), fmt.Sprintf(`{"txn":{"appId":"b","version":%d}}`, v)}
		if v == 5 {
			lines = append(lines, removeLine("f1"))
		}
		putCommit(t, s, v, lines...)
	}
	return s
}

func paths(st *log.State) (out []string) {
	for _, a := range st.Files {
		out = append(out, a.Path)
	}
	return out
}

func load(t *testing.T, s storage.Store, version int64) *log.State {
	t.Helper()
	st, err := log.Load(t.Context(), s, version)
	require.NoError(t, err)
	return st
}

func checkpoint(t *testing.T, s storage.Store, versions ...int64) {
	t.Helper()
	for _, v := range versions {
		require.NoError(t, log.WriteCheckpoint(t.Context(), s, load(t, s, v), 0))
	}
}

func remove(t *testing.T, s storage.Store, keys ...string) {
	t.Helper()
	for _, k := range keys {
		require.NoError(t, s.Delete(t.Context(), k))
	}
}

var latestFiles = []string{"f0", "f2", "f3", "f4", "f5", "f6"}

func requireLatest(t *testing.T, s storage.Store) {
	t.Helper()
	st := load(t, s, -1)
	require.EqualValues(t, 6, st.Version)
	require.Equal(t, latestFiles, paths(st))
	require.EqualValues(t, 1, st.Txns["a"].Version)
	require.EqualValues(t, 6, st.Txns["b"].Version)
	require.Len(t, st.Tombstones, 1)
	latest, err := log.Latest(t.Context(), s)
	require.NoError(t, err)
	require.EqualValues(t, 6, latest)
}

func TestLoad_hint_of_any_kind_gives_the_newest_version(t *testing.T) {
	t.Parallel()
	for name, hint := range map[string]string{
		"stale":              `{"version":2,"size":5}`,
		"right":              `{"version":4,"size":5}`,
		"absent":             "",
		"empty":              " ",
		"corrupt":            `{"version":4,"si`,
		"not JSON":           "\x00\x01",
		"wrong type":         `{"version":"4"}`,
		"text behind":        `{"version":4} x`,
		"no checkpoint":      `{"version":3,"size":5}`,
		"beyond the log":     `{"version":400,"size":5}`,
		"negative":           `{"version":-4,"size":5}`,
		"not complete":       `{"version":5,"size":5,"parts":2}`,
		"float":              `{"version":4.5}`,
		"greatest":           `{"version":9223372036854775807}`,
		"null":               `{"version":null}`,
		"damaged checkpoint": `{"version":6,"size":5}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := smallTable(t)
			checkpoint(t, s, 2, 4)
			require.NoError(t, s.Put(t.Context(), "_delta_log/00000000000000000005.checkpoint.0000000001.0000000002.parquet", []byte("x")))
			require.NoError(t, s.Put(t.Context(), checkpointKey(6), []byte("PAR1 no")))
			remove(t, s, hintKey)
			if hint != "" {
				require.NoError(t, s.Put(t.Context(), hintKey, []byte(hint)))
			}
			requireLatest(t, s)
			require.Equal(t, []string{"f0", "f1", "f2", "f3"}, paths(load(t, s, 3)))
		})
	}
}

func TestLoad_truncated_checkpoint_falls_back_and_is_never_partial(t *testing.T) {
	t.Parallel()
	s := smallTable(t)
	checkpoint(t, s, 2, 6)
	good, err := storage.ReadAll(t.Context(), s, checkpointKey(6), 0)
	require.NoError(t, err)
	for cut := 0; cut < len(good); cut += 97 {
		require.NoError(t, s.Put(t.Context(), checkpointKey(6), good[:cut]))
		requireLatest(t, s)
	}
	// Without the older commits only the checkpoint of version 2 is left.
	remove(t, s, log.CommitKey(0), log.CommitKey(1))
	requireLatest(t, s)
	// And without it nothing: an error, not fewer files.
	remove(t, s, checkpointKey(2))
	_, err = log.Load(t.Context(), s, -1)
	var corrupt *log.CorruptError
	require.ErrorAs(t, err, &corrupt)
	require.ErrorContains(t, err, checkpointKey(6))
}

func TestLoad_flipped_bits_of_a_checkpoint_never_change_the_state(t *testing.T) {
	t.Parallel()
	s := smallTable(t)
	checkpoint(t, s, 6)
	good, err := storage.ReadAll(t.Context(), s, checkpointKey(6), 0)
	require.NoError(t, err)
	want := load(t, s, -1)
	for i := 0; i < len(good); i += 37 {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		require.NoError(t, s.Put(t.Context(), checkpointKey(6), bad))
		requireSameState(t, want, load(t, s, -1))
	}
}

func TestLoad_store_failure_on_a_checkpoint_is_reported_not_passed_over(t *testing.T) {
	t.Parallel()
	m := smallTable(t)
	checkpoint(t, m, 6)
	f := storage.NewFault(m)
	f.Fail(func(op storage.Op) error {
		if op.Key == checkpointKey(6) && op.Kind == storage.OpRead {
			return storage.ErrInjected
		}
		return nil
	})
	_, err := log.Load(t.Context(), f, -1)
	require.ErrorIs(t, err, storage.ErrInjected)
}

func TestLoad_every_store_call_failing_once_gives_an_error_or_the_truth(t *testing.T) {
	t.Parallel()
	m := smallTable(t)
	checkpoint(t, m, 4)
	for n := int64(1); ; n++ {
		var calls atomic.Int64 // commits are read side by side
		f := storage.NewFault(m)
		f.Fail(func(storage.Op) error {
			if calls.Add(1) == n {
				return storage.ErrInjected
			}
			return nil
		})
		st, err := log.Load(t.Context(), f, -1)
		if err == nil {
			require.Equal(t, latestFiles, paths(st))
		} else {
			require.ErrorIs(t, err, storage.ErrInjected)
		}
		if calls.Load() < n {
			return
		}
	}
}

func TestLoad_gap_between_commits_is_an_error(t *testing.T) {
	t.Parallel()
	s := smallTable(t)
	checkpoint(t, s, 2)
	remove(t, s, log.CommitKey(4))
	_, err := log.Load(t.Context(), s, -1)
	var corrupt *log.CorruptError
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, log.CommitKey(4), corrupt.Key)
	require.Equal(t, []string{"f0", "f1", "f2", "f3"}, paths(load(t, s, 3)), "versions before the gap stay readable")
	// A checkpoint behind the gap replaces what is missing.
	s2 := smallTable(t)
	checkpoint(t, s2, 5)
	remove(t, s2, log.CommitKey(4))
	requireLatest(t, s2)
}

func TestLoad_first_commits_gone_versions_before_the_checkpoint_are_named(t *testing.T) {
	t.Parallel()
	s := smallTable(t)
	checkpoint(t, s, 3)
	remove(t, s, log.CommitKey(0), log.CommitKey(1), log.CommitKey(2))
	requireLatest(t, s)
	first, err := log.FirstVersion(t.Context(), s)
	require.NoError(t, err)
	require.EqualValues(t, 3, first)
	require.EqualValues(t, 3, load(t, s, 3).Version)
	for _, v := range []int64{0, 2, 7} {
		_, err := log.Load(t.Context(), s, v)
		var version *log.VersionError
		require.ErrorAs(t, err, &version)
		require.Equal(t, log.VersionError{Version: v, First: 3, Latest: 6}, *version)
	}
	remove(t, s, checkpointKey(3))
	_, err = log.Load(t.Context(), s, -1)
	require.ErrorContains(t, err, "commit is missing")
	_, err = log.FirstVersion(t.Context(), s)
	require.Error(t, err)
}

func TestLoad_checkpoint_newer_than_every_commit_is_refused(t *testing.T) {
	t.Parallel()
	s := smallTable(t)
	checkpoint(t, s, 6)
	remove(t, s, log.CommitKey(6))
	for _, f := range []func() error{
		func() error { _, err := log.Load(t.Context(), s, -1); return err },
		func() error { _, err := log.Latest(t.Context(), s); return err },
	} {
		require.ErrorContains(t, f(), "but not its commit")
	}
}

func TestLoad_empty_folder_is_no_table(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	require.NoError(t, s.Put(t.Context(), "_delta_log/readme.txt", nil))
	require.NoError(t, s.Put(t.Context(), "_delta_log/.00000000000000000000.json.crc", nil))
	require.NoError(t, s.Put(t.Context(), "_delta_log/00000000000000000000.json.tmp", nil))
	_, err := log.Load(t.Context(), s, -1)
	require.ErrorIs(t, err, log.ErrNoTable)
	ok, err := log.Exists(t.Context(), s)
	require.NoError(t, err)
	require.False(t, ok)
	putCommit(t, s, 0, protocolLine, metadataLine)
	ok, err = log.Exists(t.Context(), s)
	require.NoError(t, err)
	require.True(t, ok)
}

func TestLoad_invalid_logs_are_refused_with_the_reason(t *testing.T) {
	t.Parallel()
	dvAdd := `{"add":{"path":"a","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"deletionVector":{"storageType":"i","pathOrInlineDv":"00000","sizeInBytes":4,"cardinality":1}}}`
	for want, commits := range map[string][][]string{
		"no protocol":             {{metadataLine}},
		"no metaData":             {{protocolLine}},
		"minReaderVersion 4":      {{`{"protocol":{"minReaderVersion":4,"minWriterVersion":7,"readerFeatures":[],"writerFeatures":[]}}`, metadataLine}},
		"lists no readerFeatures": {{`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"writerFeatures":[]}}`, metadataLine}},
		"catalogManaged":          {{`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["catalogManaged"],"writerFeatures":["catalogManaged"]}}`, metadataLine}},
		"live twice":              {{protocolLine, metadataLine, addLine("a")}, {dvAdd}},
		"is live twice":           {{protocolLine, metadataLine, addLine("a b")}, {strings.Replace(dvAdd, `"a"`, `"a%20b"`, 1)}},
		"both adds and removes":   {{protocolLine, metadataLine, addLine("a")}, {removeLine("a"), addLine("a")}},
		"two protocol or two":     {{protocolLine, metadataLine, metadataLine}},
		"no inCommitTimestamp": {{`{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["inCommitTimestamp"]}}`,
			strings.Replace(metadataLine, `"configuration":{}`, `"configuration":{"delta.enableInCommitTimestamps":"true"}`, 1)}},
	} {
		s := storage.NewMemory()
		for v, lines := range commits {
			putCommit(t, s, int64(v), lines...)
		}
		_, err := log.Load(t.Context(), s, -1)
		require.ErrorContains(t, err, want)
	}
}

func TestLoad_clean_up_between_listing_and_reading_lists_anew(t *testing.T) {
	t.Parallel()
	m := smallTable(t)
	checkpoint(t, m, 2)
	f := storage.NewFault(m)
	done := false
	f.Fail(func(op storage.Op) error {
		if op.Kind == storage.OpOpen && op.Key == checkpointKey(2) && !done {
			done = true
			checkpoint(t, m, 5)
			for v := range int64(5) {
				remove(t, m, log.CommitKey(v))
			}
			remove(t, m, checkpointKey(2))
		}
		return nil
	})
	requireLatest(t, f)
	require.True(t, done)
}

func TestLoad_cancelled_context_ends_it(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	m := smallTable(t)
	f := storage.NewFault(m)
	f.Fail(func(op storage.Op) error {
		if op.Key == log.CommitKey(3) {
			cancel()
		}
		return nil
	})
	_, err := log.Load(ctx, f, -1)
	require.ErrorIs(t, err, context.Canceled)
}

func TestLoad_undated_tombstone_counts_from_its_commit(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	putCommit(t, s, 0, protocolLine, metadataLine, addLine("a"))
	putCommit(t, s, 1, `{"remove":{"path":"a","dataChange":true}}`)
	at := time.UnixMilli(1700000000000)
	require.NoError(t, s.SetModTime(log.CommitKey(1), at))
	st := load(t, s, -1)
	require.EqualValues(t, at.UnixMilli(), *st.Tombstones[0].DeletionTimestamp)
	young, err := st.YoungTombstones(at.Add(time.Hour).UnixMilli())
	require.NoError(t, err)
	require.Len(t, young, 1)
}
