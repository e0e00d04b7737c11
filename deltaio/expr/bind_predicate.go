package expr

import (
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

var compareOps = map[op]compareOp{
	opEq: cmpEq, opNe: cmpNe, opLt: cmpLt, opLe: cmpLe, opGt: cmpGt, opGe: cmpGe, opNullEq: cmpNullEq,
}

// predicate binds comparisons and the operators that give a truth value.
func (b *binder) predicate(n *node) (*term, error) {
	args, err := b.bindAll(n.args)
	if err != nil {
		return nil, err
	}
	switch n.op {
	case opIsNull:
		return isNullTerm(args[0], n.neg), nil
	case opIsUnknown:
		x, err := b.condition(n.args[0], "IS UNKNOWN")
		if err != nil {
			return nil, err
		}
		return isNullTerm(x, n.neg), nil
	case opIsTrue, opIsFalse:
		x, err := b.compare(n, cmpNullEq, args[0], boolConst(n.op == opIsTrue, n))
		if err != nil {
			return nil, err
		}
		return negateIf(x, n.neg), nil
	case opDistinct:
		o := cmpDistinct
		if n.neg {
			o = cmpNullEq
		}
		return b.compare(n, o, args[0], args[1])
	case opBetween:
		return b.between(n, args)
	case opIn:
		return b.in(n, args)
	case opLike, opILike:
		return b.like(n, args)
	case opRLike:
		return b.rlike(n, args)
	}
	return b.compare(n, compareOps[n.op], args[0], args[1])
}

// compare binds a comparison in the common type of both sides.
func (b *binder) compare(n *node, o compareOp, x, y *term) (*term, error) {
	equality := o != cmpLt && o != cmpLe && o != cmpGt && o != cmpGe
	typ, ok := comparisonType(x, y, equality)
	if !ok {
		hint := ""
		if isNumeric(x.typ) && isDatetime(y.typ) || isNumeric(y.typ) && isDatetime(x.typ) {
			hint = "; dates are written as DATE'2024-01-31'"
		}
		return nil, n.bindError("cannot compare %s with %s%s", x.typ, y.typ, hint)
	}
	args, err := b.castAll([]*term{x, y}, typ)
	if err != nil {
		return nil, err
	}
	t := &term{kind: termCompare, typ: schema.Boolean, args: args, cmp: o, fn: compareKernel(o), src: n}
	t.strict = o != cmpNullEq && o != cmpDistinct
	return b.fold(t)
}

func isNullTerm(x *term, not bool) *term {
	t := &term{kind: termIsNull, typ: schema.Boolean, args: []*term{x}, fn: isNullKernel, src: x.src}
	return negateIf(t, not)
}

// between is x >= lo AND x <= hi, each side coerced alone, as Spark's parser
// expands it.
func (b *binder) between(n *node, args []*term) (*term, error) {
	lo, err := b.compare(n, cmpGe, args[0], args[1])
	if err != nil {
		return nil, err
	}
	hi, err := b.compare(n, cmpLe, args[0], args[2])
	if err != nil {
		return nil, err
	}
	t, err := b.fold(&term{kind: termAnd, typ: schema.Boolean, args: []*term{lo, hi}, src: n})
	if err != nil {
		return nil, err
	}
	return negateIf(t, n.neg), nil
}

// in binds IN with the common type of all values (InConversion). A list of
// constants becomes a set; else it is x = a OR x = b OR ….
func (b *binder) in(n *node, args []*term) (*term, error) {
	types := make([]schema.Type, len(args))
	constants := true
	for i, a := range args {
		types[i] = a.typ
		constants = constants && (i == 0 || a.kind == termConst)
	}
	typ, ok := widerType(types)
	if !ok || !isAtomic(typ) && typ != schema.Void {
		return nil, n.bindError("IN compares %s with values of types that have no common type", args[0].typ)
	}
	args, err := b.castAll(args, typ)
	if err != nil {
		return nil, err
	}
	var t *term
	if constants {
		t = &term{kind: termIn, typ: schema.Boolean, args: args, fn: inKernel(args[1:]), strict: false, src: n}
	} else {
		t = &term{kind: termOr, typ: schema.Boolean, src: n}
		for _, a := range args[1:] {
			eq, err := b.compare(n, cmpEq, args[0], a)
			if err != nil {
				return nil, err
			}
			t.args = append(t.args, eq)
		}
	}
	if t, err = b.fold(t); err != nil {
		return nil, err
	}
	return negateIf(t, n.neg), nil
}

// like binds LIKE and ILIKE (lower(x) LIKE lower(pattern)).
func (b *binder) like(n *node, args []*term) (*term, error) {
	args, err := b.textArgs(n, args, "LIKE")
	if err != nil {
		return nil, err
	}
	escape := n.escape
	if escape == 0 {
		escape = '\\'
	}
	if n.op == opILike {
		for i, a := range args {
			if args[i], err = b.fold(strictCall(schema.String, lowerKernel, n, a)); err != nil {
				return nil, err
			}
		}
	}
	t := &term{kind: termLike, typ: schema.Boolean, args: args, strict: true, src: n}
	if args[1].kind == termConst && !args[1].val.allNull() {
		p, err := compileLike(args[1].val.str(0), escape)
		if err != nil {
			return nil, n.args[1].bindError("%s", err)
		}
		t.prefix, t.whole = p.prefix()
		t.fn = p.kernel
	} else {
		t.fn = likeKernel(escape)
	}
	if t, err = b.fold(t); err != nil {
		return nil, err
	}
	return negateIf(t, n.neg), nil
}

// rlike binds RLIKE: the pattern, a Java regular expression, is found anywhere
// in the text. It must be constant, so that a construct RE2 lacks is refused
// before any row is read.
func (b *binder) rlike(n *node, args []*term) (*term, error) {
	args, err := b.textArgs(n, args, "RLIKE")
	if err != nil {
		return nil, err
	}
	if args[1].kind != termConst {
		return nil, n.args[1].bindError("the pattern of RLIKE must be constant")
	}
	t := strictCall(schema.Boolean, nil, n, args...)
	if args[1].val.allNull() {
		return b.castTo(constant(nullVec(schema.Void), n), schema.Boolean)
	}
	re, err := compileJavaRegex(args[1].val.str(0))
	if err != nil {
		return nil, n.args[1].bindError("%s", err)
	}
	t.fn = re.kernel
	if t, err = b.fold(t); err != nil {
		return nil, err
	}
	return negateIf(t, n.neg), nil
}

func (b *binder) textArgs(n *node, args []*term, what string) ([]*term, error) {
	for i, a := range args {
		if !implicitCast(a.typ, schema.String) {
			return nil, n.args[i].bindError("%s wants text, and this is %s", what, a.typ)
		}
	}
	return b.castAll(args, schema.String)
}

// strictCall is a term that is NULL when an argument is.
func strictCall(typ schema.Type, fn kernel, src *node, args ...*term) *term {
	return &term{kind: termCall, typ: typ, args: args, fn: fn, strict: true, src: src}
}

// caseWhen binds both forms of CASE; the simple one compares its operand with
// each value by =.
func (b *binder) caseWhen(n *node) (*term, error) {
	nodes := n.args
	var operand *term
	if n.hasOperand {
		var err error
		if operand, err = b.bind(nodes[0]); err != nil {
			return nil, err
		}
		nodes = nodes[1:]
	}
	var conds, values []*term
	for len(nodes) >= 2 {
		cond, err := b.whenCondition(n, operand, nodes[0])
		if err != nil {
			return nil, err
		}
		value, err := b.bind(nodes[1])
		if err != nil {
			return nil, err
		}
		conds, values, nodes = append(conds, cond), append(values, value), nodes[2:]
	}
	other := constant(nullVec(schema.Void), n)
	if n.hasElse {
		var err error
		if other, err = b.bind(nodes[0]); err != nil {
			return nil, err
		}
	}
	return b.choose(n, conds, append(values, other))
}

func (b *binder) whenCondition(n *node, operand *term, when *node) (*term, error) {
	if operand == nil {
		return b.condition(when, "WHEN")
	}
	t, err := b.bind(when)
	if err != nil {
		return nil, err
	}
	return b.compare(n, cmpEq, operand, t)
}

// choose makes the term that gives the value of the first TRUE condition; there
// is one value more than conditions.
func (b *binder) choose(n *node, conds, values []*term) (*term, error) {
	values, typ, err := b.unify(n, values)
	if err != nil {
		return nil, err
	}
	t := &term{kind: termChoose, typ: typ, fn: chooseKernel(typ), conds: true, src: n}
	for i, c := range conds {
		t.args = append(t.args, c, values[i])
	}
	t.args = append(t.args, values[len(conds)])
	return b.fold(t)
}

// unify casts values to their common type.
func (b *binder) unify(n *node, values []*term) ([]*term, schema.Type, error) {
	types := make([]schema.Type, len(values))
	for i, v := range values {
		types[i] = v.typ
	}
	typ, ok := widerType(types)
	if !ok || !isAtomic(typ) && typ != schema.Void {
		return nil, nil, n.bindError("the values have no common type: %s", typeList(types))
	}
	out, err := b.castAll(values, typ)
	return out, typ, err
}

func typeList(types []schema.Type) string {
	s := ""
	for i, t := range types {
		if i > 0 {
			s += ", "
		}
		s += t.String()
	}
	return s
}
