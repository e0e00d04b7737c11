package purge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/purge"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// loseArchived deletes the first file of the archive from storage.
func (w *world) loseArchived(t *testing.T) {
	t.Helper()
	a, err := deltaio.Open(w.ctx, w.archive, w.env())
	require.NoError(t, err)
	s, err := a.Snapshot(w.ctx)
	require.NoError(t, err)
	require.NoError(t, w.archive.Delete(w.ctx, s.Files()[0].Key().Path))
}

func TestRemoveArchived_a_lost_file_of_the_run_alone_is_dropped_unread(t *testing.T) {
	t.Parallel()
	for name, s := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r, plan, _ := marked(t, s)
			w.archiveRows(r, plan, 1)
			w.loseArchived(t)
			res := w.removeArchived(r)
			require.Equal(t, purge.Done, res.Outcome)
			require.Positive(t, res.FilesRemoved)
			require.Empty(t, w.archived(""))
		})
	}
}

func TestRemoveArchived_a_lost_file_with_rows_of_others_asks_for_a_person(t *testing.T) {
	t.Parallel()
	w, r, plan, _ := marked(t, setup{})
	w.archiveRows(r, plan, 1)
	compactArchive(t, w)
	w.loseArchived(t)
	_, err := purge.RemoveArchived(w.ctx, w.archive, w.env(), purge.RemoveArchivedOptions{Run: r, Attempt: 1})
	var lost *deltaio.LostFileError
	require.ErrorAs(t, err, &lost)
	require.ErrorIs(t, err, storage.ErrNotExist)
}
