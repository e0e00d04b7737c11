package deltaio_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

const day = 24 * time.Hour

func vacuum(t *testing.T, table *deltaio.Table, opt deltaio.VacuumOptions) *deltaio.VacuumResult {
	t.Helper()
	res, err := deltaio.Vacuum(t.Context(), table, opt)
	require.NoError(t, err)
	return res
}

// regions is a table partitioned by a string.
func regions(t *testing.T, s storage.Store, c *clock, props map[string]string) *deltaio.Table {
	return create(t, s, c, deltaio.CreateOptions{
		Schema: fields(col("id", schema.Long), col("region", schema.String)), PartitionBy: []string{"region"}, Properties: props,
	})
}

func inRegion(name string) map[string]*string { return map[string]*string{"region": text(name)} }

func TestVacuum_partitions_of_odd_names_are_really_deleted(t *testing.T) {
	t.Parallel()
	for _, region := range []string{"a b", "R&D", "A/A", "é", "50%", "a~b", "2024-01-01 00:00:00", "100%25", "x:y", "#1"} {
		for layout, dir := range map[string]string{
			"spark":    log.PartitionDir([]string{"region"}, inRegion(region)),
			"delta-rs": "region=" + strings.ReplaceAll(log.EncodePath(region), "/", "%2F"),
		} {
			for kind, open := range stores {
				t.Run(region+" "+layout+" "+kind, func(t *testing.T) {
					t.Parallel()
					c := newClock()
					s := open(t, c)
					table := regions(t, s, c, nil)
					key := dir + "/f.parquet"
					f := fakeFile(t, s, key, inRegion(region))
					appendFake(t, table, f)
					removeFake(t, table, c, f)
					c.Add(8 * day)
					res := vacuum(t, table, deltaio.VacuumOptions{})
					require.False(t, exists(t, s, key), key)
					require.EqualValues(t, 1, res.Deleted)
					require.Equal(t, f.Size, res.BytesDeleted)
					require.Zero(t, res.Absent)
				})
			}
		}
	}
}

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

func TestVacuum_denied_deletions_stay_pending_and_are_found_again(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	table := create(t, inner, c, deltaio.CreateOptions{})
	var files []*log.Add
	for i := range 5 {
		files = append(files, fakeFile(t, inner, fmt.Sprintf("f%d.parquet", i), nil))
	}
	appendFake(t, table, files...)
	removeFake(t, table, c, files...)
	c.Add(8 * day)
	denied := storage.Hook(inner, storage.Hooks{Before: func(_ context.Context, op storage.Op) error {
		if op.Kind == storage.OpDelete && (op.Key == "f1.parquet" || op.Key == "f3.parquet") {
			return fmt.Errorf("delete %s: %w", op.Key, storage.ErrPermission)
		}
		return nil
	}})
	limited, err := deltaio.Open(t.Context(), denied, env(c))
	require.NoError(t, err)
	first := vacuum(t, limited, deltaio.VacuumOptions{})
	require.EqualValues(t, 3, first.Deleted)
	require.EqualValues(t, 2, first.Pending)
	require.Equal(t, "permission denied", first.PendingFiles[0].Reason)
	h, err := deltaio.History(t.Context(), table, 1)
	require.NoError(t, err)
	require.Equal(t, "FAILED", h[0].Parameters["status"])
	require.Equal(t, "3", h[0].Metrics["numDeletedFiles"])

	second := vacuum(t, table, deltaio.VacuumOptions{})
	require.EqualValues(t, 2, second.Deleted)
	require.EqualValues(t, 3, second.Absent, "gone before is not deleted")
	require.EqualValues(t, 5, first.Deleted+second.Deleted)
}

func TestVacuum_deletion_that_does_not_happen_is_not_counted(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	table := create(t, inner, c, deltaio.CreateOptions{})
	a, b := fakeFile(t, inner, "a.parquet", nil), fakeFile(t, inner, "b.parquet", nil)
	appendFake(t, table, a, b)
	removeFake(t, table, c, a, b)
	c.Add(8 * day)
	liar := &lyingStore{Store: inner}
	lied, err := deltaio.Open(t.Context(), liar, env(c))
	require.NoError(t, err)
	res := vacuum(t, lied, deltaio.VacuumOptions{})
	require.Zero(t, res.Deleted)
	require.EqualValues(t, 2, res.Pending)
	require.Contains(t, res.PendingFiles[0].Reason, "still there")
}

// lyingStore says that it deletes.
type lyingStore struct{ storage.Store }

func (l *lyingStore) Delete(context.Context, string) error { return nil }

func TestVacuum_failure_that_passes_is_tried_again(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	table := create(t, inner, c, deltaio.CreateOptions{})
	f := fakeFile(t, inner, "a.parquet", nil)
	appendFake(t, table, f)
	removeFake(t, table, c, f)
	c.Add(8 * day)
	var calls atomic.Int64
	flaky, err := deltaio.Open(t.Context(), storage.Hook(inner, storage.Hooks{Before: func(_ context.Context, op storage.Op) error {
		if op.Kind == storage.OpDelete && calls.Add(1) == 1 {
			return errors.New("SlowDown")
		}
		return nil
	}}), env(c))
	require.NoError(t, err)
	res := vacuum(t, flaky, deltaio.VacuumOptions{})
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

// memJournal is a run folder in memory.
type memJournal struct{ s storage.Store }

func (j memJournal) Put(ctx context.Context, n string, b []byte) error { return j.s.Put(ctx, n, b) }
func (j memJournal) PutIfAbsent(ctx context.Context, n string, b []byte) error {
	return j.s.PutIfAbsent(ctx, n, b)
}
func (j memJournal) Get(ctx context.Context, n string) ([]byte, error) {
	return storage.ReadAll(ctx, j.s, n, 0)
}
func (j memJournal) List(ctx context.Context, prefix string) ([]string, error) {
	var out []string
	for i, err := range j.s.List(ctx, prefix, "") {
		if err != nil {
			return nil, err
		}
		out = append(out, i.Key)
	}
	return out, nil
}
func (j memJournal) URL() string { return j.s.URL() }

// bigStore shows many orphans without holding them.
type bigStore struct {
	storage.Store
	n       int
	mu      sync.Mutex
	deleted map[string]bool
	listed  atomic.Int64
	deletes atomic.Int64
	limit   int64
}

func orphanKey(i int) string { return fmt.Sprintf("p=%06d/orphan.parquet", i) }

func (b *bigStore) List(ctx context.Context, prefix, after string) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		for info, err := range b.Store.List(ctx, prefix, after) {
			if !yield(info, err) {
				return
			}
		}
		if prefix != "" {
			return
		}
		for i := range b.n {
			key := orphanKey(i)
			if key <= after {
				continue
			}
			b.mu.Lock()
			gone := b.deleted[key]
			b.mu.Unlock()
			if gone {
				continue
			}
			b.listed.Add(1)
			if !yield(storage.Info{Key: key, Size: 7, ModTime: start}, nil) {
				return
			}
		}
	}
}

func (b *bigStore) Delete(ctx context.Context, key string) error {
	if !strings.HasPrefix(key, "p=") {
		return b.Store.Delete(ctx, key)
	}
	if n := b.deletes.Add(1); b.limit > 0 && n > b.limit {
		return context.Canceled
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deleted[key] = true
	return nil
}

func (b *bigStore) Stat(ctx context.Context, key string) (storage.Info, error) {
	if !strings.HasPrefix(key, "p=") {
		return b.Store.Stat(ctx, key)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.deleted[key] {
		return storage.Info{}, storage.ErrNotExist
	}
	return storage.Info{Key: key, Size: 7, ModTime: start}, nil
}

func TestVacuum_killed_halfway_goes_on_from_the_cursor_in_bounded_memory(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	create(t, inner, c, deltaio.CreateOptions{})
	c.Add(30 * day)
	const n = 20000
	s := &bigStore{Store: inner, n: n, deleted: map[string]bool{}}
	j := memJournal{memStore(c)}

	ctx, cancel := context.WithCancel(t.Context())
	e := env(c)
	e.Progress = func(p deltaio.Progress) {
		if p.FilesDone >= n/2 {
			cancel() // the worker dies
		}
	}
	table, err := deltaio.Open(t.Context(), s, e)
	require.NoError(t, err)
	_, err = deltaio.Vacuum(ctx, table, deltaio.VacuumOptions{Journal: j})
	require.ErrorIs(t, err, context.Canceled)
	before := s.listed.Load()

	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	table, err = deltaio.Open(t.Context(), s, env(c))
	require.NoError(t, err)
	res := vacuum(t, table, deltaio.VacuumOptions{Journal: j})
	require.True(t, res.Resumed)
	require.EqualValues(t, n, res.Deleted, "what the first call deleted counts")
	require.Less(t, s.listed.Load()-before, int64(n*6/10), "no second full listing")
	require.Less(t, mem.HeapInuse, uint64(256<<20))
	h, err := deltaio.History(t.Context(), table, 0)
	require.NoError(t, err)
	require.Len(t, h, 3, "one START, one END")
	var cur map[string]any
	data, err := j.Get(t.Context(), "vacuum/cursor.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &cur))
	require.Equal(t, true, cur["done"])
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

func TestVacuum_store_that_serves_few_requests_at_once_is_not_a_failure(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	table := create(t, inner, c, deltaio.CreateOptions{})
	var files []*log.Add
	for i := range 700 {
		files = append(files, fakeFile(t, inner, fmt.Sprintf("f%03d.parquet", i), nil))
	}
	appendFake(t, table, files...)
	removeFake(t, table, c, files...)
	c.Add(8 * day)
	var inFlight atomic.Int64
	served := func(op storage.Op) bool { return op.Kind == storage.OpDelete || op.Kind == storage.OpStat }
	busy := storage.Hook(inner, storage.Hooks{
		Before: func(_ context.Context, op storage.Op) error {
			if !served(op) {
				return nil
			}
			if inFlight.Add(1) > 5 {
				inFlight.Add(-1)
				return errors.New("503 SlowDown")
			}
			runtime.Gosched()
			return nil
		},
		After: func(_ context.Context, op storage.Op) error {
			if served(op) {
				inFlight.Add(-1)
			}
			return nil
		},
	})
	v, err := deltaio.Open(t.Context(), busy, env(c))
	require.NoError(t, err)
	res := vacuum(t, v, deltaio.VacuumOptions{})
	require.EqualValues(t, 700, res.Deleted)
	require.Zero(t, res.Pending)
	require.Zero(t, res.Absent)
}

func TestVacuum_lost_answer_of_a_deletion_still_counts_it_honestly(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	table := create(t, inner, c, deltaio.CreateOptions{})
	a, b := fakeFile(t, inner, "a.parquet", nil), fakeFile(t, inner, "b.parquet", nil)
	appendFake(t, table, a, b)
	removeFake(t, table, c, a, b)
	c.Add(8 * day)
	fault := storage.NewFault(inner)
	fault.FailNth(storage.OpDelete, 1, storage.AfterCall, nil) // deleted, the answer lost
	v, err := deltaio.Open(t.Context(), fault, env(c))
	require.NoError(t, err)
	res := vacuum(t, v, deltaio.VacuumOptions{})
	require.EqualValues(t, 2, res.Found)
	require.EqualValues(t, 2, res.Deleted, "it was there before and is not there after")
}

func TestVacuum_first_call_for_every_file_fails_and_all_are_gone_in_the_end(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{storage.OpDelete, storage.OpStat} {
		c := newClock()
		inner := memStore(c)
		table := create(t, inner, c, deltaio.CreateOptions{})
		var files []*log.Add
		for i := range 50 {
			files = append(files, fakeFile(t, inner, fmt.Sprintf("f%03d.parquet", i), nil))
		}
		appendFake(t, table, files...)
		removeFake(t, table, c, files...)
		c.Add(8 * day)
		var seen sync.Map
		fault := storage.NewFault(inner)
		fault.FailAfter(func(op storage.Op) error {
			if _, again := seen.LoadOrStore(op.Key, true); !again && op.Kind == kind && op.Key[0] == 'f' {
				return errors.New("answer lost")
			}
			return nil
		})
		v, err := deltaio.Open(t.Context(), fault, env(c))
		require.NoError(t, err)
		res := vacuum(t, v, deltaio.VacuumOptions{})
		require.EqualValues(t, 50, res.Deleted, kind)
		require.Zero(t, res.Pending+res.Absent)
	}
}
