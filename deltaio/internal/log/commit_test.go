package log_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

func ptr[T any](v T) *T { return &v }

// putCommit stores raw lines as a commit.
func putCommit(t *testing.T, s storage.Store, version int64, lines ...string) {
	t.Helper()
	require.NoError(t, s.PutIfAbsent(t.Context(), log.CommitKey(version), []byte(strings.Join(lines, "\n")+"\n")))
}

const (
	protocolLine = `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}`
	metadataLine = `{"metaData":{"id":"t","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":[],"configuration":{}}}`
)

func addLine(path string) string {
	return fmt.Sprintf(`{"add":{"path":%q,"partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}}`, path)
}

func removeLine(path string) string {
	return fmt.Sprintf(`{"remove":{"path":%q,"deletionTimestamp":7,"dataChange":true}}`, path)
}

func TestReadCommit_unknown_fields_and_actions_survive_a_rewrite(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"commitInfo":{"timestamp":1,"operation":"WRITE","operationParameters":{"mode":1},"x":{"n":12345678901234567890123}}}`,
		`{"add":{"path":"a b","partitionValues":{"p":null,"q":"1"},"size":9007199254740993,"modificationTime":2,"dataChange":false,"stats":"{\"numRecords\":1}","tags":{"k":"v"},"deletionVector":{"storageType":"u","pathOrInlineDv":"ab^-aqEH.-t@S}K{vb[*k^","offset":4,"sizeInBytes":40,"cardinality":6,"maxRowIndex":29},"baseRowId":0,"defaultRowCommitVersion":5,"clusteringProvider":"liquid","future":[1,{"deep":1e400}]}}`,
		`{"newAction":{"a":[true,null]}}`,
		`{"txn":{"appId":"","version":-9223372036854775808,"lastUpdated":3,"y":"z"}}`,
		`{"domainMetadata":{"domain":"delta.x","configuration":"{}","removed":true,"w":0.10}}`,
	}
	s := storage.NewMemory()
	putCommit(t, s, 3, lines...)
	actions, err := log.ReadCommit(t.Context(), s, 3)
	require.NoError(t, err)
	require.Len(t, actions, len(lines))
	add := actions[1].Add
	require.EqualValues(t, 9007199254740993, add.Size)
	require.Nil(t, add.PartitionValues["p"])
	require.Contains(t, add.PartitionValues, "p")
	require.Equal(t, "uab^-aqEH.-t@S}K{vb[*k^@4", add.DeletionVector.ID())
	require.Equal(t, `[1,{"deep":1e400}]`, string(add.Extra["future"]))
	require.Equal(t, "WRITE", actions[0].CommitInfo.Operation())

	data, err := log.EncodeCommit(actions)
	require.NoError(t, err)
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		require.Equal(t, canonical(t, lines[i]), canonical(t, line))
	}
}

// canonical sorts members and keeps numbers as they are written.
func canonical(t *testing.T, line string) string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(line))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v))
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return string(out)
}

func TestReadCommit_unknown_action_beside_a_known_one_gives_both(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	putCommit(t, s, 0, `{"add":{"path":"a","size":1,"modificationTime":1,"dataChange":true},"remove":null,"extra":{"b":1}}`, "", `{}`)
	actions, err := log.ReadCommit(t.Context(), s, 0)
	require.NoError(t, err)
	require.Len(t, actions, 2)
	require.Equal(t, "a", actions[0].Add.Path)
	require.Equal(t, "extra", actions[1].Unknown.Name)
}

func TestReadCommit_damage_names_the_commit_and_the_line(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string]string{
		"cut line":            protocolLine + "\n" + addLine("a")[:30],
		"text behind":         protocolLine + "\n" + protocolLine + " x",
		"two known actions":   protocolLine + "\n" + `{"add":{"path":"a","size":1},"remove":{"path":"b"}}`,
		"no path":             protocolLine + "\n" + `{"add":{"size":1}}`,
		"no size":             protocolLine + "\n" + `{"add":{"path":"a"}}`,
		"float size":          protocolLine + "\n" + `{"add":{"path":"a","size":1.5}}`,
		"size out of range":   protocolLine + "\n" + `{"add":{"path":"a","size":9223372036854775808}}`,
		"not UTF-8":           protocolLine + "\n" + "{\"add\":{\"path\":\"a\xff\",\"size\":1}}",
		"half a surrogate":    protocolLine + "\n" + `{"add":{"path":"a\ud800","size":1}}`,
		"not an object":       protocolLine + "\n" + `[1]`,
		"incomplete dv":       protocolLine + "\n" + `{"add":{"path":"a","size":1,"deletionVector":{"storageType":"u"}}}`,
		"control character":   protocolLine + "\n" + "{\"add\":{\"path\":\"a\x01\",\"size\":1}}",
		"deeply nested":       protocolLine + "\n" + `{"x":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
		"txn without version": protocolLine + "\n" + `{"txn":{"appId":"a"}}`,
	} {
		s := storage.NewMemory()
		require.NoError(t, s.Put(t.Context(), log.CommitKey(5), []byte(lines)))
		_, err := log.ReadCommit(t.Context(), s, 5)
		var corrupt *log.CorruptError
		require.ErrorAs(t, err, &corrupt, name)
		require.Equal(t, log.CommitKey(5), corrupt.Key, name)
		require.ErrorContains(t, err, "line 2", name)
	}
}

func TestReadCommit_empty_file_is_a_torn_write(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	for _, content := range []string{"", "\n\n"} {
		require.NoError(t, s.Put(t.Context(), log.CommitKey(0), []byte(content)))
		_, err := log.ReadCommit(t.Context(), s, 0)
		require.ErrorContains(t, err, "torn")
	}
	_, err := log.ReadCommit(t.Context(), s, 1)
	require.ErrorIs(t, err, storage.ErrNotExist)
}

func TestReadCommit_line_over_the_limit_is_refused_and_one_below_is_read(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	long := strings.Repeat("x", 3<<20)
	putCommit(t, s, 0, `{"commitInfo":{"note":"`+long+`"}}`, addLine("a"))
	actions, err := log.ReadCommit(t.Context(), s, 0)
	require.NoError(t, err)
	require.Len(t, actions, 2)
	putCommit(t, s, 1, `{"commitInfo":{"note":"`+strings.Repeat("x", 66<<20)+`"}}`)
	_, err = log.ReadCommit(t.Context(), s, 1)
	require.ErrorContains(t, err, "longer than")
}

func TestReadCommit_store_failure_is_no_damage(t *testing.T) {
	t.Parallel()
	m := storage.NewMemory()
	putCommit(t, m, 0, protocolLine)
	f := storage.NewFault(m)
	f.Fail(func(op storage.Op) error {
		if op.Kind == storage.OpRead {
			return storage.ErrInjected
		}
		return nil
	})
	_, err := log.ReadCommit(t.Context(), f, 0)
	require.ErrorIs(t, err, storage.ErrInjected)
	var corrupt *log.CorruptError
	require.NotErrorAs(t, err, &corrupt)
}

func TestEncodeCommit_refuses_what_the_protocol_forbids_in_one_commit(t *testing.T) {
	t.Parallel()
	add := func(p, dv string) log.Action {
		a := &log.Add{Path: p}
		if dv != "" {
			a.DeletionVector = &log.DeletionVector{StorageType: "i", PathOrInlineDv: dv}
		}
		return log.Action{Add: a}
	}
	remove := func(p string) log.Action { return log.Action{Remove: &log.Remove{Path: p}} }
	info := log.Action{CommitInfo: &log.CommitInfo{}}
	meta := log.Action{Metadata: &log.Metadata{ID: "t", SchemaString: "{}"}}
	protocol := log.Action{Protocol: &log.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}}
	txn := log.Action{Txn: &log.Txn{AppID: "a"}}
	for name, actions := range map[string][]log.Action{
		"no actions":            {},
		`two add`:               {add("a", ""), add("a", "x")},
		`for "a b"`:             {add("a b", ""), add("a%20b", "")},
		`two remove`:            {remove("a"), remove("a")},
		`two metaData`:          {meta, meta},
		`two protocol`:          {protocol, protocol},
		`two txn`:               {txn, txn},
		`must be the first`:     {txn, info},
		`belong to checkpoints`: {{Sidecar: &log.Sidecar{Path: "x"}}},
		`exactly one member`:    {{Add: &log.Add{Path: "a"}, Txn: &log.Txn{}}},
		`not UTF-8`:             {add("a\xff", "")},
		`column "c" is not`:     {{Add: &log.Add{Path: "a", PartitionValues: map[string]*string{"c": ptr("\xff")}}}},
	} {
		_, err := log.EncodeCommit(actions)
		require.ErrorContains(t, err, name)
	}
	_, err := log.EncodeCommit([]log.Action{info, remove("a"), add("a", "x"), txn, meta, protocol})
	require.NoError(t, err)
}

func TestEncodeCommit_any_action_reads_back_equal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		actions := []log.Action{drawAction(rt)}
		data, err := log.EncodeCommit(actions)
		require.NoError(rt, err)
		require.Equal(rt, 1, strings.Count(string(data), "\n"))
		s := storage.NewMemory()
		require.NoError(rt, s.Put(context.Background(), log.CommitKey(0), data))
		got, err := log.ReadCommit(context.Background(), s, 0)
		require.NoError(rt, err)
		require.Equal(rt, actions, got)
	})
}

// text draws strings with everything JSON must escape.
func text(t *rapid.T, name string) string {
	return rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"a", "\"\\\n\r\t\x00\x7f", "\u2028\u2029é😀%2B+", "{}", "\ufffd"}),
	).Draw(t, name)
}

func opt[T any](t *rapid.T, name string, draw func() T) *T {
	if rapid.Bool().Draw(t, name) {
		return ptr(draw())
	}
	return nil
}

func drawAction(t *rapid.T) log.Action {
	integer := func(name string) int64 { return rapid.Int64().Draw(t, name) }
	optInt := func(name string) *int64 { return opt(t, name+"?", func() int64 { return integer(name) }) }
	strMap := func(name string) map[string]string {
		m := map[string]string{}
		for range rapid.IntRange(0, 2).Draw(t, name) {
			m[text(t, "key")] = text(t, "value")
		}
		return m
	}
	values := map[string]*string{}
	for range rapid.IntRange(0, 2).Draw(t, "values") {
		values[text(t, "column")] = opt(t, "null", func() string { return text(t, "value") })
	}
	extra := log.Extra(nil)
	if rapid.Bool().Draw(t, "extra") {
		extra = log.Extra{"unknown": json.RawMessage(`{"a":[1.50,null]}`)}
	}
	path := "p" + text(t, "path")
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		return log.Action{Add: &log.Add{Path: path, PartitionValues: values, Size: integer("size"),
			ModificationTime: integer("time"), DataChange: rapid.Bool().Draw(t, "change"), Stats: text(t, "stats"),
			Tags: strMap("tags"), BaseRowID: optInt("row"), DefaultRowCommitVersion: optInt("version"), Extra: extra,
			ClusteringProvider: opt(t, "clustering", func() string { return text(t, "provider") })}}
	case 1:
		return log.Action{Remove: &log.Remove{Path: path, DeletionTimestamp: optInt("deleted"),
			DataChange: rapid.Bool().Draw(t, "change"), ExtendedFileMetadata: opt(t, "extended", func() bool { return true }),
			PartitionValues: values, Size: optInt("size"), Tags: strMap("tags"), Extra: extra,
			DeletionVector: &log.DeletionVector{StorageType: "i", PathOrInlineDv: "x", SizeInBytes: 1, Cardinality: integer("rows")}}}
	case 2:
		return log.Action{Txn: &log.Txn{AppID: text(t, "app"), Version: integer("version"), LastUpdated: optInt("updated"), Extra: extra}}
	case 3:
		return log.Action{Domain: &log.DomainMetadata{Domain: text(t, "domain"), Configuration: text(t, "configuration"),
			Removed: rapid.Bool().Draw(t, "removed"), Extra: extra}}
	case 4:
		return log.Action{Metadata: &log.Metadata{ID: text(t, "id"), Name: opt(t, "name?", func() string { return text(t, "name") }),
			Format: log.Format{Provider: "parquet", Options: strMap("options")}, SchemaString: "s" + text(t, "schema"),
			PartitionColumns: []string{text(t, "column")}, CreatedTime: optInt("created"), Configuration: strMap("configuration"), Extra: extra}}
	case 5:
		return log.Action{Protocol: &log.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{},
			WriterFeatures: []string{text(t, "feature")}, Extra: extra}}
	default:
		return log.Action{CDC: &log.AddCDCFile{Path: path, PartitionValues: values, Size: integer("size"), Tags: strMap("tags"), Extra: extra}}
	}
}
