package deltaio_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
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

func TestCommit_info_comes_first_and_names_what_happened(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{})
	res, err := table.Commit(t.Context(), nil, deltaio.CommitOptions{
		Operation: "WRITE", BlindAppend: true, Parameters: map[string]any{"mode": "Append", "partitionBy": []string{}},
		Info: map[string]any{"lakewarden": map[string]any{"runId": "r1"}},
		Step: &deltaio.Step{AppID: "app", Version: 1},
	}, adds(fakeFile(t, s, "a.parquet", nil)))
	require.NoError(t, err)
	actions, err := log.ReadCommit(t.Context(), s, 1)
	require.NoError(t, err)
	require.Equal(t, len(res.Actions), len(actions))
	info := actions[0].CommitInfo
	require.NotNil(t, info)
	for field, want := range map[string]string{
		"operation": `"WRITE"`, "operationParameters": `{"mode":"Append","partitionBy":"[]"}`,
		"operationMetrics": `{"numAddedBytes":"17","numAddedFiles":"1","numOutputRows":"3","numRemovedBytes":"0","numRemovedFiles":"0"}`,
		"engineInfo":       `"lakewarden"`, "isBlindAppend": `true`, "readVersion": `0`,
		"lakewarden": `{"runId":"r1"}`, "timestamp": fmt.Sprint(start.UnixMilli()),
	} {
		require.JSONEq(t, want, string(info.Fields[field]), field)
	}
	require.NotEmpty(t, info.Fields["txnId"])
	v, ok := snapshot(t, table).Txn("app")
	require.True(t, ok)
	require.EqualValues(t, 1, v)
}

func TestCommit_invalid_actions_are_refused_before_anything_is_written(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{})
	live := fakeFile(t, s, "live.parquet", nil)
	appendFake(t, table, live)
	fresh := func() *log.Add { f := *live; f.Path = "fresh.parquet"; return &f }
	rm := func(a *log.Add) log.Action { return log.Action{Remove: a.Remove(1, true)} }
	withDV := *live
	withDV.DeletionVector = &log.DeletionVector{StorageType: "i", PathOrInlineDv: "x", Cardinality: 1}
	undated := live.Remove(1, true)
	undated.DeletionTimestamp = nil
	partitioned := fresh()
	partitioned.PartitionValues = map[string]*string{"p": text("1")}
	absolute := fresh()
	absolute.Path = "s3://elsewhere/x.parquet"
	climbing := fresh()
	climbing.Path = "a/../../x.parquet"
	meta := *snapshot(t, table).State().Metadata
	other := meta
	other.ID = "another"
	lower := log.Protocol{MinReaderVersion: 1, MinWriterVersion: 1}
	for want, actions := range map[string][]log.Action{
		"matches no live file":        {rm(fresh())},
		"two actions for remove":      {rm(live), rm(live)},
		"two actions for add":         {{Add: fresh()}, {Add: fresh()}},
		"add and remove of the same":  {rm(live), {Add: live}},
		"which is live already":       {{Add: live}},
		"another deletion vector":     {{Add: &withDV}},
		"no deletionTimestamp":        {{Remove: undated}},
		"do not partition":            {{Add: partitioned}},
		"is absolute":                 {{Add: absolute}},
		"is not allowed":              {{Add: climbing}},
		"two actions for metaData":    {{Metadata: &meta}, {Metadata: &meta}},
		"the table's id":              {{Metadata: &other}},
		"protocol would be lowered":   {{Protocol: &lower}},
		"two actions for txn":         {{Txn: &log.Txn{AppID: "a"}}, {Txn: &log.Txn{AppID: "a"}}},
		"belongs to the protocol":     {{Domain: &log.DomainMetadata{Domain: "delta.x"}}},
		"on a table without the feat": {{Domain: &log.DomainMetadata{Domain: "mine"}}},
		"does not belong":             {{CommitInfo: &log.CommitInfo{}}},
		"lies outside _change_data":   {{CDC: &log.AddCDCFile{Path: "x.parquet"}}},
	} {
		_, err := table.Commit(t.Context(), nil, deltaio.CommitOptions{Operation: "X"},
			func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) { return actions, nil })
		var bad *deltaio.InvalidActionsError
		require.ErrorAs(t, err, &bad, want)
		require.ErrorContains(t, err, want)
	}
	require.EqualValues(t, 1, snapshot(t, table).Version())
}

// winner commits between the base and our commit.
type winner func(t *testing.T, w world)

type world struct {
	s     *storage.Memory
	c     *clock
	table *deltaio.Table
	a, b  *log.Add // live files
}

func TestCommit_conflict_matrix(t *testing.T) {
	t.Parallel()
	blind := func(t *testing.T, w world) { appendFake(t, w.table, fakeFile(t, w.s, "new.parquet", nil)) }
	update := func(t *testing.T, w world) {
		// Rewrites b: removes it and adds its successor.
		_, err := w.table.Commit(t.Context(), nil, deltaio.CommitOptions{Operation: "UPDATE"},
			func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
				return []log.Action{{Remove: w.b.Remove(1, true)}, {Add: fakeFile(t, w.s, "b2.parquet", nil)}}, nil
			})
		require.NoError(t, err)
	}
	deleteA := func(t *testing.T, w world) { removeFake(t, w.table, w.c, w.a) }
	addColumn := func(t *testing.T, w world) {
		_, err := deltaio.AddColumn(t.Context(), w.table, deltaio.AddColumnOptions{Name: "x", Type: schema.Long})
		require.NoError(t, err)
	}
	fence := func(t *testing.T, w world) {
		_, err := deltaio.Fence(t.Context(), w.table, deltaio.Step{AppID: "other", Version: 2}, nil)
		require.NoError(t, err)
	}
	raiseProtocol := func(t *testing.T, w world) {
		p := *snapshot(t, w.table).Protocol()
		p.MinWriterVersion = 4
		_, err := w.table.Commit(t.Context(), nil, deltaio.CommitOptions{Operation: "UPGRADE PROTOCOL"},
			func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
				return []log.Action{{Protocol: &p}}, nil
			})
		require.NoError(t, err)
	}
	all := deltaio.ReadSet{All: true}
	yes := deltaio.ReadSet{Predicate: func(*log.Add) bool { return true }}
	no := deltaio.ReadSet{Predicate: func(*log.Add) bool { return false }}
	for name, tc := range map[string]struct {
		win  winner
		opt  deltaio.CommitOptions
		rmA  bool
		want deltaio.ConflictKind // "": no conflict
	}{
		"blind append against blind append":             {blind, deltaio.CommitOptions{BlindAppend: true}, false, ""},
		"blind append against update":                   {update, deltaio.CommitOptions{BlindAppend: true}, false, ""},
		"blind append against delete":                   {deleteA, deltaio.CommitOptions{BlindAppend: true}, false, ""},
		"blind append against a foreign txn":            {fence, deltaio.CommitOptions{BlindAppend: true}, false, ""},
		"blind append against new column":               {addColumn, deltaio.CommitOptions{BlindAppend: true}, false, deltaio.MetadataChanged},
		"blind append against protocol":                 {raiseProtocol, deltaio.CommitOptions{BlindAppend: true}, false, deltaio.ProtocolChanged},
		"delete of a file against its delete":           {deleteA, deltaio.CommitOptions{}, true, deltaio.ConcurrentDelete},
		"delete of a file against blind append":         {blind, deltaio.CommitOptions{Reads: yes}, true, ""},
		"delete against blind append, serializable":     {blind, deltaio.CommitOptions{Reads: yes, IsolationSerializable: true}, true, deltaio.ConcurrentAppend},
		"delete against blind append outside predicate": {blind, deltaio.CommitOptions{Reads: no, IsolationSerializable: true}, true, ""},
		"delete of a file against update of another":    {update, deltaio.CommitOptions{Reads: yes}, true, deltaio.ConcurrentAppend},
		"delete against update outside its predicate":   {update, deltaio.CommitOptions{Reads: no}, true, ""},
		"delete that read nothing more against update":  {update, deltaio.CommitOptions{}, true, ""},
		"whole-table read against delete":               {deleteA, deltaio.CommitOptions{Reads: all}, false, deltaio.ConcurrentDeleteRead},
		"whole-table read against blind append":         {blind, deltaio.CommitOptions{Reads: all}, false, ""},
		"whole-table read against update":               {update, deltaio.CommitOptions{Reads: all}, true, deltaio.ConcurrentDeleteRead},
		"read of a file against its delete":             {deleteA, deltaio.CommitOptions{Reads: deltaio.ReadSet{Files: map[deltaio.FileKey]struct{}{{Path: "a.parquet"}: {}}}}, false, deltaio.ConcurrentDeleteRead},
		"read of another file against delete":           {deleteA, deltaio.CommitOptions{Reads: deltaio.ReadSet{Files: map[deltaio.FileKey]struct{}{{Path: "b.parquet"}: {}}}}, false, ""},
		"own application id moved by a foreign hand":    {fence, deltaio.CommitOptions{Step: &deltaio.Step{AppID: "other", Version: 3}}, false, deltaio.ConcurrentTxn},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			s := memStore(c)
			w := world{s: s, c: c, table: create(t, s, c, deltaio.CreateOptions{})}
			w.a, w.b = fakeFile(t, s, "a.parquet", nil), fakeFile(t, s, "b.parquet", nil)
			appendFake(t, w.table, w.a, w.b)
			base := snapshot(t, w.table)
			tc.win(t, w)
			won := snapshot(t, w.table).Version()

			ours := fakeFile(t, s, "ours.parquet", nil)
			opt := tc.opt
			opt.Operation = "TEST"
			res, err := w.table.Commit(t.Context(), base, opt, func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
				actions := []log.Action{{Add: ours}}
				if tc.rmA {
					actions = append(actions, log.Action{Remove: w.a.Remove(1, true)})
				}
				return actions, nil
			})
			if tc.want == "" {
				require.NoError(t, err)
				require.Equal(t, won+1, res.Version)
				return
			}
			var conflict *deltaio.ConflictError
			require.ErrorAs(t, err, &conflict)
			require.Equal(t, tc.want, conflict.Kind)
			require.Equal(t, won, conflict.Version)
			require.Equal(t, won, snapshot(t, w.table).Version(), "nothing was written")
		})
	}
}

func TestCommit_same_file_name_added_twice_conflicts(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{})
	base := snapshot(t, table)
	f := fakeFile(t, s, "same.parquet", nil)
	appendFake(t, table, f)
	_, err := table.Commit(t.Context(), base, deltaio.CommitOptions{BlindAppend: true}, adds(f))
	var conflict *deltaio.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, deltaio.ConcurrentFile, conflict.Kind)
}

// lostAnswers plays a store that loses the answer of the nth put of a commit.
func lostAnswers(s storage.Store, lose func(n int, op storage.Op) (before, after bool)) storage.Store {
	var mu sync.Mutex
	n := 0
	lost := errors.New("connection reset")
	return storage.Hook(s, storage.Hooks{
		Before: func(_ context.Context, op storage.Op) error {
			if op.Kind != storage.OpPutIfAbsent {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			n++
			if b, _ := lose(n, op); b {
				return lost
			}
			return nil
		},
		After: func(_ context.Context, op storage.Op) error {
			if op.Kind != storage.OpPutIfAbsent {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			if _, a := lose(n, op); a {
				return lost
			}
			return nil
		},
	})
}

func TestCommit_answer_lost_after_success_is_recognised_as_our_own(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	create(t, inner, c, deltaio.CreateOptions{})
	f := fakeFile(t, inner, "a.parquet", nil)
	s := lostAnswers(inner, func(n int, _ storage.Op) (bool, bool) { return false, n == 1 })
	table, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	res, err := table.Commit(t.Context(), nil, deltaio.CommitOptions{BlindAppend: true}, adds(f))
	require.NoError(t, err)
	require.Equal(t, deltaio.Committed, res.Outcome)
	require.EqualValues(t, 1, res.Version)
	require.EqualValues(t, 1, snapshot(t, table).Version(), "exactly one commit")
}

func TestCommit_answer_lost_before_the_write_is_tried_again(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	create(t, inner, c, deltaio.CreateOptions{})
	f := fakeFile(t, inner, "a.parquet", nil)
	s := lostAnswers(inner, func(n int, _ storage.Op) (bool, bool) { return n <= 2, false })
	table, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	res, err := table.Commit(t.Context(), nil, deltaio.CommitOptions{BlindAppend: true}, adds(f))
	require.NoError(t, err)
	require.EqualValues(t, 1, res.Version)
}

func TestCommit_store_that_never_answers_is_uncertain_and_the_retry_finds_out(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	create(t, inner, c, deltaio.CreateOptions{})
	f := fakeFile(t, inner, "a.parquet", nil)
	step := &deltaio.Step{AppID: "lakewarden/r/x", Version: 1}
	for _, written := range []bool{false, true} {
		// Reads fail as well: the log cannot tell.
		broken := storage.Hook(inner, storage.Hooks{
			Before: func(_ context.Context, op storage.Op) error {
				if op.Kind == storage.OpPutIfAbsent && !written {
					return errors.New("timeout")
				}
				if op.Kind == storage.OpOpen && op.Key == log.CommitKey(1) {
					return errors.New("timeout")
				}
				return nil
			},
			After: func(_ context.Context, op storage.Op) error {
				if op.Kind == storage.OpPutIfAbsent {
					return errors.New("timeout")
				}
				return nil
			},
		})
		table, err := deltaio.Open(t.Context(), broken, env(c))
		require.NoError(t, err)
		_, err = table.Commit(t.Context(), nil, deltaio.CommitOptions{BlindAppend: true, Step: step}, adds(f))
		var uncertain *deltaio.UncertainError
		require.ErrorAs(t, err, &uncertain)
		require.EqualValues(t, 1, uncertain.Version)
	}
	table, err := deltaio.Open(t.Context(), inner, env(c))
	require.NoError(t, err)
	res, err := table.Commit(t.Context(), nil, deltaio.CommitOptions{BlindAppend: true, Step: step}, adds(f))
	require.NoError(t, err)
	require.Equal(t, deltaio.AlreadyDone, res.Outcome)
	require.EqualValues(t, 1, res.Version)
	require.EqualValues(t, 1, snapshot(t, table).Version())
}

func TestCommit_cancelled_after_the_write_is_still_told_as_committed(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	create(t, inner, c, deltaio.CreateOptions{})
	f := fakeFile(t, inner, "a.parquet", nil)
	ctx, cancel := context.WithCancel(t.Context())
	s := storage.Hook(inner, storage.Hooks{After: func(ctx context.Context, op storage.Op) error {
		if op.Kind == storage.OpPutIfAbsent {
			cancel()
			return ctx.Err()
		}
		return nil
	}})
	table, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	res, err := table.Commit(ctx, nil, deltaio.CommitOptions{BlindAppend: true}, adds(f))
	require.NoError(t, err)
	require.Equal(t, deltaio.Committed, res.Outcome)
}

func TestCommit_definite_refusals_of_the_store_are_not_retried(t *testing.T) {
	t.Parallel()
	for _, sentinel := range []error{storage.ErrPermission, storage.ErrNoSpace} {
		c := newClock()
		inner := memStore(c)
		create(t, inner, c, deltaio.CreateOptions{})
		puts := 0
		s := storage.Hook(inner, storage.Hooks{Before: func(_ context.Context, op storage.Op) error {
			if op.Kind == storage.OpPutIfAbsent {
				puts++
				return fmt.Errorf("put: %w", sentinel)
			}
			return nil
		}})
		table, err := deltaio.Open(t.Context(), s, env(c))
		require.NoError(t, err)
		_, err = table.Commit(t.Context(), nil, deltaio.CommitOptions{BlindAppend: true}, adds(fakeFile(t, inner, "a.parquet", nil)))
		require.ErrorIs(t, err, sentinel)
		require.Equal(t, 1, puts)
	}
}

func TestFence_a_worker_that_wakes_late_cannot_commit(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{})
	f := fakeFile(t, s, "a.parquet", nil)
	step := deltaio.Step{AppID: "lakewarden/r/mark", Version: 1}

	// The zombie has planned on version 0 and pauses.
	zombie := snapshot(t, table)
	res, err := deltaio.Fence(t.Context(), table, deltaio.Step{AppID: step.AppID, Version: 2}, nil)
	require.NoError(t, err)
	require.Equal(t, deltaio.Committed, res.Outcome)

	res, err = table.Commit(t.Context(), zombie, deltaio.CommitOptions{BlindAppend: true, Step: &step}, adds(f))
	require.NoError(t, err)
	require.Equal(t, deltaio.Fenced, res.Outcome)
	res, err = table.Commit(t.Context(), nil, deltaio.CommitOptions{BlindAppend: true, Step: &step}, adds(f))
	require.NoError(t, err)
	require.Equal(t, deltaio.Fenced, res.Outcome)
	require.Empty(t, snapshot(t, table).Files())

	res, err = deltaio.Fence(t.Context(), table, deltaio.Step{AppID: step.AppID, Version: 2}, nil)
	require.NoError(t, err)
	require.Equal(t, deltaio.AlreadyDone, res.Outcome)
	_, err = deltaio.Fence(t.Context(), table, deltaio.Step{AppID: step.AppID, Version: 3}, nil)
	require.ErrorContains(t, err, "odd")

	// The next attempt of the step goes on above the fence.
	next := deltaio.Step{AppID: step.AppID, Version: 3}
	res, err = table.Commit(t.Context(), nil, deltaio.CommitOptions{BlindAppend: true, Step: &next}, adds(f))
	require.NoError(t, err)
	require.Equal(t, deltaio.Committed, res.Outcome)
}

func TestFence_steps_behind_schema_changes(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	table := create(t, inner, c, deltaio.CreateOptions{})
	raced := false
	s := storage.Hook(inner, storage.Hooks{Before: func(_ context.Context, op storage.Op) error {
		if op.Kind == storage.OpPutIfAbsent && !raced {
			raced = true
			_, err := deltaio.AddColumn(t.Context(), table, deltaio.AddColumnOptions{Name: "x", Type: schema.Long})
			require.NoError(t, err)
		}
		return nil
	}})
	fenced, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	res, err := deltaio.Fence(t.Context(), fenced, deltaio.Step{AppID: "a", Version: 2}, nil)
	require.NoError(t, err)
	require.EqualValues(t, 2, res.Version)
}

func TestCommit_sixteen_concurrent_appenders_all_land_once(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			sixteenAppenders(t, open(t, c), c)
		})
	}
}

func sixteenAppenders(t *testing.T, s storage.Store, c *clock) {
	create(t, s, c, deltaio.CreateOptions{Properties: map[string]string{
		"delta.enableRowTracking": "true", "delta.enableInCommitTimestamps": "true", "delta.checkpointInterval": "5",
	}})
	const writers, each = 16, 3
	var wg sync.WaitGroup
	errs := make(chan error, writers*each)
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			table, err := deltaio.Open(t.Context(), s, env(c))
			if err != nil {
				errs <- err
				return
			}
			for i := range each {
				key := fmt.Sprintf("w%02d-%d.parquet", w, i)
				add := &log.Add{Path: key, PartitionValues: map[string]*string{}, Size: 1, DataChange: true, Stats: `{"numRecords":10}`}
				step := &deltaio.Step{AppID: key, Version: 1}
				res, err := table.Commit(t.Context(), nil, deltaio.CommitOptions{BlindAppend: true, Step: step}, adds(add))
				if err != nil || res.Outcome != deltaio.Committed || res.Warning != nil {
					errs <- fmt.Errorf("%s: %v: %w", key, res.Outcome, errors.Join(err, res.Warning))
				}
			}
		}()
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	table, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	snap := snapshot(t, table)
	require.EqualValues(t, writers*each, snap.Version())
	require.Len(t, snap.Files(), writers*each)
	// Row ids: unique, gapless, the watermark at the end. Timestamps rise.
	starts := map[int64]bool{}
	for _, f := range snap.Files() {
		require.NotNil(t, f.BaseRowID)
		require.Zero(t, *f.BaseRowID%10)
		require.False(t, starts[*f.BaseRowID], "base row id twice")
		starts[*f.BaseRowID] = true
		require.NotNil(t, f.DefaultRowCommitVersion)
	}
	require.Equal(t, fmt.Sprintf(`{"rowIdHighWaterMark":%d}`, writers*each*10-1), snap.State().Domains["delta.rowTracking"].Configuration)
	last := int64(0)
	for e, err := range table.Commits(t.Context(), -1, -1) {
		require.NoError(t, err)
		ms, ok := e.Info.InCommitTimestamp()
		require.True(t, ok)
		require.Greater(t, ms, last)
		last = ms
	}
}

func TestCommit_default_row_commit_version_follows_the_version_won(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{Properties: map[string]string{"delta.enableRowTracking": "true"}})
	base := snapshot(t, table)
	appendFake(t, table, fakeFile(t, s, "first.parquet", nil))
	f := fakeFile(t, s, "second.parquet", nil)
	res, err := table.Commit(t.Context(), base, deltaio.CommitOptions{BlindAppend: true}, adds(f))
	require.NoError(t, err)
	require.EqualValues(t, 2, res.Version)
	for _, a := range snapshot(t, table).Files() {
		want := map[string][2]int64{"first.parquet": {0, 1}, "second.parquet": {3, 2}}[a.Path]
		require.Equal(t, want, [2]int64{*a.BaseRowID, *a.DefaultRowCommitVersion}, a.Path)
	}
	require.Nil(t, f.BaseRowID, "the planned action is not touched")
}

func TestCommit_checkpoint_failure_is_a_warning_and_the_commit_stands(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	create(t, inner, c, deltaio.CreateOptions{Properties: map[string]string{"delta.checkpointInterval": "1"}})
	s := storage.Hook(inner, storage.Hooks{Before: func(_ context.Context, op storage.Op) error {
		if op.Kind == storage.OpCreate || op.Kind == storage.OpPut {
			return errors.New("no checkpoints today")
		}
		return nil
	}})
	table, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	res, err := table.Commit(t.Context(), nil, deltaio.CommitOptions{BlindAppend: true}, adds(fakeFile(t, inner, "a.parquet", nil)))
	require.NoError(t, err)
	require.Equal(t, deltaio.Committed, res.Outcome)
	require.ErrorContains(t, res.Warning, "no checkpoints today")
}

func TestCommit_rebuild_plans_again_on_the_newest_version(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{})
	a := fakeFile(t, s, "a.parquet", nil)
	appendFake(t, table, a)
	base := snapshot(t, table)
	removeFake(t, table, c, a)
	var seen []int64
	res, err := table.Commit(t.Context(), base, deltaio.CommitOptions{Operation: "DELETE", Rebuild: 1},
		func(_ context.Context, base *deltaio.Snapshot, attempt int) ([]log.Action, error) {
			seen = append(seen, base.Version())
			var out []log.Action
			for _, f := range base.Files() {
				out = append(out, log.Action{Remove: f.Remove(1, true)})
			}
			return out, nil
		})
	require.NoError(t, err)
	require.Equal(t, deltaio.NothingToDo, res.Outcome)
	require.Equal(t, []int64{1, 2}, seen)
}

func TestCommit_on_an_old_base_reads_what_came_since_and_puts_twice(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	table := create(t, inner, c, deltaio.CreateOptions{})
	base := snapshot(t, table)
	for i := range 30 {
		appendFake(t, table, fakeFile(t, inner, fmt.Sprintf("%d.parquet", i), nil))
	}
	fault := storage.NewFault(inner)
	late, err := deltaio.Open(t.Context(), fault, env(c))
	require.NoError(t, err)
	res, err := late.Commit(t.Context(), base, deltaio.CommitOptions{BlindAppend: true}, adds(fakeFile(t, inner, "late.parquet", nil)))
	require.NoError(t, err)
	require.EqualValues(t, 31, res.Version)
	require.Equal(t, 2, fault.Calls(storage.OpPutIfAbsent))
}

func TestSnapshot_table_made_anew_under_the_same_root_is_seen(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{})
	appendFake(t, table, fakeFile(t, s, "old.parquet", nil))
	old := snapshot(t, table)
	for v := range int64(2) {
		require.NoError(t, s.Delete(t.Context(), log.CommitKey(v)))
	}
	c.Add(1000)
	anew := create(t, s, c, deltaio.CreateOptions{})
	for i := range 3 {
		appendFake(t, anew, fakeFile(t, s, fmt.Sprintf("new%d.parquet", i), nil))
	}
	snap := snapshot(t, table)
	require.NotEqual(t, old.TableID(), snap.TableID())
	require.Equal(t, []string{"new0.parquet", "new1.parquet", "new2.parquet"}, paths(snap))
}
