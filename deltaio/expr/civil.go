package expr

import "math"

// Civil dates are proleptic Gregorian, as java.time.LocalDate that Spark 3
// computes with.

// civil gives year, month (1 to 12) and day of a day count since 1970-01-01.
// The calendar repeats every 400 years (146,097 days) from 0000-03-01.
func civil(days int64) (y int64, m, d int) {
	z := days + 719_468
	era := floorDiv(z, 146_097)
	doe := z - era*146_097
	yoe := (doe - doe/1460 + doe/36_524 - doe/146_096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d = int(doy - (153*mp+2)/5 + 1)
	m = int(mp + 3)
	y = yoe + era*400
	if m > 12 {
		m, y = m-12, y+1
	}
	return y, m, d
}

// dayCount is the inverse of civil; it does not check the date.
func dayCount(y int64, m, d int) int64 {
	if m <= 2 {
		y--
		m += 12
	}
	era := floorDiv(y, 400)
	yoe := y - era*400
	doy := int64((153*(m-3)+2)/5 + d - 1)
	return era*146_097 + yoe*365 + yoe/4 - yoe/100 + doy - 719_468
}

func daysInMonth(y int64, m int) int {
	switch m {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// validDay gives the day count of a date, if it is one.
func validDay(y int64, m, d int) (int32, bool) {
	if m < 1 || m > 12 || d < 1 || d > daysInMonth(y, m) {
		return 0, false
	}
	n := dayCount(y, m, d)
	return int32(n), n >= math.MinInt32 && n <= math.MaxInt32
}

// addMonths moves a date by months and clamps the day to the month's last
// (LocalDate.plusMonths; the last day of a month is not kept as such).
func addMonths(days int64, months int64) int64 {
	y, m, d := civil(days)
	total := y*12 + int64(m-1) + months
	y, m = floorDiv(total, 12), int(floorMod(total, 12))+1
	return dayCount(y, m, min(d, daysInMonth(y, m)))
}

func lastDay(days int64) int64 {
	y, m, _ := civil(days)
	return dayCount(y, m, daysInMonth(y, m))
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }

// mulOK multiplies and says whether it fits.
func mulOK(a, b int64) (int64, bool) {
	p := a * b
	if a != 0 && (p/a != b || a == -1 && b == math.MinInt64) {
		return 0, false
	}
	return p, true
}

func addOK(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}
