package log

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The text forms of typed values, in statistics and in partition values.

func appendInt(b []byte, v int64) []byte { return strconv.AppendInt(b, v, 10) }

func appendBool(b []byte, v bool) []byte { return strconv.AppendBool(b, v) }

// appendDate writes days since the epoch as YYYY-MM-DD.
func appendDate(b []byte, days int64) []byte {
	return appendDay(b, time.Unix(days*86400, 0).UTC())
}

func appendDay(b []byte, t time.Time) []byte {
	y := t.Year()
	switch {
	case y > 9999:
		b = append(b, '+')
	case y < 0:
		b, y = append(b, '-'), -y
	}
	return fmt.Appendf(b, "%04d-%02d-%02d", y, t.Month(), t.Day())
}

// appendTimestamp writes microseconds as statistics do: three decimals, all six
// where they matter, and Z for an instant.
func appendTimestamp(b []byte, micros int64, separator byte, utc bool) []byte {
	t := time.UnixMicro(micros).UTC()
	b = appendClock(append(appendDay(b, t), separator), t)
	if us := t.Nanosecond() / 1000; us%1000 == 0 {
		b = fmt.Appendf(b, ".%03d", us/1000)
	} else {
		b = fmt.Appendf(b, ".%06d", us)
	}
	if utc {
		b = append(b, 'Z')
	}
	return b
}

// appendPartitionTime writes microseconds as partition values do: no decimals
// or all six.
func appendPartitionTime(b []byte, micros int64, separator byte, utc bool) []byte {
	t := time.UnixMicro(micros).UTC()
	b = appendClock(append(appendDay(b, t), separator), t)
	if us := t.Nanosecond() / 1000; us != 0 || utc {
		b = fmt.Appendf(b, ".%06d", us)
	}
	if utc {
		b = append(b, 'Z')
	}
	return b
}

func appendClock(b []byte, t time.Time) []byte {
	return fmt.Appendf(b, "%02d:%02d:%02d", t.Hour(), t.Minute(), t.Second())
}

// appendJSONFloat writes a number; what JSON has no number for becomes the word
// that Spark writes.
func appendJSONFloat(b []byte, v float64, bits int) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(appendFloat(append(b, '"'), v, bits), '"')
	}
	return appendFloat(b, v, bits)
}

// appendFloat writes the shortest text that reads back as the same number, in
// Java's form: 1.0, 1.0E10, NaN, Infinity.
func appendFloat(b []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, "NaN"...)
	case math.IsInf(v, 1):
		return append(b, "Infinity"...)
	case math.IsInf(v, -1):
		return append(b, "-Infinity"...)
	}
	abs := math.Abs(v)
	if abs != 0 && (abs < 1e-3 || abs >= 1e7) {
		mantissa, exp, _ := strings.Cut(strconv.FormatFloat(v, 'E', -1, bits), "E")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		n, _ := strconv.Atoi(exp) //nolint:errcheck // FormatFloat wrote it
		return fmt.Appendf(b, "%sE%d", mantissa, n)
	}
	start := len(b)
	b = strconv.AppendFloat(b, v, 'f', -1, bits)
	if !strings.Contains(string(b[start:]), ".") {
		b = append(b, ".0"...)
	}
	return b
}
