package log_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

const dayMillis = 24 * 3600 * 1000

// agedTable is smallTable with a version a day, day v*10, and checkpoints.
func agedTable(t *testing.T, checkpoints ...int64) *storage.Memory {
	t.Helper()
	s := smallTable(t)
	checkpoint(t, s, checkpoints...)
	var times []int64
	for v := range int64(7) {
		times = append(times, v*10*dayMillis)
	}
	dated(t, s, times...)
	return s
}

func clean(t *testing.T, s storage.Store, day int64) log.Cleanup {
	t.Helper()
	out, err := log.CleanExpired(t.Context(), s, load(t, s, -1), day*dayMillis+5)
	require.NoError(t, err)
	return out
}

func TestCleanExpired_keeps_the_checkpoint_that_covers_the_oldest_kept_version(t *testing.T) {
	t.Parallel()
	s := agedTable(t, 1, 2, 5)
	for v := range 4 {
		require.NoError(t, s.Put(t.Context(), fmt.Sprintf("_delta_log/%020d.crc", v), []byte("{}")))
	}
	require.NoError(t, s.Put(t.Context(), "_delta_log/00000000000000000001.00000000000000000004.compacted.json", []byte("{}")))
	require.NoError(t, s.Put(t.Context(), "_delta_log/00000000000000000002.00000000000000000004.compacted.json", []byte("{}")))
	require.NoError(t, s.Put(t.Context(), "_delta_log/notes.txt", []byte("x")))
	// Day 70, 30 days kept: the commit of day 40, version 4, is the cutoff; the
	// checkpoint at or before it is that of version 2.
	out := clean(t, s, 70)
	require.Equal(t, log.Cleanup{Deleted: 2 + 1 + 2 + 2, Oldest: 2}, out)
	require.Equal(t, []string{
		"_delta_log/00000000000000000002.checkpoint.parquet", "_delta_log/00000000000000000002.crc", "_delta_log/00000000000000000002.json",
		"_delta_log/00000000000000000003.crc", "_delta_log/00000000000000000003.json", "_delta_log/00000000000000000004.json",
		"_delta_log/00000000000000000005.checkpoint.parquet", "_delta_log/00000000000000000005.json", "_delta_log/00000000000000000006.json",
		"_delta_log/_last_checkpoint", "_delta_log/notes.txt",
	}, keys(t, s, ""))
	requireLatest(t, s)
	for v := int64(2); v <= 6; v++ {
		require.EqualValues(t, v, load(t, s, v).Version)
	}
	require.Equal(t, log.Cleanup{Oldest: 2}, clean(t, s, 70), "twice is once")
	require.EqualValues(t, 5, clean(t, s, 80).Oldest)
	requireLatest(t, s)
}

func TestCleanExpired_without_a_readable_old_checkpoint_deletes_nothing(t *testing.T) {
	t.Parallel()
	s := agedTable(t, 5)
	before := keys(t, s, "")
	require.NotEmpty(t, clean(t, s, 70).Skipped)
	s = agedTable(t, 2, 5)
	require.NoError(t, s.Put(t.Context(), checkpointKey(2), []byte("PAR1 damaged PAR1")))
	require.NotEmpty(t, clean(t, s, 70).Skipped)
	require.Len(t, keys(t, s, ""), len(before)+1)
	// A damaged one is passed over for an older one that reads.
	s = agedTable(t, 1, 2, 5)
	require.NoError(t, s.Put(t.Context(), checkpointKey(2), []byte("PAR1 damaged PAR1")))
	require.EqualValues(t, 1, clean(t, s, 70).Oldest)
}

func TestCleanExpired_properties_and_features_forbid_it(t *testing.T) {
	t.Parallel()
	s := agedTable(t, 2)
	st := load(t, s, -1)
	before := keys(t, s, "")
	for name, change := range map[string]func(*log.State){
		"enableExpiredLogCleanup": func(st *log.State) { st.Metadata.Configuration["delta.enableExpiredLogCleanup"] = "false" },
		"checkpointProtection":    func(st *log.State) { st.Protocol.WriterFeatures = []string{"checkpointProtection"} },
		"no readable checkpoint":  func(st *log.State) { st.Metadata.Configuration["delta.logRetentionDuration"] = "interval 60 days" },
	} {
		meta, protocol := *st.Metadata, *st.Protocol
		meta.Configuration = map[string]string{}
		changed := *st
		changed.Metadata, changed.Protocol = &meta, &protocol
		change(&changed)
		out, err := log.CleanExpired(t.Context(), s, &changed, 70*dayMillis)
		require.NoError(t, err)
		require.Contains(t, out.Skipped, name)
	}
	require.Equal(t, before, keys(t, s, ""))
}

func TestCleanExpired_interrupted_anywhere_leaves_a_valid_log(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 8; n++ {
		s := agedTable(t, 1, 2, 5)
		f := storage.NewFault(s)
		deletes := 0
		f.Fail(func(op storage.Op) error {
			if op.Kind == storage.OpDelete {
				if deletes++; deletes == n {
					return storage.ErrInjected
				}
			}
			return nil
		})
		_, err := log.CleanExpired(t.Context(), f, load(t, s, -1), 70*dayMillis)
		if deletes >= n {
			require.ErrorIs(t, err, storage.ErrInjected)
		}
		requireLatest(t, s)
		require.EqualValues(t, 2, load(t, s, 2).Version)
		first, err := log.FirstVersion(t.Context(), s)
		require.NoError(t, err)
		require.EqualValues(t, first, load(t, s, first).Version)
		require.EqualValues(t, 2, clean(t, s, 70).Oldest)
	}
}

func TestCleanExpired_sidecars_of_kept_checkpoints_and_young_ones_stay(t *testing.T) {
	t.Parallel()
	s := agedTable(t)
	v2JSON(t, s, 2)
	for name, day := range map[string]int64{"orphan": 50, "young": 70, "notes.txt": 1} {
		key := "_delta_log/_sidecars/" + name
		if !strings.Contains(name, ".") {
			key += ".parquet"
		}
		require.NoError(t, s.Put(t.Context(), key, []byte("x")))
		require.NoError(t, s.SetModTime(key, time.UnixMilli(day*dayMillis)))
	}
	for i := range 2 {
		require.NoError(t, s.SetModTime(fmt.Sprintf("_delta_log/_sidecars/s%d.parquet", i), time.UnixMilli(0)))
	}
	// An unreadable newer checkpoint may refer to any of them.
	require.NoError(t, s.Put(t.Context(), checkpointKey(5), []byte("?")))
	require.NotEmpty(t, clean(t, s, 70).Unfinished)
	require.Len(t, keys(t, s, "_delta_log/_sidecars/"), 5)
	remove(t, s, checkpointKey(5))
	require.Equal(t, log.Cleanup{Deleted: 1, Oldest: 2}, clean(t, s, 70))
	require.Equal(t, []string{"_delta_log/_sidecars/notes.txt", "_delta_log/_sidecars/s0.parquet", "_delta_log/_sidecars/s1.parquet", "_delta_log/_sidecars/young.parquet"},
		keys(t, s, "_delta_log/_sidecars/"))
	requireLatest(t, s)
}
