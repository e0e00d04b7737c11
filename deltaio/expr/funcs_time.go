package expr

import (
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// bindClock gives the frozen clock as a constant. A forgotten clock would be the
// year 1, before which nothing is old and after which everything is.
func bindClock(b *binder, n *node, _ []*term) (*term, error) {
	if b.ctx.Now.IsZero() {
		return nil, n.bindError("%s needs a clock; Context.Now is not set", n.name)
	}
	return b.literal(n.withLiteral(clockLiteral(n.name, b.ctx)))
}

// dateAdd binds date_add and date_sub; the days are an int or narrower, or a
// text that is one.
func dateAdd(minus bool) func(*binder, *node, []*term) (*term, error) {
	return func(b *binder, n *node, args []*term) (*term, error) {
		date, err := b.arg(n, args, 0, schema.Date)
		if err != nil {
			return nil, err
		}
		days := args[1]
		if days.typ == schema.String && days.kind == termConst && !days.val.allNull() {
			v, ok := parseInt(days.val.str(0), false)
			if !ok || v != int64(int32(v)) {
				return nil, n.args[1].bindError("%s wants a whole number of days", n.name)
			}
			days = intConst(schema.Integer, v, n.args[1])
		}
		if !isDayCount(days.typ) {
			return nil, n.args[1].bindError("%s wants an int of days, and this is %s; cast it", n.name, days.typ)
		}
		return b.addDays(n, date, days, minus)
	}
}

func bindAddMonths(b *binder, n *node, args []*term) (*term, error) {
	date, err := b.arg(n, args, 0, schema.Date)
	if err != nil {
		return nil, err
	}
	months, err := b.arg(n, args, 1, schema.Integer)
	if err != nil {
		return nil, err
	}
	t := strictCall(schema.Date, addMonthsKernel, n, date, months)
	if months.kind == termConst && !months.val.allNull() {
		t.rises, t.safe = true, noOverflow32(int64(months.val.i32[0])*31)
	}
	return b.fold(t)
}

// bindDateDiff counts days from the second date to the first, wrapping at 32
// bits.
func bindDateDiff(b *binder, n *node, args []*term) (*term, error) {
	end, err := b.arg(n, args, 0, schema.Date)
	if err != nil {
		return nil, err
	}
	start, err := b.arg(n, args, 1, schema.Date)
	if err != nil {
		return nil, err
	}
	t := strictCall(schema.Integer, func(rows int, args []*vec) (*vec, error) {
		out, x, y := binaryOut(schema.Integer, rows, args)
		for i := range out.i32 {
			out.i32[i] = x.i32[i&x.at()] - y.i32[i&y.at()]
		}
		return out, nil
	}, n, end, start)
	if start.kind == termConst && !start.val.allNull() {
		t.rises, t.safe = true, noOverflow32(-int64(start.val.i32[0]))
	}
	return b.fold(t)
}

// datePart binds a function of a date's day count; rises says that it never
// falls while the date rises.
func datePart(typ schema.Type, f func(int64) int64, rises bool) func(*binder, *node, []*term) (*term, error) {
	return func(b *binder, n *node, args []*term) (*term, error) {
		x, err := b.arg(n, args, 0, schema.Date)
		if err != nil {
			return nil, err
		}
		t := strictCall(typ, func(rows int, args []*vec) (*vec, error) {
			x := args[0]
			out := newVec(typ, rows)
			out.null = x.spreadNull(rows)
			for i := range out.i32 {
				out.i32[i] = int32(f(int64(x.i32[i&x.at()])))
			}
			return out, nil
		}, n, x)
		t.rises = rises
		return b.fold(t)
	}
}

func yearOf(day int64) int64 {
	y, _, _ := civil(day)
	return y
}

func monthOf(day int64) int64 {
	_, m, _ := civil(day)
	return int64(m)
}

func dayOf(day int64) int64 {
	_, _, d := civil(day)
	return int64(d)
}

func quarterOf(day int64) int64 { return (monthOf(day) + 2) / 3 }

// dayOfWeek counts from 1, Sunday.
func dayOfWeek(day int64) int64 { return floorMod(day+4, 7) + 1 }

func dayOfYear(day int64) int64 {
	y, _, _ := civil(day)
	return day - dayCount(y, 1, 1) + 1
}

// timePart binds hour, minute and second of the wall clock.
func timePart(seconds, modulus int64) func(*binder, *node, []*term) (*term, error) {
	return func(b *binder, n *node, args []*term) (*term, error) {
		x, zone := args[0], b.ctx.zone()
		if x.typ == schema.TimestampNTZ {
			zone = utc
		} else {
			var err error
			if x, err = b.arg(n, args, 0, schema.Timestamp); err != nil {
				return nil, err
			}
		}
		return b.fold(strictCall(schema.Integer, func(rows int, args []*vec) (*vec, error) {
			x, clock := args[0], newZoneClock(zone)
			out := newVec(schema.Integer, rows)
			out.null = x.spreadNull(rows)
			for i := range out.i32 {
				wall := clock.wall(floorDiv(x.i64[i&x.at()], microsPerSecond))
				out.i32[i] = int32(floorMod(floorDiv(wall, seconds), modulus))
			}
			return out, nil
		}, n, x))
	}
}

// bindToDate: without a pattern, or on a date or timestamp, it is a cast.
func bindToDate(b *binder, n *node, args []*term) (*term, error) {
	x, err := b.timeSource(n, args)
	if err != nil {
		return nil, err
	}
	if len(args) == 2 && x.typ == schema.String {
		if x, err = b.parsePattern(n, x, args[1]); err != nil {
			return nil, err
		}
	}
	return b.castTo(x, schema.Date)
}

// bindToTimestamp: numbers are seconds, as in a cast.
func bindToTimestamp(b *binder, n *node, args []*term) (*term, error) {
	if len(args) == 1 && isNumeric(args[0].typ) {
		return b.castTo(args[0], schema.Timestamp)
	}
	x, err := b.timeSource(n, args)
	if err != nil {
		return nil, err
	}
	if len(args) == 2 && x.typ == schema.String {
		return b.parsePattern(n, x, args[1])
	}
	return b.castTo(x, schema.Timestamp)
}

// timeSource keeps dates and timestamps and casts the rest to text.
func (b *binder) timeSource(n *node, args []*term) (*term, error) {
	if isDatetime(args[0].typ) {
		return args[0], nil
	}
	return b.arg(n, args, 0, schema.String)
}

// parsePattern reads text by a constant pattern into a timestamp of the session
// zone (GetTimestamp).
func (b *binder) parsePattern(n *node, x, pattern *term) (*term, error) {
	if pattern.kind != termConst || pattern.typ != schema.String && pattern.typ != schema.Void {
		return nil, n.args[1].bindError("%s wants a constant pattern such as 'yyyy-MM-dd'", n.name)
	}
	if pattern.val.allNull() {
		return constant(nullVec(schema.Timestamp), n), nil
	}
	p, err := compileDatePattern(pattern.val.str(0))
	if err != nil {
		return nil, n.args[1].bindError("%s", err)
	}
	zone := b.ctx.zone()
	return b.fold(strictCall(schema.Timestamp, func(rows int, args []*vec) (*vec, error) {
		x, clock := args[0], newZoneClock(zone)
		out := newVec(schema.Timestamp, rows)
		for i := range rows {
			ok := !x.isNull(i)
			if ok {
				var t timeText
				if t, ok = p.parse(x.str(i)); ok {
					out.i64[i], ok = clock.resolveTime(t)
				}
			}
			if !ok {
				out.setNull(i)
			}
		}
		return out, nil
	}, n, x))
}
