package deltaio_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func TestVacuum_tombstoned_file_ages_from_its_removal(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{})
	f := fakeFile(t, s, "old.parquet", nil)
	appendFake(t, table, f)
	require.NoError(t, s.SetModTime("old.parquet", start.Add(-200*day)))
	c.Add(day)
	removeFake(t, table, c, f)
	c.Add(time.Hour)
	res := vacuum(t, table, deltaio.VacuumOptions{})
	require.Zero(t, res.Found)
	require.EqualValues(t, -1, res.VersionStart, "nothing to delete, nothing committed")
	require.True(t, exists(t, s, "old.parquet"))
	c.Add(168 * time.Hour)
	require.EqualValues(t, 1, vacuum(t, table, deltaio.VacuumOptions{}).Deleted)
}

func TestVacuum_removals_since_the_cutoff_protect_when_checkpoints_have_dropped_the_tombstones(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{Properties: map[string]string{"delta.deletedFileRetentionDuration": "interval 1 hours"}})
	f := fakeFile(t, s, "old.parquet", nil)
	appendFake(t, table, f)
	require.NoError(t, s.SetModTime("old.parquet", start.Add(-200*day)))
	removeFake(t, table, c, f)
	c.Add(day)
	appendFake(t, table, fakeFile(t, s, "new.parquet", nil))
	_, err := deltaio.Checkpoint(t.Context(), table)
	require.NoError(t, err)
	fresh, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	require.Zero(t, vacuum(t, fresh, deltaio.VacuumOptions{}).Found, "removed a day ago, kept for a week")
	c.Add(8 * day)
	require.EqualValues(t, 1, vacuum(t, fresh, deltaio.VacuumOptions{}).Deleted)
	require.True(t, exists(t, s, "new.parquet"))
}

func TestVacuum_retention_below_the_floor_is_refused_unless_overridden(t *testing.T) {
	t.Parallel()
	for property, floor := range map[string]time.Duration{"interval 7 days": 168 * time.Hour, "interval 30 days": 720 * time.Hour, "interval 1 hours": 168 * time.Hour} {
		c := newClock()
		s := memStore(c)
		table := create(t, s, c, deltaio.CreateOptions{Properties: map[string]string{"delta.deletedFileRetentionDuration": property}})
		f := fakeFile(t, s, "a.parquet", nil)
		appendFake(t, table, f)
		removeFake(t, table, c, f)
		c.Add(2 * time.Hour)
		_, err := deltaio.Vacuum(t.Context(), table, deltaio.VacuumOptions{Retention: time.Hour})
		var refused *deltaio.RetentionError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, floor, refused.Floor)
		require.True(t, exists(t, s, "a.parquet"))
		require.EqualValues(t, 2, snapshot(t, table).Version())

		res := vacuum(t, table, deltaio.VacuumOptions{Retention: time.Hour, Override: "no reader is at work"})
		require.EqualValues(t, 1, res.Deleted)
		h, err := deltaio.History(t.Context(), table, 2)
		require.NoError(t, err)
		require.Equal(t, "VACUUM END", h[0].Operation)
		require.Equal(t, "VACUUM START", h[1].Operation)
		require.Equal(t, "no reader is at work", h[1].Parameters["override"])
		require.Equal(t, "false", h[1].Parameters["retentionCheckEnabled"])
	}
}

func TestVacuum_keeps_what_is_live_young_hidden_or_referred_to(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{
		Schema:      fields(col("id", schema.Long), col("_day", schema.String)),
		PartitionBy: []string{"_day"}, Properties: map[string]string{"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"},
	})
	part := map[string]*string{"_day": text("1")}
	dvOf := func(name string) *log.DeletionVector {
		return &log.DeletionVector{StorageType: "p", PathOrInlineDv: s.URL() + "/" + name, Cardinality: 1, SizeInBytes: 1}
	}
	live := fakeFile(t, s, "_day=1/live.parquet", part)
	live.DeletionVector = dvOf("dv_live.bin")
	gone := fakeFile(t, s, "_day=1/gone.parquet", part)
	gone.DeletionVector = dvOf("dv_gone.bin")
	shared := fakeFile(t, s, "_day=1/shared.parquet", part)
	shared.DeletionVector = dvOf("dv_live.bin") // one file serves many deletion vectors
	young := fakeFile(t, s, "_day=1/young.parquet", part)
	for _, dv := range []string{"dv_live.bin", "dv_gone.bin"} {
		require.NoError(t, s.Put(t.Context(), dv, []byte("dv")))
	}
	appendFake(t, table, live, gone, shared, young)
	removeFake(t, table, c, gone, shared)
	for _, key := range []string{
		"_day=1/orphan.parquet", "orphan.bin", "_change_data/_day=1/cdc-1.parquet", "plain/deep/orphan.parquet",
		"_SUCCESS", ".hidden", "_other/x.parquet", ".tmp/x.parquet", "metadata/v1.metadata.json",
		"_day=1/_SUCCESS", "plain/_hidden/x.parquet", "_delta_log/_staged_commits/x.json",
	} {
		require.NoError(t, s.Put(t.Context(), key, []byte("x")))
	}
	c.Add(7*day - time.Minute)
	require.NoError(t, s.Put(t.Context(), "_day=1/writing.parquet", []byte("x")))
	removeFake(t, table, c, young)
	c.Add(2 * time.Minute)

	dry := vacuum(t, table, deltaio.VacuumOptions{DryRun: true})
	require.EqualValues(t, 7, dry.Found, dry.Sample)
	require.Zero(t, dry.Deleted)
	res := vacuum(t, table, deltaio.VacuumOptions{})
	require.Equal(t, dry.Found, res.Found)
	require.Equal(t, dry.BytesFound, res.BytesDeleted)
	require.EqualValues(t, 7, res.Deleted)
	for key, want := range map[string]bool{
		"_day=1/live.parquet": true, "dv_live.bin": true, "_day=1/young.parquet": true, "_day=1/writing.parquet": true,
		"_SUCCESS": true, ".hidden": true, "_other/x.parquet": true, ".tmp/x.parquet": true, "metadata/v1.metadata.json": true,
		"_day=1/_SUCCESS": true, "plain/_hidden/x.parquet": true, "_delta_log/_staged_commits/x.json": true,
		"_delta_log/00000000000000000000.json": true,
		"_day=1/gone.parquet":                  false, "dv_gone.bin": false, "_day=1/shared.parquet": false,
		"_day=1/orphan.parquet": false, "orphan.bin": false, "_change_data/_day=1/cdc-1.parquet": false, "plain/deep/orphan.parquet": false,
	} {
		require.Equal(t, want, exists(t, s, key), key)
	}
	require.EqualValues(t, 1, res.KeptYoung)
	require.Empty(t, res.MissingLive)
}

func TestVacuum_never_deletes_outside_the_root_nor_the_log(t *testing.T) {
	t.Parallel()
	c := newClock()
	outer := memStore(c)
	s := storage.Sub(outer, "t")
	table := create(t, s, c, deltaio.CreateOptions{})
	require.NoError(t, outer.Put(t.Context(), "other/clone.parquet", []byte("x")))
	require.NoError(t, s.Put(t.Context(), "clone.parquet", []byte("x")))
	// A shallow clone's log: absolute paths outside, and a hostile tombstone.
	old := start.UnixMilli()
	lines := []log.Action{
		{CommitInfo: &log.CommitInfo{}},
		{Add: &log.Add{Path: "s3a://elsewhere/db/clone.parquet", PartitionValues: map[string]*string{}, Size: 1}},
		{Remove: &log.Remove{Path: outer.URL() + "/other/clone.parquet", DeletionTimestamp: &old}},
		{Remove: &log.Remove{Path: "_delta_log/00000000000000000000.json", DeletionTimestamp: &old}},
	}
	data, err := log.EncodeCommit(lines)
	require.NoError(t, err)
	require.NoError(t, s.PutIfAbsent(t.Context(), log.CommitKey(1), data))
	c.Add(30 * day)
	res := vacuum(t, table, deltaio.VacuumOptions{})
	require.Zero(t, res.Deleted)
	require.True(t, exists(t, outer, "other/clone.parquet"))
	require.True(t, exists(t, s, "clone.parquet"), "a file of the name of a protected one that cannot be placed")
	require.True(t, exists(t, s, log.CommitKey(0)))
}

func TestVacuum_the_slower_clock_decides(t *testing.T) {
	t.Parallel()
	c, slow := newClock(), newClock()
	s := storage.NewMemory()
	s.SetClock(slow.Now)
	table := create(t, s, c, deltaio.CreateOptions{})
	require.NoError(t, s.Put(t.Context(), "orphan.parquet", []byte("x")))
	c.Add(8 * day) // the worker's clock runs ahead
	res := vacuum(t, table, deltaio.VacuumOptions{})
	require.Equal(t, "store", res.Clock)
	require.Zero(t, res.Deleted)
	require.True(t, exists(t, s, "orphan.parquet"))
	slow.Add(8 * day)
	res = vacuum(t, table, deltaio.VacuumOptions{})
	require.EqualValues(t, 1, res.Deleted)
}

func TestVacuum_file_that_comes_back_meanwhile_is_kept(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	table := create(t, inner, c, deltaio.CreateOptions{})
	a, b := fakeFile(t, inner, "a.parquet", nil), fakeFile(t, inner, "b.parquet", nil)
	appendFake(t, table, a, b)
	removeFake(t, table, c, a)
	c.Add(8 * day)
	once := sync.Once{}
	s := storage.Hook(inner, storage.Hooks{Before: func(_ context.Context, op storage.Op) error {
		if op.Kind == storage.OpPutIfAbsent { // as VACUUM START is written, a restore is quicker
			once.Do(func() {
				_, err := deltaio.Restore(t.Context(), table, deltaio.RestoreOptions{Version: 1})
				require.NoError(t, err)
			})
		}
		return nil
	}})
	v, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	res := vacuum(t, v, deltaio.VacuumOptions{})
	require.Zero(t, res.Deleted)
	require.True(t, exists(t, inner, "a.parquet"))
}

func TestVacuum_log_that_does_not_reach_back_proves_nothing_about_unknown_files(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{Properties: map[string]string{"delta.deletedFileRetentionDuration": "interval 1 hours"}})
	f := fakeFile(t, s, "a.parquet", nil)
	appendFake(t, table, f)
	require.NoError(t, s.SetModTime("a.parquet", start.Add(-100*day)))
	removeFake(t, table, c, f)
	c.Add(2 * time.Hour)
	appendFake(t, table, fakeFile(t, s, "b.parquet", nil))
	_, err := deltaio.Checkpoint(t.Context(), table)
	require.NoError(t, err)
	for v := range int64(3) { // log clean-up by somebody with a short log retention
		require.NoError(t, s.Delete(t.Context(), log.CommitKey(v)))
	}
	c.Add(time.Hour)
	fresh, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	res := vacuum(t, fresh, deltaio.VacuumOptions{})
	require.Zero(t, res.Found)
	require.EqualValues(t, 1, res.KeptUnproven)
	require.True(t, exists(t, s, "a.parquet"))
}

func TestVacuum_looks_at_the_log_again_before_each_batch(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	table := create(t, inner, c, deltaio.CreateOptions{})
	var files []*log.Add
	for i := range 600 { // more than one batch
		files = append(files, fakeFile(t, inner, fmt.Sprintf("f%03d.parquet", i), nil))
	}
	appendFake(t, table, files...)
	removeFake(t, table, c, files...)
	c.Add(8 * day)
	once := sync.Once{}
	s := storage.Hook(inner, storage.Hooks{Before: func(_ context.Context, op storage.Op) error {
		if op.Kind == storage.OpDelete {
			once.Do(func() { appendFake(t, table, files[599]) }) // an undone mark brings it back
		}
		return nil
	}})
	v, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	res := vacuum(t, v, deltaio.VacuumOptions{})
	require.EqualValues(t, 599, res.Deleted)
	require.True(t, exists(t, inner, "f599.parquet"))
	require.Empty(t, res.MissingLive)
}

func TestVacuum_deleting_what_became_live_is_told(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	table := create(t, inner, c, deltaio.CreateOptions{})
	f := fakeFile(t, inner, "f.parquet", nil)
	appendFake(t, table, f)
	removeFake(t, table, c, f)
	c.Add(8 * day)
	s := storage.Hook(inner, storage.Hooks{Before: func(_ context.Context, op storage.Op) error {
		if op.Kind == storage.OpDelete { // too late for the vacuum to see
			appendFake(t, table, f)
		}
		return nil
	}})
	v, err := deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	res, err := deltaio.Vacuum(t.Context(), v, deltaio.VacuumOptions{})
	require.ErrorIs(t, err, deltaio.ErrLiveFilesGone)
	require.Equal(t, []string{"f.parquet"}, res.MissingLive)
}
