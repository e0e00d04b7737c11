package expr

import (
	"maps"
	"slices"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// function is one callable name: how many arguments, and how they bind.
type function struct {
	min, max int // max < 0: any number
	bind     func(b *binder, n *node, args []*term) (*term, error)
}

// functions is filled in init, since binding refers to it.
var functions map[string]function

func init() {
	functions = map[string]function{
		"date_add": {2, 2, dateAdd(false)}, "dateadd": {2, 2, dateAdd(false)}, "date_sub": {2, 2, dateAdd(true)},
		"add_months": {2, 2, bindAddMonths}, "datediff": {2, 2, bindDateDiff}, "date_diff": {2, 2, bindDateDiff},
		"last_day": {1, 1, datePart(schema.Date, lastDay, false)},
		"year":     {1, 1, datePart(schema.Integer, yearOf, true)}, "month": {1, 1, datePart(schema.Integer, monthOf, false)},
		"day": {1, 1, datePart(schema.Integer, dayOf, false)}, "dayofmonth": {1, 1, datePart(schema.Integer, dayOf, false)},
		"quarter": {1, 1, datePart(schema.Integer, quarterOf, false)}, "dayofweek": {1, 1, datePart(schema.Integer, dayOfWeek, false)},
		"dayofyear": {1, 1, datePart(schema.Integer, dayOfYear, false)},
		"hour":      {1, 1, timePart(3600, 24)}, "minute": {1, 1, timePart(60, 60)}, "second": {1, 1, timePart(1, 60)},
		"trunc": {2, 2, bindTrunc}, "date_trunc": {2, 2, bindDateTrunc}, "date_format": {2, 2, bindDateFormat},
		"to_date": {1, 2, bindToDate}, "to_timestamp": {1, 2, bindToTimestamp},
		"current_date": {0, 0, bindClock}, "curdate": {0, 0, bindClock}, "current_timestamp": {0, 0, bindClock},
		"now": {0, 0, bindClock}, "localtimestamp": {0, 0, bindClock},

		"lower": {1, 1, textFunc(lowerKernel)}, "lcase": {1, 1, textFunc(lowerKernel)},
		"upper": {1, 1, textFunc(upperKernel)}, "ucase": {1, 1, textFunc(upperKernel)},
		"trim": {1, 2, bindTrim(true, true)}, "ltrim": {1, 2, bindTrim(true, false)}, "rtrim": {1, 2, bindTrim(false, true)},
		"length": {1, 1, bindLength}, "char_length": {1, 1, bindLength}, "character_length": {1, 1, bindLength}, "len": {1, 1, bindLength},
		"substring": {2, 3, bindSubstring}, "substr": {2, 3, bindSubstring},
		"concat":     {0, -1, (*binder).concat},
		"startswith": {2, 2, textTest(hasPrefix)}, "endswith": {2, 2, textTest(hasSuffix)}, "contains": {2, 2, textTest(containsText)},

		"coalesce": {1, -1, bindCoalesce}, "nvl": {2, 2, bindCoalesce}, "ifnull": {2, 2, bindCoalesce},
		"nullif": {2, 2, bindNullIf}, "nvl2": {3, 3, bindNvl2}, "if": {3, 3, bindIf},
		"isnull": {1, 1, bindIsNull(false)}, "isnotnull": {1, 1, bindIsNull(true)}, "isnan": {1, 1, bindIsNaN},

		"boolean": {1, 1, castFunc}, "tinyint": {1, 1, castFunc}, "smallint": {1, 1, castFunc}, "int": {1, 1, castFunc},
		"bigint": {1, 1, castFunc}, "float": {1, 1, castFunc}, "double": {1, 1, castFunc}, "decimal": {1, 1, castFunc},
		"string": {1, 1, castFunc}, "binary": {1, 1, castFunc}, "date": {1, 1, castFunc}, "timestamp": {1, 1, castFunc},

		"abs": {1, 1, bindAbs}, "floor": {1, 1, bindRounding(roundFloor)}, "ceil": {1, 1, bindRounding(roundCeil)},
		"ceiling": {1, 1, bindRounding(roundCeil)}, "round": {1, 2, bindRound},
	}
}

// aggregates get an error of their own, since people try them.
var aggregates = wordSet("COUNT SUM AVG MIN MAX FIRST LAST COLLECT_LIST COLLECT_SET")

// nondeterministic functions never enter a criterion: it must mean the same
// when it is evaluated again.
var nondeterministic = wordSet("RAND RANDOM RANDN UUID SHUFFLE MONOTONICALLY_INCREASING_ID SPARK_PARTITION_ID INPUT_FILE_NAME")

func (b *binder) call(n *node) (*term, error) {
	f, ok := functions[n.name]
	if !ok {
		return nil, unknownFunction(n)
	}
	if len(n.args) < f.min || f.max >= 0 && len(n.args) > f.max {
		return nil, n.bindError("%s takes %s, not %d", n.name, arity(f), len(n.args))
	}
	args, err := b.bindAll(n.args)
	if err != nil {
		return nil, err
	}
	return f.bind(b, n, args)
}

func arity(f function) string {
	count := []string{"no arguments", "1 argument", "2 arguments", "3 arguments"}
	switch {
	case f.max < 0:
		return count[f.min] + " or more"
	case f.min == f.max:
		return count[f.min]
	}
	return count[f.min] + " to " + strings.Fields(count[f.max])[0]
}

func unknownFunction(n *node) error {
	up := strings.ToUpper(n.name)
	switch {
	case aggregates[up]:
		return n.bindError("%s is an aggregate; an expression sees one row", n.name)
	case nondeterministic[up]:
		return n.bindError("%s gives another value each time; an expression must not", n.name)
	}
	err := n.bindError("there is no function %s", quoteName(n.name, false))
	err.Candidates = near(n.name, Functions())
	return err
}

// Functions lists the names of all functions, sorted. CAST, TRY_CAST and CASE
// are syntax.
func Functions() []string { return slices.Sorted(maps.Keys(functions)) }

// arg casts argument i implicitly to the wanted type.
func (b *binder) arg(n *node, args []*term, i int, want schema.Type) (*term, error) {
	if !implicitCast(args[i].typ, want) {
		return nil, n.args[i].bindError("%s wants %s here, and this is %s", n.name, want, args[i].typ)
	}
	return b.castTo(args[i], want)
}

func bindCoalesce(b *binder, n *node, args []*term) (*term, error) {
	args, typ, err := b.unify(n, args)
	if err != nil {
		return nil, err
	}
	if args[0].kind == termConst && !args[0].val.allNull() {
		return args[0], nil
	}
	return b.fold(&term{kind: termChoose, typ: typ, args: args, fn: coalesceKernel(typ), src: n})
}

// castFunc binds int(x), date(x) and the like: CAST(x AS that type).
func castFunc(b *binder, n *node, args []*term) (*term, error) {
	c := newNode(n.src, n.pos, opCast, n.args...)
	c.to = typeNames[strings.ToUpper(n.name)]
	return b.explicitCast(c, args[0])
}

// bindNullIf is if(a = b, NULL, a), of a's type.
func bindNullIf(b *binder, n *node, args []*term) (*term, error) {
	eq, err := b.compare(n, cmpEq, args[0], args[1])
	if err != nil {
		return nil, err
	}
	return b.choose(n, []*term{eq}, []*term{constant(nullVec(args[0].typ), n), args[0]})
}

func bindNvl2(b *binder, n *node, args []*term) (*term, error) {
	return b.choose(n, []*term{isNullTerm(args[0], true)}, args[1:])
}

func bindIf(b *binder, n *node, args []*term) (*term, error) {
	if args[0].typ != schema.Boolean && args[0].typ != schema.Void {
		return nil, n.args[0].bindError("if wants a condition, and this is %s", args[0].typ)
	}
	cond, err := b.castTo(args[0], schema.Boolean)
	if err != nil {
		return nil, err
	}
	return b.choose(n, []*term{cond}, args[1:])
}

func bindIsNull(not bool) func(*binder, *node, []*term) (*term, error) {
	return func(_ *binder, _ *node, args []*term) (*term, error) { return isNullTerm(args[0], not), nil }
}

// bindIsNaN: isnan(NULL) is FALSE.
func bindIsNaN(b *binder, n *node, args []*term) (*term, error) {
	x := args[0]
	if x.typ != schema.Float {
		var err error
		if x, err = b.arg(n, args, 0, schema.Double); err != nil {
			return nil, err
		}
	}
	t := &term{kind: termCall, typ: schema.Boolean, args: []*term{x}, src: n}
	t.fn = func(rows int, args []*vec) (*vec, error) {
		x := args[0]
		out := newBits(rows)
		for i := range rows {
			if !x.isNull(i) && x.f64[i&x.at()] != x.f64[i&x.at()] {
				setBit(out, i)
			}
		}
		return boolVec(rows, out, nil), nil
	}
	return b.fold(t)
}
