package partitions

import (
	"time"

	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/spec"
)

// place is where a value lies, seen from its partition.
type place int

const (
	inside place = iota
	outside
	ambiguous // outside, unless the writer's zone is another than was assumed
)

// zoneDoubt is the largest offset of a time zone.
const zoneDoubt = 14 * time.Hour

// window is a partition's period, as instants and on the wall.
type window struct {
	start, end         time.Time // instants
	wallFrom, wallTo   time.Time // what clocks show, in UTC
	firstDay, afterDay time.Time // whole days that the period touches
	known              bool      // the writer's zone
}

func windowOf(p *Part, unit spec.Unit, zoneName string) window {
	w := window{start: *p.Start, end: *p.End, known: zoneName != ""}
	w.wallFrom, _ = p.Key.Wall(unit) // the key was made from a wall time
	switch unit {
	case spec.Hour:
		w.wallTo = w.wallFrom.Add(time.Hour)
	case spec.Week:
		w.wallTo = w.wallFrom.AddDate(0, 0, 7)
	case spec.Month:
		w.wallTo = w.wallFrom.AddDate(0, 1, 0)
	default:
		w.wallTo = w.wallFrom.AddDate(0, 0, 1)
	}
	w.firstDay = w.wallFrom.Truncate(24 * time.Hour)
	w.afterDay = w.wallTo.Add(24*time.Hour - 1).Truncate(24 * time.Hour)
	return w
}

// day places a date.
func (w window) day(d time.Time) place {
	if d.Before(w.firstDay) || !d.Before(w.afterDay) {
		return outside
	}
	return inside
}

// at places a timestamp of a type: an instant, or, without a zone, what a clock
// showed.
func (w window) at(t schema.Type, v time.Time) place {
	from, to := w.start, w.end
	if t == schema.TimestampNTZ {
		from, to = w.wallFrom, w.wallTo
	}
	if !v.Before(from) && v.Before(to) {
		return inside
	}
	if t != schema.TimestampNTZ && !w.known && !v.Before(from.Add(-zoneDoubt)) && v.Before(to.Add(zoneDoubt)) {
		return ambiguous
	}
	return outside
}

// wall places a time that was read from text.
func (w window) wall(v time.Time) place {
	if v.Before(w.wallFrom) || !v.Before(w.wallTo) {
		return outside
	}
	return inside
}
