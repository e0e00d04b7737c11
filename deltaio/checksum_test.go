package deltaio_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func TestCommit_each_version_of_our_tables_has_a_checksum_that_agrees(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := memStore(c)
	table := create(t, s, c, deltaio.CreateOptions{Properties: map[string]string{"delta.enableInCommitTimestamps": "true", "delta.enableDeletionVectors": "true"}})
	for i := range 12 {
		appendFake(t, table, fakeFile(t, s, fmt.Sprintf("%d.parquet", i), nil))
	}
	for v := range int64(13) {
		sum, err := log.ReadChecksum(t.Context(), s, v)
		require.NoError(t, err)
		at, err := table.SnapshotAt(t.Context(), v)
		require.NoError(t, err)
		require.EqualValues(t, v, sum.NumFiles)
		require.Empty(t, sum.Differs(at.State()))
		commit, err := log.ReadCommit(t.Context(), s, v)
		require.NoError(t, err)
		var id string
		require.True(t, commit[0].CommitInfo.Get("txnId", &id))
		require.Equal(t, id, sum.TxnID)
		require.Equal(t, at.State().Timestamp, *sum.InCommitTimestamp)
	}
}

func TestCommit_a_checksum_that_cannot_be_written_fails_nothing_and_comes_back_with_a_checkpoint(t *testing.T) {
	t.Parallel()
	c := newClock()
	inner := memStore(c)
	s := storage.NewFault(inner)
	table := create(t, s, c, deltaio.CreateOptions{})
	s.Do(storage.BeforeCall, func(_ context.Context, op storage.Op) error {
		if strings.HasSuffix(op.Key, "1.crc") {
			return errors.New("away")
		}
		return nil
	})
	for i := range 11 {
		res, err := table.Commit(t.Context(), nil, deltaio.CommitOptions{Operation: "WRITE", BlindAppend: true}, adds(fakeFile(t, s, fmt.Sprintf("%d.parquet", i), nil)))
		require.NoError(t, err)
		require.NoError(t, res.Warning)
	}
	for v := range int64(12) {
		_, err := inner.Stat(t.Context(), log.ChecksumKey(v))
		if v == 0 || v == 10 {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, storage.ErrNotExist, "%d", v)
		}
	}
}
