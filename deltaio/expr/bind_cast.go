package expr

import (
	"time"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

var utc = time.UTC

// explicitCast binds CAST and TRY_CAST. CAST is Spark's non-ANSI cast: text
// that is no number gives NULL, integers wrap around. TRY_CAST is its ANSI cast
// with NULL for an error: what does not fit is NULL.
func (b *binder) explicitCast(n *node, x *term) (*term, error) {
	if x.typ == schema.Void || schema.Equal(x.typ, n.to) {
		t, err := b.castTo(x, n.to)
		if err != nil || t != x {
			return t, err
		}
		c := *x // keeps a cast literal from counting as a literal
		c.src = n
		return &c, nil
	}
	try := n.op == opTryCast
	if !castable(x.typ, n.to, try) {
		return nil, n.bindError("cannot cast %s to %s", x.typ, n.to)
	}
	t, err := b.cast(x, n.to, try)
	if err != nil {
		return nil, err
	}
	c := *t
	c.src = n
	return &c, nil
}

// castable is Cast.canCast (and Cast.canAnsiCast for TRY_CAST).
func castable(from, to schema.Type, try bool) bool {
	if !isAtomic(from) || !isAtomic(to) {
		return false
	}
	if schema.Equal(from, to) || to == schema.String || from == schema.String {
		return true
	}
	switch {
	case from == schema.Binary || from == schema.TimestampNTZ && !isDatetime(to):
		return false
	case to == schema.Binary:
		return isIntegral(from) && !try
	case to == schema.TimestampNTZ:
		return isDatetime(from)
	case to == schema.Date:
		return isDatetime(from)
	case from == schema.Date:
		return to == schema.Timestamp || !try
	case to == schema.Timestamp:
		return from != schema.Boolean || !try
	case from == schema.Timestamp && to == schema.Boolean:
		return !try
	}
	return true
}

// cast makes a cast term; both types are atomic and differ.
func (b *binder) cast(x *term, to schema.Type, try bool) (*term, error) {
	zone := b.ctx.zone()
	t := strictCall(to, castKernel(x.typ, to, try, zone), x.src, x)
	t.rises, t.widen = castRises(x.typ, to, zone)
	if x.typ == schema.Date && isDatetime(to) { // NULL beyond the range of timestamps
		t.safe = func(_, _ *vec) bool { return true }
	}
	return b.fold(t)
}

// castRises says which casts keep the order of values and lose none to NULL
// (a date beyond the range of timestamps is lost: see cast).
// From a timestamp to its date is such a cast up to a change of the zone's
// offset, which two days cover (offsets lie within ±18 hours).
func castRises(from, to schema.Type, zone *time.Location) (rises bool, widen int64) {
	switch {
	case isIntegral(from) && isIntegral(to):
		return widerNumber(from, to) == to, 0
	case isIntegral(from) && isDecimal(to):
		d := to.(schema.Decimal)
		return d.Precision-d.Scale >= decimalForType(from).Precision, 0
	case isDecimal(from) && isDecimal(to):
		f, d := from.(schema.Decimal), to.(schema.Decimal)
		return d.Scale >= f.Scale && d.Precision-d.Scale >= f.Precision-f.Scale, 0
	case isNumeric(from) && to == schema.Double, isIntegral(from) && to == schema.Float:
		return true, 0
	case from == schema.Date && isDatetime(to), from == schema.TimestampNTZ && to == schema.Date:
		return true, 0
	case from == schema.Timestamp && to == schema.Date:
		if zone == utc {
			return true, 0
		}
		return true, 2
	}
	return false, 0
}
