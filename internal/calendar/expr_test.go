package calendar_test

import (
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/internal/calendar"
)

// judge evaluates the predicate on one column of values (nil is null) and gives
// "due", "undated" or "kept" for each.
func judge(t *testing.T, c calendar.Cutoff, typ schema.Type, format string, z *time.Location, values ...any) []string {
	t.Helper()
	p, err := c.SQL("event date", typ, format)
	require.NoError(t, err)
	s := &schema.Struct{Fields: []schema.Field{{Name: "event date", Type: typ, Nullable: true}}}
	rec := record(t, s, values)
	defer rec.Release()
	ctx := expr.Context{Now: c.Instant, Zone: z}
	due, undated := truth(t, p.Due, s, ctx, rec), truth(t, p.Undated, s, ctx, rec)
	out := make([]string, len(values))
	for i := range values {
		switch {
		case due.IsTrue(i) && undated.IsTrue(i):
			out[i] = "both"
		case due.IsTrue(i):
			out[i] = "due"
		case undated.IsTrue(i):
			out[i] = "undated"
		default:
			out[i] = "kept"
		}
	}
	return out
}

func truth(t *testing.T, sql string, s *schema.Struct, ctx expr.Context, rec arrow.Record) *expr.Truth {
	t.Helper()
	e, err := expr.Parse(sql)
	require.NoError(t, err, sql)
	b, err := e.Bind(s, ctx)
	require.NoError(t, err, sql)
	v, err := b.Truth(rec)
	require.NoError(t, err, sql)
	return v
}

func record(t *testing.T, s *schema.Struct, values []any) arrow.Record {
	t.Helper()
	as, err := schema.ArrowSchema(s)
	require.NoError(t, err)
	b := array.NewRecordBuilder(memory.DefaultAllocator, as)
	defer b.Release()
	for _, v := range values {
		switch f := b.Field(0).(type) {
		case *array.StringBuilder:
			if v == nil {
				f.AppendNull()
				continue
			}
			f.Append(v.(string))
		case *array.Date32Builder:
			if v == nil {
				f.AppendNull()
				continue
			}
			f.Append(arrow.Date32FromTime(at(t, v.(string)+"T00:00:00Z")))
		case *array.TimestampBuilder:
			if v == nil {
				f.AppendNull()
				continue
			}
			f.Append(arrow.Timestamp(at(t, v.(string)).UnixMicro()))
		case *array.Int32Builder:
			if v == nil {
				f.AppendNull()
				continue
			}
			f.Append(int32(v.(int)))
		}
	}
	return b.NewRecord()
}

func TestSQL_string_dates_are_parsed_strictly_and_bad_ones_are_never_due(t *testing.T) {
	t.Parallel()
	c, err := calendar.Of(days(30), at(t, "2025-03-10T12:00:00Z"), time.UTC)
	require.NoError(t, err)
	require.Equal(t,
		[]string{"due", "undated", "undated", "undated", "undated", "kept", "kept", "undated", "undated"},
		judge(t, c, schema.String, "yyyy-MM-dd", time.UTC,
			"2025-01-05", "2025-1-6", "20250107", "n/a", "2025-02-30", "2025-03-09", "2025-02-08", "", nil))
	require.Equal(t,
		[]string{"due", "kept", "undated", "undated"},
		judge(t, c, schema.Integer, "yyyyMMdd", time.UTC, 20250207, 20250208, 20250230, nil))
}

func TestSQL_a_local_day_is_kept_although_it_is_over_in_UTC(t *testing.T) {
	t.Parallel()
	la := zone(t, "America/Los_Angeles")
	c, err := calendar.Of(days(1), at(t, "2025-03-10T03:00:00Z"), la)
	require.NoError(t, err)
	require.Equal(t, []string{"due", "kept", "kept", "undated"},
		judge(t, c, schema.Date, "", la, "2025-03-07", "2025-03-08", "2025-03-09", nil))
	// Midnight of 8 March in Los Angeles is 08:00 in UTC, whatever the session's zone.
	for _, session := range []*time.Location{la, time.UTC, zone(t, "Asia/Tokyo")} {
		require.Equal(t, []string{"due", "kept", "undated"},
			judge(t, c, schema.Timestamp, "", session, "2025-03-08T07:59:59.999999Z", "2025-03-08T08:00:00Z", nil))
	}
	// A timestamp without a zone is read as the clock on the wall.
	require.Equal(t, []string{"due", "kept", "undated"},
		judge(t, c, schema.TimestampNTZ, "", la, "2025-03-07T23:59:59.999999Z", "2025-03-08T00:00:00Z", nil))
}
