package evidence_test

import (
	"math"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/deltaio/schema"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

func TestAuditSchema_has_the_columns_of_the_contract_in_order(t *testing.T) {
	t.Parallel()
	var names []string
	for _, f := range evidence.AuditSchema().Fields {
		require.True(t, f.Nullable)
		names = append(names, f.Name)
	}
	require.Equal(t, []string{
		"run_id", "target_table", "criteria", "exec_time", "rows_marked", "rows_deleted", "status",
		"executed_by", "approved_by", "approval_identity", "policy", "legal_basis", "rows_archived", "rows_held",
		"rows_undated", "rows_released", "bytes_before", "bytes_reclaimed", "version_before", "version_after",
		"archive_table", "vacuum_files_deleted", "vacuum_pending", "erasure_due", "error", "workflow_id",
		"workflow_run_id", "plan_digest", "prev_hash", "row_hash", "reason", "restore_id", "certificate_digest",
	}, names)
}

func anyRow(t *rapid.T) evidence.AuditRow {
	text := rapid.OneOf(rapid.Just(""), rapid.String(), rapid.Just("é\x00\xff|`'\n"))
	number := rapid.Ptr(rapid.Int64(), true)
	moment := rapid.Map(rapid.Int64Range(-62_000_000_000, 250_000_000_000), func(s int64) time.Time { return time.Unix(s, 123_456_789) })
	return evidence.AuditRow{
		RunID: text.Draw(t, "run"), Criteria: text.Draw(t, "criteria"), Status: evidence.StatusFailed, ExecTime: moment.Draw(t, "time"),
		RowsMarked: number.Draw(t, "marked"), VacuumPending: number.Draw(t, "pending"),
		ErasureDue: rapid.Ptr(moment, true).Draw(t, "due"), Error: text.Draw(t, "error"),
		Reason: text.Draw(t, "reason"),
	}
}

func TestAuditRecord_rows_come_back_with_the_same_hashes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var rows []evidence.AuditRow
		for range rapid.IntRange(0, 5).Draw(t, "n") {
			rows = append(rows, anyRow(t).Seal(evidence.Tip(rows)))
		}
		rec, err := evidence.AuditRecord(evidence.AuditSchema(), rows)
		require.NoError(t, err)
		defer rec.Release()
		back, err := evidence.AuditRows(rec)
		require.NoError(t, err)
		require.Len(t, back, len(rows))
		report := evidence.Verify(back, evidence.Tip(rows))
		require.True(t, report.OK(), "%v", report.Findings)
	})
}

// tutorial is the shape of tables that are adopted.
func tutorial(change func(fields []schema.Field) []schema.Field) *schema.Struct {
	fields := []schema.Field{
		{Name: "run_id", Type: schema.String, Nullable: true},
		{Name: "target_table", Type: schema.String, Nullable: true},
		{Name: "criteria", Type: schema.String, Nullable: true},
		{Name: "exec_time", Type: schema.Timestamp, Nullable: true},
		{Name: "rows_marked", Type: schema.Integer, Nullable: true},
		{Name: "rows_deleted", Type: schema.Long, Nullable: true},
		{Name: "status", Type: schema.String, Nullable: true},
	}
	if change != nil {
		fields = change(fields)
	}
	return &schema.Struct{Fields: fields}
}

func TestCheckAuditTable_a_table_of_the_tutorial_is_adopted(t *testing.T) {
	t.Parallel()
	existing := tutorial(func(f []schema.Field) []schema.Field {
		f[0].Nullable = false
		return append(f, schema.Field{Name: "Comment", Type: schema.Double, Nullable: true})
	})
	missing, err := evidence.CheckAuditTable(existing)
	require.NoError(t, err)
	require.Len(t, missing, 26)
	require.Equal(t, "executed_by", missing[0].Name)
	require.Equal(t, "row_hash", missing[22].Name)

	target := &schema.Struct{Fields: append(existing.Fields, missing...)}
	rows := chain(nil, 3)
	rec, err := evidence.AuditRecord(target, rows)
	require.NoError(t, err)
	defer rec.Release()
	require.Equal(t, 3, rec.Column(7).(*array.Float64).NullN(), "columns of its own are null")
	back, err := evidence.AuditRows(rec)
	require.NoError(t, err)
	require.True(t, evidence.Verify(back, rows[2].RowHash).OK())

	whole, err := evidence.CheckAuditTable(evidence.AuditSchema())
	require.NoError(t, err)
	require.Empty(t, whole)
}

func TestCheckAuditTable_another_table_is_refused_with_every_reason(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func([]schema.Field) []schema.Field{
		"column criteria is missing":      func(f []schema.Field) []schema.Field { return append(f[:2:2], f[3:]...) },
		"column exec_time is string":      func(f []schema.Field) []schema.Field { f[3].Type = schema.String; return f },
		"column rows_marked is double":    func(f []schema.Field) []schema.Field { f[4].Type = schema.Double; return f },
		"column rows_deleted is NOT NULL": func(f []schema.Field) []schema.Field { f[5].Nullable = false; return f },
		"column extra is NOT NULL and not": func(f []schema.Field) []schema.Field {
			return append(f, schema.Field{Name: "extra", Type: schema.Date})
		},
		"run_id is long, want string; column": func(f []schema.Field) []schema.Field { f[0].Type, f[6].Type = schema.Long, schema.Long; return f },
	} {
		_, err := evidence.CheckAuditTable(tutorial(change))
		require.ErrorContains(t, err, want)
		require.ErrorIs(t, err, evidence.ErrAuditTable, "no retry mends it")
	}
}

func TestAuditRecord_a_count_that_does_not_fit_is_an_error(t *testing.T) {
	t.Parallel()
	r := run(1)
	r.RowsMarked = ptr(int64(math.MaxInt32) + 1)
	_, err := evidence.AuditRecord(tutorial(nil), []evidence.AuditRow{r})
	require.ErrorContains(t, err, "rows_marked")
	require.ErrorContains(t, err, "widen the column")
}
