package expr

import (
	"strconv"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// call reads name(…) with the forms that have keywords inside.
func (p *parser) call(up string) (*node, error) {
	pos := p.tok.pos
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil { // the parenthesis that word saw
		return nil, err
	}
	switch up {
	case "CAST", "TRY_CAST":
		return p.cast(pos, up)
	case "TRIM":
		return p.trim(pos)
	}
	if p.tok.is("DISTINCT") && !p.peek().op(",") && !p.peek().op(")") {
		return nil, p.src.syntax(p.tok.pos, "aggregates are not supported")
	}
	if p.tok.op("*") {
		return nil, p.src.syntax(p.tok.pos, "aggregates are not supported")
	}
	var args []*node
	var err error
	if up == "SUBSTRING" || up == "SUBSTR" {
		args, err = p.substringArgs()
	} else {
		args, err = p.list()
	}
	if err != nil {
		return nil, err
	}
	if p.tok.is("OVER") {
		return nil, p.src.syntax(p.tok.pos, "window functions are not supported")
	}
	return p.named(pos, strings.ToLower(up), args...)
}

func (p *parser) named(pos int, name string, args ...*node) (*node, error) {
	n, err := p.build(pos, opCall, args...)
	if err != nil {
		return nil, err
	}
	n.name = name
	return n, nil
}

// substringArgs reads (s, from, length) or (s FROM from FOR length).
func (p *parser) substringArgs() ([]*node, error) {
	if p.tok.op(")") {
		return p.list()
	}
	first, err := p.expression()
	if err != nil {
		return nil, err
	}
	args := []*node{first}
	for _, word := range []string{"FROM", "FOR"} {
		if ok, err := p.accept(word); err != nil {
			return nil, err
		} else if !ok {
			break
		}
		n, err := p.expression()
		if err != nil {
			return nil, err
		}
		args = append(args, n)
	}
	if len(args) > 1 {
		return args, p.expectOp(")")
	}
	for p.tok.op(",") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := p.expression()
		if err != nil {
			return nil, err
		}
		args = append(args, n)
	}
	return args, p.expectOp(")")
}

// trim reads TRIM([BOTH|LEADING|TRAILING] [chars] FROM s) as the call it
// stands for: trim, ltrim or rtrim of (chars, s).
func (p *parser) trim(pos int) (*node, error) {
	name, side := "trim", false
	for word, n := range map[string]string{"BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"} {
		if next := p.peek(); p.tok.is(word) && !next.op(")") && !next.op(",") && !next.op(".") {
			name, side = n, true
		}
	}
	if side {
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if ok, err := p.accept("FROM"); err != nil {
		return nil, err
	} else if ok {
		return p.trimSource(pos, name)
	}
	first, err := p.expression()
	if err != nil {
		return nil, err
	}
	if ok, err := p.accept("FROM"); err != nil {
		return nil, err
	} else if ok {
		return p.trimSource(pos, name, first)
	}
	if side {
		return nil, p.unexpected("FROM")
	}
	args := []*node{first}
	if p.tok.op(",") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		second, err := p.expression()
		if err != nil {
			return nil, err
		}
		args = append(args, second)
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	return p.named(pos, name, args...)
}

func (p *parser) trimSource(pos int, name string, chars ...*node) (*node, error) {
	s, err := p.expression()
	if err != nil {
		return nil, err
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	return p.named(pos, name, append(chars, s)...)
}

func (p *parser) cast(pos int, up string) (*node, error) {
	x, err := p.expression()
	if err != nil {
		return nil, err
	}
	if err := p.expect("AS"); err != nil {
		return nil, err
	}
	t, err := p.typeName()
	if err != nil {
		return nil, err
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	o := opCast
	if up == "TRY_CAST" {
		o = opTryCast
	}
	n, err := p.build(pos, o, x)
	if err != nil {
		return nil, err
	}
	n.to = t
	return n, nil
}

// typeNames are the names of the grammar's primitive types. CHAR and VARCHAR
// are strings in a cast, without truncation, as Spark replaces them.
var typeNames = map[string]schema.Type{
	"BOOLEAN": schema.Boolean, "TINYINT": schema.Byte, "BYTE": schema.Byte,
	"SMALLINT": schema.Short, "SHORT": schema.Short, "INT": schema.Integer, "INTEGER": schema.Integer,
	"BIGINT": schema.Long, "LONG": schema.Long, "FLOAT": schema.Float, "REAL": schema.Float,
	"DOUBLE": schema.Double, "STRING": schema.String, "CHAR": schema.String, "CHARACTER": schema.String,
	"VARCHAR": schema.String, "BINARY": schema.Binary, "DATE": schema.Date,
	"TIMESTAMP": schema.Timestamp, "TIMESTAMP_LTZ": schema.Timestamp, "TIMESTAMP_NTZ": schema.TimestampNTZ,
	"DECIMAL": schema.Decimal{Precision: 10}, "DEC": schema.Decimal{Precision: 10}, "NUMERIC": schema.Decimal{Precision: 10},
}

func (p *parser) typeName() (schema.Type, error) {
	t := p.tok
	up := strings.ToUpper(t.val)
	typ, ok := typeNames[up]
	if t.kind != tokIdent || !ok {
		return nil, p.unexpected("a type such as INT, DECIMAL(10,2), STRING, DATE or TIMESTAMP")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	params, err := p.typeParams()
	if err != nil {
		return nil, err
	}
	if d, ok := typ.(schema.Decimal); ok {
		return p.decimalType(t, d, params)
	}
	isText := strings.HasSuffix(up, "CHAR") || up == "CHARACTER"
	if len(params) != 0 && !isText || len(params) != 1 && isText {
		return nil, p.src.syntax(t.pos, "type %s has %d parameters", up, len(params))
	}
	return typ, nil
}

func (p *parser) decimalType(t token, d schema.Decimal, params []int) (schema.Type, error) {
	switch len(params) {
	case 0:
	case 1:
		d = schema.Decimal{Precision: params[0]}
	case 2:
		d = schema.Decimal{Precision: params[0], Scale: params[1]}
	default:
		return nil, p.src.syntax(t.pos, "type DECIMAL has %d parameters", len(params))
	}
	if d.Precision < 1 || d.Precision > maxPrecision || d.Scale > d.Precision {
		return nil, p.src.syntax(t.pos, "%s is out of range: precision 1 to 38, scale 0 to precision", d)
	}
	return d, nil
}

func (p *parser) typeParams() ([]int, error) {
	if !p.tok.op("(") {
		return nil, nil
	}
	var out []int
	for !p.tok.op(")") || len(out) == 0 {
		if err := p.advance(); err != nil {
			return nil, err
		}
		v, err := strconv.Atoi(p.tok.val)
		if p.tok.kind != tokNumber || err != nil || len(out) == 2 {
			return nil, p.unexpected("a number")
		}
		out = append(out, v)
		if err := p.advance(); err != nil {
			return nil, err
		}
		if !p.tok.op(",") && !p.tok.op(")") {
			return nil, p.unexpected("a comma or )")
		}
	}
	return out, p.advance()
}
