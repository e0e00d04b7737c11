package deltaio_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// winner commits between the base and our commit.
type winner func(t *testing.T, w world)

type world struct {
	s     *storage.Memory
	c     *clock
	table *deltaio.Table
	a, b  *log.Add // live files
}

func TestCommit_conflict_matrix(t *testing.T) {
	t.Parallel()
	blind := func(t *testing.T, w world) { appendFake(t, w.table, fakeFile(t, w.s, "new.parquet", nil)) }
	update := func(t *testing.T, w world) {
		// Rewrites b: removes it and adds its successor.
		_, err := w.table.Commit(t.Context(), nil, deltaio.CommitOptions{Operation: "UPDATE"},
			func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
				return []log.Action{{Remove: w.b.Remove(1, true)}, {Add: fakeFile(t, w.s, "b2.parquet", nil)}}, nil
			})
		require.NoError(t, err)
	}
	deleteA := func(t *testing.T, w world) { removeFake(t, w.table, w.c, w.a) }
	addColumn := func(t *testing.T, w world) {
		_, err := deltaio.AddColumn(t.Context(), w.table, deltaio.AddColumnOptions{Name: "x", Type: schema.Long})
		require.NoError(t, err)
	}
	fence := func(t *testing.T, w world) {
		_, err := deltaio.Fence(t.Context(), w.table, deltaio.Step{AppID: "other", Version: 2}, nil)
		require.NoError(t, err)
	}
	raiseProtocol := func(t *testing.T, w world) {
		p := *snapshot(t, w.table).Protocol()
		p.MinWriterVersion = 4
		_, err := w.table.Commit(t.Context(), nil, deltaio.CommitOptions{Operation: "UPGRADE PROTOCOL"},
			func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
				return []log.Action{{Protocol: &p}}, nil
			})
		require.NoError(t, err)
	}
	all := deltaio.ReadSet{All: true}
	yes := deltaio.ReadSet{Predicate: func(*log.Add) bool { return true }}
	no := deltaio.ReadSet{Predicate: func(*log.Add) bool { return false }}
	for name, tc := range map[string]struct {
		win  winner
		opt  deltaio.CommitOptions
		rmA  bool
		want deltaio.ConflictKind // "": no conflict
	}{
		"blind append against blind append":             {blind, deltaio.CommitOptions{BlindAppend: true}, false, ""},
		"blind append against update":                   {update, deltaio.CommitOptions{BlindAppend: true}, false, ""},
		"blind append against delete":                   {deleteA, deltaio.CommitOptions{BlindAppend: true}, false, ""},
		"blind append against a foreign txn":            {fence, deltaio.CommitOptions{BlindAppend: true}, false, ""},
		"blind append against new column":               {addColumn, deltaio.CommitOptions{BlindAppend: true}, false, deltaio.MetadataChanged},
		"blind append against protocol":                 {raiseProtocol, deltaio.CommitOptions{BlindAppend: true}, false, deltaio.ProtocolChanged},
		"delete of a file against its delete":           {deleteA, deltaio.CommitOptions{}, true, deltaio.ConcurrentDelete},
		"delete of a file against blind append":         {blind, deltaio.CommitOptions{Reads: yes}, true, ""},
		"delete against blind append, serializable":     {blind, deltaio.CommitOptions{Reads: yes, IsolationSerializable: true}, true, deltaio.ConcurrentAppend},
		"delete against blind append outside predicate": {blind, deltaio.CommitOptions{Reads: no, IsolationSerializable: true}, true, ""},
		"delete of a file against update of another":    {update, deltaio.CommitOptions{Reads: yes}, true, deltaio.ConcurrentAppend},
		"delete against update outside its predicate":   {update, deltaio.CommitOptions{Reads: no}, true, ""},
		"delete that read nothing more against update":  {update, deltaio.CommitOptions{}, true, ""},
		"whole-table read against delete":               {deleteA, deltaio.CommitOptions{Reads: all}, false, deltaio.ConcurrentDeleteRead},
		"whole-table read against blind append":         {blind, deltaio.CommitOptions{Reads: all}, false, ""},
		"whole-table read against update":               {update, deltaio.CommitOptions{Reads: all}, true, deltaio.ConcurrentDeleteRead},
		"read of a file against its delete":             {deleteA, deltaio.CommitOptions{Reads: deltaio.ReadSet{Files: map[deltaio.FileKey]struct{}{{Path: "a.parquet"}: {}}}}, false, deltaio.ConcurrentDeleteRead},
		"read of another file against delete":           {deleteA, deltaio.CommitOptions{Reads: deltaio.ReadSet{Files: map[deltaio.FileKey]struct{}{{Path: "b.parquet"}: {}}}}, false, ""},
		"own application id moved by a foreign hand":    {fence, deltaio.CommitOptions{Step: &deltaio.Step{AppID: "other", Version: 3}}, false, deltaio.ConcurrentTxn},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClock()
			s := memStore(c)
			w := world{s: s, c: c, table: create(t, s, c, deltaio.CreateOptions{})}
			w.a, w.b = fakeFile(t, s, "a.parquet", nil), fakeFile(t, s, "b.parquet", nil)
			appendFake(t, w.table, w.a, w.b)
			base := snapshot(t, w.table)
			tc.win(t, w)
			won := snapshot(t, w.table).Version()

			ours := fakeFile(t, s, "ours.parquet", nil)
			opt := tc.opt
			opt.Operation = "TEST"
			res, err := w.table.Commit(t.Context(), base, opt, func(context.Context, *deltaio.Snapshot, int) ([]log.Action, error) {
				actions := []log.Action{{Add: ours}}
				if tc.rmA {
					actions = append(actions, log.Action{Remove: w.a.Remove(1, true)})
				}
				return actions, nil
			})
			if tc.want == "" {
				require.NoError(t, err)
				require.Equal(t, won+1, res.Version)
				return
			}
			var conflict *deltaio.ConflictError
			require.ErrorAs(t, err, &conflict)
			require.Equal(t, tc.want, conflict.Kind)
			require.Equal(t, won, conflict.Version)
			require.Equal(t, won, snapshot(t, w.table).Version(), "nothing was written")
		})
	}
}

func TestCommit_same_file_name_added_twice_conflicts(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{})
	base := snapshot(t, table)
	f := fakeFile(t, s, "same.parquet", nil)
	appendFake(t, table, f)
	_, err := table.Commit(t.Context(), base, deltaio.CommitOptions{BlindAppend: true}, adds(f))
	var conflict *deltaio.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, deltaio.ConcurrentFile, conflict.Kind)
}
