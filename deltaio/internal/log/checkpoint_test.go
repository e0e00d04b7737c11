package log_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// field is a column of a schema string.
func field(name, typ string, metadata ...string) string {
	if !strings.HasPrefix(typ, "{") {
		typ = `"` + typ + `"`
	}
	return fmt.Sprintf(`{"name":%q,"type":%s,"nullable":true,"metadata":{%s}}`, name, typ, strings.Join(metadata, ","))
}

func schemaOf(fields ...string) string {
	return `{"type":"struct","fields":[` + strings.Join(fields, ",") + `]}`
}

// richTable has every kind of action and of value that goes into a checkpoint.
func richTable(t *testing.T, configuration map[string]string, features ...string) *storage.Memory {
	t.Helper()
	s := storage.NewMemory()
	protocol := &log.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{}, WriterFeatures: []string{"domainMetadata"}}
	for _, f := range features {
		protocol.ReaderFeatures = append(protocol.ReaderFeatures, f)
		protocol.WriterFeatures = append(protocol.WriterFeatures, f)
	}
	nested := `{"type":"struct","fields":[` + field("x", "long") + `,` + field("y.z", "string") + `]}`
	meta := &log.Metadata{
		ID: "id", Name: ptr("n"), Description: ptr(""), Format: log.Format{Provider: "parquet", Options: map[string]string{}},
		SchemaString: schemaOf(field("l", "long"), field("i", "integer"), field("b", "byte"), field("f", "float"), field("d", "double"),
			field("s", "string"), field("day", "date"), field("at", "timestamp"), field("local", "timestamp_ntz"), field("small", "decimal(5,2)"),
			field("mid", "decimal(18,4)"), field("big", "decimal(38,10)"), field("flag", "boolean"), field("bin", "binary"), field("st", nested),
			field("p", "string"), field("q", "date"), field("r", "decimal(10,2)"), field("list", `{"type":"array","elementType":"long","containsNull":true}`)),
		PartitionColumns: []string{"p", "q", "r"}, CreatedTime: ptr(int64(5)), Configuration: configuration,
	}
	stats := func(n int) string {
		return fmt.Sprintf(`{"numRecords":%d,"minValues":{"l":-9223372036854775808,"i":-5,"b":-1,"f":0.1,"d":-1.5E300,"s":"é\"","day":"0001-01-01","at":"2024-01-01T00:00:00.123Z","local":"2024-01-01T00:00:00.000","small":-123.45,"mid":-0.0001,"big":-9999999999999999999999999999.9999999999,"flag":false,"st":{"x":1,"y.z":""}},`+
			`"maxValues":{"l":9223372036854775807,"i":5,"b":127,"f":"NaN","d":"Infinity","s":"z","day":"9999-12-31","at":"2024-01-01T00:00:00.123456Z","local":"2024-01-01T00:00:00.000","small":123.4,"mid":1,"big":0.0000000001,"flag":true,"st":{"x":2,"y.z":"q"}},`+
			`"nullCount":{"l":0,"bin":1,"list":2,"st":{"x":0,"y.z":3}},"tightBounds":false}`, n)
	}
	dv := &log.DeletionVector{StorageType: "u", PathOrInlineDv: "ab^-aqEH.-t@S}K{vb[*k^", Offset: ptr(int32(4)), SizeInBytes: 40, Cardinality: 6}
	add := func(path string, p, q, r *string) *log.Add {
		return &log.Add{Path: path, PartitionValues: map[string]*string{"p": p, "q": q, "r": r}, Size: 1 << 40, ModificationTime: -1, DataChange: true}
	}
	f1 := add("f1", ptr("a"), ptr("2024-02-29"), ptr("-0.50"))
	f1.Stats, f1.Tags, f1.BaseRowID, f1.DefaultRowCommitVersion, f1.ClusteringProvider = stats(1), map[string]string{"k": "v", "": ""}, ptr(int64(0)), ptr(int64(7)), ptr("liquid")
	f2 := add("f2", ptr(""), nil, nil)
	f2.DeletionVector, f2.Tags = dv, map[string]string{}
	f3 := add("f%203", ptr("%\u2028😀"), ptr("1969-12-31"), ptr("12345678.90"))
	f3.Stats = `{"numRecords":3}`
	gone := add("gone", ptr("a"), nil, ptr("1"))
	commit := func(v int64, actions ...log.Action) {
		data, err := log.EncodeCommit(actions)
		require.NoError(t, err)
		require.NoError(t, s.PutIfAbsent(t.Context(), log.CommitKey(v), data))
	}
	commit(0, log.Action{Protocol: protocol}, log.Action{Metadata: meta}, log.Action{Add: f1}, log.Action{Add: f2}, log.Action{Add: gone},
		log.Action{Txn: &log.Txn{AppID: "app", Version: 3, LastUpdated: ptr(int64(8))}}, log.Action{Txn: &log.Txn{AppID: "", Version: -1}},
		log.Action{Domain: &log.DomainMetadata{Domain: "delta.rowTracking", Configuration: `{"rowIdHighWaterMark":9}`}},
		log.Action{Domain: &log.DomainMetadata{Domain: "old", Configuration: "x"}})
	commit(1, log.Action{Add: f3}, log.Action{Remove: gone.Remove(1000, true)}, log.Action{Remove: &log.Remove{Path: "bare", DeletionTimestamp: ptr(int64(1000))}},
		log.Action{Domain: &log.DomainMetadata{Domain: "old", Configuration: "x", Removed: true}})
	return s
}

func TestWriteCheckpoint_every_value_reads_back_exactly(t *testing.T) {
	t.Parallel()
	for _, asJSON := range []string{"true", "false"} {
		for _, asStruct := range []string{"true", "false"} {
			for _, codec := range []string{"", "zstd", "snappy", "gzip", "lz4_raw", "none", "brotli?"} {
				t.Run(asJSON+asStruct+codec, func(t *testing.T) {
					t.Parallel()
					conf := map[string]string{
						"delta.checkpoint.writeStatsAsJson": asJSON, "delta.checkpoint.writeStatsAsStruct": asStruct, "delta.parquet.compression.codec": codec,
					}
					s := richTable(t, conf)
					want := load(t, s, -1)
					require.NoError(t, log.WriteCheckpoint(t.Context(), s, want, 0))
					remove(t, s, log.CommitKey(0))
					got := load(t, s, -1)
					if asJSON == "true" || asStruct == "true" {
						requireSameState(t, want, got)
					} else {
						require.Empty(t, got.Files[0].Stats)
					}
				})
			}
		}
	}
}

func TestWriteCheckpoint_struct_columns_have_the_types_of_the_table(t *testing.T) {
	t.Parallel()
	s := richTable(t, map[string]string{"delta.checkpoint.writeStatsAsStruct": "true"})
	checkpoint(t, s, 1)
	data, err := storage.ReadAll(t.Context(), s, checkpointKey(1), 0)
	require.NoError(t, err)
	f, err := parquet.OpenFile(strings.NewReader(string(data)), int64(len(data)))
	require.NoError(t, err)
	text := f.Schema().String()
	for _, want := range []string{
		"optional group partitionValues_parsed", "optional int32 q (DATE)", "optional int64 r (DECIMAL(10,2))",
		"optional group stats_parsed", "optional int32 b (INT(8,true))", "optional int32 small (DECIMAL(5,2))",
		"optional int64 mid (DECIMAL(18,4))", "optional fixed_len_byte_array(16) big (DECIMAL(38,10))", "optional boolean tightBounds",
		"optional int64 at (TIMESTAMP(isAdjustedToUTC=true,unit=MICROS))", "optional int64 local (TIMESTAMP(isAdjustedToUTC=false,unit=MICROS))",
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "checkpointMetadata")
	for _, c := range f.Metadata().RowGroups[0].Columns {
		if path := strings.Join(c.MetaData.PathInSchema, "."); strings.HasSuffix(path, "minValues.big") || path == "add.stats" {
			require.Empty(t, c.MetaData.Statistics.MinValue, path)
			require.Empty(t, c.MetaData.Statistics.MaxValue, path)
		}
	}
}

func TestWriteCheckpoint_unreadable_partition_value_leaves_the_struct_out(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ typ, value string }{
		"no date":          {"date", "someday"},
		"zone unknown":     {"timestamp", "2024-01-01 00:00:00"},
		"too many digits":  {"decimal(3,1)", "12.34"},
		"out of range":     {"byte", "300"},
		"no boolean":       {"boolean", "1"},
		"sub-microseconds": {"timestamp", "2024-01-01T00:00:00.0000001Z"},
	} {
		s := storage.NewMemory()
		meta := &log.Metadata{ID: "x", SchemaString: schemaOf(field("p", c.typ)), PartitionColumns: []string{"p"},
			Configuration: map[string]string{"delta.checkpoint.writeStatsAsStruct": "true"}}
		data, err := log.EncodeCommit([]log.Action{
			{Protocol: &log.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}}, {Metadata: meta},
			{Add: &log.Add{Path: "a", PartitionValues: map[string]*string{"p": &c.value}}},
		})
		require.NoError(t, err)
		require.NoError(t, s.PutIfAbsent(t.Context(), log.CommitKey(0), data))
		checkpoint(t, s, 0)
		file, err := storage.ReadAll(t.Context(), s, checkpointKey(0), 0)
		require.NoError(t, err)
		f, err := parquet.OpenFile(strings.NewReader(string(file)), int64(len(file)))
		require.NoError(t, err)
		require.NotContains(t, f.Schema().String(), "partitionValues_parsed", name)
		require.Equal(t, c.value, *load(t, s, -1).Files[0].PartitionValues["p"])
	}
}

func TestWriteCheckpoint_v2_table_gets_the_v2_spec(t *testing.T) {
	t.Parallel()
	s := richTable(t, nil, "v2Checkpoint")
	want := load(t, s, -1)
	checkpoint(t, s, 1)
	data, err := storage.ReadAll(t.Context(), s, checkpointKey(1), 0)
	require.NoError(t, err)
	f, err := parquet.OpenFile(strings.NewReader(string(data)), int64(len(data)))
	require.NoError(t, err)
	require.Contains(t, f.Schema().String(), "optional group checkpointMetadata")
	remove(t, s, log.CommitKey(0))
	requireSameState(t, want, load(t, s, -1))
}

func TestWriteCheckpoint_hint_tells_sizes_and_never_goes_back(t *testing.T) {
	t.Parallel()
	s := smallTable(t)
	checkpoint(t, s, 4)
	hint := func() (h struct {
		Version, Size, SizeInBytes, NumOfAddFiles int64
		Checksum                                  string
	}) {
		data, err := storage.ReadAll(t.Context(), s, hintKey, 0)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &h))
		return h
	}
	info, err := s.Stat(t.Context(), checkpointKey(4))
	require.NoError(t, err)
	h := hint()
	require.EqualValues(t, 4, h.Version)
	require.EqualValues(t, 5, h.NumOfAddFiles)
	require.EqualValues(t, 2+5+2, h.Size) // protocol, metaData, five files, two txns
	require.Equal(t, info.Size, h.SizeInBytes)
	require.Len(t, h.Checksum, 32)

	checkpoint(t, s, 2)
	require.EqualValues(t, 4, hint().Version)
	remove(t, s, checkpointKey(4))
	checkpoint(t, s, 2)
	require.EqualValues(t, 2, hint().Version, "a hint to nothing is replaced")
	checkpoint(t, s, 6)
	require.EqualValues(t, 6, hint().Version)
}

func TestWriteCheckpoint_version_without_its_commit_is_refused(t *testing.T) {
	t.Parallel()
	s := smallTable(t)
	st := load(t, s, -1)
	remove(t, s, log.CommitKey(6))
	require.ErrorIs(t, log.WriteCheckpoint(t.Context(), s, st, 0), storage.ErrNotExist)
	require.EqualValues(t, 5, load(t, s, -1).Version)
}

func TestWriteCheckpoint_expired_tombstones_stay_out(t *testing.T) {
	t.Parallel()
	s := richTable(t, map[string]string{"delta.deletedFileRetentionDuration": "interval 1 hour"})
	st := load(t, s, -1)
	require.Len(t, st.Tombstones, 2)
	require.NoError(t, log.WriteCheckpoint(t.Context(), s, st, 1000+3600_001))
	remove(t, s, log.CommitKey(0))
	require.Empty(t, load(t, s, -1).Tombstones)
}

func TestWriteCheckpoint_tombstone_exactly_as_old_as_the_retention_stays(t *testing.T) {
	t.Parallel()
	s := richTable(t, map[string]string{"delta.deletedFileRetentionDuration": "interval 1 hour"})
	st := load(t, s, -1)
	require.NoError(t, log.WriteCheckpoint(t.Context(), s, st, 1000+3600_000))
	remove(t, s, log.CommitKey(0))
	require.NotEmpty(t, load(t, s, -1).Tombstones, "a vacuum of this moment still keeps its file")
}

func TestWriteCheckpoint_mapped_columns_use_physical_names(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	meta := &log.Metadata{ID: "x", PartitionColumns: []string{"p"}, SchemaString: schemaOf(
		field("a", "long", `"delta.columnMapping.id":1`, `"delta.columnMapping.physicalName":"col-1"`),
		field("p", "integer", `"delta.columnMapping.id":2`, `"delta.columnMapping.physicalName":"col-2"`)),
		Configuration: map[string]string{"delta.columnMapping.mode": "name", "delta.checkpoint.writeStatsAsStruct": "true", "delta.checkpoint.writeStatsAsJson": "false"}}
	data, err := log.EncodeCommit([]log.Action{
		{Protocol: &log.Protocol{MinReaderVersion: 2, MinWriterVersion: 5}}, {Metadata: meta},
		{Add: &log.Add{Path: "a", PartitionValues: map[string]*string{"col-2": ptr("7")}, Stats: `{"numRecords":1,"minValues":{"col-1":3},"maxValues":{"col-1":3},"nullCount":{"col-1":0}}`}},
	})
	require.NoError(t, err)
	require.NoError(t, s.PutIfAbsent(t.Context(), log.CommitKey(0), data))
	want := load(t, s, -1)
	checkpoint(t, s, 0)
	requireSameState(t, want, load(t, s, -1))
	st, err := load(t, s, -1).Files[0].ParseStats()
	require.NoError(t, err)
	require.Equal(t, json.Number("3"), st.MinValues["col-1"])
}

// v2JSON stores a V2 checkpoint in JSON whose files lie in sidecars.
func v2JSON(t *testing.T, s *storage.Memory, v int64) (key string, sidecars []string) {
	t.Helper()
	st := load(t, s, v)
	for i := range 2 { // each sidecar is a checkpoint's file columns: half of the files
		part := *st
		part.Files = st.Files[i*len(st.Files)/2 : (i+1)*len(st.Files)/2]
		if i > 0 {
			part.Tombstones = nil
		}
		tmp := storage.NewMemory()
		require.NoError(t, log.WriteSidecar(t.Context(), tmp, &part, "x"))
		data, err := storage.ReadAll(t.Context(), tmp, "x", 0)
		require.NoError(t, err)
		name := fmt.Sprintf("s%d.parquet", i)
		require.NoError(t, s.Put(t.Context(), "_delta_log/_sidecars/"+name, data))
		sidecars = append(sidecars, fmt.Sprintf(`{"sidecar":{"path":%q,"sizeInBytes":%d,"modificationTime":1,"tags":{}}}`, name, len(data)))
	}
	lines := []string{fmt.Sprintf(`{"checkpointMetadata":{"version":%d,"tags":{}}}`, v), protocolLine, metadataLine}
	for id, x := range st.Txns {
		lines = append(lines, fmt.Sprintf(`{"txn":{"appId":%q,"version":%d}}`, id, x.Version))
	}
	key = fmt.Sprintf("_delta_log/%020d.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json", v)
	require.NoError(t, s.Put(t.Context(), key, []byte(strings.Join(append(lines, sidecars...), "\n")+"\n")))
	return key, sidecars
}

func TestLoad_v2_checkpoint_in_JSON_with_sidecars(t *testing.T) {
	t.Parallel()
	s := smallTable(t)
	v2JSON(t, s, 6)
	remove(t, s, log.CommitKey(0))
	requireLatest(t, s)
}

func TestLoad_v2_checkpoint_with_a_broken_sidecar_falls_back(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(t *testing.T, s *storage.Memory, key string){
		"missing": func(t *testing.T, s *storage.Memory, _ string) { remove(t, s, "_delta_log/_sidecars/s1.parquet") },
		"of another size": func(t *testing.T, s *storage.Memory, _ string) {
			data, err := storage.ReadAll(t.Context(), s, "_delta_log/_sidecars/s0.parquet", 0)
			require.NoError(t, err)
			require.NoError(t, s.Put(t.Context(), "_delta_log/_sidecars/s1.parquet", append(data, 0)))
		},
		"outside": func(t *testing.T, s *storage.Memory, key string) {
			edit(t, s, key, `"s1.parquet"`, `"../../s1.parquet"`)
		},
		"named twice": func(t *testing.T, s *storage.Memory, key string) {
			edit(t, s, key, `"s1.parquet"`, `"s0.parquet"`)
		},
		"version wrong": func(t *testing.T, s *storage.Memory, key string) {
			edit(t, s, key, `"version":6,"tags"`, `"version":5,"tags"`)
		},
		"no metadata of it": func(t *testing.T, s *storage.Memory, key string) {
			edit(t, s, key, `checkpointMetadata`, `otherMetadata`)
		},
		"no protocol":       func(t *testing.T, s *storage.Memory, key string) { edit(t, s, key, protocolLine, `{}`) },
		"cut between lines": cutLine,
		"empty":             func(t *testing.T, s *storage.Memory, key string) { require.NoError(t, s.Put(t.Context(), key, nil)) },
		"cut within the line": func(t *testing.T, s *storage.Memory, key string) {
			edit(t, s, key, `"modificationTime":1,"tags":{}}}`+"\n", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := smallTable(t)
			key, _ := v2JSON(t, s, 6)
			harm(t, s, key)
			requireLatest(t, s)
			remove(t, s, log.CommitKey(0))
			st, err := log.Load(t.Context(), s, -1)
			require.Error(t, err, "%v", st)
		})
	}
}

func edit(t *testing.T, s *storage.Memory, key, old, replacement string) {
	t.Helper()
	data, err := storage.ReadAll(t.Context(), s, key, 0)
	require.NoError(t, err)
	text := string(data)
	require.Contains(t, text, old)
	i := strings.LastIndex(text, old)
	require.NoError(t, s.Put(t.Context(), key, []byte(text[:i]+replacement+text[i+len(old):])))
}

// cutLine drops the last line, which leaves valid JSON, and writes the hint that
// knows better.
func cutLine(t *testing.T, s *storage.Memory, key string) {
	data, err := storage.ReadAll(t.Context(), s, key, 0)
	require.NoError(t, err)
	name := strings.TrimPrefix(key, "_delta_log/")
	hint := fmt.Sprintf(`{"version":6,"size":12,"numOfAddFiles":6,"v2Checkpoint":{"path":%q,"sizeInBytes":%d,"modificationTime":1}}`, name, len(data))
	require.NoError(t, s.Put(t.Context(), hintKey, []byte(hint)))
	lines := strings.SplitAfter(strings.TrimSpace(string(data)), "\n")
	require.NoError(t, s.Put(t.Context(), key, []byte(strings.Join(lines[:len(lines)-1], ""))))
}
