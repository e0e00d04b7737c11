package purge

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

func TestAppID_is_the_inverse_of_ParseAppID(t *testing.T) {
	t.Parallel()
	run, step, ok := ParseAppID(AppID("3e1f-9", StepMark))
	require.True(t, ok)
	require.Equal(t, "3e1f-9", run)
	require.Equal(t, StepMark, step)
	for _, foreign := range []string{"", "lakewarden/", "lakewarden/x", "lakewarden/x/", "lakewarden//mark", "lakewarden/a/b/c", "spark-stream-1"} {
		_, _, ok := ParseAppID(foreign)
		require.False(t, ok, foreign)
	}
}

func TestOwnFile_only_names_of_the_run(t *testing.T) {
	t.Parallel()
	require.True(t, ownFile("p=1/lakewarden-run1-mark-7.parquet", "run1"))
	require.False(t, ownFile("p=1/lakewarden-run12-mark-7.parquet", "run1"))
	require.False(t, ownFile("lakewarden-run1-mark-7.parquet/part.parquet", "run1"))
	require.False(t, ownFile("part-0.parquet", "run1"))
	require.False(t, ownFile("lakewarden-run1-mark-7.json", "run1"))
}

func TestLeftovers_by_txn_versions(t *testing.T) {
	t.Parallel()
	at := func(step string) string { return AppID("r", step) }
	for name, c := range map[string]struct {
		txns         map[string]int64
		left, marked bool
		deleted      bool
	}{
		"column added only":        {map[string]int64{at(StepColumn): 1}, true, false, false},
		"marked":                   {map[string]int64{at(StepColumn): 1, at(StepMark): 1}, true, true, false},
		"marked, delete fenced":    {map[string]int64{at(StepMark): 1, at(StepDelete): 2}, true, true, false},
		"marked and deleted":       {map[string]int64{at(StepMark): 1, at(StepDelete): 1}, true, false, true},
		"unmarked":                 {map[string]int64{at(StepColumn): 1, at(StepMark): 2}, false, false, false},
		"unmarked, repaired":       {map[string]int64{at(StepMark): 4}, false, false, false},
		"without marker":           {map[string]int64{at(StepDelete): 1}, true, false, true},
		"fenced before it started": {map[string]int64{at(StepMark): 2, at(StepDelete): 2, at(StepColumn): 2}, false, false, false},
		"another program":          {map[string]int64{"stream": 1}, false, false, false},
		"a restore":                {map[string]int64{at(StepRestore): 1}, false, false, false},
	} {
		got := leftoversOf(c.txns)
		require.Equal(t, c.left, len(got) == 1, name)
		if c.left {
			require.Equal(t, c.marked, got[0].Marked, name)
			require.Equal(t, c.deleted, got[0].Deleted, name)
		}
	}
}

// keyOf hashes row 0 of one column.
func keyOf(t tbLike, a arrow.Array) (key128, bool) {
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "k", Type: a.DataType(), Nullable: true}}, nil), []arrow.Array{a}, 1)
	defer rec.Release()
	r, err := newKeyReader(rec, []string{"k"})
	require.NoError(t, err)
	return r.key(0)
}

type tbLike interface {
	require.TestingT
}

func constKey(t tbLike, dt arrow.DataType, v any) (key128, bool) {
	a, err := constArray(dt, v, 1)
	require.NoError(t, err)
	defer a.Release()
	return keyOf(t, a)
}

func TestKeys_equal_as_SQL_says(t *testing.T) {
	t.Parallel()
	long, _ := constKey(t, arrow.PrimitiveTypes.Int64, int64(-7))
	for _, dt := range []arrow.DataType{arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int8} {
		k, ok := constKey(t, dt, int64(-7))
		require.True(t, ok)
		require.Equal(t, long, k, dt)
	}
	zero, _ := constKey(t, arrow.PrimitiveTypes.Float64, 0.0)
	negative := 0.0
	minus, _ := constKey(t, arrow.PrimitiveTypes.Float64, -negative)
	require.Equal(t, zero, minus)
	for _, dt := range []arrow.DataType{arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64, &arrow.Decimal128Type{Precision: 5, Scale: 2}} {
		_, ok := constKey(t, dt, nil)
		require.False(t, ok, "a null equals nothing: %s", dt)
	}
	d, ok := constKey(t, &arrow.Decimal128Type{Precision: 5, Scale: 2}, expr.Decimal{V: decimal128.FromI64(150), Scale: 2})
	require.True(t, ok)
	wide, _ := constKey(t, &arrow.Decimal128Type{Precision: 20, Scale: 2}, expr.Decimal{V: decimal128.FromI64(150), Scale: 2})
	require.Equal(t, d, wide)
}

func TestKeys_tuples_do_not_run_into_each_other(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := []string{rapid.String().Draw(t, "a0"), rapid.String().Draw(t, "a1")}
		b := []string{rapid.String().Draw(t, "b0"), rapid.String().Draw(t, "b1")}
		key := func(v []string) key128 {
			x, _ := constArray(arrow.BinaryTypes.String, v[0], 1)
			y, _ := constArray(arrow.BinaryTypes.String, v[1], 1)
			rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.BinaryTypes.String}, {Name: "y", Type: arrow.BinaryTypes.String}}, nil), []arrow.Array{x, y}, 1)
			r, err := newKeyReader(rec, []string{"x", "y"})
			require.NoError(t, err)
			k, _ := r.key(0)
			return k
		}
		require.Equal(t, a[0] == b[0] && a[1] == b[1], key(a) == key(b))
	})
}

func TestFilterRecord_keeps_exactly_the_chosen_rows_of_every_type(t *testing.T) {
	t.Parallel()
	sc := &schema.Struct{Fields: []schema.Field{
		{Name: "s", Type: schema.String, Nullable: true},
		{Name: "l", Type: &schema.Array{Element: schema.String, ContainsNull: true}, Nullable: true},
		{Name: "m", Type: &schema.Map{Key: schema.String, Value: schema.Long, ValueContainsNull: true}, Nullable: true},
		{Name: "n", Type: &schema.Struct{Fields: []schema.Field{{Name: "x", Type: schema.Long, Nullable: true}}}, Nullable: true},
	}}
	as, err := schema.ArrowSchema(sc)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "rows")
		b := array.NewRecordBuilder(memory.DefaultAllocator, as)
		for i := range n {
			b.Field(0).(*array.StringBuilder).Append(strings.Repeat("a", i%3))
			lb := b.Field(1).(*array.ListBuilder)
			lb.Append(i%4 != 0)
			for range i % 4 {
				lb.ValueBuilder().(*array.StringBuilder).Append("v")
			}
			mb := b.Field(2).(*array.MapBuilder)
			mb.Append(i%3 != 0)
			for k := range i % 3 {
				mb.KeyBuilder().(*array.StringBuilder).Append(string(rune('a' + k)))
				mb.ItemBuilder().(*array.Int64Builder).Append(int64(i))
			}
			sb := b.Field(3).(*array.StructBuilder)
			sb.Append(i%5 != 0)
			sb.FieldBuilder(0).(*array.Int64Builder).Append(int64(i))
		}
		rec := b.NewRecord()
		keep := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "keep")
		out, err := filterRecord(rec, func(i int) bool { return keep[i] })
		require.NoError(t, err)
		at := 0
		for i := range n {
			if !keep[i] {
				continue
			}
			for c := range rec.Columns() {
				require.Equal(t, rec.Column(c).ValueStr(i), out.Column(c).ValueStr(at))
			}
			at++
		}
		require.EqualValues(t, at, out.NumRows())
	})
}
