package expr

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCivil_is_the_inverse_of_day_count_over_many_eras(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		day := rapid.Int64Range(-3_000_000, 5_000_000).Draw(r, "day")
		y, m, d := civil(day)
		require.Equal(r, day, dayCount(y, m, d))
		ref := time.Unix(day*86400, 0).UTC()
		require.Equal(r, [3]int{ref.Year(), int(ref.Month()), ref.Day()}, [3]int{int(y), m, d})
		require.Equal(r, ref.YearDay(), int(dayOfYear(day)))
		require.Equal(r, int(ref.Weekday())+1, int(dayOfWeek(day)))
		_, ok := validDay(y, m, daysInMonth(y, m)+1)
		require.False(r, ok)
		require.Equal(r, lastDay(day), dayCount(y, m, daysInMonth(y, m)))
		months := rapid.Int64Range(-5000, 5000).Draw(r, "months")
		y2, m2, d2 := civil(addMonths(day, months))
		require.Equal(r, y*12+int64(m)+months, y2*12+int64(m2))
		require.Equal(r, min(d, daysInMonth(y2, m2)), d2)
	})
}

// The wall clock of an instant leads back to it, except in the hour that
// happens twice; and it agrees with the time package.
func TestZoneClock_wall_and_instant_agree_with_the_zone(t *testing.T) {
	t.Parallel()
	names := []string{"UTC", "America/Los_Angeles", "Europe/Lisbon", "Pacific/Apia", "Asia/Kolkata", "America/Sao_Paulo", "Africa/Casablanca", "America/St_Johns", "Asia/Manila"}
	clocks := map[string]*zoneClock{}
	for _, n := range names {
		loc, err := time.LoadLocation(n)
		require.NoError(t, err)
		clocks[n] = newZoneClock(loc)
	}
	rapid.Check(t, func(r *rapid.T) {
		z := clocks[rapid.SampledFrom(names).Draw(r, "zone")]
		sec := rapid.Int64Range(-6_000_000_000, 8_000_000_000).Draw(r, "sec")
		_, off := time.Unix(sec, 0).In(z.loc).Zone()
		wall := z.wall(sec)
		require.Equal(r, sec+int64(off), wall)
		back := z.instant(wall)
		require.LessOrEqual(r, back, sec)
		if back != sec { // the earlier of two instants with this wall clock
			require.Equal(r, wall, z.wall(back))
		}
		z.seek(sec)
		require.Equal(r, sec, z.keepOffset(wall, int64(off)))
		day := floorDiv(wall, 86_400)
		start := z.startOfDay(day)
		require.LessOrEqual(r, start, sec)
		require.GreaterOrEqual(r, z.wall(start), day*86_400)
		if start > -6_000_000_000 {
			require.Less(r, z.wall(start-1), day*86_400+86_400)
		}
	})
}

func TestZoneClock_skipped_and_repeated_times_resolve_as_in_java(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, wall, want string }{
		{"America/Los_Angeles", "2024-03-10 02:30:00", "2024-03-10 10:30:00"}, // skipped: moves later
		{"America/Los_Angeles", "2024-11-03 01:30:00", "2024-11-03 08:30:00"}, // twice: the earlier
		{"America/Los_Angeles", "2041-03-10 02:30:00", "2041-03-10 10:30:00"}, // by the rule beyond the listed changes
		{"Pacific/Apia", "2011-12-30 12:00:00", "2011-12-30 22:00:00"},        // a day that never was
		{"America/Sao_Paulo", "2018-11-04 00:00:00", "2018-11-04 03:00:00"},   // midnight is skipped
		{"Europe/Lisbon", "1800-01-01 00:00:00", "1800-01-01 00:36:45"},       // local mean time
	} {
		loc, err := time.LoadLocation(c.zone)
		require.NoError(t, err)
		wall, ok := parseTimestamp(c.wall)
		require.True(t, ok)
		got, ok := newZoneClock(loc).resolveTime(wall)
		require.True(t, ok)
		require.Equal(t, c.want, formatWall(got), "%s %s", c.zone, c.wall)
	}
}
