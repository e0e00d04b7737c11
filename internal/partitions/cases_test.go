package partitions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
	"github.com/lakewarden/lakewarden/internal/partitions"
)

const missing = "checks: [{metric: missing_partitions, must_be: 0}]\n"

func TestGaps_holidays_and_the_day_in_progress_are_none(t *testing.T) {
	t.Parallel()
	x := newTable(t)
	for d := 20; d <= 31; d++ {
		if d != 25 && d != 28 {
			x.load(fmt.Sprintf("2024-12-%d", d), 1)
		}
	}
	c := check(t, missing+`expected: {start: "2024-12-20", every: 1 day, deadline: "09:00", except: ["2024-12-25"]}`)
	v, d := validate(t, x.store, at(t, "2024-12-31T06:00:00Z"), c)
	require.Equal(t, []string{"2024-12-28"}, d.Missing)
	require.Equal(t, []string{"2024-12-25"}, with(v, partitions.Accepted))
	require.Equal(t, []string{"2024-12-31"}, with(v, partitions.InProgress))
	require.Equal(t, partitions.OutcomeFailed, d.Outcome)
	require.Equal(t, []string{"MISSING_PARTITION 2024-12-28"}, found(d))

	_, d = validate(t, x.store, at(t, "2025-01-01T08:59:00Z"), c) // the 31st is there
	require.Equal(t, []string{"2024-12-28"}, d.Missing)
	v, d = validate(t, x.store, at(t, "2025-01-02T08:59:00Z"), c) // the 1st is due at 09:00
	require.Equal(t, []string{"2024-12-28"}, d.Missing)
	require.Equal(t, []string{"2025-01-01"}, with(v, partitions.Pending))
	_, d = validate(t, x.store, at(t, "2025-01-02T09:00:00Z"), c)
	require.Equal(t, []string{"2024-12-28", "2025-01-01"}, d.Missing)
}

func TestThin_a_hole_and_a_half_written_day_are_told_apart(t *testing.T) {
	t.Parallel()
	x := newTable(t)
	for d := 1; d <= 10; d++ {
		switch d {
		case 5:
		case 7:
			x.load("2026-09-07", 160)
		default:
			x.load(fmt.Sprintf("2026-09-%02d", d), 1000)
		}
	}
	c := check(t, `checks:
  - {metric: missing_partitions, must_be: 0}
  - {metric: row_count_change, baseline: median 7, must_be_between: [-50%, 200%], severity: warn}
expected: {start: "2026-09-01", end: "2026-09-10"}`)
	_, d := validate(t, x.store, x.now, c)
	require.Equal(t, []string{"MISSING_PARTITION 2026-09-05", "THIN_PARTITION 2026-09-07"}, found(d))
	require.Equal(t, "-84%", d.Findings[1].Value)

	for _, edge := range []string{"2026-09-01", "2026-09-10"} { // both edges are judged
		y := newTable(t)
		for d := 1; d <= 10; d++ {
			day, n := fmt.Sprintf("2026-09-%02d", d), 1000
			if day == edge {
				n = 100
			}
			y.load(day, n)
		}
		_, d := validate(t, y.store, y.now, c)
		require.Equal(t, []string{"THIN_PARTITION " + edge}, found(d))
		require.Equal(t, partitions.OutcomeWarned, d.Outcome)
	}
}

func TestThin_a_day_that_is_still_written_is_not(t *testing.T) {
	t.Parallel()
	x := newTable(t)
	for _, day := range []string{"2026-09-08", "2026-09-09", "2026-09-10"} {
		x.load(day, 1000)
	}
	x.load("2026-09-11", 10) // due at 09:00 of the 12th
	x.load("2026-09-12", 1)
	c := check(t, `checks: [{metric: row_count_change, baseline: median 7, must_be_at_least: -50%}, {metric: row_count, must_be_greater_than: 50}]
expected: {last: 4 days, deadline: "09:00"}`)
	_, d := validate(t, x.store, at(t, "2026-09-12T08:00:00Z"), c)
	require.Empty(t, found(d))
	require.Equal(t, 2, d.Rules[0].Writing)
	_, d = validate(t, x.store, at(t, "2026-09-12T10:00:00Z"), c)
	require.Equal(t, []string{"THIN_PARTITION 2026-09-11", "ROW_COUNT 2026-09-11"}, found(d))
}

func TestPurged_what_a_recorded_purge_removed_is_no_gap(t *testing.T) {
	t.Parallel()
	x := newTable(t)
	for d := 5; d <= 10; d++ {
		x.load(fmt.Sprintf("2026-09-%02d", d), 10)
	}
	start := x.version()
	x.load("2026-09-04", 10)
	kept := x.version()
	for d := 1; d <= 3; d++ {
		x.load(fmt.Sprintf("2026-09-%02d", d), 10)
	}
	before := x.version()
	x.back(kept)
	after, rows := before+1, int64(30)
	purge := func(a *partitions.Ask) {
		a.Audit = []evidence.AuditRow{{RunID: "r-1", Status: evidence.StatusCompleted, VersionBefore: &before, VersionAfter: &after, RowsDeleted: &rows}}
	}
	c := check(t, missing+`expected: {start: "2026-09-01", end: "2026-09-10"}`)
	v, d := validate(t, x.store, x.now, c, purge)
	require.Empty(t, d.Missing)
	require.Equal(t, []string{"2026-09-01", "2026-09-02", "2026-09-03"}, with(v, partitions.Purged))
	require.Equal(t, []string{"r-1"}, v.Purges)
	require.Contains(t, v.Parts[0].Reason, "r-1")
	require.Equal(t, partitions.OutcomePassed, d.Outcome)
	_, d = validate(t, x.store, x.now, c)
	require.Len(t, d.Missing, 3, "without the audit they are gaps")

	// What somebody else removed later is a gap, purge or not.
	x.back(start)
	_, d = validate(t, x.store, x.now, c, purge)
	require.Equal(t, []string{"2026-09-04"}, d.Missing)
}

func TestSource_partitions_of_a_Delta_table_come_from_its_log(t *testing.T) {
	t.Parallel()
	x := newTable(t)
	x.load("2026-09-01", 10)
	kept := x.version()
	x.load("2026-09-02", 10)
	x.back(kept)
	v, d := validate(t, x.store, x.now, check(t, missing+`expected: {start: "2026-09-01", end: "2026-09-02"}`))
	require.Equal(t, []string{"2026-09-02"}, d.Missing, "its directory is still there")
	require.Equal(t, partitions.SourceDelta, v.Source)
}

func TestInvalid_names_are_listed_with_their_rows_and_never_taken_for_dates(t *testing.T) {
	t.Parallel()
	x := newTable(t)
	x.load("2026-09-01", 10)
	for i, dt := range []string{"null", "2026-02-30", "2026-9-1", "n/a", " 2026-09-01", "20260901"} {
		x.load(dt, i+1)
	}
	c := check(t, `checks: [{metric: invalid_partitions, must_be: 0}, {metric: missing_partitions, must_be: 0}]
partition: {columns: [dt], format: yyyy-MM-dd}
expected: {start: "2026-09-01", end: "2026-09-01"}`)
	_, d := validate(t, x.store, x.now, c)
	require.Len(t, d.Findings, 6)
	got := map[string]string{}
	for _, f := range d.Findings {
		require.Equal(t, partitions.CodeInvalid, f.Code)
		got[f.Partition] = f.Value
	}
	require.Equal(t, map[string]string{
		"dt=__HIVE_DEFAULT_PARTITION__": "1 rows", "dt=2026-02-30": "2 rows", "dt=2026-9-1": "3 rows", "dt=n/a": "4 rows", "dt= 2026-09-01": "5 rows", "dt=20260901": "6 rows",
	}, got)
}

func TestInvalid_directories_may_have_an_empty_name(t *testing.T) {
	t.Parallel()
	s := storage.NewMemory()
	rec := plainRecord(7)
	defer rec.Release()
	file := parquetFile(t, rec)
	for _, key := range []string{"dt=2026-09-01/a.parquet", "dt=/a.parquet", "dt=2026-9-2/a.parquet", "stray.parquet", "_SUCCESS", ".hidden/x", "dt=2026-09-01/_committed_1"} {
		require.NoError(t, s.Put(t.Context(), key, file))
	}
	v, d := validate(t, s, at(t, "2026-09-12T12:00:00Z"), check(t, `checks: [{metric: invalid_partitions, must_be: 0}, {metric: row_count, must_be_greater_than: 5}]
expected: {start: "2026-09-01", end: "2026-09-01"}`))
	require.Equal(t, partitions.SourceParquet, v.Source)
	require.ElementsMatch(t, []string{"INVALID_PARTITION dt=", "INVALID_PARTITION dt=2026-9-2", "INVALID_PARTITION dt=__HIVE_DEFAULT_PARTITION__"}, found(d))
	require.Equal(t, partitions.RulePassed, d.Rules[1].State, "%+v", d.Rules[1])
}

func TestFiles_each_damage_is_named_with_partition_and_kind_and_stops_nothing(t *testing.T) {
	t.Parallel()
	x := newTable(t)
	days := []string{"2026-09-01", "2026-09-02", "2026-09-03", "2026-09-04", "2026-09-05", "2026-09-06", "2026-09-07", "2026-09-08", "2026-09-09"}
	for _, d := range days {
		x.load(d, 500)
	}
	snap, err := x.delta.Snapshot(t.Context())
	require.NoError(t, err)
	path := map[string]string{}
	data := map[string][]byte{}
	for _, f := range snap.Files() {
		day := *f.PartitionValues["dt"]
		path[day] = f.Path
		if data[day], err = storage.ReadAll(t.Context(), x.store, f.Path, 0); err != nil {
			t.Fatal(err)
		}
	}
	put := func(day string, b []byte) { require.NoError(t, x.store.Put(t.Context(), path[day], b)) }
	flip := func(b []byte, at int) []byte {
		c := append([]byte{}, b...)
		c[at] ^= 0xff
		return c
	}
	d1 := data["2026-09-01"]
	put("2026-09-01", d1[:len(d1)-8])
	require.NoError(t, x.store.Delete(t.Context(), path["2026-09-02"]))
	put("2026-09-03", data["2026-09-09"]) // another size, perhaps; the same columns
	other := plainRecord(500)
	defer other.Release()
	put("2026-09-04", parquetFile(t, other.NewSlice(0, 500)))
	empty := plainRecord(0)
	defer empty.Release()
	put("2026-09-05", parquetFile(t, empty))
	put("2026-09-06", []byte("id;importe\n1;2\n and some more"))
	put("2026-09-07", flip(data["2026-09-07"], len(data["2026-09-07"])/3))
	put("2026-09-08", flip(data["2026-09-08"], 1))
	put("2026-09-03", append(append([]byte{}, data["2026-09-03"][:len(data["2026-09-03"])-8]...), data["2026-09-03"][len(data["2026-09-03"])-8:]...))

	c := check(t, `checks:
  - {metric: unreadable_files, must_be: 0}
  - {metric: schema_mismatches, must_be: 0}
  - {metric: row_count, per: file, must_be_greater_than: 0, severity: warn}
expected: {start: "2026-09-01", end: "2026-09-09"}`)
	_, d := validate(t, x.store, x.now, c)
	kinds := map[string][]string{}
	for _, f := range d.Findings {
		require.NotEmpty(t, f.Partition)
		require.NotEmpty(t, f.File)
		kinds[f.Partition] = append(kinds[f.Partition], f.Code)
	}
	require.Contains(t, kinds["2026-09-01"], "FILE_TRUNCATED")
	require.Equal(t, []string{"FILE_MISSING"}, kinds["2026-09-02"])
	require.Empty(t, kinds["2026-09-03"])
	require.Contains(t, kinds["2026-09-04"], "FILE_SIZE_DIFFERS")
	require.Contains(t, kinds["2026-09-05"], "FILE_ZERO_ROWS")
	require.Contains(t, kinds["2026-09-06"], "FILE_NOT_PARQUET")
	require.Contains(t, kinds["2026-09-07"], "FILE_PAGE")
	require.Contains(t, kinds["2026-09-08"], "FILE_HEADER")
	require.Empty(t, kinds["2026-09-09"])
	require.Equal(t, 9, d.Files)
}

func TestFiles_another_schema_is_named_in_tables_and_directories(t *testing.T) {
	t.Parallel()
	x := newTable(t)
	x.load("2026-09-01", 50)
	snap, err := x.delta.Snapshot(t.Context())
	require.NoError(t, err)
	y := newTable(t) // a table whose file has other columns
	_, err = deltaio.AddColumn(t.Context(), y.delta, deltaio.AddColumnOptions{Name: "nuevo", Type: schema.String})
	require.NoError(t, err)
	require.NoError(t, err)
	rec := plainRecord(5)
	defer rec.Release()
	require.NoError(t, x.store.Put(t.Context(), snap.Files()[0].Path, parquetFile(t, rec)))
	c := check(t, "checks: [{metric: schema_mismatches, must_be: 0}]\n")
	_, d := validate(t, x.store, x.now, c)
	require.NotContains(t, strings.Join(found(d), " "), "SCHEMA_MISMATCH", "fewer columns read as nulls")

	s := storage.NewMemory()
	for i := range 3 {
		require.NoError(t, s.Put(t.Context(), fmt.Sprintf("dt=2026-09-0%d/a.parquet", i+1), parquetFile(t, rec)))
	}
	wide := record(t, x.delta, "2026-09-04", 5)
	defer wide.Release()
	require.NoError(t, s.Put(t.Context(), "dt=2026-09-04/a.parquet", parquetFile(t, wide)))
	_, d = validate(t, s, x.now, c)
	require.Equal(t, []string{"SCHEMA_MISMATCH 2026-09-04"}, found(d))
	require.Contains(t, d.Findings[0].Message, "most files have id")
}

func TestOutside_without_a_zone_values_near_a_boundary_are_ambiguous(t *testing.T) {
	t.Parallel()
	x := newTable(t)
	hours := []string{"2026-08-31T22:30:00Z", "2026-09-01T00:00:00Z", "2026-09-01T21:59:00Z", "2026-09-01T22:00:00Z", "2026-09-03T10:00:00Z"}
	x.load("2026-09-01", len(hours), func(i int, r *row) { r.hora = hours[i] })
	rule := "checks: [{metric: values_outside_partition, column: hora, must_be: 0}]\n"
	_, d := validate(t, x.store, x.now, check(t, rule))
	require.Equal(t, []string{"AMBIGUOUS_ZONE 2026-09-01", "VALUES_OUTSIDE_PARTITION 2026-09-01"}, found(d))
	require.Equal(t, "1", d.Findings[0].Value) // 22:30 of the day before
	require.Equal(t, "1", d.Findings[1].Value)
	_, d = validate(t, x.store, x.now, check(t, rule+"partition: {timezone: Europe/Madrid}\n"))
	require.Equal(t, []string{"VALUES_OUTSIDE_PARTITION 2026-09-01"}, found(d))
	require.Equal(t, "2", d.Findings[0].Value, "22:00Z is midnight in Madrid; 22:30Z of the day before is inside")
	_, d = validate(t, x.store, x.now, check(t, rule+"partition: {timezone: UTC}\n"))
	require.Equal(t, "2", d.Findings[0].Value)
}
