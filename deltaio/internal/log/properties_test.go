package log_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

func TestParseInterval_reads_sparks_forms(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for in, want := range map[string]time.Duration{
		"interval 30 days": 30 * day, "interval 1 week": 7 * day, "INTERVAL 2 Weeks 3 hours": 14*day + 3*time.Hour,
		"168 hours": 168 * time.Hour, " interval  1  day ": day, "interval 0 hours": 0,
		"interval 1 day 2 hours 3 minutes 4 seconds 5 milliseconds 6 microseconds": day + 2*time.Hour + 3*time.Minute + 4*time.Second + 5*time.Millisecond + 6*time.Microsecond,
		"interval 1.5 seconds":       1500 * time.Millisecond,
		"interval 1 week -1 day":     6 * day,
		"interval 1000000000 weeks":  math.MaxInt64,
		"interval 106751 days":       106751 * day,
		"interval +1 minute":         time.Minute,
		"interval 36500 days 1 hour": 36500*day + time.Hour,
	} {
		got, err := log.ParseInterval(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
	}
}

func TestParseInterval_refuses_what_has_no_fixed_length(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", "interval", "interval 1 month", "interval 1 year", "30", "days", "interval 1.5 days", "interval -1 day",
		"interval x days", "interval 1 day 2", "interval '1' day", "1 fortnight",
	} {
		_, err := log.ParseInterval(in)
		require.Error(t, err, in)
	}
}

func TestYoungTombstones_follow_the_tables_retention(t *testing.T) {
	t.Parallel()
	st := &log.State{Metadata: &log.Metadata{Configuration: map[string]string{}}, Tombstones: []*log.Remove{
		{Path: "old", DeletionTimestamp: ptr(int64(0))}, {Path: "new", DeletionTimestamp: ptr(int64(1000))}, {Path: "undated"},
	}}
	week := (7 * 24 * time.Hour).Milliseconds()
	young, err := st.YoungTombstones(week + 500)
	require.NoError(t, err)
	require.Len(t, young, 1)
	require.Equal(t, "new", young[0].Path)
	st.Metadata.Configuration["delta.deletedFileRetentionDuration"] = "interval 2 weeks"
	young, err = st.YoungTombstones(week + 500)
	require.NoError(t, err)
	require.Len(t, young, 2)
	st.Metadata.Configuration["delta.deletedFileRetentionDuration"] = "soon"
	_, err = st.YoungTombstones(0)
	require.ErrorContains(t, err, "delta.deletedFileRetentionDuration")
}

func TestSchema_mapping_counts_only_where_the_protocol_has_it(t *testing.T) {
	t.Parallel()
	st := &log.State{
		Protocol: &log.Protocol{MinReaderVersion: 1, MinWriterVersion: 2},
		Metadata: &log.Metadata{
			Configuration: map[string]string{"delta.columnMapping.mode": "name"},
			SchemaString:  `{"type":"struct","fields":[{"name":"a","type":{"type":"array","elementType":{"type":"struct","fields":[{"name":"b","type":"long","nullable":true,"metadata":{"delta.columnMapping.physicalName":"p2","delta.columnMapping.id":2}}]},"containsNull":true},"nullable":true,"metadata":{"delta.columnMapping.physicalName":"p1","delta.columnMapping.id":1}}]}`,
		},
	}
	require.Equal(t, "none", st.MappingMode())
	s, err := st.Schema()
	require.NoError(t, err)
	require.Equal(t, "a", s.Fields[0].PhysicalName())
	require.NotContains(t, s.JSON(), "p2")
	for _, p := range []log.Protocol{
		{MinReaderVersion: 2, MinWriterVersion: 5},
		{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{"columnMapping"}},
	} {
		st.Protocol = &p
		require.Equal(t, "name", st.MappingMode())
		s, err = st.Schema()
		require.NoError(t, err)
		require.Equal(t, "p1", s.Fields[0].PhysicalName())
	}
}

func TestStats_of_a_file(t *testing.T) {
	t.Parallel()
	a := &log.Add{Stats: `{"minValues":{"a":9007199254740993,"s":{"b":"x"}},"numRecords":5,"nullCount":{"a":0}}`}
	n, ok := a.NumRecords()
	require.True(t, ok)
	require.EqualValues(t, 5, n)
	st, err := a.ParseStats()
	require.NoError(t, err)
	require.True(t, st.TightBounds)
	require.EqualValues(t, 5, *st.NumRecords)
	require.Equal(t, "9007199254740993", st.MinValues["a"].(interface{ String() string }).String())
	require.Equal(t, map[string]any{"b": "x"}, st.MinValues["s"])

	for _, stats := range []string{"", `{"numRecords":null}`, `{"numRecords":-1}`, `{"numRecords":1.5}`, `{"numRecords"`} {
		_, ok = (&log.Add{Stats: stats}).NumRecords()
		require.False(t, ok, stats)
	}
	st, err = (&log.Add{}).ParseStats()
	require.NoError(t, err)
	require.Nil(t, st)
	_, err = (&log.Add{Path: "f", Stats: "{"}).ParseStats()
	require.ErrorContains(t, err, "f")
	st, err = (&log.Add{Stats: `{"tightBounds":false}`}).ParseStats()
	require.NoError(t, err)
	require.False(t, st.TightBounds)
}
