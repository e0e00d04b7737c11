package parquetfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/internal/pq"
	"github.com/lakewarden/lakewarden/deltaio/parquetfile"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
)

const rows = 3000

func record(t *testing.T) arrow.Record {
	t.Helper()
	s := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("name %d", i%977))
		l := b.Field(2).(*array.ListBuilder)
		l.Append(true)
		l.ValueBuilder().(*array.StringBuilder).Append(fmt.Sprint("t", i%5))
	}
	return b.NewRecord()
}

// plain is a file without page checksums, as most writers leave them.
func plain(t *testing.T) []byte {
	t.Helper()
	rec := record(t)
	defer rec.Release()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(rec.Schema(), &out, parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy)), pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	require.NoError(t, w.Write(rec))
	require.NoError(t, w.Close())
	return out.Bytes()
}

// summed is a file with page checksums.
func summed(t *testing.T) []byte {
	t.Helper()
	rec := record(t)
	defer rec.Release()
	var out bytes.Buffer
	w, err := pq.NewWriter(&out, []pq.Column{
		{Field: schema.Field{Name: "id", Type: schema.Long}},
		{Field: schema.Field{Name: "name", Type: schema.String, Nullable: true}},
		{Field: schema.Field{Name: "tags", Type: &schema.Array{Element: schema.String, ContainsNull: true}, Nullable: true}},
	}, pq.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(rec))
	_, err = w.Close()
	require.NoError(t, err)
	return out.Bytes()
}

func look(t *testing.T, data []byte) (parquetfile.Verified, error) {
	t.Helper()
	s := storage.NewMemory()
	require.NoError(t, s.Put(t.Context(), "f.parquet", data))
	f, err := parquetfile.Open(t.Context(), s, "f.parquet")
	if err != nil {
		return parquetfile.Verified{}, err
	}
	defer func() { require.NoError(t, f.Close()) }()
	return f.Verify(t.Context(), func(int64) {})
}

func kind(err error) parquetfile.Kind {
	var d *parquetfile.DamageError
	if errors.As(err, &d) {
		return d.Kind
	}
	return ""
}

func TestVerify_a_whole_file_is_read_by_checksum_or_by_decoding(t *testing.T) {
	t.Parallel()
	v, err := look(t, summed(t))
	require.NoError(t, err)
	require.Positive(t, v.Checksummed)
	require.Empty(t, v.Decoded)
	v, err = look(t, plain(t))
	require.NoError(t, err)
	require.Zero(t, v.Checksummed)
	require.Equal(t, []string{"id", "name", "tags"}, v.Decoded)
	require.Empty(t, v.Unread)
}

func TestVerify_each_damage_has_its_kind(t *testing.T) {
	t.Parallel()
	good := summed(t)
	flip := func(at int) []byte {
		b := bytes.Clone(good)
		b[at] ^= 0xff
		return b
	}
	for name, c := range map[string]struct {
		data []byte
		want parquetfile.Kind
	}{
		"truncated by 8 bytes":    {good[:len(good)-8], parquetfile.Truncated},
		"truncated to a half":     {good[:len(good)/2], parquetfile.Truncated},
		"truncated to its magic":  {good[:4], parquetfile.Truncated},
		"empty":                   {nil, parquetfile.NotParquet},
		"text":                    {[]byte("id;name\n1;Ana\n2;Rui\n"), parquetfile.NotParquet},
		"first byte":              {flip(0), parquetfile.BadHeader},
		"a page":                  {flip(len(good) / 3), parquetfile.BadPage},
		"length of the footer":    {flip(len(good) - 6), parquetfile.BadFooter},
		"beginning of the footer": {flip(len(good) - 8 - int(uint32(good[len(good)-8])|uint32(good[len(good)-7])<<8)), parquetfile.BadFooter},
		"encrypted":               {append(append([]byte("PARE"), good[4:len(good)-4]...), "PARE"...), parquetfile.Unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := look(t, c.data)
			require.Error(t, err)
			require.Equal(t, c.want, kind(err), "%v", err)
			require.ErrorContains(t, err, "f.parquet")
		})
	}
}

func TestVerify_a_flipped_byte_in_the_pages_never_passes_where_there_are_checksums(t *testing.T) {
	t.Parallel()
	good := summed(t)
	footer := len(good) - 8 - int(uint32(good[len(good)-8])|uint32(good[len(good)-7])<<8)
	missed := 0
	for at := 4; at < footer; at += 7 {
		b := bytes.Clone(good)
		b[at] ^= 0x55
		if _, err := look(t, b); err == nil {
			missed++
		}
	}
	// What remains are bytes of page headers (statistics, sizes before
	// compression), and of the page index, which no reader needs.
	require.Less(t, missed, footer/7/10)
}

func TestVerify_damaged_files_without_checksums_end_in_an_answer(t *testing.T) {
	t.Parallel()
	good := plain(t)
	for at := 0; at < len(good); at += 101 {
		b := bytes.Clone(good)
		b[at] ^= 0xff
		_, err := look(t, b)
		require.True(t, err == nil || kind(err) != "", "%d: %v", at, err)
		_, err = look(t, good[:at])
		require.NotEmpty(t, kind(err), "%d: %v", at, err)
	}
}

func TestOpen_a_missing_file_is_no_damage(t *testing.T) {
	t.Parallel()
	_, err := parquetfile.Open(t.Context(), storage.NewMemory(), "x")
	require.ErrorIs(t, err, storage.ErrNotExist)
	require.Empty(t, kind(err))
}

func TestOpen_a_store_that_fails_is_no_damage(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	require.NoError(t, s.Put(t.Context(), "f", plain(t)))
	broken := storage.NewFault(s)
	broken.Fail(func(o storage.Op) error {
		if o.Kind == storage.OpRead {
			return storage.ErrInjected
		}
		return nil
	})
	_, err := parquetfile.Open(t.Context(), broken, "f")
	require.ErrorIs(t, err, storage.ErrInjected)
	require.Empty(t, kind(err))
}

func TestColumns_types_are_those_that_the_table_would_have(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	require.NoError(t, s.Put(t.Context(), "f", plain(t)))
	f, err := parquetfile.Open(t.Context(), s, "f")
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	require.Equal(t, "id long, name string, tags array<string>", strings.ReplaceAll(f.Shape(), "bigint", "long"))
	require.EqualValues(t, rows, f.Rows())
	ok := schema.Field{Name: "id", Type: schema.Long}
	require.NoError(t, f.Readable(t.Context(), ok, false, false))
	require.Error(t, f.Readable(t.Context(), schema.Field{Name: "id", Type: schema.String, Nullable: true}, false, false))
	require.NoError(t, f.Readable(t.Context(), schema.Field{Name: "new", Type: schema.String, Nullable: true}, false, false))
	require.ErrorContains(t, f.Readable(t.Context(), schema.Field{Name: "new", Type: schema.String}, false, false), "required")
}
