package expr

import (
	"maps"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Pruning reads an expression over sets of values instead of values: what a
// column may hold in a file, what each operation may then give. A set is only
// ever too large, so that a verdict other than Some is a proof. Sets of two
// operands count as independent.

// Range is what is known of one column's values in one file. Min and Max hold a
// bool, int64 (every integer type), float64, string, []byte, Decimal, Date or
// Timestamp (also for timestamp_ntz).
//
// A bound holds for every value that is neither NULL nor NaN; Prune reckons
// with NaN in floats by itself. An inexact bound is one that no row need hold:
// of a string it may be cut (Prune then allows for anything that begins with
// it), of a timestamp cut to the millisecond (Prune widens it by one).
type Range struct {
	Min, Max               any
	NullCount, NumRows     int64
	HasMin, HasMax         bool
	HasNullCount           bool
	MinInexact, MaxInexact bool
	// Exact says that each row that is not NULL holds Min itself, as in a
	// partition; without HasMin every row is NULL. Min == Max alone does not say
	// so of floats (NaN, -0.0).
	Exact bool
}

// Verdict is what pruning knows of the rows of a file.
type Verdict int

// The verdicts; the zero value is the cautious one.
const (
	Some Verdict = iota // unknown: the rows must be read
	None                // no row can be TRUE
	All                 // every row is TRUE
)

// String names the verdict.
func (v Verdict) String() string { return [...]string{"some", "none", "all"}[v] }

// Prune judges a file by the value ranges of its columns, which are asked by
// their names in the schema. A column that is not known (false) may hold
// anything.
func (b *Bound) Prune(r func(column string) (Range, bool)) Verdict {
	return b.PrunePaths(func(path []string) (Range, bool) {
		if len(path) > 1 {
			return Range{}, false
		}
		return r(path[0])
	})
}

// PrunePaths is Prune that also asks for leaves of structs, by their path.
func (b *Bound) PrunePaths(r func(path []string) (Range, bool)) Verdict {
	if b.root.typ != schema.Boolean {
		return Some
	}
	known := knowledge{ask: r, columns: map[*columnRef]values{}}
	known.collect(b.root)
	s := b.root.judgeSplit(known)
	switch {
	case !s.canTrue():
		return None
	case !s.canFalse() && !s.null:
		return All
	}
	return Some
}

// values is a set of values: NULL or not, and bounds of those that are not
// NULL, inclusive; nil is no bound. For booleans FALSE < TRUE.
type values struct {
	null, some bool
	lo, hi     *vec
}

var (
	anything = values{null: true, some: true}
	onlyNull = values{null: true}
)

func one(v *vec) values {
	if v.allNull() {
		return onlyNull
	}
	return values{some: true, lo: v, hi: v}
}

func (s values) canTrue() bool  { return s.some && (s.hi == nil || s.hi.bits[0] != 0) }
func (s values) canFalse() bool { return s.some && (s.lo == nil || s.lo.bits[0] == 0) }

// outcomes is a set of truth values.
func outcomes(canTrue, canFalse, canNull bool) values {
	s := values{null: canNull, some: canTrue || canFalse}
	if s.some {
		s.lo, s.hi = boolConst(!canFalse, nil).val, boolConst(canTrue, nil).val
	}
	return s
}

// point gives the only value that is not NULL.
func (s values) point() (*vec, bool) {
	if !s.some || s.lo == nil || s.hi == nil {
		return nil, false
	}
	return s.lo, s.lo == s.hi || identical(s.lo, s.hi)
}

// join is the set that holds both.
func (s values) join(o values) values {
	switch {
	case !o.some:
		s.null = s.null || o.null
		return s
	case !s.some:
		o.null = o.null || s.null
		return o
	}
	out := values{null: s.null || o.null, some: true}
	if s.lo != nil && o.lo != nil {
		out.lo = s.lo
		if less(o.lo, s.lo) {
			out.lo = o.lo
		}
	}
	if s.hi != nil && o.hi != nil {
		out.hi = s.hi
		if less(s.hi, o.hi) {
			out.hi = o.hi
		}
	}
	return out
}

// less compares single values in Spark's order.
func less(a, b *vec) bool { return compareValues(1, cmpLt, a, b)[0]&1 != 0 }

// knowledge is what each column of a tree may hold, in the order of the tree so
// that the verdict never depends on chance.
type knowledge struct {
	ask     func([]string) (Range, bool)
	columns map[*columnRef]values
	order   []*columnRef
}

func (k *knowledge) collect(t *term) {
	for _, a := range t.args {
		k.collect(a)
	}
	if t.kind != termColumn {
		return
	}
	if _, ok := k.columns[t.col]; ok {
		return
	}
	k.order = append(k.order, t.col)
	k.columns[t.col] = anything
	if r, ok := k.ask(t.col.path); ok {
		k.columns[t.col] = r.values(t.typ, len(t.col.path) > 1)
	}
}

// maxSplits bounds the columns that judgeSplit looks at twice.
const maxSplits = 4

// judgeSplit looks at the rows where a column is NULL and at the others apart,
// so that x < 5 OR x IS NULL is seen to be TRUE of both.
func (t *term) judgeSplit(k knowledge) values {
	cases := []map[*columnRef]values{k.columns}
	for _, col := range k.order {
		v := k.columns[col]
		if !v.null || !v.some || len(cases) >= 1<<maxSplits {
			continue
		}
		v.null = false
		for _, c := range cases[:len(cases):len(cases)] {
			absent := maps.Clone(c)
			absent[col], c[col] = onlyNull, v
			cases = append(cases, absent)
		}
	}
	out := values{}
	for _, c := range cases {
		out = out.join(t.judge(c))
	}
	return out
}

func (t *term) judge(columns map[*columnRef]values) values {
	switch t.kind {
	case termConst:
		return one(t.val)
	case termColumn:
		return columns[t.col]
	}
	args := make([]values, len(t.args))
	for i, a := range t.args {
		args[i] = a.judge(columns)
	}
	switch t.kind {
	case termAnd, termOr:
		return judgeLogic(args, t.kind == termOr)
	case termNot:
		return outcomes(args[0].canFalse(), args[0].canTrue(), args[0].null)
	case termCompare:
		return judgeCompare(t.cmp, args[0], args[1])
	case termIsNull:
		return outcomes(args[0].null, args[0].some, false)
	case termIn:
		return judgeIn(args)
	case termLike:
		return t.judgeLike(args)
	case termChoose:
		return t.judgeChoose(args)
	}
	return t.judgeCall(args)
}

// judgeLogic: AND is TRUE if all may be, FALSE if one may be, NULL if one may
// be while no other must be FALSE. OR is its mirror.
func judgeLogic(args []values, or bool) values {
	all, any, null, notDecided := true, false, false, true
	for _, a := range args {
		yes, no := a.canTrue(), a.canFalse()
		if or {
			yes, no = no, yes
		}
		all = all && yes
		any = any || no
		null = null || a.null
		notDecided = notDecided && (yes || a.null)
	}
	if or {
		return outcomes(any, all, null && notDecided)
	}
	return outcomes(all, any, null && notDecided)
}

func judgeCompare(o compareOp, a, b values) values {
	both := a.some && b.some
	lt := both && (a.lo == nil || b.hi == nil || less(a.lo, b.hi))
	gt := both && (b.lo == nil || a.hi == nil || less(b.lo, a.hi))
	eq := both && (a.lo == nil || b.hi == nil || !less(b.hi, a.lo)) && (b.lo == nil || a.hi == nil || !less(a.hi, b.lo))
	null := a.null || b.null
	switch o {
	case cmpEq:
		return outcomes(eq, lt || gt, null)
	case cmpNe:
		return outcomes(lt || gt, eq, null)
	case cmpLt:
		return outcomes(lt, eq || gt, null)
	case cmpLe:
		return outcomes(lt || eq, gt, null)
	case cmpGt:
		return outcomes(gt, lt || eq, null)
	case cmpGe:
		return outcomes(gt || eq, lt, null)
	}
	same := eq || a.null && b.null
	differ := lt || gt || a.null && b.some || b.null && a.some
	if o == cmpDistinct {
		same, differ = differ, same
	}
	return outcomes(same, differ, false)
}

// judgeIn: args are the value and the constants of the list.
func judgeIn(args []values) values {
	x, hit, miss, nullItem := args[0], false, args[0].some, false
	for _, v := range args[1:] {
		if !v.some {
			nullItem = true
			continue
		}
		eq := judgeCompare(cmpEq, x, v)
		hit = hit || eq.canTrue()
		miss = miss && eq.canFalse()
	}
	return outcomes(hit, miss && !nullItem, x.null || miss && nullItem)
}

// judgeLike uses the literal text that every match begins with.
func (t *term) judgeLike(args []values) values {
	x := args[0]
	if t.args[1].kind != termConst || !args[1].some {
		return t.judgeCall(args)
	}
	canTrue, canFalse := x.some, x.some
	if len(t.prefix) > 0 {
		prefix := stringConst(string(t.prefix), nil).val
		if x.hi != nil && less(x.hi, prefix) {
			canTrue = false
		}
		if x.lo != nil && less(prefix, x.lo) && !hasPrefix(x.lo.bytes(0), t.prefix) {
			canTrue = false
		}
	}
	if t.whole && (len(t.prefix) == 0 || x.lo != nil && x.hi != nil &&
		hasPrefix(x.lo.bytes(0), t.prefix) && hasPrefix(x.hi.bytes(0), t.prefix)) {
		canFalse = false
	}
	return outcomes(canTrue, canFalse, x.null)
}

// judgeChoose joins the values that may be chosen.
func (t *term) judgeChoose(args []values) values {
	out := values{}
	if !t.conds { // coalesce
		for i, a := range args {
			last := i == len(args)-1
			null := a.null
			if !last {
				a.null = false
			}
			out = out.join(a)
			if !null {
				break
			}
		}
		return out
	}
	for i := 0; i+1 < len(args); i += 2 {
		cond := args[i]
		if cond.canTrue() {
			out = out.join(args[i+1])
		}
		if !cond.canFalse() && !cond.null {
			return out
		}
	}
	return out.join(args[len(args)-1])
}
