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

// dated sets the time of a version's commit file.
func dated(t *testing.T, s *storage.Memory, times ...int64) {
	t.Helper()
	for v, ms := range times {
		require.NoError(t, s.SetModTime(log.CommitKey(int64(v)), time.UnixMilli(ms)))
	}
}

func TestAtTime_file_times_are_made_to_rise(t *testing.T) {
	t.Parallel()
	s := smallTable(t)
	dated(t, s, 1000, 900, 900, 2000, 1500, 3000, 3000) // counted as 1000 1001 1002 2000 2001 3000 3001
	for ms, want := range map[int64]int64{1000: 0, 1001: 1, 1002: 2, 1999: 2, 2000: 3, 2001: 4, 2999: 4, 3000: 5, 3001: 6, 1 << 50: 6} {
		v, err := log.AtTime(t.Context(), s, ms)
		require.NoError(t, err)
		require.Equal(t, want, v, ms)
	}
	_, err := log.AtTime(t.Context(), s, 999)
	require.ErrorIs(t, err, log.ErrTimeBeforeFirst)
	var got []int64
	for c, err := range log.Commits(t.Context(), s, 0, -1) {
		require.NoError(t, err)
		got = append(got, c.Timestamp)
	}
	require.Equal(t, []int64{1000, 1001, 1002, 2000, 2001, 3000, 3001}, got)
}

func TestAtTime_gives_only_versions_that_can_be_loaded(t *testing.T) {
	t.Parallel()
	s := smallTable(t)
	dated(t, s, 1000, 2000, 3000, 4000, 5000, 6000, 7000)
	checkpoint(t, s, 3)
	remove(t, s, log.CommitKey(0))
	_, err := log.AtTime(t.Context(), s, 3500)
	require.ErrorIs(t, err, log.ErrTimeBeforeFirst)
	v, err := log.AtTime(t.Context(), s, 4500)
	require.NoError(t, err)
	require.EqualValues(t, 3, v)
}

// inCommitTable enables in-commit timestamps in version since; before it file
// times hold.
func inCommitTable(t *testing.T, since int64, times ...int64) *storage.Memory {
	t.Helper()
	s := storage.NewMemory()
	protocol := `{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["inCommitTimestamp"]}}`
	for v, ms := range times {
		var lines []string
		info := fmt.Sprintf(`{"commitInfo":{"inCommitTimestamp":%d,"operation":"X"}}`, ms)
		switch int64(v) {
		case since:
			conf := `"delta.enableInCommitTimestamps":"true"`
			if since > 0 {
				conf += fmt.Sprintf(`,"delta.inCommitTimestampEnablementVersion":"%d","delta.inCommitTimestampEnablementTimestamp":"%d"`, since, ms)
			}
			lines = []string{info, protocol, strings.Replace(metadataLine, `"configuration":{`, `"configuration":{`+conf, 1)}
		case 0:
			lines = []string{protocolLine, metadataLine}
		default:
			lines = []string{addLine(fmt.Sprint("f", v))}
			if int64(v) > since {
				lines = append([]string{info}, lines...)
			}
		}
		putCommit(t, s, int64(v), lines...)
	}
	return s
}

func TestAtTime_in_commit_timestamps_hold_from_their_enablement_on(t *testing.T) {
	t.Parallel()
	s := inCommitTable(t, 2, 0, 0, 5000, 6000, 7000)
	dated(t, s, 1000, 2000, 1, 1, 1) // the files were copied later
	require.EqualValues(t, 7000, load(t, s, -1).Timestamp)
	require.EqualValues(t, 2000, load(t, s, 1).Timestamp)
	for ms, want := range map[int64]int64{1000: 0, 2000: 1, 4999: 1, 5000: 2, 5999: 2, 6000: 3, 9000: 4} {
		v, err := log.AtTime(t.Context(), s, ms)
		require.NoError(t, err)
		require.Equal(t, want, v, ms)
	}
	_, err := log.AtTime(t.Context(), s, 5)
	require.ErrorIs(t, err, log.ErrTimeBeforeFirst)

	always := inCommitTable(t, 0, 100, 200, 300)
	v, err := log.AtTime(t.Context(), always, 250)
	require.NoError(t, err)
	require.EqualValues(t, 1, v)
	_, err = log.AtTime(t.Context(), always, 99)
	require.ErrorIs(t, err, log.ErrTimeBeforeFirst)
	// A checkpoint holds no commitInfo: the time comes from the commit.
	checkpoint(t, always, 2)
	require.EqualValues(t, 300, load(t, always, -1).Timestamp)
}

func TestCommits_range_skips_what_is_gone_and_refuses_gaps(t *testing.T) {
	t.Parallel()
	s := smallTable(t)
	collect := func(from, to int64) (out []int64, err error) {
		for c, err := range log.Commits(t.Context(), s, from, to) {
			if err != nil {
				return out, err
			}
			require.NotEmpty(t, c.Actions)
			out = append(out, c.Version)
		}
		return out, nil
	}
	got, err := collect(2, 4)
	require.NoError(t, err)
	require.Equal(t, []int64{2, 3, 4}, got)
	got, err = collect(7, -1)
	require.NoError(t, err)
	require.Empty(t, got)
	checkpoint(t, s, 2)
	remove(t, s, log.CommitKey(0), log.CommitKey(1))
	got, err = collect(0, -1)
	require.NoError(t, err)
	require.Equal(t, []int64{2, 3, 4, 5, 6}, got)
	_, err = collect(0, 9)
	var version *log.VersionError
	require.ErrorAs(t, err, &version)
	remove(t, s, log.CommitKey(4))
	_, err = collect(0, -1)
	require.ErrorContains(t, err, "missing")
}
