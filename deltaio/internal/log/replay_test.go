package log_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func TestLoad_same_file_readded_and_reconciled_by_its_uri(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	putCommit(t, s, 0, protocolLine, metadataLine, addLine("p=a%20b/x"), addLine("y"))
	putCommit(t, s, 1, removeLine("p=a b/x"))
	st := load(t, s, -1)
	require.Equal(t, []string{"y"}, paths(st))
	require.Len(t, st.Tombstones, 1)
	putCommit(t, s, 2, addLine("p=a%20b/x"), removeLine("y"))
	putCommit(t, s, 3, strings.Replace(addLine("p=a%20b/x"), `"size":1`, `"size":2`, 1)) // new statistics
	st = load(t, s, -1)
	require.Equal(t, []string{"p=a%20b/x"}, paths(st))
	require.EqualValues(t, 2, st.Files[0].Size)
	require.Len(t, st.Tombstones, 1)
	require.Equal(t, "y", st.Tombstones[0].Path)
}

func TestLoad_commit_that_tears_a_file_does_not_matter_once_overwritten(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	putCommit(t, s, 0, protocolLine, metadataLine, addLine("a"))
	putCommit(t, s, 1, removeLine("a"), addLine("a"))
	putCommit(t, s, 2, removeLine("a"))
	require.Empty(t, load(t, s, -1).Files)
}

func TestLoad_domains_and_txns_newest_wins_removed_domains_vanish(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	putCommit(t, s, 0, protocolLine, metadataLine,
		`{"domainMetadata":{"domain":"a","configuration":"1","removed":false}}`,
		`{"domainMetadata":{"domain":"b","configuration":"1","removed":false}}`,
		`{"txn":{"appId":"x","version":9}}`)
	putCommit(t, s, 1, `{"domainMetadata":{"domain":"a","configuration":"1","removed":true}}`,
		`{"domainMetadata":{"domain":"b","configuration":"2","removed":false}}`, `{"txn":{"appId":"x","version":3}}`)
	for range 2 {
		st := load(t, s, -1)
		require.Len(t, st.Domains, 1)
		require.Equal(t, "2", st.Domains["b"].Configuration)
		require.EqualValues(t, 3, st.Txns["x"].Version)
		checkpoint(t, s, 1)
	}
}

func TestAdvance_reads_only_what_is_new(t *testing.T) {
	t.Parallel()
	m := smallTable(t)
	var mu sync.Mutex // commits are read side by side
	var opened []string
	s := storage.Trace(m, func(op storage.Op) {
		mu.Lock()
		defer mu.Unlock()
		if op.Kind == storage.OpOpen {
			opened = append(opened, op.Key)
		}
	})
	st := load(t, m, 4)
	next, err := st.Advance(t.Context(), s, -1)
	require.NoError(t, err)
	require.Equal(t, latestFiles, paths(next))
	require.ElementsMatch(t, []string{log.CommitKey(5), log.CommitKey(6)}, opened)
	require.Equal(t, []string{"f0", "f1", "f2", "f3", "f4"}, paths(st), "the older state stays as it was")

	same, err := next.Advance(t.Context(), s, -1)
	require.NoError(t, err)
	require.Same(t, next, same)
	five, err := st.Advance(t.Context(), s, 5)
	require.NoError(t, err)
	require.EqualValues(t, 5, five.Version)
	_, err = next.Advance(t.Context(), s, 5)
	require.ErrorContains(t, err, "older")
	_, err = next.Advance(t.Context(), s, 9)
	var version *log.VersionError
	require.ErrorAs(t, err, &version)
}

func TestAdvance_over_a_cleaned_or_replaced_log_loads_anew(t *testing.T) {
	t.Parallel()
	s := smallTable(t)
	st := load(t, s, 1)
	checkpoint(t, s, 5)
	for v := range int64(5) {
		remove(t, s, log.CommitKey(v))
	}
	next, err := st.Advance(t.Context(), s, -1)
	require.NoError(t, err)
	require.Equal(t, latestFiles, paths(next))

	young := storage.NewMemory() // the table was dropped and made anew
	putCommit(t, young, 0, protocolLine, metadataLine, addLine("new"))
	next, err = next.Advance(t.Context(), young, -1)
	require.NoError(t, err)
	require.Equal(t, []string{"new"}, paths(next))
}
