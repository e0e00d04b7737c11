package expr

import (
	"math"
	"sort"
	"sync"
	"time"
)

// zoneClock converts between instants and the wall clock of one zone, in
// seconds. It remembers the stretch of constant offset it saw last, since rows
// of a batch lie near each other; so it belongs to one goroutine.
type zoneClock struct {
	loc        *time.Location
	table      *zoneTable
	start, end int64 // the stretch [start, end) in instants
	off        int64 // wall clock = instant + off
}

// maxOffset bounds the offset of any zone (java.time allows 18 hours).
const maxOffset = 18 * 3600

func newZoneClock(loc *time.Location) *zoneClock {
	z := &zoneClock{loc: loc, start: 1}
	if loc == time.UTC {
		z.start, z.end = math.MinInt64, math.MaxInt64
	} else {
		z.table = tableOf(loc)
	}
	return z
}

// seek moves to the stretch that holds an instant.
func (z *zoneClock) seek(sec int64) {
	if sec >= z.start && sec < z.end {
		return
	}
	if t := z.table; sec >= tableFrom && sec < tableTo {
		i := sort.Search(len(t.ends)-1, func(i int) bool { return sec < t.ends[i] })
		z.start, z.end, z.off = t.starts[i], t.ends[i], t.offs[i]
		return
	}
	z.start, z.end, z.off = stretchAt(z.loc, sec)
}

// stretchAt asks the zone for the stretch of constant offset at an instant.
func stretchAt(loc *time.Location, sec int64) (start, end, off int64) {
	t := time.Unix(sec, 0).In(loc)
	_, o := t.Zone()
	start, end = math.MinInt64, math.MaxInt64
	from, to := t.ZoneBounds()
	if !from.IsZero() {
		start = from.Unix()
	}
	if !to.IsZero() {
		end = to.Unix()
	}
	// Beyond the last change that the database lists, ZoneBounds errs on the
	// last day of leap years: its end may lie before the instant asked about.
	if end <= sec {
		end = sec + 3600
	}
	return min(start, sec), end, int64(o)
}

// zoneTable holds the stretches from 1900 to 2100, since asking the zone is
// slow where rows jump between them.
type zoneTable struct{ starts, ends, offs []int64 }

const (
	tableFrom = -2_208_988_800 // 1900-01-01
	tableTo   = 4_102_444_800  // 2100-01-01
	maxTables = 1000           // zones that a program makes for itself are not kept
)

var (
	tablesMu sync.Mutex
	tables   = map[*time.Location]*zoneTable{}
)

func tableOf(loc *time.Location) *zoneTable {
	tablesMu.Lock()
	defer tablesMu.Unlock()
	t, ok := tables[loc]
	if ok {
		return t
	}
	t = &zoneTable{}
	for sec := int64(tableFrom); sec < tableTo; {
		start, end, off := stretchAt(loc, sec)
		if len(t.ends) > 0 {
			start = sec // the stretches leave no hole
		}
		t.starts, t.ends, t.offs = append(t.starts, start), append(t.ends, end), append(t.offs, off)
		sec = end
	}
	if len(tables) < maxTables {
		tables[loc] = t
	}
	return t
}

// wall gives the wall clock at an instant.
func (z *zoneClock) wall(sec int64) int64 {
	z.seek(sec)
	return sec + z.off
}

// instant gives the instant of a wall-clock time as ZonedDateTime.ofLocal does:
// a time that happens twice is the earlier, one that is skipped moves later by
// the gap.
func (z *zoneClock) instant(wall int64) int64 {
	u, _, _ := z.resolve(wall)
	return u
}

// startOfDay is the first instant of a date (LocalDate.atStartOfDay): where
// midnight is skipped, the moment of the change.
func (z *zoneClock) startOfDay(day int64) int64 {
	u, gap, change := z.resolve(day * 86_400)
	if gap {
		return change
	}
	return u
}

// keepOffset is instant, but stays with an offset that is still valid, as
// ZonedDateTime.plusDays does in the hour that happens twice.
func (z *zoneClock) keepOffset(wall, off int64) int64 {
	u := wall - off
	if z.seek(u); z.off == off {
		return u
	}
	return z.instant(wall)
}

// resolve walks the stretches that may hold the wall-clock time, earliest
// first. In a gap it gives the offset before the change, and the change.
func (z *zoneClock) resolve(wall int64) (sec int64, gap bool, change int64) {
	if z.start <= wall-maxOffset && wall+maxOffset < z.end {
		return wall - z.off, false, 0
	}
	z.seek(wall - maxOffset)
	before := z.off
	for {
		u := wall - z.off
		if u < z.start {
			return wall - before, true, z.start
		}
		if u < z.end {
			return u, false, 0
		}
		before = z.off
		z.seek(z.end)
	}
}

// wallMicros and instantMicros do the same in microseconds.
func (z *zoneClock) wallMicros(us int64) int64 {
	sec := floorDiv(us, microsPerSecond)
	return us + (z.wall(sec)-sec)*microsPerSecond
}

func (z *zoneClock) instantMicros(wall int64) int64 {
	sec := floorDiv(wall, microsPerSecond)
	return wall + (z.instant(sec)-sec)*microsPerSecond
}

// addMonths and addDays move an instant along the zone's calendar.
func (z *zoneClock) addMonths(us, months int64) int64 {
	return z.moveDays(us, func(day int64) int64 { return addMonths(day, months) })
}

func (z *zoneClock) addDays(us, days int64) int64 {
	return z.moveDays(us, func(day int64) int64 { return day + days })
}

func (z *zoneClock) moveDays(us int64, move func(int64) int64) int64 {
	sec := floorDiv(us, microsPerSecond)
	wall := z.wall(sec)
	off := z.off
	day := floorDiv(wall, 86_400)
	moved := wall + (move(day)-day)*86_400
	return us + (z.keepOffset(moved, off)-sec)*microsPerSecond
}
