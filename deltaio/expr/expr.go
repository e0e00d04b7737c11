package expr

import (
	"fmt"
	"sort"
)

// Expr is a parsed expression. It is immutable and safe for concurrent use.
type Expr struct{ root *node }

// Parse reads an expression. The error is a *SyntaxError.
func Parse(text string) (*Expr, error) {
	n, err := parse(text)
	if err != nil {
		return nil, err
	}
	return &Expr{n}, nil
}

// MustParse is Parse for constant texts; it panics on an error.
func MustParse(text string) *Expr {
	e, err := Parse(text)
	if err != nil {
		panic(fmt.Sprintf("expr.MustParse(%q): %v", text, err))
	}
	return e
}

// String gives the expression as canonical SQL; parsing it yields the same
// tree, and Spark 3.5 reads it as the same expression.
func (e *Expr) String() string {
	var p printer
	p.node(e.root)
	return p.String()
}

// Equal says whether two expressions are the same tree.
func (e *Expr) Equal(o *Expr) bool { return sameTree(e.root, o.root) }

// Columns lists the top-level columns referenced, as they are written in the
// expression, sorted. Bound.Columns gives the names of the schema.
func (e *Expr) Columns() []string {
	seen := map[string]bool{}
	e.root.walk(func(n *node) {
		if n.op == opColumn {
			seen[n.path[0]] = true
		}
	})
	return sortedKeys(seen)
}

func sortedKeys(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// And joins expressions; nils are left out, and And of nothing is TRUE.
func And(xs ...*Expr) *Expr { return join(opAnd, "TRUE", xs) }

// Or joins expressions; nils are left out, and Or of nothing is FALSE.
func Or(xs ...*Expr) *Expr { return join(opOr, "FALSE", xs) }

func join(o op, empty string, xs []*Expr) *Expr {
	var args []*node
	for _, x := range xs {
		if x != nil {
			args = flatten(o, args, x.root)
		}
	}
	switch len(args) {
	case 0:
		return MustParse(empty)
	case 1:
		return &Expr{args[0]}
	}
	return &Expr{newNode(args[0].src, args[0].pos, o, args...)}
}

// Not negates an expression: NOT NULL is NULL. Not(nil) is nil.
func Not(x *Expr) *Expr {
	if x == nil {
		return nil
	}
	return &Expr{newNode(x.root.src, x.root.pos, opNot, x.root)}
}
