package scan_test

import (
	"bytes"
	"fmt"
	"math/big"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// deltaType draws a type.
func (g *gen) deltaType(depth int) schema.Type {
	if depth > 0 {
		switch g.IntN(8) {
		case 0:
			return g.deltaStruct(depth-1, 1+g.IntN(3))
		case 1, 2:
			return &schema.Array{Element: g.deltaType(depth - 1), ContainsNull: g.oneIn(2)}
		case 3:
			return &schema.Map{Key: g.deltaPrimitive(), Value: g.deltaType(depth - 1), ValueContainsNull: g.oneIn(2)}
		}
	}
	return g.deltaPrimitive()
}

func (g *gen) deltaPrimitive() schema.Type {
	if g.oneIn(6) {
		p := 1 + g.IntN(38)
		return schema.Decimal{Precision: p, Scale: g.IntN(p + 1)}
	}
	return pick(g, schema.Boolean, schema.Byte, schema.Short, schema.Integer, schema.Long, schema.Float, schema.Double,
		schema.String, schema.Binary, schema.Date, schema.Timestamp, schema.TimestampNTZ)
}

func (g *gen) deltaStruct(depth, fields int) *schema.Struct {
	s := &schema.Struct{}
	for i := range fields {
		s.Fields = append(s.Fields, schema.Field{Name: fmt.Sprintf("f%d", i), Type: g.deltaType(depth), Nullable: g.oneIn(2)})
	}
	return s
}

// deltaValue draws a value.
func (g *gen) deltaValue(t schema.Type, nullable bool) any {
	if nullable && g.oneIn(4) {
		return nil
	}
	switch x := t.(type) {
	case schema.Decimal:
		return g.unscaled(x.Precision)
	case *schema.Struct:
		row := make([]any, len(x.Fields))
		for i, f := range x.Fields {
			row[i] = g.deltaValue(f.Type, f.Nullable)
		}
		return row
	case *schema.Array:
		list := make([]any, g.IntN(4))
		for i := range list {
			list[i] = g.deltaValue(x.Element, x.ContainsNull)
		}
		return list
	case *schema.Map:
		entries := make([][2]any, g.IntN(3))
		for i := range entries {
			entries[i] = [2]any{g.deltaValue(x.Key, false), g.deltaValue(x.Value, x.ValueContainsNull)}
		}
		return entries
	}
	switch t {
	case schema.Boolean:
		return g.oneIn(2)
	case schema.Byte:
		return g.integer(8)
	case schema.Short:
		return g.integer(16)
	case schema.Integer, schema.Date:
		return g.integer(32)
	case schema.Float, schema.Double:
		return g.float()
	case schema.String:
		return g.text()
	case schema.Binary:
		return []byte(g.text())
	}
	return g.integer(64)
}

// appendModel appends a model value to an Arrow builder.
func appendModel(b array.Builder, v any) {
	if v == nil {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(v.(bool))
	case *array.Int8Builder:
		b.Append(int8(v.(int64)))
	case *array.Int16Builder:
		b.Append(int16(v.(int64)))
	case *array.Int32Builder:
		b.Append(int32(v.(int64)))
	case *array.Int64Builder:
		b.Append(v.(int64))
	case *array.Date32Builder:
		b.Append(arrow.Date32(v.(int64)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.(int64)))
	case *array.Float32Builder:
		b.Append(float32(v.(float64)))
	case *array.Float64Builder:
		b.Append(v.(float64))
	case *array.StringBuilder:
		b.Append(v.(string))
	case *array.BinaryBuilder:
		b.Append(v.([]byte))
	case *array.Decimal128Builder:
		b.Append(decimal128.FromBigInt(v.(*big.Int)))
	case *array.StructBuilder:
		b.Append(true)
		for i, m := range v.([]any) {
			appendModel(b.FieldBuilder(i), m)
		}
	case *array.ListBuilder:
		b.Append(true)
		for _, e := range v.([]any) {
			appendModel(b.ValueBuilder(), e)
		}
	case *array.MapBuilder:
		b.Append(true)
		for _, e := range v.([][2]any) {
			appendModel(b.KeyBuilder(), e[0])
			appendModel(b.ItemBuilder(), e[1])
		}
	default:
		panic(fmt.Sprintf("%T", b))
	}
}

func (g *gen) arrowProperties() *parquet.WriterProperties {
	return parquet.NewWriterProperties(
		parquet.WithCompression(pick(g, compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Zstd, compress.Codecs.Brotli)),
		parquet.WithDictionaryDefault(g.oneIn(2)),
		parquet.WithDataPageVersion(pick(g, parquet.DataPageV1, parquet.DataPageV2)),
		parquet.WithDataPageSize(int64(pick(g, 64, 1000, 1<<20))),
		parquet.WithDictionaryPageSizeLimit(int64(pick(g, 20, 1<<20))), // 20: falls back to plain in the middle
		parquet.WithMaxRowGroupLength(int64(pick(g, 30, 3000))),
	)
}

func TestBatches_random_files_of_pqarrow_read_back_equal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := newGen(rapid.Uint64().Draw(rt, "seed"))
		rows := rapid.OneOf(rapid.IntRange(0, 60), rapid.IntRange(0, 60), rapid.IntRange(1500, 4000)).Draw(rt, "rows")
		batch := rapid.IntRange(1, 20).Draw(rt, "batch")
		s := g.deltaStruct(2, 1+g.IntN(5))
		as, err := schema.ArrowSchema(s)
		require.NoError(rt, err)
		b := array.NewRecordBuilder(memory.DefaultAllocator, as)
		var want []string
		for range rows {
			row := g.deltaValue(s, false).([]any)
			for i, v := range row {
				appendModel(b.Field(i), v)
			}
			want = append(want, modelRow(s, row))
		}
		var out bytes.Buffer
		w, err := pqarrow.NewFileWriter(as, &out, g.arrowProperties(), pqarrow.DefaultWriterProps())
		require.NoError(rt, err)
		rec := b.NewRecord()
		require.NoError(rt, w.Write(rec))
		require.NoError(rt, w.Close())
		got, err := readTexts(t, out.Bytes(), scan.Options{Schema: s, BatchRows: batch})
		require.NoError(rt, err, s.String())
		require.Equal(rt, want, got, s.String())
	})
}
