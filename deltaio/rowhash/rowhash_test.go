package rowhash_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/rowhash"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

func table(t interface {
	Errorf(string, ...any)
	FailNow()
}, s *schema.Struct, rows string) arrow.Record {
	as, err := schema.ArrowSchema(s)
	require.NoError(t, err)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, as, strings.NewReader(rows))
	require.NoError(t, err)
	return rec
}

func field(name string, t schema.Type) schema.Field {
	return schema.Field{Name: name, Type: t, Nullable: true}
}

var everyType = &schema.Struct{Fields: []schema.Field{
	field("b", schema.Boolean), field("i8", schema.Byte), field("i16", schema.Short), field("i32", schema.Integer),
	field("i64", schema.Long), field("f", schema.Float), field("d", schema.Double), field("m", schema.Decimal{Precision: 10, Scale: 2}),
	field("s", schema.String), field("dt", schema.Date), field("ts", schema.Timestamp),
	field("a", &schema.Array{Element: schema.Long, ContainsNull: true}),
	field("st", &schema.Struct{Fields: []schema.Field{field("x", schema.String), field("y", schema.Integer)}}),
	field("v", schema.Void),
}}

const everyRow = `[{"b":true,"i8":-1,"i16":300,"i32":-70000,"i64":5000000000,"f":1.5,"d":-2.25,"m":"12.34","s":"grüße","dt":"2024-02-29",
"ts":"2024-02-29 12:34:56.789012","a":[1,null,3],"st":{"x":"p","y":null}},
{"b":null,"s":"","a":[],"st":{"x":null,"y":7}},{}]`

// Stored digests are compared years later: if this test fails, the hash of old
// archives has changed, and no expectation may be adapted to that.
func TestSum_known_rows_keep_their_hash_for_ever(t *testing.T) {
	t.Parallel()
	rec := table(t, everyType, everyRow)
	sum, err := rowhash.New(everyType).Sum(rec)
	require.NoError(t, err)
	require.Equal(t, "3:ad1a6c7f80a51760318023bfdf0836b8", sum.String())
	sum, err = rowhash.New(everyType, "b", "a", "st").Masked(rec, func(i int) bool { return i != 1 })
	require.NoError(t, err)
	require.Equal(t, "2:426f1fa0ebcd3cb777d5ed851c697a66", sum.String())
}

func TestRows_values_that_look_alike_hash_apart(t *testing.T) {
	t.Parallel()
	str := &schema.Struct{Fields: []schema.Field{field("a", schema.String), field("b", schema.String)}}
	rows := `[{"a":"","b":null},{"a":null,"b":""},{"a":"","b":""},{"a":null,"b":null},{"a":"ab","b":"c"},{"a":"a","b":"bc"},{"a":"x","b":"y"},{"a":"y","b":"x"}]`
	requireDistinct(t, str, rows)
	nested := &schema.Struct{Fields: []schema.Field{field("a", &schema.Array{Element: schema.String, ContainsNull: true})}}
	requireDistinct(t, nested, `[{"a":null},{"a":[]},{"a":[null]},{"a":[""]},{"a":["",""]},{"a":["a","b"]},{"a":["ab"]},{"a":["b","a"]}]`)
	st := &schema.Struct{Fields: []schema.Field{field("s", &schema.Struct{Fields: []schema.Field{field("x", schema.Long)}})}}
	requireDistinct(t, st, `[{"s":null},{"s":{"x":null}},{"s":{"x":0}},{"s":{"x":1}}]`)
}

func requireDistinct(t *testing.T, s *schema.Struct, rows string) {
	t.Helper()
	hashes, err := rowhash.New(s).Rows(table(t, s, rows))
	require.NoError(t, err)
	seen := map[rowhash.Hash128]int{}
	for i, h := range hashes {
		j, dup := seen[h]
		require.False(t, dup, "rows %d and %d", i, j)
		seen[h] = i
	}
}

func TestRows_doubles_have_one_NaN_and_two_zeros(t *testing.T) {
	t.Parallel()
	for _, typ := range []schema.Type{schema.Double, schema.Float, &schema.Array{Element: schema.Double}} {
		s := &schema.Struct{Fields: []schema.Field{field("d", typ)}}
		as, err := schema.ArrowSchema(s)
		require.NoError(t, err)
		b := array.NewRecordBuilder(memory.DefaultAllocator, as)
		otherNaN := math.Float64frombits(0xfff8000000000123)
		for _, v := range []float64{math.NaN(), otherNaN, 0, math.Copysign(0, -1)} {
			switch f := b.Field(0).(type) {
			case *array.Float64Builder:
				f.Append(v)
			case *array.Float32Builder:
				f.Append(float32(v))
			case *array.ListBuilder:
				f.Append(true)
				f.ValueBuilder().(*array.Float64Builder).Append(v)
			}
		}
		h, err := rowhash.New(s).Rows(b.NewRecord())
		require.NoError(t, err)
		require.Equal(t, h[0], h[1], typ)
		require.NotEqual(t, h[2], h[3], typ)
	}
}

func TestRows_name_and_type_of_a_column_count(t *testing.T) {
	t.Parallel()
	sum := func(name string, typ schema.Type) rowhash.Sum {
		s := &schema.Struct{Fields: []schema.Field{field(name, typ)}}
		out, err := rowhash.New(s).Sum(table(t, s, `[{"`+name+`":1}]`))
		require.NoError(t, err)
		return out
	}
	require.NotEqual(t, sum("a", schema.Long), sum("b", schema.Long))
	require.NotEqual(t, sum("a", schema.Long), sum("a", schema.Integer))
}

func TestRows_a_map_has_no_order(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{Fields: []schema.Field{field("m", &schema.Map{Key: schema.String, Value: schema.Long, ValueContainsNull: true})}}
	h, err := rowhash.New(s).Rows(table(t, s, `[{"m":[{"key":"a","value":1},{"key":"b","value":2}]},{"m":[{"key":"b","value":2},{"key":"a","value":1}]},
		{"m":[{"key":"a","value":2},{"key":"b","value":1}]}]`))
	require.NoError(t, err)
	require.Equal(t, h[0], h[1])
	require.NotEqual(t, h[0], h[2])
}

func TestRows_dictionary_encoding_and_slices_change_nothing(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{Fields: []schema.Field{field("s", schema.String)}}
	plain := table(t, s, `[{"s":"x"},{"s":"y"},{"s":null},{"s":"x"},{"s":""}]`)
	want, err := rowhash.New(s).Rows(plain)
	require.NoError(t, err)

	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	b := array.NewDictionaryBuilder(memory.DefaultAllocator, dt).(*array.BinaryDictionaryBuilder)
	for _, v := range []string{"x", "y", "-", "x", ""} {
		if v == "-" {
			b.AppendNull()
		} else {
			require.NoError(t, b.AppendString(v))
		}
	}
	coded := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "s", Type: dt}}, nil), []arrow.Array{b.NewArray()}, 5)
	got, err := rowhash.New(s).Rows(coded)
	require.NoError(t, err)
	require.Equal(t, want, got)

	got, err = rowhash.New(s).Rows(plain.NewSlice(2, 5))
	require.NoError(t, err)
	require.Equal(t, want[2:], got)
	got, err = rowhash.New(s).Rows(plain.NewSlice(0, 0))
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestRows_wrong_record_is_refused_with_the_column(t *testing.T) {
	t.Parallel()
	a := &schema.Struct{Fields: []schema.Field{field("x", schema.Long)}}
	b := &schema.Struct{Fields: []schema.Field{field("x", schema.String)}}
	_, err := rowhash.New(b).Sum(table(t, a, `[{"x":1}]`))
	require.ErrorContains(t, err, "column x")
	c := &schema.Struct{Fields: []schema.Field{field("y", schema.Long)}}
	_, err = rowhash.New(c).Sum(table(t, a, `[{"x":1}]`))
	require.ErrorContains(t, err, "columns y")
}

func TestSum_order_and_batches_do_not_matter_and_sub_undoes_add(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{Fields: []schema.Field{field("k", schema.Long), field("v", schema.String)}}
	reversed := &schema.Struct{Fields: []schema.Field{s.Fields[1], s.Fields[0]}}
	rapid.Check(t, func(rt *rapid.T) {
		type row struct {
			K *int64  `json:"k"`
			V *string `json:"v"`
		}
		gen := rapid.Custom(func(t *rapid.T) row {
			return row{rapid.Ptr(rapid.Int64Range(0, 3), true).Draw(t, "k"), rapid.Ptr(rapid.SampledFrom([]string{"", "a", "b"}), true).Draw(t, "v")}
		})
		rows := rapid.SliceOfN(gen, 1, 20).Draw(rt, "rows")
		shuffled := rapid.Permutation(rows).Draw(rt, "shuffled")
		cut := rapid.IntRange(0, len(rows)).Draw(rt, "cut")
		sum := func(schema *schema.Struct, rows []row) rowhash.Sum {
			text, err := json.Marshal(rows)
			require.NoError(rt, err)
			if len(rows) == 0 {
				return rowhash.Sum{}
			}
			out, err := rowhash.New(schema).Sum(table(rt, s, string(text)))
			require.NoError(rt, err)
			return out
		}
		all := sum(s, rows)
		a, b := sum(reversed, shuffled[:cut]), sum(s, shuffled[cut:])
		require.Equal(rt, all, a.Add(b))
		require.Equal(rt, a, all.Sub(b))
		require.Equal(rt, uint64(len(rows)), all.Count)
		if more := sum(s, append(shuffled, shuffled[0])); more == all {
			rt.Fatal("a duplicate did not count")
		}
		back, err := rowhash.ParseSum(all.String())
		require.NoError(rt, err)
		require.Equal(rt, all, back)
	})
}

func TestSum_swapped_values_between_rows_are_noticed(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{Fields: []schema.Field{field("k", schema.Long), field("v", schema.Long)}}
	a, err := rowhash.New(s).Sum(table(t, s, `[{"k":1,"v":10},{"k":2,"v":20}]`))
	require.NoError(t, err)
	b, err := rowhash.New(s).Sum(table(t, s, `[{"k":1,"v":20},{"k":2,"v":10}]`))
	require.NoError(t, err)
	require.NotEqual(t, a, b)
}

func TestSum_travels_in_JSON_without_losing_digits(t *testing.T) {
	t.Parallel()
	in := rowhash.Sum{Count: 3, Lo: math.MaxUint64 - 1, Hi: 1}
	text, err := json.Marshal(in)
	require.NoError(t, err)
	require.Equal(t, `"3:0000000000000001fffffffffffffffe"`, string(text))
	var out rowhash.Sum
	require.NoError(t, json.Unmarshal(text, &out))
	require.Equal(t, in, out)
	for _, bad := range []string{`"3"`, `"3:zz"`, `"x:0000000000000001fffffffffffffffe"`, `"3:0000000000000001ffffffffffffffzz"`} {
		require.Error(t, json.Unmarshal([]byte(bad), &out), bad)
	}
}
