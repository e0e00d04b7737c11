package pq

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

var primitiveTypes = []schema.Type{
	schema.String, schema.Long, schema.Integer, schema.Short, schema.Byte, schema.Float, schema.Double,
	schema.Boolean, schema.Binary, schema.Date, schema.Timestamp, schema.TimestampNTZ,
	schema.Decimal{Precision: 7, Scale: 2}, schema.Decimal{Precision: 18, Scale: 4}, schema.Decimal{Precision: 38, Scale: 10},
}

// randomType draws a type nested at most depth deep.
func randomType(r *rand.Rand, depth int) schema.Type {
	if depth == 0 || r.IntN(3) > 0 {
		return primitiveTypes[r.IntN(len(primitiveTypes))]
	}
	switch r.IntN(3) {
	case 0:
		return &schema.Array{Element: randomType(r, depth-1), ContainsNull: r.IntN(3) > 0}
	case 1:
		return &schema.Map{Key: schema.String, Value: randomType(r, depth-1), ValueContainsNull: r.IntN(3) > 0}
	}
	return randomStruct(r, 1+r.IntN(3), depth-1)
}

func randomStruct(r *rand.Rand, n, depth int) *schema.Struct {
	s := &schema.Struct{}
	for i := range n {
		s.Fields = append(s.Fields, schema.Field{Name: fmt.Sprintf("c%d", i), Type: randomType(r, depth), Nullable: r.IntN(4) > 0})
	}
	return s
}

// filler fills Arrow builders with random values: few distinct ones, runs, wide
// ones, the odd extreme.
type filler struct {
	r     *rand.Rand
	nulls int // percent
	few   bool
}

func randomRecord(r *rand.Rand, s *schema.Struct, rows int) arrow.Record {
	as, err := schema.ArrowSchema(s)
	if err != nil {
		panic(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, as)
	defer b.Release()
	for i, f := range as.Fields() {
		fl := &filler{r: r, nulls: []int{0, 5, 50, 98}[r.IntN(4)], few: r.IntN(2) == 0}
		for range rows {
			fl.value(b.Field(i), f.Nullable)
		}
	}
	return b.NewRecord()
}

func (f *filler) value(b array.Builder, nullable bool) {
	if nullable && f.r.IntN(100) < f.nulls {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.ListBuilder:
		b.Append(true)
		for range f.length() {
			f.value(b.ValueBuilder(), b.Type().(*arrow.ListType).ElemField().Nullable)
		}
	case *array.MapBuilder:
		b.Append(true)
		for i := range f.length() {
			b.KeyBuilder().(*array.StringBuilder).Append(fmt.Sprintf("k%d", i))
			f.value(b.ItemBuilder(), b.Type().(*arrow.MapType).ItemField().Nullable)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i, m := range b.Type().(*arrow.StructType).Fields() {
			f.value(b.FieldBuilder(i), m.Nullable)
		}
	default:
		f.primitive(b)
	}
}

func (f *filler) length() int {
	if f.r.IntN(200) == 0 {
		return 50
	}
	return f.r.IntN(4)
}

func (f *filler) number() int64 {
	if f.few {
		return int64(f.r.IntN(12)) - 6
	}
	if f.r.IntN(20) == 0 {
		return []int64{math.MinInt64, math.MaxInt64, 0, -1}[f.r.IntN(4)]
	}
	return f.r.Int64() - f.r.Int64()
}

func (f *filler) text() string {
	switch {
	case f.few:
		return []string{"", "red", "green", "blue", "grün", "\u65e5\u672c", strings.Repeat("z", 90)}[f.r.IntN(7)]
	case f.r.IntN(30) == 0:
		return strings.Repeat(string(rune('a'+f.r.IntN(26))), f.r.IntN(300))
	}
	return fmt.Sprintf("v-%d", f.r.Int64N(1<<40))
}

func (f *filler) float() float64 {
	if f.r.IntN(15) == 0 {
		return []float64{math.NaN(), math.Copysign(0, -1), 0, math.Inf(1), math.Inf(-1)}[f.r.IntN(5)]
	}
	return float64(f.number()) / 8
}

func (f *filler) primitive(b array.Builder) {
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append(f.text())
	case *array.BinaryBuilder:
		b.Append([]byte(f.text() + "\xff\x00"))
	case *array.Int64Builder:
		b.Append(f.number())
	case *array.Int32Builder:
		b.Append(int32(f.number()))
	case *array.Int16Builder:
		b.Append(int16(f.number()))
	case *array.Int8Builder:
		b.Append(int8(f.number()))
	case *array.Float32Builder:
		b.Append(float32(f.float()))
	case *array.Float64Builder:
		b.Append(f.float())
	case *array.BooleanBuilder:
		b.Append(f.number()&1 == 0)
	case *array.Date32Builder:
		b.Append(arrow.Date32(f.number() % 100_000))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(f.number() % 4_000_000_000_000_000))
	case *array.Decimal128Builder:
		limit := int64(math.Pow10(int(min(18, b.Type().(*arrow.Decimal128Type).Precision))))
		v := decimal128.FromI64(f.number() % limit)
		if b.Type().(*arrow.Decimal128Type).Precision == 38 {
			v = v.Mul(decimal128.FromI64(1_000_000_007))
		}
		b.Append(v)
	default:
		panic(fmt.Sprintf("no filler for %s", b.Type()))
	}
}

// arrowFile writes a record by arrow, in row groups of at most group rows.
func arrowFile(t require.TestingT, rec arrow.Record, group int, props ...parquet.WriterProperty) []byte {
	var buf bytes.Buffer
	props = append([]parquet.WriterProperty{parquet.WithMaxRowGroupLength(int64(group)), parquet.WithStoreDecimalAsInteger(true)}, props...)
	w, err := pqarrow.NewFileWriter(rec.Schema(), &buf, parquet.NewWriterProperties(props...), pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	require.NoError(t, w.Write(rec))
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// recordTable is a record as arrowTable reads it back.
func recordTable(rec arrow.Record) map[string][]string {
	out := map[string][]string{}
	for i, f := range rec.Schema().Fields() {
		out[f.Name] = arrayTexts(rec.Column(i))
	}
	return out
}

// randomRows draws a mask: random, clustered, sparse, none or all.
func randomRows(r *rand.Rand, n int) *Bitmap {
	b := NewBitmap(n)
	switch r.IntN(6) {
	case 0:
		return nil
	case 1: // none
	case 2: // runs
		for i := 0; i < n; {
			k := 1 + r.IntN(1+n/5)
			if r.IntN(2) == 0 {
				b.SetRange(i, min(i+k, n))
			}
			i += k
		}
	case 3: // few
		for range 3 {
			if n > 0 {
				b.Set(r.IntN(n))
			}
		}
	default:
		for i := range n {
			if r.IntN(100) < 40 {
				b.Set(i)
			}
		}
	}
	return b
}
