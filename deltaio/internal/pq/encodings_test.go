package pq

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// encodedColumn is a column in each encoding that parquet-go writes.
type encodedColumn struct {
	node  parquet.Node
	typ   schema.Type
	encs  []encoding.Encoding
	value func(r *rand.Rand) parquet.Value
}

func encodedColumns() map[string]encodedColumn {
	text := func(r *rand.Rand) parquet.Value {
		return parquet.ValueOf(fmt.Sprintf("value-%d", r.IntN(1<<r.IntN(20))))
	}
	return map[string]encodedColumn{
		"bool": {parquet.Leaf(parquet.BooleanType), schema.Boolean, []encoding.Encoding{&parquet.Plain, &parquet.RLE},
			func(r *rand.Rand) parquet.Value { return parquet.ValueOf(r.IntN(4) == 0) }},
		"int": {parquet.Int(32), schema.Integer, []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary, &parquet.DeltaBinaryPacked, &parquet.ByteStreamSplit},
			func(r *rand.Rand) parquet.Value { return parquet.ValueOf(int32(r.Uint32() >> r.IntN(32))) }},
		"long": {parquet.Int(64), schema.Long, []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary, &parquet.DeltaBinaryPacked, &parquet.ByteStreamSplit},
			func(r *rand.Rand) parquet.Value { return parquet.ValueOf(int64(r.Uint64() >> r.IntN(64))) }},
		"float": {parquet.Leaf(parquet.FloatType), schema.Float, []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary, &parquet.ByteStreamSplit},
			func(r *rand.Rand) parquet.Value { return parquet.ValueOf(math.Float32frombits(r.Uint32())) }},
		"double": {parquet.Leaf(parquet.DoubleType), schema.Double, []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary, &parquet.ByteStreamSplit},
			func(r *rand.Rand) parquet.Value { return parquet.ValueOf(r.Float64()) }},
		"string": {parquet.String(), schema.String, []encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary, &parquet.DeltaLengthByteArray, &parquet.DeltaByteArray}, text},
		"decimal": {parquet.Decimal(3, 30, parquet.FixedLenByteArrayType(13)), schema.Decimal{Precision: 30, Scale: 3},
			[]encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary, &parquet.DeltaByteArray, &parquet.ByteStreamSplit},
			func(r *rand.Rand) parquet.Value {
				b := make([]byte, 13)
				b[12], b[11], b[0] = byte(r.Uint32()), byte(r.IntN(2)), byte(-(r.IntN(2)))
				return parquet.FixedLenByteArrayValue(b)
			}},
	}
}

func TestRewrite_every_encoding_of_flat_and_nested_columns_is_split_exactly(t *testing.T) {
	t.Parallel()
	codecs := []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Brotli}
	k := 0
	for name, c := range encodedColumns() {
		for _, enc := range c.encs {
			for _, shape := range []string{"required", "optional", "list"} {
				k++
				version, codec, seed := 1+k%2, codecs[k%len(codecs)], uint64(k)
				t.Run(fmt.Sprintf("%s/%s/%s/v%d/%s", name, enc, shape, version, codec), func(t *testing.T) {
					t.Parallel()
					r := rand.New(rand.NewPCG(seed, 2))
					data, typ := encodedFile(t, r, c, enc, shape, version, codec)
					s := &schema.Struct{Fields: []schema.Field{{Name: "c", Type: typ, Nullable: true}}}
					rows := randomRows(r, 2000)
					files, _ := rewriteAll(t, data, Options{PageBytes: 3000}, Output{Columns: columnsOf(s), Rows: rows})
					require.Equal(t, keepRows(goTable(t, data), rows), goTable(t, files[0]))
					if arrowReads(name, enc) {
						require.Equal(t, keepRows(arrowTable(t, data), rows), arrowTable(t, files[0]))
					}
				})
			}
		}
	}
}

// arrowReads says whether arrow has the decoder; where not it panics.
func arrowReads(column string, enc encoding.Encoding) bool {
	switch enc.Encoding() {
	case parquet.ByteStreamSplit.Encoding():
		return false
	case parquet.DeltaByteArray.Encoding():
		return column != "decimal"
	}
	return true
}

// encodedFile writes 2000 rows of one column called c.
func encodedFile(t *testing.T, r *rand.Rand, c encodedColumn, enc encoding.Encoding, shape string, version int, codec compress.Codec) ([]byte, schema.Type) {
	leaf, typ := parquet.Encoded(c.node, enc), c.typ
	node := leaf
	switch shape {
	case "optional":
		node = parquet.Optional(leaf)
	case "list":
		node, typ = parquet.Optional(parquet.List(parquet.Optional(leaf))), &schema.Array{Element: c.typ, ContainsNull: true}
	}
	var buf bytes.Buffer
	w := parquet.NewWriter(&buf, parquet.NewSchema("t", parquet.Group{"c": node}), parquet.Compression(codec),
		parquet.DataPageVersion(version), parquet.PageBufferSize(900))
	for i := range 2000 {
		_, err := w.WriteRows([]parquet.Row{encodedRow(r, c, shape)})
		require.NoError(t, err)
		if i == 700 {
			require.NoError(t, w.Flush())
		}
	}
	require.NoError(t, w.Close())
	return buf.Bytes(), typ
}

func encodedRow(r *rand.Rand, c encodedColumn, shape string) parquet.Row {
	null := parquet.Value{}
	switch shape {
	case "required":
		return parquet.Row{c.value(r).Level(0, 0, 0)}
	case "optional":
		if r.IntN(5) == 0 {
			return parquet.Row{null.Level(0, 0, 0)}
		}
		return parquet.Row{c.value(r).Level(0, 1, 0)}
	}
	n := r.IntN(5)
	if n < 2 { // a null or an empty list
		return parquet.Row{null.Level(0, n, 0)}
	}
	var row parquet.Row
	for i := range n {
		if r.IntN(4) == 0 {
			row = append(row, null.Level(min(i, 1), 2, 0))
		} else {
			row = append(row, c.value(r).Level(min(i, 1), 3, 0))
		}
	}
	return row
}
