package deltaio_test

import (
	"context"
	"errors"
	"fmt"
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
