package conform

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// numberForm is how numbers are written.
type numberForm struct {
	decimal, grouping string
	// exponent allows 1e3, as JSON and typed sources write numbers.
	exponent bool
}

// digits is a number taken apart: sign, digits before and behind the decimal
// sign, exponent.
type digits struct {
	negative  bool
	whole     string // without grouping signs
	fraction  string
	exponent  int
	isDecimal bool // a decimal sign was written
}

// parse takes a number apart. Grouping signs stand in threes or the text is no
// number: where they stand otherwise, they are decimal signs of another country.
func (f numberForm) parse(s string) (d digits, ok bool) {
	if s == "" {
		return d, false
	}
	if s[0] == '-' || s[0] == '+' {
		d.negative, s = s[0] == '-', s[1:]
	}
	if f.exponent {
		if i := strings.IndexAny(s, "eE"); i >= 0 {
			e, err := strconv.Atoi(s[i+1:])
			if err != nil || e > 400 || e < -400 {
				return d, false
			}
			d.exponent, s = e, s[:i]
		}
	}
	if f.decimal != "" {
		var found bool
		s, d.fraction, found = strings.Cut(s, f.decimal)
		if found && !allDigits(d.fraction) {
			return d, false
		}
		d.isDecimal = found
	}
	d.whole, ok = f.ungroup(s)
	return d, ok
}

func (f numberForm) ungroup(s string) (string, bool) {
	if f.grouping == "" || !strings.Contains(s, f.grouping) {
		return s, allDigits(s)
	}
	groups := strings.Split(s, f.grouping)
	for i, g := range groups {
		if !allDigits(g) || i > 0 && len(g) != 3 || len(g) > 3 {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// plain shifts the digits by the exponent.
func (d digits) plain() digits {
	switch {
	case d.exponent > 0:
		f := d.fraction + strings.Repeat("0", max(0, d.exponent-len(d.fraction)))
		d.whole, d.fraction = d.whole+f[:d.exponent], f[d.exponent:]
	case d.exponent < 0:
		w := strings.Repeat("0", max(0, 1-d.exponent-len(d.whole))) + d.whole
		d.whole, d.fraction = w[:len(w)+d.exponent], w[len(w)+d.exponent:]+d.fraction
	}
	d.exponent = 0
	return d
}

// integer gives the value; code is not empty where it has none of the width.
func (f numberForm) integer(s string, bits int) (v int64, code string) {
	d, ok := f.parse(s)
	if !ok {
		return 0, "cast"
	}
	d = d.plain()
	if strings.Trim(d.fraction, "0") != "" {
		return 0, CodeScale
	}
	if d.isDecimal && !f.exponent {
		return 0, "cast" // 12.0 is no way to write an integer
	}
	text := d.whole
	if d.negative {
		text = "-" + text
	}
	v, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		return 0, CodeOutOfRange
	}
	return v, ""
}

// fixed gives a decimal of precision and scale, exactly.
func (f numberForm) fixed(s string, precision, scale int) (v decimal128.Num, code string) {
	d, ok := f.parse(s)
	if !ok {
		return v, "cast"
	}
	d = d.plain()
	frac := strings.TrimRight(d.fraction, "0")
	if len(frac) > scale {
		return v, CodeScale
	}
	all := strings.TrimLeft(d.whole+frac+strings.Repeat("0", scale-len(frac)), "0")
	if len(all) > precision {
		return v, CodeOutOfRange
	}
	if len(all) <= 18 {
		n := int64(0)
		for _, c := range []byte(all) {
			n = 10*n + int64(c-'0')
		}
		if d.negative {
			n = -n
		}
		return decimal128.FromI64(n), ""
	}
	b, _ := new(big.Int).SetString(all, 10)
	if d.negative {
		b.Neg(b)
	}
	return decimal128.FromBigInt(b), ""
}

// float gives the nearest value; what is larger than any is out of range.
func (f numberForm) float(s string, bits int) (v float64, code string) {
	g := f
	g.exponent = true
	d, ok := g.parse(s)
	if !ok {
		return 0, "cast"
	}
	text := d.whole + "." + d.fraction + "e" + strconv.Itoa(d.exponent)
	if d.negative {
		text = "-" + text
	}
	v, err := strconv.ParseFloat(text, bits)
	if err != nil {
		return 0, CodeOutOfRange
	}
	return v, ""
}
