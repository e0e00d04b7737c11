package pq

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// statRunes is the length, in code points, at which Delta's writers cut text.
const statRunes = 32

// setText cuts bounds of text to statRunes; the upper one is raised, and left
// out when that is impossible.
func (c *ColumnStats) setText(b *bounds) {
	if lo := cutRunes(b.b0); utf8.Valid(lo) {
		c.Min, c.HasMin = string(lo), true
	}
	hi := cutRunes(b.b1)
	if !utf8.Valid(hi) {
		return
	}
	if len(hi) < len(b.b1) {
		var ok bool
		if hi, ok = raiseText(hi); !ok {
			return
		}
	}
	c.Max, c.HasMax = string(hi), true
}

func cutRunes(v []byte) []byte {
	n := 0
	for range statRunes {
		if n == len(v) {
			break
		}
		_, size := utf8.DecodeRune(v[n:])
		n += size
	}
	return v[:n]
}

// JSON is the stats string of an add action for the leaves that indexed admits
// (nil: all). Timestamps have milliseconds: the lower bound is rounded down, the
// upper one up, so that it holds for readers that widen it by a millisecond, as
// the protocol wants, and for those that do not. Floats are written with the
// digits of a double, so that they read back exactly.
func (s FileStats) JSON(indexed func(path []string) bool) string {
	lows, highs, nulls := &tree{}, &tree{}, &tree{}
	for i := range s.Columns {
		c := &s.Columns[i]
		if indexed != nil && !indexed(c.Path) {
			continue
		}
		if c.HasMin {
			lows.put(c.Path, jsonBound(c.Type, c.Min, false))
		}
		if c.HasMax {
			highs.put(c.Path, jsonBound(c.Type, c.Max, true))
		}
		if c.HasNullCount {
			nulls.put(c.Path, strconv.FormatInt(c.NullCount, 10))
		}
	}
	out := append([]byte(`{"numRecords":`), strconv.FormatInt(s.NumRecords, 10)...)
	for _, part := range []struct {
		name string
		t    *tree
	}{{"minValues", lows}, {"maxValues", highs}, {"nullCount", nulls}} {
		if len(part.t.names) > 0 {
			out = append(out, `,"`+part.name+`":`...)
			out = part.t.append(out)
		}
	}
	return string(append(out, '}'))
}

// tree is a JSON object that keeps the order of its keys.
type tree struct {
	names []string
	subs  []*tree
	value string
}

// put sets a leaf; an empty value is left out.
func (t *tree) put(path []string, value string) {
	if value == "" {
		return
	}
	for _, name := range path {
		t = t.sub(name)
	}
	t.value = value
}

func (t *tree) sub(name string) *tree {
	for i, n := range t.names {
		if n == name {
			return t.subs[i]
		}
	}
	s := &tree{}
	t.names, t.subs = append(t.names, name), append(t.subs, s)
	return s
}

func (t *tree) append(dst []byte) []byte {
	if t.value != "" {
		return append(dst, t.value...)
	}
	sep := byte('{')
	for i, name := range t.names {
		dst = append(append(dst, sep), quote(name)...)
		dst = t.subs[i].append(append(dst, ':'))
		sep = ','
	}
	return append(dst, '}')
}

func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return string(bytes.TrimRight(b.Bytes(), "\n"))
}

// jsonBound formats a bound; empty when the type's form cannot hold it.
func jsonBound(t schema.Type, v any, upper bool) string {
	switch x := v.(type) {
	case int64:
		return jsonInteger(t, x, upper)
	case float64:
		if x == 0 { // either zero may occur
			if upper {
				return "0.0"
			}
			return "-0.0"
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	case decimal128.Num:
		return plainDecimal(x.BigInt(), t.(schema.Decimal).Scale)
	case string:
		return quote(x)
	}
	return ""
}

func jsonInteger(t schema.Type, x int64, upper bool) string {
	switch t {
	case schema.Date:
		return day(x)
	case schema.Timestamp:
		return instant(x, upper, "2006-01-02T15:04:05.000Z07:00")
	case schema.TimestampNTZ:
		return instant(x, upper, "2006-01-02T15:04:05.000")
	}
	return strconv.FormatInt(x, 10)
}

func day(days int64) string {
	return formatYears(time.Unix(days*86_400, 0).UTC(), `"2006-01-02"`)
}

func instant(micros int64, upper bool, layout string) string {
	millis := floorDiv(micros, 1000)
	if upper && millis*1000 != micros && millis < math.MaxInt64/1000 {
		millis++
	}
	return formatYears(time.UnixMilli(millis).UTC(), `"`+layout+`"`)
}

// formatYears formats times of four-digit years only: readers disagree on the
// form of others.
func formatYears(t time.Time, layout string) string {
	if y := t.Year(); y < 1 || y > 9999 {
		return ""
	}
	return t.Format(layout)
}

// plainDecimal writes an unscaled number without an exponent.
func plainDecimal(x *big.Int, scale int) string {
	if scale == 0 {
		return x.String()
	}
	sign := ""
	if x.Sign() < 0 {
		sign = "-"
	}
	digits := new(big.Int).Abs(x).String()
	for len(digits) <= scale {
		digits = "0" + digits
	}
	at := len(digits) - scale
	return sign + digits[:at] + "." + digits[at:]
}
