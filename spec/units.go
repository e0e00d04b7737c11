package spec

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// Duration is a length of time as people write it: Go's units plus d for 24
// hours, such as "168h", "72h30m" or "30d". Empty means not given.
type Duration string

// maxDuration is what a time.Duration can hold, rounded down to days.
const maxDuration = 106751 * 24 * time.Hour

// Value parses d; the empty duration is 0.
func (d Duration) Value() (time.Duration, error) {
	rest := string(d)
	if rest == "" {
		return 0, nil
	}
	var days time.Duration
	if number, tail, found := strings.Cut(rest, "d"); found {
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil || time.Duration(n) > maxDuration/(24*time.Hour) {
			return 0, fmt.Errorf("%q is not a duration", string(d))
		}
		days, rest = time.Duration(n)*24*time.Hour, tail
	}
	if rest == "" {
		return days, nil
	}
	v, err := time.ParseDuration(rest)
	if err != nil || v < 0 || strings.ContainsAny(rest, "+-") || v > maxDuration-days {
		return 0, fmt.Errorf("%q is not a duration", string(d))
	}
	return days + v, nil
}

// Or gives the value of d, or fallback where d is empty or not a duration. For
// policies that passed Validate.
func (d Duration) Or(fallback time.Duration) time.Duration {
	if v, err := d.Value(); err == nil && d != "" {
		return v
	}
	return fallback
}

// DurationOf writes v in whole units: "168h", "90m", "1h30m".
func DurationOf(v time.Duration) Duration {
	s := v.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return Duration(s)
}

// Percent is a share as people write it: "10%", "0.5%". Empty means not given.
type Percent string

var errPercent = errors.New("not a percentage")

// rat is the exact share: 10% is 1/10.
func (p Percent) rat() (*big.Rat, error) {
	number, found := strings.CutSuffix(string(p), "%")
	if !found || number == "" || len(number) > 20 || strings.Trim(number, "0123456789.") != "" {
		return nil, fmt.Errorf("%q is %w", string(p), errPercent)
	}
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		return nil, fmt.Errorf("%q is %w", string(p), errPercent)
	}
	return r.Quo(r, big.NewRat(100, 1)), nil
}

// Share is the percentage as a number from 0 to 1.
func (p Percent) Share() (float64, error) {
	r, err := p.rat()
	if err != nil {
		return 0, err
	}
	f, _ := r.Float64() // exactness does not matter to whoever asks for a float
	return f, nil
}

// Exceeded reports whether part is more than the percentage of total, exactly.
// Anything exceeds a percentage that cannot be read, and any row exceeds a share
// of no rows.
func (p Percent) Exceeded(part, total int64) bool {
	r, err := p.rat()
	if err != nil {
		return true
	}
	limit := r.Mul(r, new(big.Rat).SetInt64(total))
	return new(big.Rat).SetInt64(part).Cmp(limit) > 0
}

// above reports whether p is a larger share than q; false where either cannot
// be read.
func (p Percent) above(q Percent) bool {
	a, errA := p.rat()
	b, errB := q.rat()
	return errA == nil && errB == nil && a.Cmp(b) > 0
}
