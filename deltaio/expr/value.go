package expr

import (
	"math/big"
	"time"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// Context is what evaluation may know of the world: a frozen clock and the
// session time zone, in which dates begin and zone-less timestamps are read.
// A nil Zone is UTC. A zero Now is no clock: an expression that asks for the time
// does not bind.
type Context struct {
	Now  time.Time
	Zone *time.Location
}

func (c Context) zone() *time.Location {
	if c.Zone == nil {
		return time.UTC
	}
	return c.Zone
}

// Decimal is a fixed-point value V / 10^Scale.
type Decimal struct {
	V     decimal128.Num
	Scale int
}

// Date counts days since 1970-01-01.
type Date int32

// Timestamp counts microseconds since 1970-01-01T00:00:00: of UTC for type
// timestamp, of the wall clock for timestamp_ntz.
type Timestamp int64

// Spark's bounds of decimal types (DecimalType.MAX_PRECISION, and the scale
// that adjustPrecisionScale keeps at least).
const (
	maxPrecision     = 38
	minAdjustedScale = 6
)

var pow10Big = func() [80]*big.Int {
	var t [80]*big.Int
	for i := range t {
		t[i] = new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(i)), nil)
	}
	return t
}()

// fitsPrecision says whether v has at most p decimal digits.
func fitsPrecision(v *big.Int, p int) bool { return v.CmpAbs(pow10Big[p]) < 0 }

// roundQuo divides by d > 0 rounding half up (away from zero), as Java's
// RoundingMode.HALF_UP that Spark's Decimal uses.
func roundQuo(v, d *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(v, d, new(big.Int))
	if r.Lsh(r, 1).CmpAbs(d) >= 0 {
		if v.Sign() < 0 {
			q.Sub(q, big.NewInt(1))
		} else {
			q.Add(q, big.NewInt(1))
		}
	}
	return q
}

// rescale moves a value from one scale to another, rounding half up.
func rescale(v *big.Int, from, to int) *big.Int {
	switch {
	case to > from:
		return new(big.Int).Mul(v, pow10(to-from))
	case to < from:
		return roundQuo(v, pow10(from-to))
	}
	return v
}

func pow10(n int) *big.Int {
	if n < len(pow10Big) {
		return pow10Big[n]
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// digits counts the decimal digits of v; BigDecimal.precision counts 1 for 0.
func digits(v *big.Int) int {
	if v.Sign() == 0 {
		return 1
	}
	return len(new(big.Int).Abs(v).String())
}
