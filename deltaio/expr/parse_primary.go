package expr

import (
	"strings"
)

// reserved words cannot be names unless they stand in backticks.
var reserved = wordSet("AND OR NOT IN IS LIKE ILIKE RLIKE REGEXP BETWEEN CASE WHEN THEN ELSE END NULL TRUE FALSE DIV SELECT EXISTS")

// special words mean something in some place; String quotes columns that are
// called so.
var special = wordSet("DATE TIMESTAMP TIMESTAMP_NTZ TIMESTAMP_LTZ INTERVAL CAST TRY_CAST TRIM SUBSTRING SUBSTR " +
	"CURRENT_DATE CURRENT_TIMESTAMP ESCAPE DISTINCT FROM UNKNOWN ANY SOME ALL BOTH LEADING TRAILING FOR AS WITH")

func wordSet(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

func (p *parser) primary() (*node, error) {
	t := p.tok
	switch t.kind {
	case tokNumber:
		return p.number(t.pos, false)
	case tokString:
		return p.stringLiteral()
	case tokQuoted:
		return p.column()
	case tokIdent:
		return p.word()
	case tokOp:
		if t.val == "(" {
			return p.parenthesis()
		}
	}
	return nil, p.unexpected("a value, column or function")
}

func (p *parser) parenthesis() (*node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.is("SELECT") {
		return nil, p.src.syntax(p.tok.pos, "subqueries are not supported")
	}
	n, err := p.expression()
	if err != nil {
		return nil, err
	}
	if p.tok.op(",") {
		return nil, p.src.syntax(p.tok.pos, "row values (a, b) are not supported; compare column by column")
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	if p.tok.op(".") {
		return nil, p.src.syntax(p.tok.pos, "a field is taken from a column, not from an expression")
	}
	return n, nil
}

// word reads what begins with an unquoted word: a constant, CASE, CAST, a
// typed literal, a function or a column.
func (p *parser) word() (*node, error) {
	t := p.tok
	next := p.peek()
	up := strings.ToUpper(t.val)
	switch up {
	case "NULL", "TRUE", "FALSE":
		n, err := p.build(t.pos, opLit)
		if err != nil {
			return nil, err
		}
		if up != "NULL" {
			n.lit = literal{typ: typeBoolean, bool: up == "TRUE"}
		}
		return n, p.advance()
	case "CASE":
		return p.caseWhen()
	case "EXISTS":
		return nil, p.src.syntax(t.pos, "subqueries are not supported")
	case "INTERVAL":
		if next.kind == tokNumber || next.kind == tokString || next.op("-") || next.op("+") {
			return p.intervalLiteral()
		}
	case "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "X":
		if next.kind == tokString {
			return p.typedLiteral(up)
		}
	}
	if reserved[up] {
		return nil, p.src.syntax(t.pos, "%s is a keyword; write `%s` if it is a column", up, t.val)
	}
	if next.op("(") {
		return p.call(up)
	}
	if up == "CURRENT_DATE" || up == "CURRENT_TIMESTAMP" {
		n, err := p.build(t.pos, opCall)
		if err != nil {
			return nil, err
		}
		n.name, n.bare = strings.ToLower(up), true
		return n, p.advance()
	}
	return p.column()
}

// column reads a name and the fields behind it: a.b.c. Each part may stand in
// backticks; a dot inside them belongs to the name.
func (p *parser) column() (*node, error) {
	n, err := p.build(p.tok.pos, opColumn)
	if err != nil {
		return nil, err
	}
	n.path = []string{p.tok.val}
	for {
		if err := p.advance(); err != nil {
			return nil, err
		}
		if !p.tok.op(".") {
			return n, nil
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.tok.kind != tokIdent && p.tok.kind != tokQuoted {
			return nil, p.unexpected("a field name")
		}
		if len(n.path) > maxNesting {
			return nil, p.src.syntax(p.tok.pos, "name has more than %d parts", maxNesting)
		}
		n.path = append(n.path, p.tok.val)
	}
}

func (p *parser) caseWhen() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	pos := p.tok.pos
	if err := p.advance(); err != nil {
		return nil, err
	}
	var args []*node
	hasOperand := !p.tok.is("WHEN")
	if hasOperand {
		if err := p.caseItem(&args); err != nil {
			return nil, err
		}
	}
	if !p.tok.is("WHEN") {
		return nil, p.unexpected("WHEN")
	}
	for p.tok.is("WHEN") {
		if err := p.caseBranch(&args); err != nil {
			return nil, err
		}
	}
	hasElse, err := p.accept("ELSE")
	if err != nil {
		return nil, err
	}
	if hasElse {
		if err := p.caseItem(&args); err != nil {
			return nil, err
		}
	}
	if err := p.expect("END"); err != nil {
		return nil, err
	}
	n, err := p.build(pos, opCase, args...)
	if err != nil {
		return nil, err
	}
	n.hasOperand, n.hasElse = hasOperand, hasElse
	return n, nil
}

func (p *parser) caseBranch(args *[]*node) error {
	if err := p.advance(); err != nil {
		return err
	}
	if err := p.caseItem(args); err != nil {
		return err
	}
	if err := p.expect("THEN"); err != nil {
		return err
	}
	return p.caseItem(args)
}

func (p *parser) caseItem(args *[]*node) error {
	n, err := p.expression()
	*args = append(*args, n)
	return err
}
