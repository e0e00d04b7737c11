package deltaio_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

func TestCreate_twice_is_refused_unless_it_is_the_same_step(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	step := &deltaio.Step{AppID: "lakewarden/r/create", Version: 1}
	create(t, s, c, deltaio.CreateOptions{Step: step})
	_, err := deltaio.Create(t.Context(), s, env(c), deltaio.CreateOptions{Schema: sales})
	require.ErrorIs(t, err, deltaio.ErrExists)
	again, err := deltaio.Create(t.Context(), s, env(c), deltaio.CreateOptions{Schema: sales, Step: step})
	require.NoError(t, err)
	require.EqualValues(t, 0, snapshot(t, again).Version())
}

func TestOpen_without_a_log_is_not_a_table(t *testing.T) {
	t.Parallel()
	c := newClock()
	_, err := deltaio.Open(t.Context(), memStore(c), env(c))
	require.ErrorIs(t, err, deltaio.ErrNotATable)
	_, err = deltaio.Open(t.Context(), memStore(c), deltaio.Env{})
	require.ErrorContains(t, err, "Env.Now")
}

func TestCreate_refuses_designs_that_no_engine_could_use(t *testing.T) {
	t.Parallel()
	for name, opt := range map[string]deltaio.CreateOptions{
		"at least one column": {},
		"appears twice":       {Schema: fields(col("a", schema.Long), col("A", schema.Long))},
		"column mapping":      {Schema: fields(col("a b", schema.Long))},
		"is not in the schema": {
			Schema: sales, PartitionBy: []string{"nope"}},
		"every column partitions": {Schema: fields(col("a", schema.Long)), PartitionBy: []string{"a"}},
		"only plain types": {Schema: fields(col("a", &schema.Array{Element: schema.Long}), col("b", schema.Long)),
			PartitionBy: []string{"a"}},
		"is not known":    {Schema: sales, Properties: map[string]string{"delta.feature.nonsense": "supported"}},
		"icebergCompatV2": {Schema: sales, Properties: map[string]string{"delta.enableIcebergCompatV2": "true"}},
	} {
		c := newClock()
		_, err := deltaio.Create(t.Context(), memStore(c), env(c), opt)
		require.ErrorContains(t, err, name)
	}
}

func TestCreate_takes_the_lowest_protocol_that_covers_the_design(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		schema  *schema.Struct
		props   map[string]string
		r, w    int32
		writers []string
		readers []string
	}{
		{sales, nil, 1, 2, nil, nil},
		{sales, map[string]string{"delta.constraints.c": "id > 0"}, 1, 3, nil, nil},
		{sales, map[string]string{"delta.enableChangeDataFeed": "true"}, 1, 4, nil, nil},
		{sales, map[string]string{"delta.columnMapping.mode": "name"}, 2, 5, nil, nil},
		{sales, map[string]string{"delta.enableDeletionVectors": "true"}, 3, 7, []string{"appendOnly", "deletionVectors", "invariants"}, []string{"deletionVectors"}},
		{sales, map[string]string{"delta.enableRowTracking": "true"}, 1, 7, []string{"appendOnly", "domainMetadata", "invariants", "rowTracking"}, nil},
		{sales, map[string]string{"delta.feature.v2Checkpoint": "supported"}, 3, 7, []string{"appendOnly", "invariants", "v2Checkpoint"}, []string{"v2Checkpoint"}},
		{fields(col("t", schema.TimestampNTZ)), nil, 3, 7, []string{"appendOnly", "invariants", "timestampNtz"}, []string{"timestampNtz"}},
	} {
		c := newClock()
		p := snapshot(t, create(t, memStore(c), c, deltaio.CreateOptions{Schema: tc.schema, Properties: tc.props})).Protocol()
		require.Equal(t, tc.r, p.MinReaderVersion, tc)
		require.Equal(t, tc.w, p.MinWriterVersion, tc)
		require.Equal(t, tc.writers, p.WriterFeatures, tc)
		require.Equal(t, tc.readers, p.ReaderFeatures, tc)
	}
}

func TestOpenOrCreate_of_many_at_once_gives_one_table_and_opens_it_afterwards(t *testing.T) {
	t.Parallel()
	for kind, open := range stores {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			s := open(t, c)
			opt := deltaio.CreateOptions{Schema: sales}
			found := make([]string, 8)
			var all sync.WaitGroup
			for i := range found {
				all.Go(func() {
					table, err := deltaio.OpenOrCreate(t.Context(), s, env(c), opt)
					if err != nil {
						found[i] = err.Error()
						return
					}
					snap, err := table.Snapshot(t.Context())
					if err != nil {
						found[i] = err.Error()
						return
					}
					found[i] = snap.TableID()
				})
			}
			all.Wait()
			table, err := deltaio.OpenOrCreate(t.Context(), s, env(c), deltaio.CreateOptions{Schema: fields(col("other", schema.Long))})
			require.NoError(t, err)
			snap := snapshot(t, table)
			require.Zero(t, snap.Version())
			for _, id := range found {
				require.Equal(t, snap.TableID(), id)
			}
		})
	}
}
