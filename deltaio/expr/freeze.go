package expr

import "github.com/lakewarden/lakewarden/deltaio/schema"

// clockFunctions read Context.Now.
var clockFunctions = map[string]bool{
	"current_date": true, "curdate": true, "current_timestamp": true, "now": true, "localtimestamp": true,
}

// ClockDependent says whether the value depends on Context.Now: whether the
// expression calls current_date, current_timestamp, now or localtimestamp.
func (e *Expr) ClockDependent() bool {
	found := false
	e.root.walk(func(n *node) {
		found = found || n.op == opCall && clockFunctions[n.name]
	})
	return found
}

// Freeze replaces clock calls, and TIMESTAMP literals without a zone, by
// literals that name their instant, so that the text means the same at any
// later time. Casts between dates, strings and timestamps still read the
// session zone: store Context.Zone's name beside the text and evaluate with it.
// Without a clock the calls stay, and Bind refuses them.
func (e *Expr) Freeze(c Context) *Expr {
	root := e.root.rewrite(func(n *node) *node {
		switch {
		case n.op == opCall && clockFunctions[n.name] && len(n.args) == 0 && !c.Now.IsZero():
			return n.withLiteral(clockLiteral(n.name, c))
		case n.op == opLit && n.lit.typ == schema.Timestamp && n.lit.zone != zoneUTC:
			if us, ok := n.lit.instant(c); ok {
				return n.withLiteral(literal{typ: schema.Timestamp, i: us})
			}
		}
		return n
	})
	return &Expr{root}
}

func (n *node) withLiteral(l literal) *node {
	out := newNode(n.src, n.pos, opLit)
	out.lit = l
	return out
}

func clockLiteral(name string, c Context) literal {
	us := c.Now.UnixMicro()
	wall := newZoneClock(c.zone()).wallMicros(us)
	switch name {
	case "current_date", "curdate":
		return literal{typ: schema.Date, i: floorDiv(wall, microsPerDay)}
	case "localtimestamp":
		return literal{typ: schema.TimestampNTZ, i: wall}
	}
	return literal{typ: schema.Timestamp, i: us}
}

// instant resolves a TIMESTAMP literal in the session zone.
func (l literal) instant(c Context) (int64, bool) {
	t := timeText{wall: l.i}
	switch l.zone {
	case zoneUTC:
		return l.i, true
	case zoneNamed:
		if t.region = region(l.str); t.region == nil {
			return 0, false
		}
	}
	return newZoneClock(c.zone()).resolveTime(t)
}
