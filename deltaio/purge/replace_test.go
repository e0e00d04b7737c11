package purge_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
)

// commitReplace makes staged files the only ones of a table, as OPTIMIZE does.
func commitReplace(t *testing.T, w *world, table *deltaio.Table, s *deltaio.Snapshot, files []*deltaio.StagedFile) {
	t.Helper()
	var actions []log.Action
	for _, f := range s.Files() {
		actions = append(actions, log.Action{Remove: f.Remove(w.clock.now().UnixMilli(), false)})
	}
	for _, f := range files {
		f.Add.DataChange = false
		actions = append(actions, log.Action{Add: f.Add})
	}
	_, err := table.Commit(w.ctx, s, deltaio.CommitOptions{Operation: "OPTIMIZE"}, func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) { return actions, nil })
	require.NoError(t, err)
}
