package scan_test

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"
	"sort"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/rowtext"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// phys is one way to store a Delta type in Parquet: the node, how a model value
// becomes its entries, and which values it can hold.
type phys struct {
	t        schema.Type
	node     parquet.Node
	optional bool
	column   int // leaf
	value    func(any) parquet.Value
	draw     func() any
	members  []*phys // struct: by name; list: the element; map: key and value
	order    []int   // struct: positions of members in t
	bare     bool    // list: the repeated field lies in no group of its own
}

type drawer struct {
	*gen
	codec func() compress.Codec
}

func (d *drawer) leaf(t schema.Type, n parquet.Node, value func(any) parquet.Value, draw func() any, encodings ...encoding.Encoding) *phys {
	encodings = append(encodings, &parquet.Plain, &parquet.RLEDictionary, &parquet.PlainDictionary)
	e := pick(d.gen, encodings...)
	if n.Type().Kind() == parquet.Boolean {
		e = pick[encoding.Encoding](d.gen, &parquet.Plain, &parquet.RLE)
	}
	return &phys{t: t, node: parquet.Compressed(parquet.Encoded(n, e), d.codec()), value: value, draw: draw}
}

func int32Value(v any) parquet.Value { return parquet.Int32Value(int32(v.(int64))) }
func int64Value(v any) parquet.Value { return parquet.Int64Value(v.(int64)) }

// primitive draws a primitive type and one of the ways to store it.
func (d *drawer) primitive() *phys {
	i32 := []encoding.Encoding{&parquet.DeltaBinaryPacked, &parquet.ByteStreamSplit}
	bin := []encoding.Encoding{&parquet.DeltaLengthByteArray, &parquet.DeltaByteArray}
	switch d.IntN(16) {
	case 0:
		return d.leaf(schema.Boolean, parquet.Leaf(parquet.BooleanType), func(v any) parquet.Value { return parquet.BooleanValue(v.(bool)) }, func() any { return d.oneIn(2) })
	case 1:
		return d.leaf(schema.Byte, parquet.Int(8), int32Value, func() any { return d.integer(8) }, i32...)
	case 2:
		return d.leaf(schema.Short, pick(d.gen, parquet.Int(16), parquet.Int(8)), int32Value, func() any { return d.integer(8) }, i32...)
	case 3:
		return d.leaf(schema.Integer, pick(d.gen, parquet.Int(32), parquet.Leaf(parquet.Int32Type)), int32Value, func() any { return d.integer(32) }, i32...)
	case 4:
		return d.leaf(schema.Long, pick(d.gen, parquet.Int(64), parquet.Leaf(parquet.Int64Type)), int64Value, func() any { return d.integer(64) }, i32...)
	case 5:
		if d.oneIn(2) {
			return d.leaf(schema.Long, parquet.Int(32), int32Value, func() any { return d.integer(32) }, i32...)
		}
		return d.leaf(schema.Long, parquet.Uint(32), int32Value, func() any { return int64(uint32(d.integer(32))) }, i32...)
	case 6:
		return d.leaf(schema.Float, parquet.Leaf(parquet.FloatType), func(v any) parquet.Value { return parquet.FloatValue(float32(v.(float64))) }, func() any { return d.float() }, &parquet.ByteStreamSplit)
	case 7:
		return d.double(i32)
	case 8:
		return d.leaf(schema.String, pick(d.gen, parquet.String(), parquet.Leaf(parquet.ByteArrayType), parquet.Enum()), func(v any) parquet.Value { return parquet.ByteArrayValue([]byte(v.(string))) }, func() any { return d.text() }, bin...)
	case 9:
		return d.leaf(schema.Binary, parquet.Leaf(parquet.ByteArrayType), func(v any) parquet.Value { return parquet.ByteArrayValue(v.([]byte)) }, func() any { return []byte(d.text()) }, bin...)
	case 10:
		return d.leaf(schema.Binary, parquet.Leaf(parquet.FixedLenByteArrayType(5)), func(v any) parquet.Value { return parquet.FixedLenByteArrayValue(v.([]byte)) },
			func() any { return []byte(fmt.Sprintf("%05d", d.IntN(300))) }, &parquet.DeltaByteArray, &parquet.ByteStreamSplit)
	case 11:
		return d.leaf(schema.Date, parquet.Date(), int32Value, func() any { return d.integer(32) }, i32...)
	case 12, 13:
		return d.timestamp(i32)
	}
	return d.decimal(i32)
}

func (d *drawer) double(i32 []encoding.Encoding) *phys {
	switch d.IntN(3) {
	case 0:
		return d.leaf(schema.Double, parquet.Leaf(parquet.FloatType), func(v any) parquet.Value { return parquet.FloatValue(float32(v.(float64))) }, func() any { return d.float() }, &parquet.ByteStreamSplit)
	case 1:
		return d.leaf(schema.Double, parquet.Int(32), func(v any) parquet.Value { return parquet.Int32Value(int32(v.(float64))) }, func() any { return float64(d.integer(32)) }, i32...)
	}
	return d.leaf(schema.Double, parquet.Leaf(parquet.DoubleType), func(v any) parquet.Value { return parquet.DoubleValue(v.(float64)) }, func() any { return d.float() }, &parquet.ByteStreamSplit)
}

func (d *drawer) timestamp(i64 []encoding.Encoding) *phys {
	ntz := d.oneIn(2)
	t := schema.Timestamp
	if ntz {
		t = schema.TimestampNTZ
	}
	switch d.IntN(5) {
	case 0:
		return d.leaf(t, parquet.TimestampAdjusted(parquet.Millisecond, !ntz), func(v any) parquet.Value { return parquet.Int64Value(v.(int64) / 1000) }, func() any { return d.micros() / 1000 * 1000 }, i64...)
	case 1:
		return d.leaf(t, parquet.TimestampAdjusted(parquet.Nanosecond, !ntz), func(v any) parquet.Value { return parquet.Int64Value(v.(int64)*1000 + 999) }, func() any { return d.micros() }, i64...)
	case 2:
		if !ntz {
			return d.leaf(t, parquet.Leaf(parquet.Int96Type), int96Value, func() any { return d.micros() * 10 })
		}
		return d.leaf(t, parquet.Date(), func(v any) parquet.Value { return parquet.Int32Value(int32(v.(int64) / 86400e6)) }, func() any { return d.integer(26) * 86400e6 }, i64...)
	}
	return d.leaf(t, parquet.TimestampAdjusted(parquet.Microsecond, !ntz), int64Value, func() any { return d.integer(64) }, i64...)
}

func int96Value(v any) parquet.Value {
	micros := v.(int64)
	day := micros / 86400e6
	if micros%86400e6 < 0 {
		day--
	}
	nanos := uint64(micros-day*86400e6) * 1000
	return parquet.Int96Value(deprecated.Int96{uint32(nanos), uint32(nanos >> 32), uint32(int32(day + 2440588))})
}

// decimal draws a decimal whose file has the same or a smaller precision and
// scale.
func (d *drawer) decimal(ints []encoding.Encoding) *phys {
	p := 1 + d.IntN(38)
	s := d.IntN(p + 1)
	raise := d.IntN(s + 1)
	fp, fs := p-raise, s-raise // of the file
	if fp == 0 {
		raise, fp, fs = 0, p, s
	}
	t := schema.Decimal{Precision: p, Scale: s}
	draw := func() any { return new(big.Int).Mul(d.unscaled(fp), powerOfTen(raise)) }
	down := func(v any) *big.Int { return new(big.Int).Quo(v.(*big.Int), powerOfTen(raise)) }
	switch {
	case fp <= 9 && d.oneIn(2):
		return d.leaf(t, parquet.Decimal(fs, fp, parquet.Int32Type), func(v any) parquet.Value { return parquet.Int32Value(int32(down(v).Int64())) }, draw, ints...)
	case fp > 9 && fp <= 18 && d.oneIn(2):
		return d.leaf(t, parquet.Decimal(fs, fp, parquet.Int64Type), func(v any) parquet.Value { return parquet.Int64Value(down(v).Int64()) }, draw, ints...)
	case fs == 0 && fp >= 10 && d.oneIn(2):
		small := func() any { return new(big.Int).Mul(big.NewInt(d.integer(32)), powerOfTen(raise)) }
		return d.leaf(t, parquet.Int(32), func(v any) parquet.Value { return parquet.Int32Value(int32(down(v).Int64())) }, small, ints...)
	case d.oneIn(2):
		return d.leaf(t, parquet.Decimal(fs, fp, parquet.ByteArrayType), func(v any) parquet.Value { return parquet.ByteArrayValue(twosComplement(down(v), 0)) }, draw, &parquet.DeltaByteArray)
	}
	w := 16
	for w > 1 && new(big.Int).Lsh(big.NewInt(1), uint(8*(w-1)-1)).Cmp(powerOfTen(fp)) > 0 {
		w--
	}
	w += d.IntN(4) // wider than necessary, also than 16
	return d.leaf(t, parquet.Decimal(fs, fp, parquet.FixedLenByteArrayType(w)), func(v any) parquet.Value { return parquet.FixedLenByteArrayValue(twosComplement(down(v), w)) }, draw, &parquet.DeltaByteArray)
}

// twosComplement gives w bytes, or as few as do.
func twosComplement(v *big.Int, w int) []byte {
	if w == 0 {
		w = v.BitLen()/8 + 1
	}
	b := make([]byte, w)
	if v.Sign() >= 0 {
		return v.FillBytes(b)
	}
	new(big.Int).Add(v, new(big.Int).Lsh(big.NewInt(1), uint(8*w))).FillBytes(b)
	return b
}

func group(name string, n parquet.Node) parquet.Group { return parquet.Group{name: n} }

func (d *drawer) any(depth int) *phys {
	kind := d.IntN(8)
	if depth == 0 {
		kind = 7
	}
	switch kind {
	case 0:
		return d.record(depth, 1+d.IntN(3))
	case 1, 2:
		return d.list(depth)
	case 3:
		return d.mapping(depth)
	}
	return d.primitive()
}

// maybe makes a node optional, more often than not.
func (d *drawer) maybe(p *phys) *phys {
	if !p.bare && !d.oneIn(3) {
		p.node, p.optional = parquet.Optional(p.node), true
	}
	return p
}

func (d *drawer) record(depth, fields int) *phys {
	p := &phys{}
	t, g := &schema.Struct{}, parquet.Group{}
	for i := range fields {
		m := d.maybe(d.any(depth - 1))
		name := fmt.Sprintf("%c%d", 'a'+d.IntN(3), i)
		t.Fields = append(t.Fields, schema.Field{Name: name, Type: m.t, Nullable: true})
		p.members, p.order, g[name] = append(p.members, m), append(p.order, i), m.node
	}
	// Groups of parquet-go keep their fields by name.
	sort.Slice(p.order, func(i, j int) bool { return t.Fields[p.order[i]].Name < t.Fields[p.order[j]].Name })
	p.t, p.node = t, g
	return p
}

func (d *drawer) list(depth int) *phys {
	e := d.any(depth - 1)
	p := &phys{t: &schema.Array{Element: e.t, ContainsNull: true}, members: []*phys{e}}
	_, isStruct := e.t.(*schema.Struct)
	_, isList := e.t.(*schema.Array)
	_, isMap := e.t.(*schema.Map)
	layout := d.IntN(5)
	switch {
	case layout == 0 && (e.members == nil || isStruct && len(e.members) > 1): // two levels
		p.node = group("array", parquet.Repeated(e.node))
	case layout == 1 && isStruct:
		p.node = group("array", parquet.Repeated(e.node))
	case layout == 2 && !isList && !isMap && depth == maxDepth: // no wrapper at all
		p.node, p.bare = parquet.Repeated(e.node), true
	case layout == 3:
		d.maybe(e)
		p.node = group("bag", parquet.Repeated(group("array_element", e.node)))
	default:
		d.maybe(e)
		p.node = parquet.List(e.node)
	}
	return p
}

func (d *drawer) mapping(depth int) *phys {
	k, v := d.primitive(), d.maybe(d.any(depth-1))
	p := &phys{t: &schema.Map{Key: k.t, Value: v.t, ValueContainsNull: true}, members: []*phys{k, v}}
	p.node = group(pick(d.gen, "key_value", "map", "entries"), parquet.Repeated(parquet.Group{"key": k.node, "value": v.node}))
	return p
}

const maxDepth = 3

// randomFile writes random rows of a random schema with parquet-go.
func randomFile(t require.TestingT, seed uint64, rows int) (file []byte, s *schema.Struct, want []string) {
	d := &drawer{gen: newGen(seed)}
	codecs := []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Lz4Raw, &parquet.Brotli}
	d.codec = func() compress.Codec { return pick(d.gen, codecs...) }
	root := d.record(maxDepth+1, 1+d.IntN(6))
	columns := 0
	root.number(&columns)
	var out bytes.Buffer
	w := parquet.NewGenericWriter[any](&out, parquet.NewSchema("root", root.node),
		parquet.DataPageVersion(1+d.IntN(2)), parquet.PageBufferSize(pick(d.gen, 64, 1024, 1<<20)), parquet.MaxRowsPerRowGroup(int64(1+d.IntN(rows+1))))
	s = root.t.(*schema.Struct)
	for range rows {
		v := root.drawValue(d.gen)
		var row parquet.Row
		root.shred(&row, v, 0, 0, 0)
		slices.SortStableFunc(row, func(a, b parquet.Value) int { return a.Column() - b.Column() })
		_, err := w.WriteRows([]parquet.Row{row})
		require.NoError(t, err)
		want = append(want, modelRow(s, v.([]any)))
	}
	require.NoError(t, w.Close())
	return out.Bytes(), s, want
}

// readTexts reads all rows of a file as text.
func readTexts(t *testing.T, file []byte, opt scan.Options) ([]string, error) {
	f, err := scan.Open(inMemory(file))
	if err != nil {
		return nil, err
	}
	var got []string
	enc := rowtext.New(opt.Schema)
	for rec, err := range f.Batches(t.Context(), opt) {
		if err != nil {
			return nil, err
		}
		err = enc.Rows(rec, func(_ int, text []byte) error {
			got = append(got, string(text))
			return nil
		})
		rec.Release()
		if err != nil {
			return nil, err
		}
	}
	return got, nil
}

func TestBatches_random_files_of_parquet_go_read_back_equal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		rows := rapid.OneOf(rapid.IntRange(0, 60), rapid.IntRange(0, 60), rapid.IntRange(500, 3000)).Draw(rt, "rows")
		batch := rapid.IntRange(1, 2*rows+2).Draw(rt, "batch")
		file, s, want := randomFile(rt, seed, rows)
		got, err := readTexts(t, file, scan.Options{Schema: s, BatchRows: batch})
		require.NoError(rt, err, s.String())
		require.Equal(rt, want, got, s.String())
	})
}
