package scan

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/lakewarden/lakewarden/deltaio/internal/scan/footer"
	"github.com/lakewarden/lakewarden/deltaio/internal/scan/page"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

const (
	microsPerDay = 86400 * 1000 * 1000
	// julianEpoch is the Julian day of 1970-01-01, the origin of INT96.
	julianEpoch = 2440588
)

// toTimestamp reads timestamps of any unit as microseconds. A column of local
// times is read as timestamp, as Spark does, since older writers left the
// marker out; a column of instants is not read as timestamp_ntz.
func toTimestamp(p schema.Primitive, n *footer.Node, old calendar) (convert, int, error) {
	refused := fmt.Errorf("%w: the file has %s, which is not read as %s", ErrUnsupported, describe(n), p)
	l := n.Logical
	switch {
	case n.Type == footer.Int96 && p == schema.Timestamp:
		return old.instants(fromInt96, old.int96), 8, nil
	case n.Type == footer.Int32 && l.Kind == footer.KindDate && p == schema.TimestampNTZ:
		return chain(old.dates(), 4, scaleDays), 8, nil
	case n.Type != footer.Int64 || l.Kind != footer.KindTimestamp:
		return nil, 0, refused
	case p == schema.TimestampNTZ && l.UTC:
		return nil, 0, refused
	}
	var c convert
	switch l.Unit {
	case footer.Millis:
		c = scaleMillis
	case footer.Micros:
	case footer.Nanos:
		c = floorNanos
	default:
		return nil, 0, refused
	}
	if p == schema.TimestampNTZ { // never rebased: no old writer had the type
		return c, 8, nil
	}
	return old.instants(c, old.datetime), 8, nil
}

// chain applies first, which gives values of the given width, then second.
func chain(first convert, width int, second convert) convert {
	if first == nil {
		return second
	}
	return func(src, dst *page.Vector) error {
		var mid page.Vector
		mid.Reset(width, src.Len(), 0)
		if err := first(src, &mid); err != nil {
			return err
		}
		return second(&mid, dst)
	}
}

func outOfRange(v int64, unit string) error {
	return fmt.Errorf("%w: a timestamp of %d %s is out of range", ErrCorrupt, v, unit)
}

func scaleMillis(src, dst *page.Vector) error {
	out := page.View[int64](grown(dst, src.Len()))
	for i, x := range page.View[int64](src.Data) {
		if x > math.MaxInt64/1000 || x < math.MinInt64/1000 {
			return outOfRange(x, "ms")
		}
		out[i] = x * 1000
	}
	return nil
}

func floorNanos(src, dst *page.Vector) error {
	out := page.View[int64](grown(dst, src.Len()))
	for i, x := range page.View[int64](src.Data) {
		out[i] = floorDiv(x, 1000)
	}
	return nil
}

func floorDiv(x, by int64) int64 {
	q := x / by
	if x%by < 0 {
		q--
	}
	return q
}

func scaleDays(src, dst *page.Vector) error {
	out := page.View[int64](grown(dst, src.Len()))
	for i, x := range page.View[int32](src.Data) {
		d := int64(x)
		if d > math.MaxInt64/microsPerDay || d < math.MinInt64/microsPerDay {
			return outOfRange(d, "days")
		}
		out[i] = d * microsPerDay
	}
	return nil
}

// fromInt96 reads nanoseconds of the day and a Julian day number.
func fromInt96(src, dst *page.Vector) error {
	n := src.Len()
	out := page.View[int64](grown(dst, n))
	for i := range n {
		b := src.Data[i*12:]
		micros := floorDiv(int64(binary.LittleEndian.Uint64(b)), 1000)
		days := int64(int32(binary.LittleEndian.Uint32(b[8:]))) - julianEpoch
		if days > math.MaxInt64/microsPerDay || days < math.MinInt64/microsPerDay {
			return outOfRange(days, "days")
		}
		t := days * microsPerDay
		if micros > 0 && t > math.MaxInt64-micros || micros < 0 && t < math.MinInt64-micros {
			return outOfRange(days, "days and a time of day")
		}
		out[i] = t + micros
	}
	return nil
}
