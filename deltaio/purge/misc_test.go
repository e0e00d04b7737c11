package purge_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// lossy is the world over stores whose answer to one commit of the log is lost
// after it succeeded.
func (w *world) lossy(nth int) *world {
	w.t.Helper()
	out := *w
	n := 0
	var mu sync.Mutex
	lose := func(s storage.Store) storage.Store {
		f := storage.NewFault(s)
		f.FailAfter(func(op storage.Op) error {
			mu.Lock()
			defer mu.Unlock()
			if op.Kind != storage.OpPutIfAbsent || !strings.HasPrefix(op.Key, "_delta_log/") {
				return nil
			}
			if n++; n == nth {
				return storage.ErrInjected
			}
			return nil
		})
		return f
	}
	t, err := deltaio.Open(w.ctx, lose(w.data), w.env())
	require.NoError(w.t, err)
	out.table, out.archiveVia = t, lose(w.archive)
	return &out
}

func TestCommit_lost_answers_make_one_commit_and_no_failure(t *testing.T) {
	t.Parallel()
	for nth := 1; nth <= 4; nth++ { // column, mark, archive, delete
		w := newWorld(t, setup{})
		all := sample(0, 60)
		w.append(all)
		_, err := purge.ArchiveRows(w.ctx, w.table, w.archive, w.env(), purge.ArchiveOptions{Run: w.run("none"), ArchivedAt: start})
		require.Error(t, err, "nothing is marked")
		lw := w.lossy(nth)
		r := w.run("run-1")
		plan := lw.plan(r)
		require.Equal(t, purge.Done, lw.mark(r, plan).Outcome)
		a, err := lw.tryArchive(r, plan, 1)
		require.NoError(t, err)
		require.Equal(t, purge.Done, a.Outcome)
		require.Equal(t, purge.Done, lw.delete(r, plan, a).Outcome)
		stay, gone := split(all, due)
		settled(t, w, r, stay, gone)
	}
}

func TestPurge_two_runs_at_once_neither_lose_nor_double_rows(t *testing.T) {
	t.Parallel()
	for _, columns := range [][2]string{{flagColumn, ""}, {"", flagColumn}, {"", ""}} {
		w := newWorld(t, setup{})
		all := sample(0, 60)
		w.append(all[:30], all[30:])
		a, b := w.run("run-a"), w.run("run-b")
		a.Column, b.Column = columns[0], columns[1]
		planA, planB := w.plan(a), w.plan(b)
		w.mark(a, planA)
		w.mark(b, planB)
		archiveA, archiveB := w.archiveRows(a, planA, 1), w.archiveRows(b, planB, 1)
		require.Equal(t, purge.Done, w.delete(a, planA, archiveA).Outcome)
		require.Equal(t, purge.Changed, w.delete(b, planB, archiveB).Outcome)
		archiveB = w.archiveRows(b, planB, 2)
		require.Zero(t, archiveB.Rows)
		require.Contains(t, []purge.Outcome{purge.Done, purge.NothingLeft}, w.delete(b, planB, archiveB).Outcome)
		stay, gone := split(all, due)
		require.Equal(t, texts(stay), texts(w.rows()))
		require.Equal(t, texts(gone), texts(w.archived("")))
	}
}

func TestMark_two_runs_at_once_the_second_sees_the_flags_of_the_first(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	w.append(sample(0, 60))
	a, b := w.run("run-a"), w.run("run-b")
	planA, planB := w.plan(a), w.plan(b)
	w.mark(a, planA)
	_, err := purge.MarkRows(w.ctx, w.table, purge.MarkOptions{Run: b, Plan: planB.Record})
	var flags *purge.FlagsError
	require.ErrorAs(t, err, &flags)
}

// A vacuum takes the previous files after they were looked up and before they
// are brought back; what marking made of them takes their place.
func TestUnmark_previous_files_vanish_under_the_commit_and_are_replaced(t *testing.T) {
	t.Parallel()
	w, r, _, all := marked(t, setup{})
	done := false
	p := &process{hook: func(int) {}}
	p.hook = func(int) {
		// The unmark's own record is its last write before the commit.
		if done || len(w.journalNames(r, "unmark-")) == 0 {
			return
		}
		done = true
		for _, rm := range w.snapshot().State().Tombstones {
			require.NoError(t, w.data.Delete(w.ctx, rm.Key().Path))
		}
	}
	pw := w.in(p)
	rp := r
	rp.Journal = pw.folderOf(r.ID)
	res, err := purge.UnmarkRows(w.ctx, pw.table, purge.UnmarkOptions{Run: rp})
	require.NoError(t, err)
	require.True(t, done)
	require.Zero(t, res.FilesRestored)
	require.NotZero(t, res.FilesRewritten)
	require.NotZero(t, res.RowsCleared)
	require.Equal(t, texts(all), texts(w.rows()))
	require.Zero(t, w.flagged())
	again := w.unmark(r)
	require.Equal(t, purge.AlreadyDone, again.Outcome)
	require.Equal(t, res.RowsCleared, again.RowsCleared)
}

func (w *world) journalNames(r purge.Run, prefix string) []string {
	names, err := folder{storage.Sub(w.folders, r.ID)}.List(w.ctx, prefix)
	require.NoError(w.t, err)
	return names
}

func TestDelete_fenced_without_marker_leaves_no_staged_files(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	all := sample(20, 40)
	w.append(all)
	r := w.run("run-1")
	r.Column = ""
	plan := w.plan(r)
	archive := w.archiveRows(r, plan, 1)
	p := &process{dieAt: 4} // the files lie there, their record too
	_, err := w.in(p).tryDelete(r, plan, archive)
	require.ErrorIs(t, err, errDead)
	require.True(t, slices.ContainsFunc(objects(t, w.data), func(k string) bool { return strings.Contains(k, "lakewarden-") }))
	deleted, err := purge.FenceDelete(w.ctx, w.table, r)
	require.NoError(t, err)
	require.Nil(t, deleted)
	for _, key := range objects(t, w.data) {
		require.NotContains(t, key, "lakewarden-")
	}
	require.Equal(t, texts(all), texts(w.rows()))
}

func TestProgress_reaches_its_total_in_every_phase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	w.append(sample(0, 30), sample(30, 30))
	last := map[string]deltaio.Progress{}
	var mu sync.Mutex
	env := w.env()
	env.Progress = func(p deltaio.Progress) {
		mu.Lock()
		defer mu.Unlock()
		last[p.Phase] = p
	}
	var err error
	w.table, err = deltaio.Open(w.ctx, w.data, env)
	require.NoError(t, err)
	w.purge(w.run("run-1"))
	for _, phase := range []string{"plan", "mark", "archive", "delete"} {
		p, ok := last[phase]
		require.True(t, ok, phase)
		require.NotZero(t, p.FilesTotal, phase)
		require.Equal(t, p.FilesTotal, p.FilesDone, phase)
	}
}

func TestMark_table_made_anew_under_the_address_is_refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	w.append(sample(0, 60))
	r := w.run("run-1")
	plan := w.plan(r)
	other := newWorld(t, setup{})
	other.append(sample(0, 60))
	_, err := purge.MarkRows(w.ctx, other.table, purge.MarkOptions{Run: r, Plan: plan.Record})
	require.ErrorContains(t, err, "another table")
}

func TestPlan_names_other_writers_and_not_ours(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setup{})
	w.append(sample(0, 60))
	w.purge(w.run("run-1"))
	w.append(sample(100, 5))
	plan := w.plan(w.run("run-2"))
	require.Len(t, plan.Writers, 1)
	require.Equal(t, 3, plan.Writers[0].Commits, "created, appended twice")
}

func TestPurge_on_a_local_disk(t *testing.T) {
	t.Parallel()
	local, err := storage.OpenLocal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, local.Close()) })
	w := newWorld(t, setup{})
	rows := sample(0, 60)
	w.table, err = deltaio.Create(w.ctx, local, w.env(), deltaio.CreateOptions{Schema: baseSchema, PartitionBy: []string{"event_date"}})
	require.NoError(t, err)
	w.append(rows)
	w.purge(w.run("run-1"))
	stay, gone := split(rows, due)
	require.Equal(t, texts(stay), texts(w.rows()))
	require.Equal(t, texts(gone), texts(w.archived("")))
	r := w.run("run-2")
	require.Zero(t, w.plan(r).RowsDue)
}
