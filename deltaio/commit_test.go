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
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

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
	require.Equal(t, 3, fault.Calls(storage.OpPutIfAbsent), "the version that was taken, the free one, the checksum")
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
