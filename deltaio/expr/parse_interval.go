package expr

import (
	"strconv"
	"strings"
)

// intervalLiteral reads INTERVAL 3 DAY, INTERVAL '1' MONTH '2' YEAR, INTERVAL
// '3 days'. Spark's ANSI intervals are either of years and months or of days
// and time; a mixture is refused, as there.
func (p *parser) intervalLiteral() (*node, error) {
	n, err := p.build(p.tok.pos, opInterval)
	if err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	b := intervalBuilder{}
	for first := true; p.tok.kind == tokNumber || p.tok.kind == tokString || p.tok.op("-") || p.tok.op("+"); first = false {
		if !first && p.tok.kind == tokOp && !p.unitFollows() {
			break // the next operator of a sum
		}
		if err := p.intervalPart(&b, first); err != nil {
			return nil, err
		}
	}
	if p.tok.is("TO") {
		return nil, p.src.syntax(p.tok.pos, "INTERVAL … TO … is not supported; write each unit with its value")
	}
	if b.hasMonths && b.hasTime {
		return nil, p.src.syntax(n.pos, "years and months cannot be mixed with days and time; add two intervals")
	}
	n.interval = b.interval()
	return n, nil
}

// unitFollows tells a signed value of the interval, - 3 DAY, from an operator.
func (p *parser) unitFollows() bool {
	ahead := p.lex
	v, err := ahead.next()
	if err != nil || v.kind != tokNumber && v.kind != tokString {
		return false
	}
	u, err := ahead.next()
	return err == nil && u.kind == tokIdent && intervalUnits[unitName(u.val)] != (intervalUnit{})
}

func (p *parser) intervalPart(b *intervalBuilder, first bool) error {
	sign := ""
	if p.tok.kind == tokOp {
		if p.tok.val == "-" {
			sign = "-"
		}
		if err := p.advance(); err != nil {
			return err
		}
	}
	value := p.tok
	if value.kind != tokNumber && value.kind != tokString {
		return p.unexpected("a number")
	}
	if err := p.advance(); err != nil {
		return err
	}
	if p.tok.kind != tokIdent || intervalUnits[unitName(p.tok.val)] == (intervalUnit{}) {
		if value.kind == tokString && first && strings.ContainsAny(strings.TrimSpace(value.val), " \t") {
			return p.intervalText(b, value)
		}
		return p.unexpected("a unit: YEAR, MONTH, WEEK, DAY, HOUR, MINUTE or SECOND")
	}
	if msg := b.add(sign, value.val, p.tok.val); msg != "" {
		return p.src.syntax(value.pos, "%s", msg)
	}
	return p.advance()
}

// intervalText reads the units inside one string: '1 day 2 hours'.
func (p *parser) intervalText(b *intervalBuilder, t token) error {
	words := strings.Fields(t.val)
	if len(words)%2 != 0 {
		return p.src.syntax(t.pos, "'%s' is not an interval such as '1 day 2 hours'", t.val)
	}
	for i := 0; i < len(words); i += 2 {
		if msg := b.add("", words[i], words[i+1]); msg != "" {
			return p.src.syntax(t.pos, "%s", msg)
		}
	}
	return nil
}

type intervalUnit struct {
	months, micros int64
}

var intervalUnits = map[string]intervalUnit{
	"YEAR": {months: 12}, "MONTH": {months: 1},
	"WEEK": {micros: 7 * microsPerDay}, "DAY": {micros: microsPerDay},
	"HOUR": {micros: 3600 * microsPerSecond}, "MINUTE": {micros: 60 * microsPerSecond}, "SECOND": {micros: microsPerSecond},
	"MILLISECOND": {micros: 1000}, "MICROSECOND": {micros: 1},
}

// unitName is the singular of a unit in upper case.
func unitName(s string) string { return strings.TrimSuffix(strings.ToUpper(s), "S") }

type intervalBuilder struct {
	months, micros             int64
	hasMonths, hasTime, subDay bool
}

// add takes one value and unit; it returns what is wrong with them.
func (b *intervalBuilder) add(sign, value, unit string) string {
	name := unitName(unit)
	u, ok := intervalUnits[name]
	if !ok {
		return "unit " + unit + " is unknown: YEAR, MONTH, WEEK, DAY, HOUR, MINUTE or SECOND is wanted"
	}
	value = strings.TrimSpace(value)
	if sign == "-" {
		if value = "-" + value; strings.HasPrefix(value, "--") {
			value = value[2:]
		}
	}
	whole, frac, hasFrac := strings.Cut(value, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || hasFrac && (name != "SECOND" || strings.Trim(frac, "0123456789") != "") {
		return "'" + value + "' is not a whole number of " + name
	}
	if u.months != 0 {
		b.hasMonths = true
		return b.sum(&b.months, n, u.months, 1<<31)
	}
	b.hasTime = true
	b.subDay = b.subDay || u.micros%microsPerDay != 0
	if hasFrac {
		f, _ := parseFraction(frac)
		if strings.HasPrefix(whole, "-") {
			f = -f
		}
		b.micros += f
	}
	return b.sum(&b.micros, n, u.micros, 1<<62)
}

func (b *intervalBuilder) sum(total *int64, n, unit, limit int64) string {
	v, ok := mulOK(n, unit)
	if ok {
		v, ok = addOK(*total, v)
	}
	if !ok || v >= limit || v <= -limit {
		return "interval is out of range"
	}
	*total = v
	return ""
}

func (b *intervalBuilder) interval() interval {
	switch {
	case b.hasMonths:
		return interval{kind: yearMonth, months: b.months}
	case b.subDay:
		return interval{kind: dayTime, micros: b.micros}
	}
	return interval{kind: dayOnly, micros: b.micros}
}
