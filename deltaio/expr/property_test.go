package expr_test

import (
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/expr"
)

func mustBind(t require.TestingT, text string, c expr.Context) *expr.Bound {
	e, err := expr.Parse(text)
	require.NoError(t, err, text)
	b, err := e.Bind(genSchema, c)
	require.NoError(t, err, text)
	return b
}

func TestString_any_expression_reparses_to_the_same_tree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := genExpr(r, rapid.SampledFrom(genKinds).Draw(r, "kind"), 4)
		e, err := expr.Parse(text)
		require.NoError(r, err, text)
		again, err := expr.Parse(e.String())
		require.NoError(r, err, e.String())
		require.True(r, e.Equal(again), "%s\n%s", text, e)
		require.Equal(r, e.String(), again.String())
	})
}

// Rows are evaluated together, and one by one in batches of a single row; the
// values must be the same bit for bit.
func TestEval_batch_gives_what_each_row_gives_alone(t *testing.T) {
	t.Parallel()
	c := losAngeles(t)
	rapid.Check(t, func(r *rapid.T) {
		text := genExpr(r, rapid.SampledFrom(genKinds).Draw(r, "kind"), 3)
		rec := genRecord(r, rapid.SampledFrom([]int{0, 1, 7, 64, 70, 130}).Draw(r, "rows"))
		bound := mustBind(r, text, c)
		all, err := bound.Eval(rec)
		require.NoError(r, err, text)
		require.EqualValues(r, rec.NumRows(), all.Len())
		for i := range all.Len() {
			alone, err := bound.Eval(rec.NewSlice(int64(i), int64(i+1)))
			require.NoError(r, err)
			require.True(r, sameCell(all, i, alone, 0), "%s: row %d: %v, alone %v", text, i, all.ValueStr(i), alone.ValueStr(0))
		}
	})
}

func sameCell(a arrow.Array, i int, b arrow.Array, j int) bool {
	if a.IsNull(i) || b.IsNull(j) {
		return a.IsNull(i) == b.IsNull(j)
	}
	return arrow.TypeEqual(a.DataType(), b.DataType()) && a.ValueStr(i) == b.ValueStr(j)
}

func TestEval_a_row_repeated_gives_what_the_row_gives(t *testing.T) {
	t.Parallel()
	c := losAngeles(t)
	rapid.Check(t, func(r *rapid.T) {
		text := genExpr(r, "bool", 3)
		rec := genRecord(r, 3)
		truth, err := mustBind(r, text, c).Truth(rec)
		require.NoError(r, err)
		for i := range 3 {
			var columns []arrow.Array
			for k := range rec.NumCols() {
				one := array.NewSlice(rec.Column(int(k)), int64(i), int64(i+1))
				rep, err := array.Concatenate([]arrow.Array{one, one, one, one, one}, memory.DefaultAllocator)
				require.NoError(r, err)
				columns = append(columns, rep)
			}
			rep, err := mustBind(r, text, c).Truth(array.NewRecord(rec.Schema(), columns, 5))
			require.NoError(r, err)
			for k := range 5 {
				require.Equal(r, truth.IsTrue(i), rep.IsTrue(k), text)
				require.Equal(r, truth.IsNull(i), rep.IsNull(k), text)
			}
		}
	})
}

func TestLogic_laws_of_three_valued_logic_hold(t *testing.T) {
	t.Parallel()
	c := losAngeles(t)
	rapid.Check(t, func(r *rapid.T) {
		x, y := expr.MustParse(genExpr(r, "bool", 2)), expr.MustParse(genExpr(r, "bool", 2))
		rec := genRecord(r, 70)
		truth := func(e *expr.Expr) string {
			b, err := e.Bind(genSchema, c)
			require.NoError(r, err, e.String())
			v, err := b.Truth(rec)
			require.NoError(r, err)
			require.LessOrEqual(r, v.CountTrue()+v.CountNull(), v.N)
			return truthText(v)
		}
		require.Equal(r, truth(x), truth(expr.Not(expr.Not(x))))
		require.Equal(r, truth(expr.And(x, y)), truth(expr.And(y, x)))
		require.Equal(r, truth(expr.Not(expr.And(x, y))), truth(expr.Or(expr.Not(x), expr.Not(y))))
		require.Equal(r, truth(expr.Not(expr.Or(x, y))), truth(expr.And(expr.Not(x), expr.Not(y))))
		require.Equal(r, truth(x), truth(expr.And(x, x)))
		require.NotContains(r, truth(expr.And(x, expr.Not(x))), "T")
		// every row is TRUE, FALSE or NULL: nothing is counted twice or lost
		both, none := truth(x), truth(expr.Not(x))
		for i := range both {
			require.Equal(r, map[byte]byte{'T': 'F', 'F': 'T', 'N': 'N'}[both[i]], none[i])
		}
	})
}

func TestFreeze_frozen_text_means_the_same_later(t *testing.T) {
	t.Parallel()
	c := losAngeles(t)
	e := expr.MustParse("dt < date_sub(current_date(), 30) AND ts < current_timestamp AND ts > TIMESTAMP'2024-03-10 12:00:00' OR now() IS NULL OR tz < localtimestamp()")
	require.True(t, e.ClockDependent())
	frozen := e.Freeze(c)
	require.False(t, frozen.ClockDependent())
	require.Equal(t, "dt < date_sub(DATE'2025-03-10', 30) AND ts < TIMESTAMP'2025-03-10 12:00:00Z' AND ts > TIMESTAMP'2024-03-10 19:00:00Z'"+
		" OR TIMESTAMP'2025-03-10 12:00:00Z' IS NULL OR tz < TIMESTAMP_NTZ'2025-03-10 05:00:00'", frozen.String())
	again := expr.MustParse(frozen.String())
	require.True(t, frozen.Equal(again))
	rapid.Check(t, func(r *rapid.T) {
		rec := genRecord(r, 20)
		later := expr.Context{Now: c.Now.Add(1000 * time.Hour), Zone: c.Zone}
		want, err := mustBind(r, e.String(), c).Truth(rec)
		require.NoError(r, err)
		got, err := mustBind(r, again.String(), later).Truth(rec)
		require.NoError(r, err)
		require.Equal(r, truthText(want), truthText(got))
	})
}

func TestFreeze_a_local_midnight_decides_the_date(t *testing.T) {
	t.Parallel()
	c := losAngeles(t)
	c.Now = time.Date(2025, 3, 10, 3, 0, 0, 0, time.UTC) // 20:00 of the day before there
	require.Equal(t, "DATE'2025-03-09'", expr.MustParse("current_date").Freeze(c).String())
	require.Equal(t, "DATE'2025-03-10'", expr.MustParse("current_date").Freeze(expr.Context{Now: c.Now}).String())
}

func TestFunctions_list_is_sorted_and_each_binds_or_says_its_arity(t *testing.T) {
	t.Parallel()
	names := expr.Functions()
	require.IsIncreasing(t, names)
	require.Contains(t, names, "date_sub")
	for _, name := range names {
		if name == "trim" { // the parser reads its arguments
			continue
		}
		_, err := expr.MustParse(name+"(1, 2, 3, 4, 5)").Bind(genSchema, losAngeles(t))
		if name == "coalesce" || name == "concat" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, name+" takes")
	}
}
