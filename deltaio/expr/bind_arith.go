package expr

import (
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// addition binds + and -, whose meaning depends on dates and intervals
// (ResolveBinaryArithmetic).
func (b *binder) addition(n *node) (*term, error) {
	l, r := n.args[0], n.args[1]
	switch {
	case r.op == opInterval:
		x, err := b.bind(l)
		if err != nil {
			return nil, err
		}
		return b.addInterval(n, x, r.interval.signed(n.op == opSub))
	case l.op == opInterval && n.op == opAdd:
		x, err := b.bind(r)
		if err != nil {
			return nil, err
		}
		return b.addInterval(n, x, l.interval)
	}
	args, err := b.bindAll(n.args)
	if err != nil {
		return nil, err
	}
	x, y := args[0], args[1]
	if n.op == opAdd && y.typ == schema.Date && x.typ != schema.Date {
		x, y = y, x
	}
	switch {
	case x.typ == schema.Date && isDayCount(y.typ):
		return b.addDays(n, x, y, n.op == opSub)
	case isDatetime(x.typ) || isDatetime(y.typ):
		return nil, n.bindError("%s %s %s is not supported; use datediff, date_add with an int of days, or an interval",
			args[0].typ, opText[n.op], args[1].typ)
	}
	return b.arithmetic(n, args[0], args[1])
}

func (v interval) signed(minus bool) interval {
	if minus {
		v.months, v.micros = -v.months, -v.micros
	}
	return v
}

// isDayCount: what may be added to a date as days; a bigint may not.
func isDayCount(t schema.Type) bool {
	return t == schema.Byte || t == schema.Short || t == schema.Integer || t == schema.Void
}

// addDays is date_add and date_sub: int arithmetic that wraps around.
func (b *binder) addDays(n *node, date, days *term, minus bool) (*term, error) {
	days, err := b.castTo(days, schema.Integer)
	if err != nil {
		return nil, err
	}
	t := strictCall(schema.Date, addDaysKernel(minus), n, date, days)
	if days.kind == termConst && !days.val.allNull() {
		d := int64(days.val.i32[0])
		if minus {
			d = -d
		}
		t.rises, t.safe = true, noOverflow32(d)
	}
	return b.fold(t)
}

// addInterval moves a date or timestamp. A date plus whole days or months stays
// a date; plus hours it becomes a timestamp of the session zone.
func (b *binder) addInterval(n *node, x *term, v interval) (*term, error) {
	if x.typ == schema.String {
		return nil, n.bindError("an interval is added to a date or timestamp; cast the string first")
	}
	if !isDatetime(x.typ) {
		return nil, n.bindError("cannot add an interval to %s", x.typ)
	}
	switch {
	case x.typ == schema.Date && v.kind == dayOnly:
		days := v.micros / microsPerDay
		if days != int64(int32(days)) {
			return nil, n.bindError("interval is out of range")
		}
		return b.addDays(n, x, intConst(schema.Integer, days, n), false)
	case x.typ == schema.Date && v.kind == yearMonth:
		t := strictCall(schema.Date, addMonthsConstKernel(v.months), n, x)
		t.rises, t.safe = true, noOverflow32(v.months*31)
		return b.fold(t)
	case x.typ == schema.Date:
		var err error
		if x, err = b.castTo(x, schema.Timestamp); err != nil {
			return nil, err
		}
	}
	zone := b.ctx.zone()
	if x.typ == schema.TimestampNTZ {
		zone = utc
	}
	return b.fold(strictCall(x.typ, addIntervalKernel(v, zone), n, x))
}

func (b *binder) arithmeticNode(n *node) (*term, error) {
	args, err := b.bindAll(n.args)
	if err != nil {
		return nil, err
	}
	return b.arithmetic(n, args[0], args[1])
}

// arithmetic binds + - * / % DIV of numbers. A string counts as a double
// (PromoteStrings); / of integers is of doubles (Division).
func (b *binder) arithmetic(n *node, x, y *term) (*term, error) {
	for i, t := range []*term{x, y} {
		if !isNumeric(t.typ) && t.typ != schema.String && t.typ != schema.Void {
			return nil, n.args[i].bindError("%s wants numbers, and this is %s", opText[n.op], t.typ)
		}
	}
	typ := arithmeticType(x, y)
	if n.op == opDiv && x.typ == schema.Void && isDecimal(typ) {
		typ = schema.Double // NULL / decimal is a double in Spark, decimal / NULL is not
	}
	switch {
	case n.op == opIntDiv && isFloat(typ):
		return nil, n.bindError("DIV wants integers or decimals")
	case n.op == opIntDiv && isIntegral(typ):
		typ = schema.Long
	case n.op == opDiv && isIntegral(typ), n.op == opDiv && typ == schema.Float:
		typ = schema.Double
	case isDecimal(typ):
		return b.decimalArithmetic(n, x, y)
	}
	args, err := b.castAll([]*term{x, y}, typ)
	if err != nil {
		return nil, err
	}
	t := strictCall(typ, arithmeticKernel(n.op, typ), n, args...)
	if c := args[1]; n.op == opAdd || n.op == opSub {
		t.rises = c.kind == termConst && isIntegral(typ)
		t.safe = noWrap(t)
	}
	return b.fold(t)
}

// arithmeticType: any decimal stands for "decimal", whose result type depends
// on the operator.
func arithmeticType(x, y *term) schema.Type {
	a, c := x.typ, y.typ
	if a == schema.Void {
		a = c
	}
	if c == schema.Void {
		c = a
	}
	switch {
	case a == schema.String || c == schema.String || a == schema.Void:
		return schema.Double
	case isDecimal(a) && isFloat(c), isDecimal(c) && isFloat(a):
		return schema.Double
	case isDecimal(a):
		return a
	case isDecimal(c):
		return c
	}
	return widerNumber(a, c)
}

// decimalArithmetic gives result types by the rules of Spark (and Hive):
// Add.resultDecimalType and its siblings.
func (b *binder) decimalArithmetic(n *node, x, y *term) (*term, error) {
	if x.typ == schema.Void {
		x = constant(nullVec(y.typ), n)
	}
	if y.typ == schema.Void {
		y = constant(nullVec(x.typ), n)
	}
	dx, dy := decimalOf(x), decimalOf(y)
	x, err := b.castTo(x, dx)
	if err != nil {
		return nil, err
	}
	if y, err = b.castTo(y, dy); err != nil {
		return nil, err
	}
	typ := decimalResult(n.op, dx, dy)
	return b.fold(strictCall(typ, decimalKernel(n.op, dx, dy, typ), n, x, y))
}

func decimalResult(o op, a, b schema.Decimal) schema.Type {
	whole := max(a.Precision-a.Scale, b.Precision-b.Scale)
	scale := max(a.Scale, b.Scale)
	switch o {
	case opAdd, opSub:
		return adjustedDecimal(whole+scale+1, scale)
	case opMul:
		return adjustedDecimal(a.Precision+b.Precision+1, a.Scale+b.Scale)
	case opDiv:
		scale = max(minAdjustedScale, a.Scale+b.Precision+1)
		return adjustedDecimal(a.Precision-a.Scale+b.Scale+scale, scale)
	case opMod:
		return adjustedDecimal(min(a.Precision-a.Scale, b.Precision-b.Scale)+scale, scale)
	}
	return schema.Long // DIV
}

func (b *binder) sign(n *node) (*term, error) {
	x, err := b.bind(n.args[0])
	if err != nil {
		return nil, err
	}
	if x.typ == schema.String || x.typ == schema.Void {
		if x, err = b.castTo(x, schema.Double); err != nil {
			return nil, err
		}
	}
	if !isNumeric(x.typ) {
		return nil, n.bindError("a sign wants a number, and this is %s", x.typ)
	}
	if n.op == opPos {
		c := *x // a signed literal no longer counts as one
		c.src = n
		return &c, nil
	}
	return b.fold(strictCall(x.typ, negateKernel, n, x))
}
