package expr

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// reference evaluates a tree for one row in the plainest way: Go values, big
// rationals for decimals, time.Time for dates. It shares no code with the
// kernels. nil is NULL.
type reference map[string]any

// whole is an integer of 32 or 64 bits.
type whole struct {
	v    int64
	bits int
}

func (r reference) eval(n *node) any {
	args := make([]any, len(n.args))
	for i, a := range n.args {
		args[i] = r.eval(a)
	}
	switch n.op {
	case opLit:
		return refLiteral(n.lit)
	case opColumn:
		return r[n.path[0]]
	case opAnd:
		return refLogic(args, false)
	case opOr:
		return refLogic(args, true)
	case opNot:
		return refNot(args[0])
	case opIsNull:
		return (args[0] == nil) != n.neg
	case opIsTrue:
		return (args[0] == true) != n.neg
	case opDistinct:
		return refSame(args[0], args[1]) == n.neg
	case opNullEq:
		return refSame(args[0], args[1])
	case opBetween:
		return refNegate(refLogic([]any{refCompare(opGe, args[0], args[1]), refCompare(opLe, args[0], args[2])}, false), n.neg)
	case opIn:
		var hits []any
		for _, a := range args[1:] {
			hits = append(hits, refCompare(opEq, args[0], a))
		}
		return refNegate(refLogic(hits, true), n.neg)
	case opLike:
		if args[0] == nil || args[1] == nil {
			return nil
		}
		return refLike([]rune(args[0].(string)), []rune(args[1].(string))) != n.neg
	case opCase:
		return refCase(n, args)
	case opCall:
		return refCall(n.name, args)
	case opNeg, opAdd, opSub, opMul, opMod:
		return refArithmetic(n.op, args)
	}
	return refCompare(n.op, args[0], args[1])
}

func refLiteral(l literal) any {
	switch l.typ {
	case nil:
		return nil
	case schema.Boolean:
		return l.bool
	case schema.Integer:
		return whole{l.i, 32}
	case schema.Long:
		return whole{l.i, 64}
	case schema.Double:
		return l.f
	case schema.String:
		return l.str
	case schema.Date:
		return time.Unix(l.i*86400, 0).UTC()
	}
	return new(big.Rat).SetFrac(l.dec.V.BigInt(), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(l.dec.Scale)), nil))
}

func refLogic(args []any, or bool) any {
	null := false
	for _, a := range args {
		if a == or {
			return or
		}
		null = null || a == nil
	}
	if null {
		return nil
	}
	return !or
}

func refNot(a any) any {
	if a == nil {
		return nil
	}
	return !a.(bool)
}

func refNegate(a any, neg bool) any {
	if neg {
		return refNot(a)
	}
	return a
}

func refSame(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return refOrder(a, b) == 0
}

func refCompare(o op, a, b any) any {
	if a == nil || b == nil {
		return nil
	}
	c := refOrder(a, b)
	switch o {
	case opEq:
		return c == 0
	case opNe:
		return c != 0
	case opLt:
		return c < 0
	case opLe:
		return c <= 0
	case opGt:
		return c > 0
	}
	return c >= 0
}

// refOrder compares by Spark's order: NaN last and equal to itself.
func refOrder(a, b any) int {
	switch x := a.(type) {
	case string:
		return strings.Compare(x, b.(string))
	case bool:
		return strings.Compare(fmt.Sprint(x), fmt.Sprint(b))
	case time.Time:
		return x.Compare(b.(time.Time))
	case float64:
		if _, ok := b.(*big.Rat); ok {
			b, _ = b.(*big.Rat).Float64()
		}
		y, ok := b.(float64)
		if !ok {
			y = float64(b.(whole).v)
		}
		switch {
		case math.IsNaN(x) && math.IsNaN(y):
			return 0
		case math.IsNaN(x):
			return 1
		case math.IsNaN(y):
			return -1
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	if _, ok := b.(float64); ok {
		return -refOrder(b, a)
	}
	return refRat(a).Cmp(refRat(b))
}

func refRat(a any) *big.Rat {
	if w, ok := a.(whole); ok {
		return new(big.Rat).SetInt64(w.v)
	}
	return a.(*big.Rat)
}

// refLike is the textbook recursion.
func refLike(s, p []rune) bool {
	if len(p) == 0 {
		return len(s) == 0
	}
	switch {
	case p[0] == '%':
		return refLike(s, p[1:]) || len(s) > 0 && refLike(s[1:], p)
	case p[0] == '\\':
		return len(s) > 0 && s[0] == p[1] && refLike(s[1:], p[2:])
	case len(s) == 0:
		return false
	}
	return (p[0] == '_' || p[0] == s[0]) && refLike(s[1:], p[1:])
}

func refCase(n *node, args []any) any {
	var operand any
	if n.hasOperand {
		operand, args = args[0], args[1:]
	}
	for ; len(args) >= 2; args = args[2:] {
		cond := args[0]
		if n.hasOperand {
			cond = refCompare(opEq, operand, cond)
		}
		if cond == true {
			return args[1]
		}
	}
	if n.hasElse {
		return args[0]
	}
	return nil
}

func refCall(name string, args []any) any {
	switch name {
	case "coalesce":
		for _, a := range args {
			if a != nil {
				return a
			}
		}
		return nil
	case "nullif":
		if refCompare(opEq, args[0], args[1]) == true {
			return nil
		}
		return args[0]
	case "if":
		if args[0] == true {
			return args[1]
		}
		return args[2]
	}
	if args[0] == nil {
		return nil
	}
	d := args[0].(time.Time)
	switch name {
	case "year":
		return whole{int64(d.Year()), 32}
	case "month":
		return whole{int64(d.Month()), 32}
	case "last_day":
		return time.Date(d.Year(), d.Month()+1, 0, 0, 0, 0, 0, time.UTC)
	}
	panic(name)
}

func refArithmetic(o op, args []any) any {
	for _, a := range args {
		if a == nil {
			return nil
		}
	}
	a := args[0].(whole)
	if o == opNeg {
		return refWrap(new(big.Int).Neg(big.NewInt(a.v)), a.bits)
	}
	b := args[1].(whole)
	x, y := big.NewInt(a.v), big.NewInt(b.v)
	bits := max(a.bits, b.bits)
	switch o {
	case opAdd:
		return refWrap(x.Add(x, y), bits)
	case opSub:
		return refWrap(x.Sub(x, y), bits)
	case opMul:
		return refWrap(x.Mul(x, y), bits)
	}
	if b.v == 0 {
		return nil
	}
	return refWrap(x.Rem(x, y), bits)
}

// refWrap is two's complement of the width.
func refWrap(v *big.Int, bits int) any {
	m := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	v.Mod(v, m)
	if v.Bit(bits-1) == 1 {
		v.Sub(v, m)
	}
	return whole{v.Int64(), bits}
}

var refForms = map[string][]string{
	"bool": {"({bool} AND {bool})", "({bool} OR {bool})", "(NOT {bool})", "({bool} OR {bool} OR {bool})", "({int} < {int})", "({int} >= {long})",
		"({long} = {int})", "({double} < {double})", "({double} = {double})", "({double} >= {int})", "({dec} > {dec})", "({dec} <> {int})", "({dec} <= {long})",
		"({double} < {dec})", "({string} < {string})", "({string} = {string})", "({date} <= {date})", "({bool} < {bool})", "({int} <=> {int})",
		"({double} IS DISTINCT FROM {double})", "({string} IS NOT DISTINCT FROM {string})", "({date} IS NULL)", "({int} IS NOT NULL)", "({bool} IS TRUE)",
		"({bool} IS NOT TRUE)", "({int} BETWEEN {int} AND {long})", "({date} NOT BETWEEN {date} AND {date})", "({int} IN (1, 2, NULL))", "({int} NOT IN ({int}, {int}))",
		"({long} IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10))", "({dec} IN (0.00, 1.50, 2BD))", "({string} IN ('a', 'ab', '', 'x', 'y', 'z', '1', '2', 'é', 'abc'))",
		"({string} LIKE 'a%')", "({string} LIKE '%b')", "({string} LIKE '%a%b%')", "({string} LIKE '_b_')", "({string} NOT LIKE 'a\\\\_%')", "({string} LIKE {string})",
		"CASE WHEN {bool} THEN {bool} WHEN {bool} THEN {bool} END", "CASE {int} WHEN {int} THEN {bool} ELSE {bool} END", "if({bool}, {bool}, {bool})", "coalesce({bool}, {bool})"},
	"int":    {"({int} + {int})", "({int} - {int})", "({int} * {int})", "({int} % {int})", "-({int})", "year({date})", "month({date})", "nullif({int}, {int})", "coalesce({int}, {int})", "if({bool}, {int}, {int})"},
	"long":   {"({long} + {int})", "({long} * {long})", "({int} - {long})", "({long} % {int})", "-({long})"},
	"double": {"coalesce({double}, {double})", "if({bool}, {double}, {double})"},
	"dec":    {"nullif({dec}, {dec})"},
	"string": {"coalesce({string}, {string})", "CASE WHEN {bool} THEN {string} ELSE {string} END"},
	"date":   {"last_day({date})", "coalesce({date}, {date})"},
}

var refLeaves = map[string][]string{
	"bool": {"b", "c", "TRUE", "FALSE"}, "int": {"i", "j", "1", "-1", "2147483647"}, "long": {"l", "k", "1L", "-9223372036854775808"},
	"double": {"d", "e", "1.5D", "0D"}, "dec": {"n", "m", "1.50", "0.01"}, "string": {"s", "t", "'a'", "'ab'"}, "date": {"p", "q", "DATE'2024-02-29'"},
}

var refTypes = map[string]schema.Type{"bool": schema.Boolean, "int": schema.Integer, "long": schema.Long, "double": schema.Double,
	"dec": schema.Decimal{Precision: 9, Scale: 2}, "string": schema.String, "date": schema.Date}

// refKinds fixes the order, so that a failure can be drawn again.
var refKinds = []string{"bool", "int", "long", "double", "dec", "string", "date"}

func refExpr(t *rapid.T, kind string, depth int) string {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
		return rapid.SampledFrom(refLeaves[kind]).Draw(t, "leaf")
	}
	form := rapid.SampledFrom(refForms[kind]).Draw(t, "form")
	for _, k := range refKinds {
		for strings.Contains(form, "{"+k+"}") {
			form = strings.Replace(form, "{"+k+"}", refExpr(t, k, depth-1), 1)
		}
	}
	return form
}

// refCell draws a value in the form of the reference and appends it.
func refCell(t *rapid.T, b array.Builder) any {
	if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		b.AppendNull()
		return nil
	}
	switch x := b.(type) {
	case *array.BooleanBuilder:
		v := rapid.Bool().Draw(t, "b")
		x.Append(v)
		return v
	case *array.Int32Builder:
		v := rapid.SampledFrom([]int32{0, 1, -1, 2, 7, math.MaxInt32, math.MinInt32}).Draw(t, "i")
		x.Append(v)
		return whole{int64(v), 32}
	case *array.Int64Builder:
		v := rapid.SampledFrom([]int64{0, 1, -1, 2, 10, math.MaxInt64, math.MinInt64, 1 << 33}).Draw(t, "l")
		x.Append(v)
		return whole{v, 64}
	case *array.Float64Builder:
		v := rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, 1.5, math.NaN(), math.Inf(1), math.Inf(-1), 0.1}).Draw(t, "d")
		x.Append(v)
		return v
	case *array.Decimal128Builder:
		v := rapid.SampledFrom([]int64{0, 1, -1, 150, 200, 999_999_999, 100}).Draw(t, "n")
		x.Append(decimal128.FromI64(v))
		return big.NewRat(v, 100)
	case *array.StringBuilder:
		v := rapid.SampledFrom([]string{"", "a", "ab", "abc", "b", "aéb", "a_", "%", "ba"}).Draw(t, "s")
		x.Append(v)
		return v
	}
	v := rapid.SampledFrom([]int64{0, 19782, 19783, 19753, 2932896, -25567}).Draw(t, "p")
	b.(*array.Date32Builder).Append(arrow.Date32(v))
	return time.Unix(v*86400, 0).UTC()
}

func TestTruth_agrees_with_a_plain_reading_of_the_tree(t *testing.T) {
	t.Parallel()
	s := &schema.Struct{}
	for _, kind := range refKinds {
		for _, name := range refLeaves[kind][:2] {
			s.Fields = append(s.Fields, schema.Field{Name: name, Type: refTypes[kind], Nullable: true})
		}
	}
	as, err := schema.ArrowSchema(s)
	require.NoError(t, err)
	rapid.Check(t, func(r *rapid.T) {
		text := refExpr(r, "bool", 4)
		e := MustParse(text)
		bound, err := e.Bind(s, Context{})
		require.NoError(r, err)
		rb := array.NewRecordBuilder(memory.DefaultAllocator, as)
		rows := make([]reference, rapid.SampledFrom([]int{1, 5, 66}).Draw(r, "rows"))
		for i := range rows {
			rows[i] = reference{}
			for k, f := range s.Fields {
				rows[i][f.Name] = refCell(r, rb.Field(k))
			}
		}
		truth, err := bound.Truth(rb.NewRecord())
		require.NoError(r, err)
		for i, row := range rows {
			want := row.eval(e.root)
			require.Equal(r, want == true, truth.IsTrue(i), "%s: row %v", text, row)
			require.Equal(r, want == nil, truth.IsNull(i), "%s: row %v", text, row)
		}
	})
}
