package matrix

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/auditlog"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/spec"
)

func auditRowOf(run, i int) evidence.AuditRow {
	n := int64(i)
	return evidence.AuditRow{
		RunID: fmt.Sprintf("run-%d", run), TargetTable: tableName, Criteria: "x", Status: evidence.StatusCompleted,
		ExecTime: start.Add(time.Duration(i) * time.Second), RowsDeleted: &n,
	}
}

// Writers that lose answers and try again, all at once: the chain never forks,
// and each row stands there once.
func TestAudit_many_writers_at_once_never_fork_the_chain(t *testing.T) {
	t.Parallel()
	const writers, rows = 16, 4
	disk := storage.NewMemory()
	env := deltaio.Env{Now: func() time.Time { return start }, Parallel: 1}
	var wg sync.WaitGroup
	var retries atomic.Int64
	errs := make(chan error, writers)
	for w := range writers {
		wg.Go(func() {
			chance := rand.New(rand.NewPCG(uint64(w), 7))
			f := storage.NewFault(disk)
			lose := func(op storage.Op) error {
				if op.Kind == storage.OpPutIfAbsent && chance.IntN(4) == 0 {
					return errOnce
				}
				return nil
			}
			f.Fail(lose)
			f.FailAfter(lose)
			log := auditlog.New(f, env)
			for i := range rows {
				// Two writers each tell of the same run.
				for _, err := log.Append(context.Background(), auditRowOf(w/2, i)); err != nil; _, err = log.Append(context.Background(), auditRowOf(w/2, i)) {
					if retries.Add(1) > 10_000 {
						errs <- err
						return
					}
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	require.NoError(t, <-errs)
	all, err := auditlog.New(disk, env).Rows(t.Context())
	require.NoError(t, err)
	report := evidence.Verify(all, "")
	require.True(t, report.OK(), "%v", report.Findings)
	require.Len(t, all, writers/2*rows, "each row once")
	_, err = chained(all)
	require.NoError(t, err)
}

// Purges of several tables at once share the audit table.
func TestAudit_purges_of_many_tables_at_once_never_fork_the_chain(t *testing.T) {
	t.Parallel()
	const tables = 6
	disk := storage.NewMemory()
	disk.SetClock(func() time.Time { return start })
	worlds := make([]*world, tables)
	names := make([]string, tables)
	for i := range worlds {
		worlds[i], names[i] = newWorldOn(t, disk), fmt.Sprintf("bronze.sales%d", i)
		worlds[i].create(names[i], deltaio.CreateOptions{PartitionBy: []string{"shop"}}, fixture()...)
	}
	ends := make([]ending, tables)
	t.Run("purges", func(t *testing.T) {
		for i, w := range worlds {
			t.Run(names[i], func(t *testing.T) {
				t.Parallel()
				w.t = t
				ends[i] = w.purge(policy(func(p *spec.RetentionPolicy) {
					p.Table, p.Archive.Table = names[i], fmt.Sprintf("archive.sales%d", i)
				}), nil)
			})
		}
	})
	w := worlds[0]
	w.t = t
	for i, e := range ends {
		require.Equal(t, evidence.StatusCompleted, e.Outcome, "%v", e.err)
		require.Equal(t, []string{evidence.StatusCompleted, evidence.StatusVacuumed}, w.statuses(e.RunID))
		w.verifies(e.RunID)
		stay, _ := dueOf(flat(fixture()))
		rows, err := texts(t.Context(), w.snapshot(names[i]), salesColumns, "")
		require.NoError(t, err)
		require.Equal(t, textsOf(stay), rows)
	}
	require.Len(t, w.audit(""), 2*tables)
}

// What somebody does to the audit table behind our back is found.
func TestAudit_an_edited_and_a_removed_row_are_found(t *testing.T) {
	t.Parallel()
	w, e := purgedWorld(t)
	head := e.AuditHead
	require.NotEmpty(t, head)
	all := w.audit("")
	require.True(t, evidence.Verify(all, head).OK())
	zero := int64(0)
	edited := append([]evidence.AuditRow{}, all...)
	edited[0].RowsDeleted = &zero
	require.False(t, evidence.Verify(edited, head).OK())
	require.False(t, evidence.Verify(all[1:], head).OK())
	require.False(t, evidence.Verify(all[:1], head).OK(), "with an anchor a cut tail is found")
}
