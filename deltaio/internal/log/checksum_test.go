package log_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func checksumTable(t *testing.T) (*storage.Memory, *log.State) {
	t.Helper()
	s := storage.NewMemory()
	put := func(version int64, lines ...string) {
		require.NoError(t, s.Put(t.Context(), log.CommitKey(version), []byte(strings.Join(lines, "\n"))))
	}
	put(0, `{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors","domainMetadata"]}}`,
		`{"metaData":{"id":"t","name":"sales","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":[],"configuration":{"a":"b"},"createdTime":5}}`)
	put(1, `{"txn":{"appId":"app","version":3,"lastUpdated":7}}`, `{"domainMetadata":{"domain":"d","configuration":"{}","removed":false}}`,
		`{"add":{"path":"a","partitionValues":{},"size":10,"modificationTime":1,"dataChange":true,"stats":"{\"numRecords\":9}"}}`,
		`{"add":{"path":"b","partitionValues":{},"size":5,"modificationTime":1,"dataChange":true,"stats":"{\"numRecords\":9}","deletionVector":{"storageType":"i","pathOrInlineDv":"wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L","sizeInBytes":40,"cardinality":6}}}`)
	put(2, `{"remove":{"path":"a","deletionTimestamp":9,"dataChange":true,"size":10}}`, `{"add":{"path":"c","partitionValues":{},"size":7,"modificationTime":1,"dataChange":true}}`)
	st, err := log.Load(t.Context(), s, -1)
	require.NoError(t, err)
	return s, st
}

func TestChecksum_what_is_written_reads_back_and_agrees(t *testing.T) {
	t.Parallel()
	s, st := checksumTable(t)
	require.NoError(t, log.WriteChecksum(t.Context(), s, st, "tx-1"))
	c, err := log.ReadChecksum(t.Context(), s, 2)
	require.NoError(t, err)
	require.Equal(t, "tx-1", c.TxnID)
	require.EqualValues(t, 12, c.TableSizeBytes)
	require.EqualValues(t, 2, c.NumFiles)
	require.EqualValues(t, 6, *c.NumDeletedRecords)
	require.EqualValues(t, 1, *c.NumDeletionVectors)
	require.Nil(t, c.InCommitTimestamp)
	require.Equal(t, "app", c.SetTransactions[0].AppID)
	require.Equal(t, "d", c.Domains[0].Domain)
	require.Equal(t, st.Metadata, c.Metadata)
	require.Equal(t, st.Protocol, c.Protocol)
	require.False(t, c.ListsFiles)
	require.Empty(t, c.Differs(st))
}

func TestChecksum_one_that_is_there_is_not_overwritten(t *testing.T) {
	t.Parallel()
	s, st := checksumTable(t)
	require.NoError(t, s.Put(t.Context(), log.ChecksumKey(2), []byte("theirs")))
	require.ErrorIs(t, log.WriteChecksum(t.Context(), s, st, ""), storage.ErrExist)
	_, err := log.ReadChecksum(t.Context(), s, 2)
	var corrupt *log.CorruptError
	require.ErrorAs(t, err, &corrupt)
	_, err = log.ReadChecksum(t.Context(), s, 1)
	require.ErrorIs(t, err, storage.ErrNotExist)
}

func TestChecksum_each_difference_is_named(t *testing.T) {
	t.Parallel()
	s, st := checksumTable(t)
	require.NoError(t, log.WriteChecksum(t.Context(), s, st, ""))
	data, err := storage.ReadAll(t.Context(), s, log.ChecksumKey(2), 0)
	require.NoError(t, err)
	for name, edit := range map[string][2]string{
		"tableSizeBytes":           {`"tableSizeBytes":12`, `"tableSizeBytes":13`},
		"numFiles":                 {`"numFiles":2`, `"numFiles":3`},
		"numMetadata":              {`"numMetadata":1`, `"numMetadata":2`},
		"numDeletedRecords":        {`"numDeletedRecordsOpt":6`, `"numDeletedRecordsOpt":7`},
		"application transactions": {`"version":3`, `"version":4`},
		"metadata domains":         {`"domain":"d"`, `"domain":"e"`},
		"metadata is not":          {`"a":"b"`, `"a":"c"`},
		"protocol":                 {`"minWriterVersion":7`, `"minWriterVersion":6`},
	} {
		require.Contains(t, string(data), edit[0])
		require.NoError(t, s.Put(t.Context(), log.ChecksumKey(2), []byte(strings.Replace(string(data), edit[0], edit[1], 1))))
		c, err := log.ReadChecksum(t.Context(), s, 2)
		require.NoError(t, err)
		differs := c.Differs(st)
		require.Len(t, differs, 1, name)
		require.Contains(t, differs[0], name)
	}
	for _, bad := range []string{"", "{}", "[]", strings.Replace(string(data), `"numFiles":2,`, "", 1), strings.Replace(string(data), `"metadata":{`, `"metadata":7,"x":{`, 1)} {
		require.NoError(t, s.Put(t.Context(), log.ChecksumKey(2), []byte(bad)))
		_, err := log.ReadChecksum(t.Context(), s, 2)
		var corrupt *log.CorruptError
		require.True(t, errors.As(err, &corrupt), bad)
	}
}

var crcName = regexp.MustCompile(`^(\d{20})\.crc$`)

// Other engines' checksums say what our replay says.
func TestTables_checksums_of_other_engines_agree(t *testing.T) {
	t.Parallel()
	root := os.Getenv("LAKEWARDEN_TABLES")
	if root == "" {
		t.Skip("LAKEWARDEN_TABLES names no folder of tables")
	}
	n := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		m := crcName.FindStringSubmatch(d.Name())
		if err != nil || m == nil || filepath.Base(filepath.Dir(path)) != "_delta_log" {
			return err
		}
		version, err := strconv.ParseInt(m[1], 10, 64)
		require.NoError(t, err)
		s, err := storage.OpenLocal(filepath.Dir(filepath.Dir(path)))
		require.NoError(t, err)
		defer s.Close()
		st, err := log.Load(t.Context(), s, version)
		if err != nil {
			t.Logf("%s: %v", path, err)
			return nil
		}
		c, err := log.ReadChecksum(t.Context(), s, version)
		require.NoError(t, err, path)
		if differs := c.Differs(st); len(differs) > 0 {
			t.Errorf("%s: %v", path, differs)
		}
		n++
		return nil
	}))
	t.Logf("%d checksums compared", n)
}
