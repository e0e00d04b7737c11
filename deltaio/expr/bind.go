package expr

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Bind resolves names, types and functions against a schema. Names ignore case
// as Spark's do; the error is a *BindError that points at the place and names
// near candidates.
func (e *Expr) Bind(s *schema.Struct, c Context) (*Bound, error) {
	b := &binder{schema: s, ctx: c, columns: map[string]*term{}}
	t, err := b.bind(e.root)
	if err != nil {
		var be *BindError
		if !errors.As(err, &be) { // a kernel refused constants
			be = e.root.bindError("%s", err)
		}
		return nil, be
	}
	used := map[string]bool{}
	for _, col := range b.columns {
		used[col.col.path[0]] = true
	}
	return &Bound{root: t, columns: sortedKeys(used), zone: c.zone()}, nil
}

// binder turns nodes into terms.
type binder struct {
	schema  *schema.Struct
	ctx     Context
	columns map[string]*term // by the quoted path of the schema
}

func (b *binder) bind(n *node) (*term, error) {
	t, err := b.bindNode(n)
	if err != nil {
		return nil, err
	}
	if t.src == nil {
		t.src = n
	}
	return b.fold(t)
}

func (b *binder) bindNode(n *node) (*term, error) {
	switch n.op {
	case opLit:
		return b.literal(n)
	case opColumn:
		return b.column(n)
	case opInterval:
		return nil, n.bindError("an interval stands beside + or - of a date or timestamp only")
	case opAnd, opOr:
		return b.logic(n)
	case opNot:
		x, err := b.condition(n.args[0], "NOT")
		if err != nil {
			return nil, err
		}
		return negate(x), nil
	case opCase:
		return b.caseWhen(n)
	case opCast, opTryCast:
		x, err := b.bind(n.args[0])
		if err != nil {
			return nil, err
		}
		return b.explicitCast(n, x)
	case opCall:
		return b.call(n)
	case opAdd, opSub:
		return b.addition(n)
	case opMul, opDiv, opMod, opIntDiv:
		return b.arithmeticNode(n)
	case opNeg, opPos:
		return b.sign(n)
	case opConcat:
		args, err := b.bindAll(n.args)
		if err != nil {
			return nil, err
		}
		return b.concat(n, args)
	}
	return b.predicate(n)
}

func (b *binder) bindAll(nodes []*node) ([]*term, error) {
	out := make([]*term, len(nodes))
	for i, n := range nodes {
		t, err := b.bind(n)
		if err != nil {
			return nil, err
		}
		out[i] = t
	}
	return out, nil
}

// fold computes a term of constants once.
func (b *binder) fold(t *term) (*term, error) {
	if t.kind == termConst || t.kind == termColumn {
		return t, nil
	}
	for _, a := range t.args {
		if a.kind != termConst {
			return t, nil
		}
	}
	v, err := t.eval(&frame{n: 1})
	if err != nil {
		return nil, t.src.bindError("%s", err)
	}
	return &term{kind: termConst, typ: t.typ, val: v, src: t.src}, nil
}

func constant(v *vec, src *node) *term {
	return &term{kind: termConst, typ: v.typ, val: v, src: src}
}

func (b *binder) literal(n *node) (*term, error) {
	l := n.lit
	if l.typ == nil {
		return constant(nullVec(schema.Void), n), nil
	}
	v := newVec(l.typ, 1)
	v.one = true
	switch storageOf(l.typ) {
	case inBits:
		v.bits[0] = b2u(l.bool)
	case inI32:
		v.i32[0] = int32(l.i)
	case inI64:
		us := l.i
		if l.typ == schema.Timestamp {
			var ok bool
			if us, ok = l.instant(b.ctx); !ok {
				return nil, n.bindError("the zone of this timestamp is not in the time zone database, or it is out of range")
			}
		}
		v.i64[0] = us
	case inF64:
		v.f64[0] = l.f
	case inDec:
		v.dec[0] = l.dec.V
	case inBytes:
		v.appendBytes([]byte(l.str))
	}
	return constant(v, n), nil
}

// column resolves a.b.c: a top-level column, then fields of structs.
func (b *binder) column(n *node) (*term, error) {
	field, err := findField(n, b.schema, n.path[0], "column")
	if err != nil {
		return nil, err
	}
	ref := &columnRef{path: []string{b.schema.Fields[field].Name}}
	typ := b.schema.Fields[field].Type
	for _, name := range n.path[1:] {
		s, ok := typ.(*schema.Struct)
		if !ok {
			return nil, n.bindError("%s is %s and has no field %s", quotePath(ref.path), typ, quoteName(name, true))
		}
		if field, err = findField(n, s, name, "field"); err != nil {
			return nil, err
		}
		ref.path = append(ref.path, s.Fields[field].Name)
		ref.index = append(ref.index, field)
		typ = s.Fields[field].Type
	}
	key := quotePath(ref.path)
	if t, ok := b.columns[key]; ok {
		return t, nil
	}
	t := &term{kind: termColumn, typ: typ, col: ref, src: n}
	b.columns[key] = t
	return t, nil
}

// findField finds a name in a struct, ignoring case; two candidates that no
// case tells apart are an error.
func findField(n *node, s *schema.Struct, name, what string) (int, error) {
	found := -1
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return i, nil
		}
		if strings.EqualFold(s.Fields[i].Name, name) {
			if found >= 0 {
				return 0, n.bindError("%s %s is ambiguous: %s or %s", what, quoteName(name, true),
					quoteName(s.Fields[found].Name, true), quoteName(s.Fields[i].Name, true))
			}
			found = i
		}
	}
	if found >= 0 {
		return found, nil
	}
	names := make([]string, len(s.Fields))
	for i := range s.Fields {
		names[i] = s.Fields[i].Name
	}
	err := n.bindError("there is no %s %s", what, quoteName(name, true))
	candidates := near(name, names)
	if joined := strings.Join(n.path, "."); what == "column" && slices.Contains(names, joined) {
		candidates = []string{joined} // a column whose own name has a dot
	}
	for _, c := range candidates {
		err.Candidates = append(err.Candidates, quoteName(c, true))
	}
	return 0, err
}

// castTo casts implicitly; the rules above have said that it is allowed.
func (b *binder) castTo(t *term, typ schema.Type) (*term, error) {
	if schema.Equal(t.typ, typ) {
		return t, nil
	}
	if t.typ == schema.Void {
		return &term{kind: termConst, typ: typ, val: nullVec(typ), src: t.src}, nil
	}
	return b.cast(t, typ, false)
}

func (b *binder) castAll(ts []*term, typ schema.Type) ([]*term, error) {
	out := make([]*term, len(ts))
	for i, t := range ts {
		c, err := b.castTo(t, typ)
		if err != nil {
			return nil, err
		}
		out[i] = c
	}
	return out, nil
}

// condition binds an operand that must be boolean.
func (b *binder) condition(n *node, where string) (*term, error) {
	t, err := b.bind(n)
	if err != nil {
		return nil, err
	}
	if t.typ != schema.Boolean && t.typ != schema.Void {
		return nil, n.bindError("%s wants a condition, and this is %s", where, t.typ)
	}
	return b.castTo(t, schema.Boolean)
}

func (b *binder) logic(n *node) (*term, error) {
	kind, word, decides := termAnd, "AND", uint64(0)
	if n.op == opOr {
		kind, word, decides = termOr, "OR", 1
	}
	var args []*term
	for _, a := range n.args {
		t, err := b.condition(a, word)
		if err != nil {
			return nil, err
		}
		if t.kind == termConst && !t.val.allNull() {
			if t.val.bits[0] == decides {
				return boolConst(decides == 1, n), nil
			}
			continue // the neutral element
		}
		args = append(args, t)
	}
	switch len(args) {
	case 0:
		return boolConst(decides == 0, n), nil
	case 1:
		return args[0], nil
	}
	return &term{kind: kind, typ: schema.Boolean, args: args}, nil
}

func boolConst(x bool, n *node) *term {
	v := newVec(schema.Boolean, 1)
	v.one, v.bits[0] = true, b2u(x)
	return constant(v, n)
}

func negate(x *term) *term {
	return &term{kind: termNot, typ: schema.Boolean, args: []*term{x}, fn: notKernel, strict: true, src: x.src}
}

func negateIf(x *term, neg bool) *term {
	if neg {
		return negate(x)
	}
	return x
}

// intConst is an integer constant that the binder makes itself.
func intConst(typ schema.Type, i int64, src *node) *term {
	v := newVec(typ, 1)
	v.one = true
	switch storageOf(typ) {
	case inI32:
		v.i32[0] = int32(i)
	case inI64:
		v.i64[0] = i
	case inDec:
		v.dec[0] = decimal128.FromI64(i)
	default:
		panic(fmt.Sprintf("expr: %s is not an integer type", typ))
	}
	return constant(v, src)
}
