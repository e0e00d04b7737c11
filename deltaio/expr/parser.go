package expr

// The parser is a precedence climber over Spark's grammar (SqlBaseParser.g4,
// rules booleanExpression, predicate, valueExpression, primaryExpression):
//
//	OR < AND < NOT < predicate (BETWEEN IN LIKE IS, not chained)
//	   < comparison < + - || < * / % DIV < unary sign < primary
//
// Comparison is a value there: a = b = c is (a = b) = c, and a = b IS NULL is
// (a = b) IS NULL.

// Limits of a text. They bound time and stack; a list of a hundred thousand
// keys still fits.
const (
	maxTextBytes = 4 << 20
	maxNesting   = 250
)

type parser struct {
	lex   lexer
	tok   token // the current token
	src   *source
	depth int
}

func parse(text string) (*node, error) {
	src := &source{text}
	if len(text) > maxTextBytes {
		short := &source{text[:0]}
		return nil, short.syntax(0, "text of %d bytes is longer than %d", len(text), maxTextBytes)
	}
	p := &parser{lex: lexer{src: src}, src: src}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == tokEOF {
		return nil, src.syntax(p.tok.pos, "expression is empty; a condition such as event_date < DATE'2024-01-01' is wanted")
	}
	n, err := p.expression()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokEOF {
		return nil, p.unexpected("an operator or the end")
	}
	return n, nil
}

func (p *parser) advance() error {
	t, err := p.lex.next()
	p.tok = t
	return err
}

// peek gives the token after the current one; an error shows up when it is
// reached.
func (p *parser) peek() token {
	ahead := p.lex
	t, err := ahead.next()
	if err != nil {
		return token{kind: tokEOF, pos: len(p.src.text)}
	}
	return t
}

// accept passes the current token if it is the keyword.
func (p *parser) accept(word string) (bool, error) {
	if !p.tok.is(word) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) expect(word string) error {
	if !p.tok.is(word) {
		return p.unexpected(word)
	}
	return p.advance()
}

func (p *parser) expectOp(op string) error {
	if !p.tok.op(op) {
		return p.unexpected(op)
	}
	return p.advance()
}

func (p *parser) unexpected(want string) error {
	if p.tok.kind == tokEOF {
		return p.src.syntax(p.tok.pos, "text ends where %s is wanted", want)
	}
	return p.src.syntax(p.tok.pos, "found %s where %s is wanted", p.src.text[p.tok.pos:p.tok.end], want)
}

// enter guards every rule that recurses; callers defer leave.
func (p *parser) enter() error {
	p.depth++
	if p.depth > maxNesting {
		return p.src.syntax(p.tok.pos, "nested deeper than %d levels", maxNesting)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// build makes a node and bounds the depth of chains such as a + b + c + ….
func (p *parser) build(pos int, o op, args ...*node) (*node, error) {
	n := newNode(p.src, pos, o, args...)
	if n.depth > maxTreeDepth {
		return nil, p.src.syntax(pos, "more than %d operations in a chain", maxTreeDepth)
	}
	return n, nil
}

// expression is the grammar's start.
func (p *parser) expression() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	return p.chain("OR", opOr, func() (*node, error) {
		return p.chain("AND", opAnd, p.negation)
	})
}

// chain reads a run of one logical operator as one node, so that long criteria
// stay flat.
func (p *parser) chain(word string, o op, operand func() (*node, error)) (*node, error) {
	first, err := operand()
	if err != nil || !p.tok.is(word) {
		return first, err
	}
	pos, args := p.tok.pos, flatten(o, nil, first)
	for p.tok.is(word) {
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := operand()
		if err != nil {
			return nil, err
		}
		args = flatten(o, args, n)
	}
	return p.build(pos, o, args...)
}

func flatten(o op, args []*node, n *node) []*node {
	if n.op == o {
		return append(args, n.args...)
	}
	return append(args, n)
}

func (p *parser) negation() (*node, error) {
	if !p.tok.is("NOT") && !p.tok.op("!") {
		return p.predicate()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	pos := p.tok.pos
	if err := p.advance(); err != nil {
		return nil, err
	}
	x, err := p.negation()
	if err != nil {
		return nil, err
	}
	return p.build(pos, opNot, x)
}

// binary operators by level; higher binds tighter.
var binaryOps = map[string]struct {
	level int
	op    op
}{
	"=": {1, opEq}, "==": {1, opEq}, "<>": {1, opNe}, "!=": {1, opNe}, "<": {1, opLt},
	"<=": {1, opLe}, ">": {1, opGt}, ">=": {1, opGe}, "<=>": {1, opNullEq},
	"+": {2, opAdd}, "-": {2, opSub}, "||": {2, opConcat},
	"*": {3, opMul}, "/": {3, opDiv}, "%": {3, opMod},
}

func (p *parser) binaryOp() (level int, o op) {
	if p.tok.kind == tokOp {
		b := binaryOps[p.tok.val]
		return b.level, b.op
	}
	if p.tok.is("DIV") {
		return 3, opIntDiv
	}
	return 0, 0
}

// value reads operators of at least the given level, left to right.
func (p *parser) value(level int) (*node, error) {
	left, err := p.unary()
	if err != nil {
		return nil, err
	}
	for {
		l, o := p.binaryOp()
		if l < level || l == 0 {
			return left, nil
		}
		pos := p.tok.pos
		if err := p.advance(); err != nil {
			return nil, err
		}
		right, err := p.value(l + 1)
		if err != nil {
			return nil, err
		}
		if left, err = p.build(pos, o, left, right); err != nil {
			return nil, err
		}
	}
}

// unary reads a sign. A minus before a number belongs to it, so that
// -2147483648 is an int.
func (p *parser) unary() (*node, error) {
	pos, minus := p.tok.pos, p.tok.op("-")
	if !minus && !p.tok.op("+") {
		return p.primary()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if err := p.advance(); err != nil {
		return nil, err
	}
	if minus && p.tok.kind == tokNumber {
		return p.number(pos, true)
	}
	x, err := p.unary()
	if err != nil {
		return nil, err
	}
	if minus {
		return p.build(pos, opNeg, x)
	}
	return p.build(pos, opPos, x)
}
