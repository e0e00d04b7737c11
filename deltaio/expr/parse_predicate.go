package expr

import "unicode/utf8"

// predicate reads a value and at most one of IS, IN, BETWEEN, LIKE, RLIKE
// behind it.
func (p *parser) predicate() (*node, error) {
	x, err := p.value(1)
	if err != nil {
		return nil, err
	}
	pos, neg := p.tok.pos, false
	if p.tok.is("NOT") {
		neg = true
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	var n *node
	switch {
	case p.tok.is("BETWEEN"):
		n, err = p.between(pos, x)
	case p.tok.is("IN"):
		n, err = p.in(pos, x)
	case p.tok.is("LIKE"):
		n, err = p.like(pos, x, opLike)
	case p.tok.is("ILIKE"):
		n, err = p.like(pos, x, opILike)
	case p.tok.is("RLIKE"), p.tok.is("REGEXP"):
		n, err = p.rlike(pos, x)
	case p.tok.is("IS") && !neg:
		return p.is(pos, x)
	case neg:
		return nil, p.unexpected("BETWEEN, IN, LIKE or RLIKE")
	default:
		return x, nil
	}
	if err != nil {
		return nil, err
	}
	n.neg = neg
	return n, nil
}

func (p *parser) between(pos int, x *node) (*node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	lo, err := p.value(1)
	if err != nil {
		return nil, err
	}
	if err := p.expect("AND"); err != nil {
		return nil, err
	}
	hi, err := p.value(1)
	if err != nil {
		return nil, err
	}
	return p.build(pos, opBetween, x, lo, hi)
}

func (p *parser) in(pos int, x *node) (*node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	if p.tok.is("SELECT") {
		return nil, p.src.syntax(p.tok.pos, "subqueries are not supported")
	}
	items, err := p.list()
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, p.src.syntax(pos, "IN has no values")
	}
	return p.build(pos, opIn, append([]*node{x}, items...)...)
}

// list reads expressions up to the closing parenthesis.
func (p *parser) list() ([]*node, error) {
	var items []*node
	for !p.tok.op(")") {
		if len(items) > 0 {
			if !p.tok.op(",") {
				return nil, p.unexpected("a comma or )")
			}
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
		n, err := p.expression()
		if err != nil {
			return nil, err
		}
		items = append(items, n)
	}
	return items, p.advance()
}

func (p *parser) like(pos int, x *node, o op) (*node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if next := p.peek(); next.op("(") && (p.tok.is("ANY") || p.tok.is("SOME") || p.tok.is("ALL")) {
		return nil, p.src.syntax(p.tok.pos, "LIKE ANY and LIKE ALL are not supported; join the patterns with OR or AND")
	}
	pattern, err := p.value(1)
	if err != nil {
		return nil, err
	}
	n, err := p.build(pos, o, x, pattern)
	if err != nil || !p.tok.is("ESCAPE") {
		return n, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind != tokString || utf8.RuneCountInString(p.tok.val) != 1 {
		return nil, p.unexpected("a string of one character")
	}
	n.escape, _ = utf8.DecodeRuneInString(p.tok.val)
	if n.escape == '\\' {
		n.escape = 0 // the default
	}
	return n, p.advance()
}

func (p *parser) rlike(pos int, x *node) (*node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	pattern, err := p.value(1)
	if err != nil {
		return nil, err
	}
	return p.build(pos, opRLike, x, pattern)
}

func (p *parser) is(pos int, x *node) (*node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	neg, err := p.accept("NOT")
	if err != nil {
		return nil, err
	}
	args := []*node{x}
	var o op
	switch {
	case p.tok.is("NULL"):
		o = opIsNull
	case p.tok.is("TRUE"):
		o = opIsTrue
	case p.tok.is("FALSE"):
		o = opIsFalse
	case p.tok.is("UNKNOWN"):
		o = opIsUnknown
	case p.tok.is("DISTINCT"):
		o = opDistinct
	default:
		return nil, p.unexpected("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if o == opDistinct {
		if err := p.expect("FROM"); err != nil {
			return nil, err
		}
		y, err := p.value(1)
		if err != nil {
			return nil, err
		}
		args = append(args, y)
	}
	n, err := p.build(pos, o, args...)
	if err != nil {
		return nil, err
	}
	n.neg = neg
	return n, nil
}
