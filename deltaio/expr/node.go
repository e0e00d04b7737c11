package expr

import (
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// op is the kind of a syntax node.
type op uint8

const (
	opLit op = iota
	opInterval
	opColumn
	opNeg
	opPos
	opMul
	opDiv
	opMod
	opIntDiv
	opAdd
	opSub
	opConcat
	opEq
	opNe
	opLt
	opLe
	opGt
	opGe
	opNullEq
	opNot
	opAnd // any number of operands
	opOr
	opIsNull // negated forms of the predicates have node.neg
	opIsTrue
	opIsFalse
	opIsUnknown
	opDistinct
	opBetween
	opIn
	opLike
	opILike
	opRLike
	opCase // operand (if hasOperand), then condition and result pairs, then else
	opCast
	opTryCast
	opCall
)

// node is a syntax tree. Nodes are immutable once built; they point into the
// text they were read from.
type node struct {
	op    op
	neg   bool // NOT of a predicate
	args  []*node
	src   *source
	pos   int
	depth int

	lit        literal     // opLit
	interval   interval    // opInterval
	path       []string    // opColumn
	name       string      // opCall, lower case
	bare       bool        // opCall without parentheses: CURRENT_DATE
	to         schema.Type // opCast, opTryCast
	escape     rune        // opLike, opILike; 0 is the backslash
	hasOperand bool        // opCase
	hasElse    bool        // opCase
}

// literal is a constant as written. A nil typ is NULL.
type literal struct {
	typ  schema.Type
	bool bool
	i    int64   // integers, days, micros
	f    float64 // float and double
	dec  Decimal
	str  string // string, binary
	zone tsZone
}

// tsZone says how far a TIMESTAMP literal is resolved. Its text is read at
// Parse; the zone of a local one is known at Bind only.
type tsZone uint8

const (
	zoneUTC     tsZone = iota // i is an instant
	zoneSession               // i is wall-clock time of the session zone
	zoneNamed                 // i is wall-clock time of the region in str
)

// interval is a year-month or a day-time interval (Spark's ANSI intervals).
type interval struct {
	kind   intervalKind
	months int64
	micros int64
}

type intervalKind uint8

const (
	yearMonth intervalKind = iota
	dayOnly                // whole days: a date plus it stays a date
	dayTime                // a date plus it becomes a timestamp
)

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 86_400 * microsPerSecond
)

// maxTreeDepth bounds trees, so that walking one never exhausts the stack.
const maxTreeDepth = 1000

func newNode(src *source, pos int, o op, args ...*node) *node {
	n := &node{op: o, src: src, pos: pos, args: args, depth: 1}
	for _, a := range args {
		n.depth = max(n.depth, a.depth+1)
	}
	return n
}

// walk visits n and all below it.
func (n *node) walk(visit func(*node)) {
	visit(n)
	for _, a := range n.args {
		a.walk(visit)
	}
}

// rewrite copies the tree with f applied bottom up; f returns its argument to
// keep it.
func (n *node) rewrite(f func(*node) *node) *node {
	out, changed := n, false
	args := n.args
	for i, a := range n.args {
		b := a.rewrite(f)
		if b != a && !changed {
			args, changed = append([]*node(nil), n.args...), true
		}
		args[i] = b
	}
	if changed {
		c := *n
		c.args = args
		out = &c
	}
	return f(out)
}

// sameTree compares trees, not where they were written.
func sameTree(a, b *node) bool {
	if a.op != b.op || a.neg != b.neg || a.name != b.name || a.bare != b.bare || a.escape != b.escape ||
		a.hasOperand != b.hasOperand || a.hasElse != b.hasElse || a.interval != b.interval ||
		!sameLiteral(a.lit, b.lit) || len(a.path) != len(b.path) || len(a.args) != len(b.args) {
		return false
	}
	if (a.to == nil) != (b.to == nil) || a.to != nil && !schema.Equal(a.to, b.to) {
		return false
	}
	for i := range a.path {
		if a.path[i] != b.path[i] {
			return false
		}
	}
	for i := range a.args {
		if !sameTree(a.args[i], b.args[i]) {
			return false
		}
	}
	return true
}

func sameLiteral(a, b literal) bool { return a == b }
