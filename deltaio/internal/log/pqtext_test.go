package log_test

import (
	"bytes"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/log"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// typedValues is a struct column as other engines write it into a checkpoint.
type typedValues struct {
	Byte     *int32            `parquet:"byte,optional"`
	Long     *int64            `parquet:"long,optional"`
	Float    *float32          `parquet:"float,optional"`
	Double   *float64          `parquet:"double,optional"`
	Bool     *bool             `parquet:"bool,optional"`
	Text     *string           `parquet:"text,optional"`
	Date     *int32            `parquet:"date,optional,date"`
	Millis   *int64            `parquet:"millis,optional,timestamp(millisecond)"`
	Micros   *int64            `parquet:"micros,optional,timestamp(microsecond)"`
	Nanos    *int64            `parquet:"nanos,optional,timestamp(nanosecond)"`
	Local    *int64            `parquet:"local,optional,timestamp(microsecond:local)"`
	Int96    *deprecated.Int96 `parquet:"int96,optional"`
	Dec32    *int32            `parquet:"dec32,optional,decimal(2:9)"`
	Dec64    *int64            `parquet:"dec64,optional,decimal(4:18)"`
	DecFixed *[4]byte          `parquet:"decFixed,optional,decimal(3:9)"`
}

type foreignStats struct {
	NumRecords *int64           `parquet:"numRecords,optional"`
	MinValues  *typedValues     `parquet:"minValues,optional"`
	NullCount  *struct{ A int } `parquet:"nullCount,optional"`
}

type foreignAdd struct {
	Path       string        `parquet:"path,optional"`
	Size       int64         `parquet:"size,optional"`
	DataChange bool          `parquet:"dataChange,optional"`
	Partitions *typedValues  `parquet:"partitionValues_parsed,optional"`
	Stats      *foreignStats `parquet:"stats_parsed,optional"`
}

type foreignRow struct {
	Add      *foreignAdd `parquet:"add,optional"`
	Protocol *struct {
		Reader int32 `parquet:"minReaderVersion,optional"`
		Writer int32 `parquet:"minWriterVersion,optional"`
	} `parquet:"protocol,optional"`
	Metadata *struct {
		ID         string   `parquet:"id,optional"`
		Schema     string   `parquet:"schemaString,optional"`
		Partitions []string `parquet:"partitionColumns,list"`
	} `parquet:"metaData,optional"`
}

// foreignCheckpoint is a table that only such a checkpoint describes.
func foreignCheckpoint(t *testing.T, adds ...*foreignAdd) storage.Store {
	t.Helper()
	rows := make([]foreignRow, 2)
	rows[0].Protocol = &struct {
		Reader int32 `parquet:"minReaderVersion,optional"`
		Writer int32 `parquet:"minWriterVersion,optional"`
	}{1, 2}
	rows[1].Metadata = &struct {
		ID         string   `parquet:"id,optional"`
		Schema     string   `parquet:"schemaString,optional"`
		Partitions []string `parquet:"partitionColumns,list"`
	}{"x", schemaOf(field("a", "long")), []string{"p", "q"}}
	for _, a := range adds {
		rows = append(rows, foreignRow{Add: a})
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[foreignRow](&out)
	_, err := w.Write(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	s := storage.NewMemory()
	require.NoError(t, s.Put(t.Context(), checkpointKey(4), out.Bytes()))
	putCommit(t, s, 4, `{"commitInfo":{}}`)
	return s
}

func extremes() *typedValues {
	return &typedValues{
		Byte: ptr(int32(-7)), Long: ptr(int64(-9223372036854775808)), Float: ptr(float32(0.1)), Double: ptr(1e300), Bool: ptr(true),
		Text: ptr("é\"\n"), Date: ptr(int32(-1)), Millis: ptr(int64(-1)), Micros: ptr(int64(1704067200123456)), Nanos: ptr(int64(-1)),
		Local: ptr(int64(1704067200000000)), Int96: &deprecated.Int96{0x00000000, 0x00003000, 2440588 + 1},
		Dec32: ptr(int32(-5)), Dec64: ptr(int64(123456789012345678)), DecFixed: &[4]byte{0xff, 0xff, 0xff, 0xfe},
	}
}

func TestLoad_struct_only_statistics_become_exact_JSON(t *testing.T) {
	t.Parallel()
	s := foreignCheckpoint(t,
		&foreignAdd{Path: "a", Size: 1, Stats: &foreignStats{NumRecords: ptr(int64(5)), MinValues: extremes(), NullCount: &struct{ A int }{2}}},
		&foreignAdd{Path: "b", Size: 1, Stats: &foreignStats{MinValues: &typedValues{Long: ptr(int64(1))}}},
		&foreignAdd{Path: "c", Size: 1})
	st := load(t, s, -1)
	require.Equal(t, `{"numRecords":5,"minValues":{"byte":-7,"long":-9223372036854775808,"float":0.1,"double":1.0E300,"bool":true,`+
		`"text":"é\"\n","date":"1969-12-31","millis":"1969-12-31T23:59:59.999Z","micros":"2024-01-01T00:00:00.123456Z",`+
		`"nanos":"1969-12-31T23:59:59.999999Z","local":"2024-01-01T00:00:00.000","int96":"1970-01-02T14:39:36.558133Z",`+
		`"dec32":-0.05,"dec64":12345678901234.5678,"decFixed":-0.002},"nullCount":{"A":2}}`, st.Files[0].Stats)
	require.Equal(t, `{"minValues":{"long":1}}`, st.Files[1].Stats)
	require.Equal(t, "", st.Files[2].Stats)
	require.Equal(t, []string{"p", "q"}, st.Metadata.PartitionColumns)
	for _, a := range st.Files {
		_, err := a.ParseStats()
		require.NoError(t, err)
	}
}

func TestLoad_partition_values_in_structs_only_become_strings(t *testing.T) {
	t.Parallel()
	s := foreignCheckpoint(t,
		&foreignAdd{Path: "a", Size: 1, Partitions: extremes()}, &foreignAdd{Path: "b", Size: 1, Partitions: &typedValues{Text: ptr("x")}})
	got := map[string]string{}
	st := load(t, s, -1)
	for k, v := range st.Files[0].PartitionValues {
		got[k] = *v
	}
	delete(got, "int96")
	require.Equal(t, map[string]string{
		"byte": "-7", "long": "-9223372036854775808", "float": "0.1", "double": "1.0E300", "bool": "true", "text": "é\"\n", "date": "1969-12-31",
		"millis": "1969-12-31T23:59:59.999000Z", "micros": "2024-01-01T00:00:00.123456Z", "nanos": "1969-12-31T23:59:59.999999Z",
		"local": "2024-01-01 00:00:00", "dec32": "-0.05", "dec64": "12345678901234.5678", "decFixed": "-0.002",
	}, got)
	require.Nil(t, st.Files[1].PartitionValues["long"])
	require.Contains(t, st.Files[1].PartitionValues, "long")
	require.Equal(t, "x", *st.Files[1].PartitionValues["text"])
}

func TestLoad_checkpoint_without_keys_or_with_wrong_types_is_damaged(t *testing.T) {
	t.Parallel()
	type wrongAdd struct {
		Path int64 `parquet:"path,optional"`
	}
	type noPath struct {
		Size int64 `parquet:"size,optional"`
	}
	type other struct {
		X int64 `parquet:"x,optional"`
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"path is no string": func(b *bytes.Buffer) error {
			return parquet.Write(b, []struct {
				Add wrongAdd `parquet:"add,optional"`
			}{{wrongAdd{1}}})
		},
		"add has no path": func(b *bytes.Buffer) error {
			return parquet.Write(b, []struct {
				Add noPath `parquet:"add,optional"`
			}{{noPath{1}}})
		},
		"no action at all": func(b *bytes.Buffer) error { return parquet.Write(b, []other{{1}}) },
		"add is no struct": func(b *bytes.Buffer) error {
			return parquet.Write(b, []struct {
				Add string `parquet:"add,optional"`
			}{{"x"}})
		},
		"no rows": func(b *bytes.Buffer) error { return parquet.Write(b, []foreignRow{}) },
	} {
		var out bytes.Buffer
		require.NoError(t, write(&out))
		s := smallTable(t)
		require.NoError(t, s.Put(t.Context(), checkpointKey(6), out.Bytes()))
		requireLatest(t, s) // by the commits
		remove(t, s, log.CommitKey(0))
		_, err := log.Load(t.Context(), s, -1)
		var corrupt *log.CorruptError
		require.ErrorAs(t, err, &corrupt, name)
	}
}
