package purge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/purge"
)

func TestDelete_archive_touched_after_its_verification_deletes_nothing(t *testing.T) {
	t.Parallel()
	only := func(match string) func(w *world) {
		return func(w *world) {
			for info, err := range w.archive.List(w.ctx, "", "") {
				require.NoError(w.t, err)
				if strings.Contains(info.Key, match) {
					require.NoError(w.t, w.archive.Delete(w.ctx, info.Key))
				}
			}
		}
	}
	for name, meddle := range map[string]func(w *world){
		"the whole archive is removed": only(""),
		"one of its files is removed":  only(".parquet"),
		"a row is falsified":           func(w *world) { w.falsify(t, 45, 46) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r, plan, all := marked(t, setup{})
			archive := w.archiveRows(r, plan, 1)
			require.True(t, w.verify(r, archive).Agrees)
			meddle(w)
			version := w.snapshot().Version()
			del := w.delete(r, plan, archive)
			require.Equal(t, purge.Changed, del.Outcome)
			require.NotEmpty(t, del.ArchiveDiffers)
			require.Equal(t, version, w.snapshot().Version(), "nothing was committed")
			require.Equal(t, texts(all), texts(w.rows()))
		})
	}
}

func TestDelete_every_flag_was_cleared_by_others_deletes_nothing_and_says_so(t *testing.T) {
	t.Parallel()
	w, r, plan, _ := marked(t, setup{})
	w.rewrite("UPDATE", true, func(int, []row) bool { return true }, func(rows []row) []row {
		for i := range rows {
			rows[i].flag = nil
		}
		return rows
	})
	archive := w.archiveRows(r, plan, 1)
	require.Zero(t, archive.Rows)
	version := w.snapshot().Version()
	require.Equal(t, purge.NothingLeft, w.delete(r, plan, archive).Outcome)
	require.Equal(t, version, w.snapshot().Version())
}
