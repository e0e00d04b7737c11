package scan

import (
	"fmt"
	"strings"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/page"
)

// Keys of the footer by which Spark tells in which calendar it wrote.
const (
	keySparkVersion   = "org.apache.spark.version"
	keyLegacyDateTime = "org.apache.spark.legacyDateTime"
	keyLegacyInt96    = "org.apache.spark.legacyINT96"
	keyTimeZone       = "org.apache.spark.timeZone"
)

const (
	// gregorianStart is 1582-10-15 in days since 1970: before it, old Spark
	// wrote Julian dates.
	gregorianStart = -141427
	// zonesStart is 1900-01-01T00:00Z in microseconds: before it, old Spark
	// wrote wall-clock times of a zone without its local mean time.
	zonesStart = -2208988800 * 1000 * 1000
)

// calendar says which values of a file are in the hybrid Julian calendar of
// Spark before 3.0 (or its legacy mode). The zero value is a modern file.
type calendar struct {
	datetime, int96 bool
	zone            string
}

func calendarOf(kv map[string]string) calendar {
	version, ok := kv[keySparkVersion]
	if !ok {
		return calendar{}
	}
	_, dt := kv[keyLegacyDateTime]
	_, i96 := kv[keyLegacyInt96]
	return calendar{
		datetime: dt || version < "3.0.0",
		int96:    i96 || version < "3.1.0",
		zone:     kv[keyTimeZone],
	}
}

// dates gives the conversion of date columns; nil when there is none.
func (c calendar) dates() convert {
	if !c.datetime {
		return nil
	}
	return func(src, dst *page.Vector) error {
		out := page.View[int32](grown(dst, src.Len()))
		for i, x := range page.View[int32](src.Data) {
			out[i] = int32(julianToGregorian(int64(x)))
		}
		return nil
	}
}

// instants wraps the conversion of timestamp columns where they are legacy.
func (c calendar) instants(inner convert, legacy bool) convert {
	if !legacy {
		return inner
	}
	rebase := func(src, dst *page.Vector) error {
		out := page.View[int64](grown(dst, src.Len()))
		for i, x := range page.View[int64](src.Data) {
			if x < zonesStart {
				if !isUTC(c.zone) {
					return fmt.Errorf("%w: a timestamp before 1900 in the legacy calendar of zone %q", ErrUnsupported, c.zone)
				}
				day := floorDiv(x, microsPerDay)
				x += (julianToGregorian(day) - day) * microsPerDay
			}
			out[i] = x
		}
		return nil
	}
	return chain(inner, 8, rebase)
}

func isUTC(zone string) bool {
	switch strings.ToUpper(zone) {
	case "UTC", "Z", "ETC/UTC", "GMT", "+00:00", "UTC+00:00":
		return true
	}
	return false
}

// julianToGregorian keeps year, month and day of a date before 1582-10-15 that
// was counted in the Julian calendar, and counts it in the Gregorian one.
func julianToGregorian(days int64) int64 {
	if days >= gregorianStart {
		return days
	}
	// Year, month and day of the Julian day number, by Richards' algorithm; the
	// shift by whole cycles of 4 years keeps every term positive.
	const cycle, cycles = 1461, 5_000_000
	j := days + julianEpoch + cycle*cycles
	f := j + 1401
	e := 4*f + 3
	h := 5*(e%cycle/4) + 2
	day := h%153/5 + 1
	month := (h/153+2)%12 + 1
	year := e/cycle - 4716 + (12+2-month)/12 - 4*cycles
	return daysFromCivil(year, month, day)
}

// daysFromCivil counts a proleptic Gregorian date in days since 1970-01-01.
func daysFromCivil(y, m, d int64) int64 {
	if m <= 2 {
		y--
	}
	era := floorDiv(y, 400)
	yoe := y - era*400
	mp := (m + 9) % 12
	doy := (153*mp+2)/5 + d - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 719468
}
