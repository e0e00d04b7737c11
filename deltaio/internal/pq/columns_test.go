package pq

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

func nullable(name string, t schema.Type) schema.Field {
	return schema.Field{Name: name, Type: t, Nullable: true}
}

// smallFile has 1000 rows in row groups of 300: a long, a text, a struct.
func smallFile(t *testing.T) (data []byte, s *schema.Struct, want map[string][]string) {
	s = &schema.Struct{Fields: []schema.Field{
		nullable("id", schema.Long), nullable("name", schema.String),
		nullable("pos", &schema.Struct{Fields: []schema.Field{nullable("x", schema.Double), nullable("y", schema.Integer)}}),
	}}
	rec := randomRecord(rand.New(rand.NewPCG(5, 5)), s, 1000)
	return arrowFile(t, rec, 300), s, recordTable(rec)
}

type day32 int32 // as package expr's Date

// decimalValue has the fields of package expr's Decimal.
type decimalValue struct {
	V     decimal128.Num
	Scale int
}

func TestRewrite_constants_of_every_type_fill_copied_and_split_row_groups(t *testing.T) {
	t.Parallel()
	data, s, want := smallFile(t)
	consts := []struct {
		typ   schema.Type
		value any
		text  string
	}{
		{schema.Boolean, true, "true"}, {schema.Boolean, false, "false"}, {schema.Boolean, nil, "null"},
		{schema.String, "run-1", `"run-1"`}, {schema.String, "", `""`}, {schema.String, nil, "null"},
		{schema.Binary, []byte{0, 255}, `"\x00\xff"`},
		{schema.Long, int64(-5), "-5"}, {schema.Integer, int32(7), "7"}, {schema.Short, -300, "-300"}, {schema.Byte, int8(-8), "-8"},
		{schema.Float, float32(1.5), "f3fc00000"}, {schema.Double, 0.0, "d0000000000000000"},
		{schema.Date, day32(19000), "D19000"}, {schema.Timestamp, int64(1_700_000_000_000_001), "T1700000000000001"},
		{schema.TimestampNTZ, int64(-1), "T-1"},
		{schema.Decimal{Precision: 9, Scale: 2}, decimal128.FromI64(-150), "m-1.50"},
		{schema.Decimal{Precision: 18, Scale: 3}, decimalValue{decimal128.FromI64(15), 1}, "m1.500"},
		{schema.Decimal{Precision: 38, Scale: 1}, int64(-4), "m-4.0"},
		{&schema.Array{Element: schema.Long, ContainsNull: true}, nil, "null"},
		{&schema.Map{Key: schema.String, Value: schema.Long}, nil, "null"},
		{&schema.Struct{Fields: []schema.Field{nullable("a", schema.String)}}, nil, "null"},
	}
	cols := columnsOf(s)
	for i, c := range consts {
		cols = append(cols, Column{Field: nullable(string(rune('A'+i)), c.typ), Const: c.value, IsConst: true})
	}
	rows := FullBitmap(1000) // 300..600 copied, the rest split
	rows.Unset(10)
	rows.Unset(700)
	rows.Unset(999)
	for _, codec := range []string{"", "zstd", "uncompressed"} {
		files, res := rewriteAll(t, data, Options{}, Output{Columns: cols, Rows: rows, Codec: codec})
		require.Equal(t, 1, res[0].RawCopied)
		require.Equal(t, 3, res[0].Split)
		got := arrowTable(t, files[0])
		for name, texts := range keepRows(want, rows) {
			require.Equal(t, texts, got[name])
		}
		goTable(t, files[0])
		for i, c := range consts {
			texts := got[string(rune('A'+i))]
			require.Len(t, texts, 997)
			for _, text := range texts {
				require.Equal(t, c.text, text, "%s %v", c.typ, c.value)
			}
		}
	}
}

func TestRewrite_constant_statistics_are_exact(t *testing.T) {
	t.Parallel()
	data, _, _ := smallFile(t)
	_, res := rewriteAll(t, data, Options{}, Output{Columns: []Column{
		{Field: nullable("run_id", schema.String), Const: "abc", IsConst: true},
		{Field: nullable("flag", schema.Boolean), Const: true, IsConst: true},
		{Field: nullable("at", schema.Timestamp), Const: int64(1_700_000_000_000_001), IsConst: true},
		{Field: nullable("none", schema.Long), IsConst: true},
	}})
	require.JSONEq(t, `{"numRecords":1000,
		"minValues":{"run_id":"abc","at":"2023-11-14T22:13:20.000Z"},
		"maxValues":{"run_id":"abc","at":"2023-11-14T22:13:20.001Z"},
		"nullCount":{"run_id":0,"flag":0,"at":0,"none":1000}}`, res[0].Stats.JSON(nil))
}

func TestRewrite_constants_of_the_wrong_type_are_refused_by_column(t *testing.T) {
	t.Parallel()
	data, _, _ := smallFile(t)
	for _, c := range []struct {
		typ   schema.Type
		value any
	}{
		{schema.Boolean, 1}, {schema.Byte, 128}, {schema.Date, int64(1) << 40}, {schema.String, 5}, {schema.String, "\xff"}, {schema.Long, 1.5},
		{schema.Double, int64(1)}, {schema.Decimal{Precision: 3, Scale: 2}, 10}, {schema.Decimal{Precision: 5, Scale: 0}, decimalValue{decimal128.FromI64(15), 1}},
		{&schema.Array{Element: schema.Long}, []int64{1}},
	} {
		_, _, err := tryRewrite(data, Options{}, Output{Columns: []Column{{Field: nullable("bad", c.typ), Const: c.value, IsConst: true}}})
		require.ErrorContains(t, err, "column bad", "%v for %s", c.value, c.typ)
		require.ErrorContains(t, err, "part-0.parquet")
	}
}

func TestRewrite_columns_are_dropped_renamed_cleared_and_reordered(t *testing.T) {
	t.Parallel()
	data, s, want := smallFile(t)
	pos := s.Fields[2].Type.(*schema.Struct)
	member := pos.Fields[1]
	member.Metadata = map[string]json.RawMessage{schema.KeyPhysicalName: json.RawMessage(`"y"`), schema.KeyColumnID: json.RawMessage(`42`)}
	member.Name = "latitude"
	cols := []Column{
		{Field: nullable("place", &schema.Struct{Fields: []schema.Field{member, nullable("added", schema.Date)}}), Source: "pos"},
		{Field: nullable("id", schema.Long), Source: "id"},
		{Field: nullable("label", schema.String), Source: "NAME"}, // found as Spark does, ignoring case
		{Field: nullable("missing", schema.Long), Source: "nowhere"},
		{Field: nullable("void", schema.Void), Source: "void"},
	}
	rows := randomRows(rand.New(rand.NewPCG(1, 9)), 1000)
	for _, rows := range []*Bitmap{nil, rows} {
		files, res := rewriteAll(t, data, Options{Clear: []string{"id"}}, Output{Columns: cols, Rows: rows})
		got := arrowTable(t, files[0])
		kept := keepRows(want, rows)
		require.Len(t, got, 4)
		require.Equal(t, kept["name"], got["label"])
		for i := range got["id"] {
			require.Equal(t, "null", got["id"][i])
			require.Equal(t, "null", got["missing"][i])
		}
		require.EqualValues(t, res[0].Rows, res[0].Stats.Column("id").NullCount)
		require.NotNil(t, res[0].Stats.Column("place", "latitude"))
		src, err := openSource(inMemory(files[0]))
		require.NoError(t, err)
		require.EqualValues(t, 42, src.root.children[0].children[0].el.FieldID.V)
		require.Equal(t, []string{"place", "latitude"}, []string(src.meta.RowGroups[0].Columns[0].Meta.V.Path))
		for i, text := range kept["pos"] {
			if text == "null" {
				require.Equal(t, "null", got["place"][i])
				continue
			}
			_, y, _ := cutLast(text, ",y=")
			require.Equal(t, "(latitude="+y, got["place"][i])
		}
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	for i := len(s) - len(sep); i >= 0; i-- {
		if s[i:i+len(sep)] == sep {
			return s[:i], s[i+len(sep):], true
		}
	}
	return s, "", false
}

func TestRewrite_field_ids_find_columns_whatever_their_names(t *testing.T) {
	t.Parallel()
	data, _, want := smallFile(t)
	withID := func(name string, id string, t schema.Type) schema.Field {
		f := nullable(name, t)
		f.Metadata = map[string]json.RawMessage{schema.KeyColumnID: json.RawMessage(id)}
		return f
	}
	mapped, _ := rewriteAll(t, data, Options{}, Output{Columns: []Column{
		{Field: withID("col-a", "1", schema.Long), Source: "id"}, {Field: withID("col-b", "2", schema.String), Source: "name"}}})
	one, two := int32(1), int32(2)
	files, _ := rewriteAll(t, mapped[0], Options{}, Output{Columns: []Column{
		{Field: nullable("x", schema.String), Source: "wrong", SourceID: &two}, {Field: nullable("y", schema.Long), Source: "col-b", SourceID: &one}}})
	got := arrowTable(t, files[0])
	require.Equal(t, want["name"], got["x"])
	require.Equal(t, want["id"], got["y"])
}

func TestRewrite_outputs_that_cannot_be_right_are_refused(t *testing.T) {
	t.Parallel()
	data, s, _ := smallFile(t)
	required := schema.Field{Name: "id", Type: schema.Long}
	for want, out := range map[string]Output{
		"bitmap has 5 rows":   {Columns: columnsOf(s), Rows: NewBitmap(5)},
		"is not nullable":     {Columns: []Column{{Field: required, Source: "nowhere"}}},
		"is there twice":      {Columns: append(columnsOf(s), columnsOf(s)...)},
		"no columns":          {},
		"codec \"lzo\"":       {Columns: columnsOf(s), Codec: "lzo"},
		"cannot become short": {Columns: []Column{{Field: nullable("id", schema.Short), Source: "id"}}},
		"table has string":    {Columns: []Column{{Field: nullable("pos", schema.String), Source: "pos"}}},
	} {
		_, _, err := tryRewrite(data, Options{}, out)
		require.ErrorContains(t, err, want)
	}
	_, _, err := tryRewrite(data, Options{Clear: []string{"id"}}, Output{Columns: []Column{{Field: required, Source: "id"}}})
	require.ErrorContains(t, err, "is not nullable")
}

func TestRewrite_output_without_rows_is_a_valid_file(t *testing.T) {
	t.Parallel()
	data, s, _ := smallFile(t)
	files, res := rewriteAll(t, data, Options{}, Output{Columns: columnsOf(s), Rows: NewBitmap(1000)})
	require.Zero(t, res[0].Rows)
	require.Empty(t, arrowTable(t, files[0])["id"])
	require.Empty(t, goTable(t, files[0])["id"])
	require.JSONEq(t, `{"numRecords":0,"nullCount":{"id":0,"name":0,"pos":{"x":0,"y":0}}}`, res[0].Stats.JSON(nil))
}
