package expr

import (
	"strconv"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// trunc, date_trunc and date_format, as the generation expressions of partition
// columns use them.

// dayTruncators move a day count to the first day of its period.
var dayTruncators = map[string]func(int64) int64{
	"WEEK": func(d int64) int64 { return d - floorMod(d+3, 7) }, // Monday
	"MONTH": func(d int64) int64 {
		y, m, _ := civil(d)
		return dayCount(y, m, 1)
	},
	"QUARTER": func(d int64) int64 {
		y, m, _ := civil(d)
		return dayCount(y, (m-1)/3*3+1, 1)
	},
	"YEAR": func(d int64) int64 {
		y, _, _ := civil(d)
		return dayCount(y, 1, 1)
	},
}

// truncUnits are other names of the periods.
var truncUnits = map[string]string{"MON": "MONTH", "MM": "MONTH", "YYYY": "YEAR", "YY": "YEAR", "DD": "DAY"}

// truncUnit reads the constant name of a period; one that is not known gives
// NULL, as in Spark.
func truncUnit(n *node, arg int, t *term) (string, error) {
	if t.kind != termConst || t.typ != schema.String && t.typ != schema.Void {
		return "", n.args[arg].bindError("%s wants a constant period such as 'month'", n.name)
	}
	if t.val.allNull() {
		return "", nil
	}
	unit := strings.ToUpper(t.val.str(0))
	if full, ok := truncUnits[unit]; ok {
		return full, nil
	}
	return strings.Clone(unit), nil
}

func bindTrunc(b *binder, n *node, args []*term) (*term, error) {
	x, err := b.arg(n, args, 0, schema.Date)
	if err != nil {
		return nil, err
	}
	unit, err := truncUnit(n, 1, args[1])
	if err != nil {
		return nil, err
	}
	f, ok := dayTruncators[unit]
	if !ok {
		return constant(nullVec(schema.Date), n), nil
	}
	return datePart(schema.Date, f, true)(b, n, []*term{x})
}

// bindDateTrunc truncates the wall clock: days and longer begin at the start of
// the day, shorter units keep the offset.
func bindDateTrunc(b *binder, n *node, args []*term) (*term, error) {
	x, err := b.arg(n, args, 1, schema.Timestamp)
	if err != nil {
		return nil, err
	}
	unit, err := truncUnit(n, 0, args[0])
	if err != nil {
		return nil, err
	}
	days := dayTruncators[unit]
	if unit == "DAY" {
		days = func(d int64) int64 { return d }
	}
	size := map[string]int64{"HOUR": 3600 * microsPerSecond, "MINUTE": 60 * microsPerSecond, "SECOND": microsPerSecond,
		"MILLISECOND": 1000, "MICROSECOND": 1}[unit]
	if days == nil && size == 0 {
		return constant(nullVec(schema.Timestamp), n), nil
	}
	return b.mapTimes(n, x, func(zone *zoneClock, us int64) int64 {
		wall := zone.wallMicros(us)
		if days != nil {
			return zone.startOfDay(days(floorDiv(wall, microsPerDay))) * microsPerSecond
		}
		return us - floorMod(wall, size)
	})
}

// mapTimes is a function of timestamps that knows the session zone.
func (b *binder) mapTimes(n *node, x *term, f func(*zoneClock, int64) int64) (*term, error) {
	loc := b.ctx.zone()
	return b.fold(strictCall(schema.Timestamp, func(rows int, args []*vec) (*vec, error) {
		x, zone := args[0], newZoneClock(loc)
		out := newVec(schema.Timestamp, rows)
		out.null = x.spreadNull(rows)
		for i := range out.i64 {
			if us := x.i64[i&x.at()]; us > -maxWall && us < maxWall {
				out.i64[i] = f(zone, us)
			}
		}
		return out, nil
	}, n, x))
}

func bindDateFormat(b *binder, n *node, args []*term) (*term, error) {
	x, err := b.arg(n, args, 0, schema.Timestamp)
	if err != nil {
		return nil, err
	}
	pattern := args[1]
	if pattern.kind != termConst || pattern.typ != schema.String && pattern.typ != schema.Void {
		return nil, n.args[1].bindError("%s wants a constant pattern such as 'yyyy-MM'", n.name)
	}
	if pattern.val.allNull() {
		return constant(nullVec(schema.String), n), nil
	}
	p, err := compileDatePattern(pattern.val.str(0))
	if err != nil {
		return nil, n.args[1].bindError("%s", err)
	}
	loc := b.ctx.zone()
	return b.fold(strictCall(schema.String, func(rows int, args []*vec) (*vec, error) {
		x, zone := args[0], newZoneClock(loc)
		out := newVec(schema.String, rows)
		out.null = x.spreadNull(rows)
		for i := range rows {
			if !out.isNull(i) {
				us := x.i64[i&x.at()]
				wall := zone.wallMicros(us)
				out.data = formatItems(out.data, p.items, wall, (wall-us)/microsPerSecond)
			}
			out.endString()
		}
		return out, nil
	}, n, x))
}

// formatItems writes a wall-clock time by a pattern.
func formatItems(b []byte, items []patternItem, wall, offset int64) []byte {
	for i := range items {
		it := &items[i]
		switch {
		case it.section != nil:
			b = formatItems(b, it.section, wall, offset)
		case it.field == 0:
			b = append(b, it.text...)
		default:
			b = it.format(b, wall, offset)
		}
	}
	return b
}

func (it *patternItem) format(b []byte, wall, offset int64) []byte {
	day := floorDiv(wall, microsPerDay)
	us := wall - day*microsPerDay
	y, m, d := civil(day)
	hour := us / (3600 * microsPerSecond)
	pad := func(v int64) []byte { return appendPadded(b, v, it.min) }
	switch it.field {
	case 'y':
		if it.padded && y >= pow10Big[it.min].Int64() {
			b = append(b, '+')
		}
		return appendPadded(b, y, it.min)
	case 'Y':
		return appendPadded(b, max(y, -y)%100, 2)
	case 'M':
		if it.min == 3 {
			return append(b, monthNames[m-1][:3]...)
		}
		if it.min == 4 {
			return append(b, monthNames[m-1]...)
		}
		return pad(int64(m))
	case 'd':
		return pad(int64(d))
	case 'D':
		return pad(dayOfYear(day))
	case 'H':
		return pad(hour)
	case 'k':
		return pad((hour+23)%24 + 1)
	case 'K':
		return pad(hour % 12)
	case 'h':
		return pad((hour+11)%12 + 1)
	case 'm':
		return pad(us / (60 * microsPerSecond) % 60)
	case 's':
		return pad(us / microsPerSecond % 60)
	case 'S':
		digits := appendPadded(nil, us%microsPerSecond, 6)
		return append(b, (string(digits) + "000")[:it.max]...)
	case 'a':
		return append(b, []string{"AM", "PM"}[hour/12]...)
	}
	return it.formatOffset(b, offset)
}

// formatOffset writes X, x and Z in their widths.
func (it *patternItem) formatOffset(b []byte, offset int64) []byte {
	width := it.min
	if it.field == 'Z' && width < 4 {
		width = 2
	}
	if offset == 0 && (it.field == 'X' || it.field == 'Z' && width == 5) {
		return append(b, 'Z')
	}
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	b = appendPadded(append(b, sign), offset/3600, 2)
	minute, second := offset/60%60, offset%60
	colon := width == 3 || width == 5
	for i, v := range []int64{minute, second} {
		if i == 0 && width == 1 && minute == 0 || i == 1 && (width < 4 || second == 0) {
			break
		}
		if colon {
			b = append(b, ':')
		}
		b = appendPadded(b, v, 2)
	}
	return b
}

func appendPadded(b []byte, v int64, width int) []byte {
	if v < 0 {
		b, v = append(b, '-'), -v
	}
	s := strconv.FormatInt(v, 10)
	for i := len(s); i < width; i++ {
		b = append(b, '0')
	}
	return append(b, s...)
}
