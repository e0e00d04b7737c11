package purge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func (w *world) prove(r purge.Run) *purge.ProveResult {
	w.t.Helper()
	res, err := purge.ProveErased(w.ctx, w.table, purge.ProveOptions{Run: r, ScanLive: true})
	require.NoError(w.t, err)
	return res
}

// vacuum runs an honest vacuum a while later.
func (w *world) vacuum(later time.Duration) {
	w.t.Helper()
	w.clock.advance(later)
	_, err := deltaio.Vacuum(w.ctx, w.table, deltaio.VacuumOptions{})
	require.NoError(w.t, err)
}

func TestProveErased_incomplete_until_the_files_are_past_retention_and_vacuumed(t *testing.T) {
	t.Parallel()
	for name, s := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s)
			all := sample(0, 60)
			w.append(all[:30], all[30:])
			r := w.run("run-1")
			w.purge(r)
			_, gone := split(all, due)

			res := w.prove(r)
			require.False(t, res.Erased)
			require.NotZero(t, res.Known)
			require.Less(t, res.KnownGone, res.Known)
			require.NotEmpty(t, res.Residue)
			require.NotNil(t, res.FilesDue)
			require.False(t, res.FilesDue.Before(start.Add(7*24*time.Hour)))
			due, young, err := purge.ErasureDue(w.ctx, w.table, r, 7*24*time.Hour)
			require.NoError(t, err)
			require.Positive(t, young)
			require.WithinDuration(t, start.Add(7*24*time.Hour), *due, time.Minute)

			w.vacuum(8 * 24 * time.Hour)
			res = w.prove(r)
			require.True(t, res.Erased, "%v", res.Residue)
			require.Equal(t, res.Known, res.KnownGone)
			require.Zero(t, res.KnownSeen)
			require.True(t, res.CanarySeen)
			require.Zero(t, *res.RunRows)
			require.Zero(t, *res.LiveMatching)
			require.NotZero(t, res.LogEntries)
			require.NotNil(t, res.LogExpires)
			require.Equal(t, len(objects(t, w.data)), res.Live.Count+res.Tombstoned.Count+res.Unknown.Count+res.Log.Count+res.Other.Count)
			due, young, err = purge.ErasureDue(w.ctx, w.table, r, 7*24*time.Hour)
			require.NoError(t, err)
			require.Nil(t, due)
			require.Zero(t, young)
			onDisk(t, w, gone, false)
			for _, key := range objects(t, w.folders) {
				raw, err := storage.ReadAll(w.ctx, w.folders, key, 0)
				require.NoError(t, err)
				for _, r := range gone {
					require.NotContains(t, string(raw), r.name, "the run folder remembers, in %s", key)
				}
			}
		})
	}
}

// onDisk searches every data file in storage, live or not, for purged rows.
func onDisk(t *testing.T, w *world, gone []row, want bool) {
	t.Helper()
	found := false
	for _, key := range objects(t, w.data) {
		if strings.HasPrefix(key, "_delta_log/") || !strings.HasSuffix(key, ".parquet") {
			continue
		}
		raw, err := storage.ReadAll(w.ctx, w.data, key, 0)
		require.NoError(t, err)
		text := string(raw) + string(pages(t, raw))
		for _, r := range gone {
			found = found || strings.Contains(text, r.name)
		}
	}
	require.Equal(t, want, found)
}

func TestLeakSearch_finds_rows_that_are_there(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	rows := sample(0, 60)
	w.append(rows)
	onDisk(t, w, rows[45:46], true)
}

func TestProveErased_names_what_is_left(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		leave func(t *testing.T, w *world)
		want  string
	}{
		"a copy nobody knows": {func(t *testing.T, w *world) {
			require.NoError(t, w.data.PutIfAbsent(w.ctx, "copy.parquet", []byte("rows")))
			require.NoError(t, w.data.SetModTime("copy.parquet", start.Add(-time.Hour)))
		}, "copy.parquet left the table before"},
		"a file of the run": {func(t *testing.T, w *world) {
			require.NoError(t, w.data.PutIfAbsent(w.ctx, "lakewarden-run-1-mark-late.parquet", []byte("rows")))
		}, "written by this run"},
		"a restored version": {func(t *testing.T, w *world) {
			_, err := deltaio.Restore(w.ctx, w.table, deltaio.RestoreOptions{Version: 2})
			require.NoError(t, err)
		}, "is live again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setup{})
			all := sample(0, 60)
			w.append(all[:30], all[30:])
			r := w.run("run-1")
			w.purge(r)
			if name == "a restored version" {
				c.leave(t, w)
			}
			w.vacuum(8 * 24 * time.Hour)
			if name != "a restored version" {
				c.leave(t, w)
			}
			res := w.prove(r)
			require.False(t, res.Erased)
			require.Contains(t, strings.Join(res.Residue, "\n"), c.want)
			if name == "a restored version" {
				require.Positive(t, *res.RunRows)
			}
		})
	}
}

func TestProveErased_rows_that_came_later_are_counted_and_are_no_residue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	w.append(sample(0, 60))
	r := w.run("run-1")
	w.purge(r)
	w.append([]row{{id: 999, date: "2024-01-01", name: "late"}})
	w.vacuum(8 * 24 * time.Hour)
	res := w.prove(r)
	require.True(t, res.Erased, "%v", res.Residue)
	require.EqualValues(t, 1, *res.LiveMatching)
	require.Zero(t, *res.RunRows)
}

func TestProveErased_a_listing_that_misses_the_canary_proves_nothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	w.append(sample(0, 60))
	r := w.run("run-1")
	w.purge(r)
	w.vacuum(8 * 24 * time.Hour)
	res, err := purge.ProveErased(w.ctx, w.table, purge.ProveOptions{Run: r, Canary: "is-not-there"})
	require.NoError(t, err)
	require.False(t, res.Erased)
	require.False(t, res.CanarySeen)
}

func TestProveErased_without_a_delete_is_an_error(t *testing.T) {
	t.Parallel()
	w, r, _, _ := marked(t, setup{})
	_, err := purge.ProveErased(w.ctx, w.table, purge.ProveOptions{Run: r})
	require.ErrorContains(t, err, "no delete")
}

func TestProveErased_log_entries_name_the_files_until_they_are_cleaned_up(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	w.append(sample(0, 60))
	r := w.run("run-1")
	w.purge(r)
	w.vacuum(8 * 24 * time.Hour)
	before := w.prove(r)
	require.True(t, before.Erased, "%v", before.Residue)
	require.NotZero(t, before.LogStatistics)
	_, err := deltaio.Checkpoint(w.ctx, w.table)
	require.NoError(t, err)

	w.clock.advance(40 * 24 * time.Hour)
	require.True(t, w.clock.now().After(*before.LogExpires))
	w.append([]row{{id: 1000, date: "2025-04-20", name: "next"}})
	_, err = log.CleanExpired(w.ctx, w.data, w.snapshot().State(), w.clock.now().UnixMilli())
	require.NoError(t, err)
	after := w.prove(r)
	require.True(t, after.Erased, "%v", after.Residue)
	require.Zero(t, after.LogEntries, "%v", objects(t, w.data))
	require.Nil(t, after.LogExpires)
}
