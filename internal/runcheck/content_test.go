package runcheck

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/internal/lake"
)

const (
	archive = "bronze.vendas_archive"
	holds   = "the archive holds exactly the purged rows, with run_id and archived_at"
)

// archived is a site whose run r-1 has archived all 40 rows of the table, and the
// record of it. falsify commits a copy of a row in the place of another.
func archived(t *testing.T, falsify bool) (*lake.Lake, string) {
	t.Helper()
	n, version := int64(40), int64(1)
	l := site(t, evidence.AuditRow{Status: evidence.StatusCompleted, ArchiveTable: archive, RowsMarked: &n, RowsArchived: &n, RowsDeleted: &n, VersionBefore: &version})
	src, err := l.Table(t.Context(), table)
	require.NoError(t, err)
	dst, err := l.Table(t.Context(), archive)
	require.NoError(t, err)
	tab, err := deltaio.Open(t.Context(), src, env())
	require.NoError(t, err)
	f, err := l.Run(t.Context(), "r-1")
	require.NoError(t, err)
	run := purge.Run{ID: "r-1", Journal: f, Criteria: purge.Criteria{Match: expr.MustParse("TRUE"), Context: expr.Context{Now: at}}}
	p, err := purge.PlanPurge(t.Context(), tab, purge.PlanOptions{Run: run})
	require.NoError(t, err)
	a, err := purge.ArchiveRows(t.Context(), tab, dst, env(), purge.ArchiveOptions{Run: run, Plan: p.Record, ArchivedAt: at})
	require.NoError(t, err)
	require.Equal(t, n, a.Rows)
	if falsify {
		swap(t, l)
	}
	return l, a.Record
}

// swap writes a file of the archive anew, with a copy of its last row in the
// place of the first.
func swap(t *testing.T, l *lake.Lake) {
	t.Helper()
	dst, err := l.Table(t.Context(), archive)
	require.NoError(t, err)
	tab, err := deltaio.Open(t.Context(), dst, env())
	require.NoError(t, err)
	snap, err := tab.Snapshot(t.Context())
	require.NoError(t, err)
	files := snap.Files()[:1]
	rows := func(yield func(arrow.Record, error) bool) {
		for rec, err := range snap.Scan(t.Context(), deltaio.ScanOptions{Files: files}) {
			if err != nil {
				yield(nil, err)
				return
			}
			n := rec.NumRows()
			if !yield(rec.NewSlice(1, n), nil) || !yield(rec.NewSlice(n-1, n), nil) {
				return
			}
		}
	}
	staged, err := snap.Stage(t.Context(), deltaio.StageOptions{}, rows)
	require.NoError(t, err)
	require.Len(t, staged, 1)
	data, err := storage.ReadAll(t.Context(), dst, staged[0].Key, 0)
	require.NoError(t, err)
	require.NoError(t, dst.Put(t.Context(), files[0].Key().Path, data))
}

func TestVerify_archivedRows_ofTheRightNumberMustBeTheRightOnes(t *testing.T) {
	t.Parallel()
	l, _ := archived(t, false)
	require.True(t, check(t, l, holds).OK)
	got := check(t, l, unchanged)
	require.True(t, got.OK, got.Detail)

	l, _ = archived(t, true)
	require.True(t, check(t, l, holds).OK, "count and stamps are right")
	got = check(t, l, unchanged)
	require.False(t, got.OK)
	require.Contains(t, got.Detail, "differs from what was archived")
}

func TestVerify_archivedRows_withoutTheRecord_areNotVouchedFor(t *testing.T) {
	t.Parallel()
	l, record := archived(t, false)
	f, err := l.Run(t.Context(), "r-1")
	require.NoError(t, err)
	require.NoError(t, f.Put(t.Context(), record, []byte("{broken")))
	got := check(t, l, unchanged)
	require.False(t, got.OK)
	require.Contains(t, got.Detail, record)
}
