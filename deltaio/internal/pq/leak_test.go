package pq

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	pgo "github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// marker is text that only rows to remove hold. Half of the markers sort before
// everything else, half after it, so that they are minima and maxima.
func marker(i int) string {
	if i%2 == 0 {
		return fmt.Sprintf("!SECRET-%06d", i)
	}
	return fmt.Sprintf("~SECRET-%06d", i)
}

var markedSchema = &schema.Struct{Fields: []schema.Field{
	{Name: "id", Type: schema.Long, Nullable: true},
	{Name: "name", Type: schema.String, Nullable: true},
	{Name: "tags", Type: &schema.Array{Element: schema.String, ContainsNull: true}, Nullable: true},
	{Name: "more", Type: &schema.Map{Key: schema.String, Value: schema.Binary, ValueContainsNull: true}, Nullable: true},
}}

// markedRecord makes rows of which those in the bitmap hold markers, and numbers
// of a kind that others do not have.
func markedRecord(r *rand.Rand, rows int) (arrow.Record, *Bitmap) {
	as, err := schema.ArrowSchema(markedSchema)
	if err != nil {
		panic(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, as)
	defer b.Release()
	secret := NewBitmap(rows)
	for i := range rows {
		text, id := fmt.Sprintf("plain-%d", r.IntN(50)), int64(r.IntN(1000))
		if r.IntN(3) == 0 {
			secret.Set(i)
			text, id = marker(i), secretNumber
		}
		b.Field(0).(*array.Int64Builder).Append(id)
		b.Field(1).(*array.StringBuilder).Append(text)
		list := b.Field(2).(*array.ListBuilder)
		list.Append(true)
		for range r.IntN(3) {
			list.ValueBuilder().(*array.StringBuilder).Append(text)
		}
		m := b.Field(3).(*array.MapBuilder)
		m.Append(true)
		m.KeyBuilder().(*array.StringBuilder).Append(text)
		m.ItemBuilder().(*array.BinaryBuilder).Append([]byte(text))
	}
	return b.NewRecord(), secret
}

const secretNumber = 0x5EC2E75EC2E75EC2

// requireNoSecret searches raw bytes, pages and values.
func requireNoSecret(t *testing.T, data []byte) {
	t.Helper()
	all := everyByte(t, data)
	require.NotContains(t, string(all), "SECRET")
	number := orderInt64.putInt(secretNumber)
	require.False(t, bytes.Contains(all, number), "number of a removed row")
}

func TestRewrite_nothing_of_removed_rows_is_left_in_the_file(t *testing.T) {
	t.Parallel()
	eachSeed(t, 12, func(t *testing.T, r *rand.Rand) {
		rec, secret := markedRecord(r, 2000)
		props := append(arrowProps(r), parquet.WithStats(true), parquet.WithMaxRowGroupLength(700))
		var buf bytes.Buffer
		w, err := pqarrow.NewFileWriter(rec.Schema(), &buf, parquet.NewWriterProperties(props...), pqarrow.DefaultWriterProps())
		require.NoError(t, err)
		require.NoError(t, w.AppendKeyValueMetadata("pandas", "first value SECRET"))
		require.NoError(t, w.AppendKeyValueMetadata("com.microsoft.parquet.vorder.enabled", "true"))
		require.NoError(t, w.AppendKeyValueMetadata("org.apache.spark.sql.parquet.row.metadata", "SECRET"))
		require.NoError(t, w.AppendKeyValueMetadata(keySparkVersion, "3.5.1"))
		require.NoError(t, w.Write(rec))
		require.NoError(t, w.Close())

		kept := FullBitmap(2000)
		kept.AndNot(secret)
		files, res := rewriteAll(t, buf.Bytes(), Options{}, Output{Columns: columnsOf(markedSchema), Rows: kept})
		require.Positive(t, res[0].Split)
		requireNoSecret(t, files[0])
		require.NotContains(t, res[0].Stats.JSON(nil), "SECRET")
		src, err := openSource(inMemory(files[0]))
		require.NoError(t, err)
		require.Len(t, src.meta.KeyValues, 1)
		require.Equal(t, keySparkVersion, src.meta.KeyValues[0].Key)
	})
}

// TestRewrite_bloom_filters_and_page_index_forget_removed_rows uses a file of
// parquet-go, which writes both.
func TestRewrite_bloom_filters_and_page_index_forget_removed_rows(t *testing.T) {
	t.Parallel()
	type row struct {
		ID   int64  `parquet:"id"`
		Name string `parquet:"name,dict"`
	}
	var buf bytes.Buffer
	w := pgo.NewGenericWriter[row](&buf, pgo.BloomFilters(pgo.SplitBlockFilter(10, "name"), pgo.SplitBlockFilter(10, "id")),
		pgo.PageBufferSize(2000), pgo.DataPageStatistics(true), pgo.KeyValueMetadata("note", "SECRET"))
	kept := NewBitmap(4000)
	for g := range 2 { // in the second row group nothing is removed
		for i := range 2000 {
			x := row{int64(i), fmt.Sprintf("plain-%d", i%70)}
			if g == 0 && i%5 == 0 {
				x = row{secretNumber, marker(i)}
			} else {
				kept.Set(2000*g + i)
			}
			_, err := w.Write([]row{x})
			require.NoError(t, err)
		}
		require.NoError(t, w.Flush())
	}
	require.NoError(t, w.Close())
	s := &schema.Struct{Fields: []schema.Field{{Name: "id", Type: schema.Long}, {Name: "name", Type: schema.String}}}
	files, res := rewriteAll(t, buf.Bytes(), Options{}, Output{Columns: columnsOf(s), Rows: kept})
	require.Equal(t, 1, res[0].Split)
	require.Equal(t, 1, res[0].RawCopied)
	requireNoSecret(t, files[0])

	f, err := pgo.OpenFile(bytes.NewReader(files[0]), int64(len(files[0])))
	require.NoError(t, err)
	split, copied := f.RowGroups()[0].ColumnChunks()[1], f.RowGroups()[1].ColumnChunks()[1]
	require.Nil(t, split.BloomFilter())
	require.NotNil(t, copied.BloomFilter())
	for value, want := range map[string]bool{"plain-3": true, "plain-69": true, "nowhere to be found": false} {
		found, err := copied.BloomFilter().Check(pgo.ValueOf(value))
		require.NoError(t, err)
		require.Equal(t, want, found, value)
	}
	for _, rg := range f.RowGroups() {
		requirePageIndex(t, rg)
	}
}

// requirePageIndex checks every page's bounds and position against its values.
func requirePageIndex(t *testing.T, rg pgo.RowGroup) {
	t.Helper()
	for _, cc := range rg.ColumnChunks() {
		ci, err := cc.ColumnIndex()
		require.NoError(t, err)
		oi, err := cc.OffsetIndex()
		require.NoError(t, err)
		require.Equal(t, ci.NumPages(), oi.NumPages())
		pages := cc.Pages()
		for i := range ci.NumPages() {
			require.NoError(t, pages.SeekToRow(oi.FirstRowIndex(i)))
			p, err := pages.ReadPage()
			require.NoError(t, err)
			require.NotZero(t, p.NumValues())
			vals := make([]pgo.Value, p.NumValues())
			_, _ = p.Values().ReadValues(vals) // io.EOF at the end of the page
			for _, v := range vals {
				if v.IsNull() {
					continue
				}
				require.LessOrEqual(t, cc.Type().Compare(ci.MinValue(i), v), 0)
				require.GreaterOrEqual(t, cc.Type().Compare(ci.MaxValue(i), v), 0)
			}
		}
		require.NoError(t, pages.Close())
	}
}

func TestRewrite_written_pages_carry_checksums(t *testing.T) {
	t.Parallel()
	rec, secret := markedRecord(rand.New(rand.NewPCG(3, 3)), 500)
	data := arrowFile(t, rec, 500, parquet.WithCompression(compress.Codecs.Snappy))
	files, _ := rewriteAll(t, data, Options{}, Output{Columns: columnsOf(markedSchema), Rows: secret})
	s, err := openSource(inMemory(files[0]))
	require.NoError(t, err)
	for i := range s.leaves {
		var r pageReader
		r.open(s, &s.meta.RowGroups[0].Columns[i].Meta.V)
		for r.left > 0 {
			p, err := r.next()
			require.NoError(t, err)
			require.True(t, p.header.CRC.Valid)
		}
	}
}
