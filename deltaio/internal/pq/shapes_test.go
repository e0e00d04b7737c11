package pq

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// handmade writes a file of one row group from levels and values of each leaf,
// in any layout, sorted as told.
func handmade(t *testing.T, rows int, nodes []*outNode, sorting []format.SortingColumn, leaves ...batch) []byte {
	var buf bytes.Buffer
	s := flatten(nodes)
	require.Len(t, leaves, len(s.leaves))
	f, err := newFileWriter(&buf, s, "handmade version 1", nil)
	require.NoError(t, err)
	f.startGroup()
	for i, l := range s.leaves {
		var c chunkWriter
		c.open(l, f, format.Snappy, defaultPageBytes)
		b := leaves[i]
		require.NoError(t, c.append(&b, nil))
		res, err := c.finish()
		require.NoError(t, err)
		f.add(res)
	}
	require.NoError(t, f.endGroup(int64(rows), sorting, nil))
	require.NoError(t, f.close())
	return buf.Bytes()
}

func group(name string, rep format.FieldRepetitionType, children ...*outNode) *outNode {
	return &outNode{el: element{Name: name, Repetition: thrift.New(rep)}, children: children}
}

func integer(name string, rep format.FieldRepetitionType) *outNode {
	n := group(name, rep)
	n.leaf = &outLeaf{typ: format.Int32, width: 4, delta: schema.Integer}
	n.el.Type = thrift.New(format.Int32)
	return n
}

func annotated(n *outNode, c deprecated.ConvertedType) *outNode {
	n.el.ConvertedType = thrift.New(c)
	return n
}

func integers(def, rep []byte, vals ...int32) batch {
	b := batch{n: len(def), def: def, rep: rep, vals: values{n: len(vals)}, nulls: len(def) - len(vals)}
	for _, r := range rep {
		if r == 0 {
			b.starts++
		}
	}
	for _, v := range vals {
		b.vals.fixed = binary.LittleEndian.AppendUint32(b.vals.fixed, uint32(v))
	}
	return b
}

func TestRewrite_older_list_layouts_are_split_and_kept(t *testing.T) {
	t.Parallel()
	list := func(rep *outNode) *outNode { return annotated(group("c", format.Optional, rep), deprecated.List) }
	ints := &schema.Array{Element: schema.Integer, ContainsNull: true}
	pair := &schema.Array{Element: &schema.Struct{Fields: []schema.Field{nullable("a", schema.Integer), nullable("b", schema.Integer)}}}
	single := &schema.Array{Element: &schema.Struct{Fields: []schema.Field{nullable("a", schema.Integer)}}}
	// rows: [1,2], null, [], [3]
	rep := []byte{0, 1, 0, 0, 0}
	for name, c := range map[string]struct {
		node *outNode
		typ  schema.Type
		def  []byte
		want []string
	}{
		"repeated primitive":        {list(integer("array", format.Repeated)), ints, []byte{2, 2, 0, 1, 2}, []string{"[1,2]", "null", "[]", "[3]"}},
		"repeated struct":           {list(group("array", format.Repeated, integer("a", format.Optional), integer("b", format.Optional))), pair, []byte{3, 3, 0, 1, 3}, []string{"[(a=1,b=1),(a=2,b=2)]", "null", "[]", "[(a=3,b=3)]"}},
		"repeated struct of one":    {list(group("c_tuple", format.Repeated, integer("a", format.Optional))), single, []byte{3, 3, 0, 1, 3}, []string{"[(a=1),(a=2)]", "null", "[]", "[(a=3)]"}},
		"hive":                      {list(group("bag", format.Repeated, integer("array_element", format.Optional))), ints, []byte{3, 3, 0, 1, 3}, []string{"[1,2]", "null", "[]", "[3]"}},
		"repeated without a list":   {integer("c", format.Repeated), ints, []byte{1, 1, 0, 0, 1}, []string{"[1,2]", "[]", "[]", "[3]"}},
		"required list and element": {annotated(group("c", format.Required, group("list", format.Repeated, integer("element", format.Required))), deprecated.List), ints, []byte{1, 1, 0, 0, 1}, []string{"[1,2]", "[]", "[]", "[3]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := integers(c.def, rep, 1, 2, 3)
			leaves := []batch{b}
			if c.typ == pair {
				leaves = append(leaves, b)
			}
			data := handmade(t, 4, []*outNode{c.node}, nil, leaves...)
			require.Equal(t, c.want, arrowTable(t, data)["c"])
			for _, rows := range []*Bitmap{nil, BitmapOf([]uint64{0b1001}, 4), BitmapOf([]uint64{0b0110}, 4), BitmapOf([]uint64{0b0101}, 4)} {
				files, _ := rewriteAll(t, data, Options{}, Output{Columns: []Column{{Field: nullable("c", c.typ), Source: "c"}}, Rows: rows})
				require.Equal(t, keepRows(map[string][]string{"c": c.want}, rows), arrowTable(t, files[0]))
			}
		})
	}
}

func TestRewrite_struct_members_are_matched_by_id_and_a_struct_never_loses_its_nulls(t *testing.T) {
	t.Parallel()
	a, b := integer("old", format.Optional), integer("other", format.Optional)
	a.el.FieldID, b.el.FieldID = thrift.New[int32](11), thrift.New[int32](12)
	st := group("s", format.Optional, a, b)
	st.el.FieldID = thrift.New[int32](10)
	data := handmade(t, 3, []*outNode{st}, nil, integers([]byte{2, 0, 1}, nil, 7), integers([]byte{1, 0, 2}, nil, 8))
	member := func(id string) schema.Field {
		f := nullable("new", schema.Long)
		f.Metadata = map[string]json.RawMessage{schema.KeyColumnID: json.RawMessage(id)}
		return f
	}
	ten := int32(10)
	for id, want := range map[string][]string{
		"11": {"(new=7)", "null", "(new=null)"},
		"12": {"(new=null)", "null", "(new=8)"},
		"99": {"(old=7)", "null", "(old=null)"}, // no member is there: one stays to hold the nulls
	} {
		cols := []Column{{Field: nullable("s", &schema.Struct{Fields: []schema.Field{member(id)}}), SourceID: &ten}}
		files, _ := rewriteAll(t, data, Options{}, Output{Columns: cols})
		require.Equal(t, want, arrowTable(t, files[0])["s"], id)
	}
}

func TestRewrite_variants_are_copied_as_they_are(t *testing.T) {
	t.Parallel()
	bin := func(name string) *outNode {
		n := group(name, format.Required)
		n.leaf = &outLeaf{typ: format.ByteArray}
		n.el.Type = thrift.New(format.ByteArray)
		return n
	}
	v := group("v", format.Optional, bin("metadata"), bin("value"))
	v.el.Logical.Value = &format.VariantType{SpecificationVersion: 1}
	var b batch
	b.n, b.def, b.starts, b.nulls = 3, []byte{1, 0, 1}, 3, 1
	b.vals = values{n: 2, plain: []byte("\x01\x00\x00\x00M\x02\x00\x00\x00NN"), offs: []uint32{0, 5, 11}}
	data := handmade(t, 3, []*outNode{v}, nil, b, b)
	rows := BitmapOf([]uint64{6}, 3)
	files, res := rewriteAll(t, data, Options{}, Output{Columns: []Column{{Field: nullable("w", schema.Variant), Source: "v"}}, Rows: rows})
	want := []string{"0/0:;", "0/1:4e4e;"} // arrow knows no variants
	require.Equal(t, map[string][]string{"w.metadata": want, "w.value": want}, goTable(t, files[0]))
	require.Empty(t, res[0].Stats.Columns)
	src, err := openSource(inMemory(files[0]))
	require.NoError(t, err)
	require.Equal(t, &format.VariantType{SpecificationVersion: 1}, src.root.children[0].el.Logical.Value)
}

func TestRewrite_sort_order_is_carried_over_as_far_as_its_columns_are(t *testing.T) {
	t.Parallel()
	nodes := []*outNode{integer("a", format.Required), integer("b", format.Required), integer("c", format.Required)}
	b := integers(nil, nil, 1, 2, 3)
	b.n, b.starts, b.nulls = 3, 3, 0
	sorting := []format.SortingColumn{{ColumnIdx: 1, Descending: true}, {ColumnIdx: 0}, {ColumnIdx: 2}}
	data := handmade(t, 3, nodes, sorting, b, b, b)
	cols := []Column{{Field: nullable("k", schema.String), Const: "k", IsConst: true},
		{Field: schema.Field{Name: "b", Type: schema.Integer}, Source: "b"}, {Field: schema.Field{Name: "c", Type: schema.Integer}, Source: "c"}}
	files, _ := rewriteAll(t, data, Options{}, Output{Columns: cols, Rows: BitmapOf([]uint64{5}, 3)})
	src, err := openSource(inMemory(files[0]))
	require.NoError(t, err)
	require.Equal(t, []format.SortingColumn{{ColumnIdx: 1, Descending: true}}, []format.SortingColumn(src.meta.RowGroups[0].SortingColumns))
}

func TestRewrite_large_plain_chunks_are_written_as_they_come(t *testing.T) {
	t.Parallel()
	type row struct {
		ID   int64   `parquet:"id,plain"`
		Text *string `parquet:"text,optional,plain"`
	}
	const n = 200_000
	r := rand.New(rand.NewPCG(3, 1))
	rows := make([]row, n)
	for i := range rows {
		rows[i].ID = r.Int64()
		if text := fmt.Sprintf("text-%x", r.Uint64()); i%7 > 0 {
			rows[i].Text = &text
		}
	}
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[row](&buf)
	_, err := w.Write(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	s := &schema.Struct{Fields: []schema.Field{{Name: "id", Type: schema.Long}, nullable("text", schema.String)}}
	mask := randomMask(r, n)
	rest := FullBitmap(n)
	rest.AndNot(mask)
	files, _ := rewriteAll(t, buf.Bytes(), Options{}, Output{Columns: columnsOf(s), Rows: mask}, Output{Columns: columnsOf(s), Rows: rest})
	for i, part := range []*Bitmap{mask, rest} {
		f, err := parquet.OpenFile(bytes.NewReader(files[i]), int64(len(files[i])))
		require.NoError(t, err)
		requirePageIndex(t, f.RowGroups()[0])
		got, err := parquet.Read[row](bytes.NewReader(files[i]), int64(len(files[i])))
		require.NoError(t, err)
		k := 0
		for at := range n {
			if part.Get(at) {
				require.Equal(t, rows[at], got[k])
				k++
			}
		}
		require.Len(t, got, k)
	}
}

func TestRewrite_outputs_in_other_orders_and_overlapping_rows_are_each_right(t *testing.T) {
	t.Parallel()
	data, s, want := smallFile(t)
	r := rand.New(rand.NewPCG(2, 8))
	cols := columnsOf(s)
	outs := []Output{
		{Columns: cols, Rows: randomMask(r, 1000)}, {Columns: []Column{cols[2], cols[0], cols[1]}, Rows: randomMask(r, 1000)},
		{Columns: cols[1:2]}, {Columns: []Column{cols[1], cols[0]}, Rows: NewBitmap(1000)},
	}
	files, _ := rewriteAll(t, data, Options{}, outs...)
	for i, f := range files {
		kept, got := keepRows(want, outs[i].Rows), arrowTable(t, f)
		for name, texts := range got {
			require.Equal(t, kept[name], texts, "output %d, %s", i, name)
		}
		require.Len(t, got, len(outs[i].Columns))
	}
}

// TestRewrite_encoding_changes_inside_of_a_row: a writer may end a page within a
// row and go on in another encoding.
func TestRewrite_encoding_changes_inside_of_a_row(t *testing.T) {
	t.Parallel()
	dict := &dictionary{n: 3, width: 4, fixed: []byte{10, 0, 0, 0, 20, 0, 0, 0, 30, 0, 0, 0}}
	coded := func(codes ...uint32) values { return values{n: len(codes), coded: true, codes: codes} }
	for _, first := range []bool{true, false} { // dictionary first, or PLAIN
		n := annotated(group("c", format.Required, group("list", format.Repeated, integer("element", format.Required))), deprecated.List)
		var buf bytes.Buffer
		s := flatten([]*outNode{n})
		f, err := newFileWriter(&buf, s, "", nil)
		require.NoError(t, err)
		f.startGroup()
		var c chunkWriter
		c.open(s.leaves[0], f, format.Uncompressed, defaultPageBytes)
		c.setDictionary(dict)
		a := batch{n: 3, def: []byte{1, 1, 1}, rep: []byte{0, 0, 1}, starts: 2, rows: 2, vals: coded(2, 0, 1)}
		b := integers([]byte{1, 1, 1}, []byte{1, 0, 1}, 7, 8, 9)
		b.starts, b.rows = 1, 2
		want := []string{"[30]", "[10,20,7]", "[8,9]"}
		if !first {
			a.rep, b.rep = []byte{1, 0, 1}, []byte{0, 0, 1}
			a, b = b, a
			a.starts, b.starts = 2, 1
			want = []string{"[7]", "[8,9,30]", "[10,20]"}
		}
		require.NoError(t, c.append(&a, nil))
		require.NoError(t, c.append(&b, []byte{1, 1}))
		res, err := c.finish()
		require.NoError(t, err)
		f.add(res)
		require.NoError(t, f.endGroup(3, nil, nil))
		require.NoError(t, f.close())
		require.Equal(t, want, arrowTable(t, buf.Bytes())["c"])
	}
}

func TestRewrite_int96_of_the_legacy_calendar_stays_int96(t *testing.T) {
	t.Parallel()
	n := group("at", format.Required)
	n.leaf = &outLeaf{typ: format.Int96, width: 12}
	n.el.Type = thrift.New(format.Int96)
	var buf bytes.Buffer
	s := flatten([]*outNode{n})
	f, err := newFileWriter(&buf, s, "", []keyValue{{keySparkVersion, thrift.New("3.0.1")}, {keySparkZone, thrift.New("Europe/Berlin")}})
	require.NoError(t, err)
	f.startGroup()
	var c chunkWriter
	c.open(s.leaves[0], f, format.Snappy, defaultPageBytes)
	b := batch{n: 2, starts: 2, vals: values{n: 2, fixed: bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0x1A, 0}, 2)}}
	require.NoError(t, c.append(&b, nil))
	res, err := c.finish()
	require.NoError(t, err)
	f.add(res)
	require.NoError(t, f.endGroup(2, nil, nil))
	require.NoError(t, f.close())
	cols := []Column{{Field: nullable("at", schema.Timestamp), Source: "at"}}
	files, out := rewriteAll(t, buf.Bytes(), Options{}, Output{Columns: cols, Rows: BitmapOf([]uint64{1}, 2)}, Output{Columns: cols})
	for i := range files {
		src, err := openSource(inMemory(files[i]))
		require.NoError(t, err)
		require.Equal(t, format.Int96, src.leaves[0].typ)
		require.Len(t, src.meta.KeyValues, 2)
		require.False(t, out[i].Stats.Columns[0].HasMin)
		require.True(t, out[i].Stats.Columns[0].HasNullCount)
	}
}

func TestDecompress_hadoop_lz4_is_read_framed_and_raw(t *testing.T) {
	t.Parallel()
	plain := bytes.Repeat([]byte("hadoop frames "), 50)
	var z lz4.Compressor
	block := func(b []byte) []byte {
		out := make([]byte, lz4.CompressBlockBound(len(b)))
		n, err := z.CompressBlock(b, out)
		require.NoError(t, err)
		return out[:n]
	}
	var framed []byte
	for _, part := range [][]byte{plain[:400], plain[400:]} {
		framed = binary.BigEndian.AppendUint32(framed, uint32(len(part)))
		framed = binary.BigEndian.AppendUint32(framed, uint32(len(block(part))))
		framed = append(framed, block(part)...)
	}
	for _, src := range [][]byte{framed, block(plain)} {
		dst := make([]byte, len(plain))
		require.NoError(t, decompress(format.Lz4, dst, src))
		require.Equal(t, plain, dst)
	}
}

func TestUnpackMSB_reads_levels_from_the_most_significant_bit(t *testing.T) {
	t.Parallel()
	// 0..7 in three bits, from the format's Encodings.md
	got, used, err := unpackMSB(nil, []byte{0b00000101, 0b00111001, 0b01110111, 0xFF}, 3, 8)
	require.NoError(t, err)
	require.Equal(t, []byte{0, 1, 2, 3, 4, 5, 6, 7}, got)
	require.Equal(t, 3, used)
	_, _, err = unpackMSB(nil, []byte{1}, 3, 8)
	require.Error(t, err)
}

func TestWriter_bytes_grow_as_records_come(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{Fields: []schema.Field{nullable("v", schema.Long)}}
	as, err := schema.ArrowSchema(s)
	require.NoError(t, err)
	b := array.NewRecordBuilder(memory.DefaultAllocator, as)
	for i := range 100_000 {
		b.Field(0).(*array.Int64Builder).Append(int64(i) * 12_345_678_901)
	}
	w, err := NewWriter(&bytes.Buffer{}, columnsOf(s), WriterOptions{})
	require.NoError(t, err)
	before := w.Bytes()
	require.NoError(t, w.Write(b.NewRecord()))
	require.Greater(t, w.Bytes(), before+100_000)
	require.EqualValues(t, 100_000, w.Rows())
}
