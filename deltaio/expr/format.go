package expr

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// Binding strength of the grammar's levels; a child weaker than its place
// stands in parentheses.
const (
	levelOr = iota
	levelAnd
	levelNot
	levelPredicate
	levelCompare
	levelAdd
	levelMul
	levelUnary
	levelPrimary
)

var opText = map[op]string{
	opMul: "*", opDiv: "/", opMod: "%", opIntDiv: "DIV", opAdd: "+", opSub: "-", opConcat: "||",
	opEq: "=", opNe: "<>", opLt: "<", opLe: "<=", opGt: ">", opGe: ">=", opNullEq: "<=>",
}

func (n *node) level() int {
	switch n.op {
	case opOr:
		return levelOr
	case opAnd:
		return levelAnd
	case opNot:
		return levelNot
	case opIsNull, opIsTrue, opIsFalse, opIsUnknown, opDistinct, opBetween, opIn, opLike, opILike, opRLike:
		return levelPredicate
	case opEq, opNe, opLt, opLe, opGt, opGe, opNullEq:
		return levelCompare
	case opAdd, opSub, opConcat:
		return levelAdd
	case opMul, opDiv, opMod, opIntDiv:
		return levelMul
	case opNeg, opPos:
		return levelUnary
	}
	return levelPrimary
}

// printer writes a tree as SQL that parses to the same tree.
type printer struct{ strings.Builder }

func (p *printer) child(n *node, least int) {
	if n.level() < least {
		p.WriteByte('(')
		p.node(n)
		p.WriteByte(')')
		return
	}
	p.node(n)
}

func (p *printer) list(args []*node, sep string, least int) {
	for i, a := range args {
		if i > 0 {
			p.WriteString(sep)
		}
		p.child(a, least)
	}
}

func (p *printer) node(n *node) {
	switch n.op {
	case opLit:
		p.WriteString(n.lit.String())
	case opInterval:
		p.WriteString(n.interval.String())
	case opColumn:
		p.WriteString(quotePath(n.path))
	case opOr:
		p.list(n.args, " OR ", levelAnd)
	case opAnd:
		p.list(n.args, " AND ", levelNot)
	case opNot:
		p.WriteString("NOT ")
		p.child(n.args[0], levelNot)
	case opNeg, opPos:
		p.sign(n)
	case opCase:
		p.caseWhen(n)
	case opCast, opTryCast:
		p.cast(n)
	case opCall:
		p.call(n)
	default:
		if text, ok := opText[n.op]; ok {
			p.child(n.args[0], n.level())
			p.WriteString(" " + text + " ")
			p.child(n.args[1], n.level()+1)
			return
		}
		p.predicate(n)
	}
}

// sign keeps -(5) apart from the literal -5, and --5 from a comment.
func (p *printer) sign(n *node) {
	x := n.args[0]
	p.WriteByte("-+"[n.op-opNeg])
	if x.op == opLit || x.op == opNeg || x.op == opPos {
		p.WriteByte('(')
		p.node(x)
		p.WriteByte(')')
		return
	}
	p.child(x, levelUnary)
}

func (p *printer) predicate(n *node) {
	p.child(n.args[0], levelCompare)
	not := ""
	if n.neg {
		not = "NOT "
	}
	switch n.op {
	case opIsNull:
		p.WriteString(" IS " + not + "NULL")
	case opIsTrue:
		p.WriteString(" IS " + not + "TRUE")
	case opIsFalse:
		p.WriteString(" IS " + not + "FALSE")
	case opIsUnknown:
		p.WriteString(" IS " + not + "UNKNOWN")
	case opDistinct:
		p.WriteString(" IS " + not + "DISTINCT FROM ")
		p.child(n.args[1], levelCompare)
	case opBetween:
		p.WriteString(" " + not + "BETWEEN ")
		p.list(n.args[1:], " AND ", levelCompare)
	case opIn:
		p.WriteString(" " + not + "IN (")
		p.list(n.args[1:], ", ", levelOr)
		p.WriteByte(')')
	case opLike, opILike, opRLike:
		p.WriteString(" " + not + map[op]string{opLike: "LIKE ", opILike: "ILIKE ", opRLike: "RLIKE "}[n.op])
		p.child(n.args[1], levelCompare)
		if n.escape != 0 {
			p.WriteString(" ESCAPE " + quoteString(string(n.escape)))
		}
	}
}

func (p *printer) caseWhen(n *node) {
	p.WriteString("CASE")
	args := n.args
	if n.hasOperand {
		p.WriteByte(' ')
		p.node(args[0])
		args = args[1:]
	}
	for len(args) >= 2 {
		p.WriteString(" WHEN ")
		p.node(args[0])
		p.WriteString(" THEN ")
		p.node(args[1])
		args = args[2:]
	}
	if n.hasElse {
		p.WriteString(" ELSE ")
		p.node(args[0])
	}
	p.WriteString(" END")
}

func (p *printer) cast(n *node) {
	if n.op == opTryCast {
		p.WriteString("TRY_")
	}
	p.WriteString("CAST(")
	p.node(n.args[0])
	p.WriteString(" AS " + sqlTypeName(n.to) + ")")
}

func (p *printer) call(n *node) {
	if n.bare {
		p.WriteString(strings.ToUpper(n.name))
		return
	}
	p.WriteString(quoteName(n.name, false))
	p.WriteByte('(')
	p.list(n.args, ", ", levelOr)
	p.WriteByte(')')
}

// sqlTypeName is a type as CAST takes it.
func sqlTypeName(t schema.Type) string {
	switch t {
	case schema.Byte:
		return "TINYINT"
	case schema.Short:
		return "SMALLINT"
	case schema.Integer:
		return "INT"
	case schema.Long:
		return "BIGINT"
	}
	return strings.ToUpper(t.String())
}

func quotePath(path []string) string {
	parts := make([]string, len(path))
	for i, name := range path {
		parts[i] = quoteName(name, true)
	}
	return strings.Join(parts, ".")
}

// quoteName puts a name in backticks unless it is a plain word; column names
// are also kept apart from words that the grammar uses.
func quoteName(name string, column bool) string {
	plain := name != "" && !isDigit(name[0])
	for i := 0; i < len(name) && plain; i++ {
		c := name[i]
		plain = c == '_' || isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	up := strings.ToUpper(name)
	if plain && !(column && (reserved[up] || special[up])) {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// quoteString writes a string with escapes that every version of Spark reads.
func quoteString(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range s {
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// String writes the literal so that it keeps its type.
func (l literal) String() string {
	switch t := l.typ.(type) {
	case nil:
		return "NULL"
	case schema.Decimal:
		s := formatDecimal(l.dec.V.BigInt(), t.Scale)
		if t.Scale == 0 { // without a point it would read as an integer
			s += "BD"
		}
		return s
	case schema.Primitive:
		return l.primitive(t)
	}
	return "NULL"
}

func (l literal) primitive(t schema.Primitive) string {
	switch t {
	case schema.Boolean:
		return strings.ToUpper(strconv.FormatBool(l.bool))
	case schema.Byte, schema.Short, schema.Long:
		return strconv.FormatInt(l.i, 10) + map[schema.Primitive]string{schema.Byte: "Y", schema.Short: "S", schema.Long: "L"}[t]
	case schema.Integer:
		return strconv.FormatInt(l.i, 10)
	case schema.Float:
		return strconv.FormatFloat(l.f, 'E', -1, 32) + "F"
	case schema.Double:
		return strconv.FormatFloat(l.f, 'E', -1, 64)
	case schema.String:
		return quoteString(l.str)
	case schema.Binary:
		return "X'" + hex.EncodeToString([]byte(l.str)) + "'"
	case schema.Date:
		return "DATE'" + formatDate(l.i) + "'"
	case schema.TimestampNTZ:
		return "TIMESTAMP_NTZ'" + formatWall(l.i) + "'"
	}
	zone := map[tsZone]string{zoneUTC: "Z", zoneSession: "", zoneNamed: " " + l.str}[l.zone]
	text := formatWall(l.i)
	if l.zone == zoneUTC && !strings.Contains(text, ":") {
		text += " 00:00:00"
	}
	return "TIMESTAMP'" + text + zone + "'"
}

// formatDecimal writes unscaled/10^scale in plain digits.
func formatDecimal(v *big.Int, scale int) string {
	s := new(big.Int).Abs(v).String()
	if scale > 0 {
		if len(s) <= scale {
			s = strings.Repeat("0", scale-len(s)+1) + s
		}
		s = s[:len(s)-scale] + "." + s[len(s)-scale:]
	}
	if v.Sign() < 0 {
		return "-" + s
	}
	return s
}

// String writes the interval in its smallest units.
func (v interval) String() string {
	switch v.kind {
	case yearMonth:
		return fmt.Sprintf("INTERVAL '%d' MONTH", v.months)
	case dayOnly:
		return fmt.Sprintf("INTERVAL '%d' DAY", v.micros/microsPerDay)
	}
	sign, us := "", v.micros
	if us < 0 {
		sign, us = "-", -us
	}
	return fmt.Sprintf("INTERVAL '%s%d.%06d' SECOND", sign, us/microsPerSecond, us%microsPerSecond)
}
