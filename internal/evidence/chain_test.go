package evidence_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/lakewarden/lakewarden/internal/evidence"
)

func ptr[T any](v T) *T { return &v }

// run is an unsealed row with something in most columns.
func run(i int) evidence.AuditRow {
	return evidence.AuditRow{
		RunID: fmt.Sprintf("run-%d", i), TargetTable: "bronze.vendas", Criteria: "`event_date` < DATE'2025-02-08'",
		ExecTime:   time.Date(2025, 3, 10, 12, i, 0, 123_456_000, time.UTC),
		RowsMarked: ptr(int64(10 * i)), RowsDeleted: ptr(int64(10 * i)), Status: evidence.StatusCompleted,
		ExecutedBy: "worker-1", ApprovedBy: "dpo", ApprovalIdentity: evidence.IdentityClaimed, Policy: "vendas-365d",
		RowsArchived: ptr(int64(10 * i)), VersionBefore: ptr(int64(i)), ErasureDue: ptr(time.Date(2025, 3, 18, 0, 0, 0, 0, time.UTC)),
	}
}

// chain seals n rows onto what is there.
func chain(rows []evidence.AuditRow, n int) []evidence.AuditRow {
	rows = slices.Clone(rows)
	for i := range n {
		rows = append(rows, run(i).Seal(evidence.Tip(rows)))
	}
	return rows
}

func kinds(r evidence.ChainReport) []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.Kind)
	}
	return out
}

func TestVerify_a_whole_chain_has_no_findings_in_any_order(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		legacy := rapid.IntRange(0, 4).Draw(t, "legacy")
		var rows []evidence.AuditRow
		for i := range legacy {
			rows = append(rows, run(100+i))
		}
		n := rapid.IntRange(0, 8).Draw(t, "n")
		rows = chain(rows, n)
		anchors := []string{"", evidence.Tip(rows)}
		for _, r := range rows[legacy:] {
			anchors = append(anchors, r.RowHash)
		}
		head := evidence.Tip(rows)
		shuffled := rapid.Permutation(rows).Draw(t, "order")
		report := evidence.Verify(shuffled, rapid.SampledFrom(anchors).Draw(t, "anchor"))
		require.True(t, report.OK(), "%v", report.Findings)
		require.Equal(t, legacy, report.Legacy)
		require.Equal(t, n, report.Sealed)
		require.Equal(t, head, report.Head)
		require.Equal(t, head, evidence.Tip(shuffled))
	})
}

// edits change one column each, to another value.
var edits = map[string]func(*evidence.AuditRow){
	"run_id":               func(r *evidence.AuditRow) { r.RunID += "x" },
	"target_table":         func(r *evidence.AuditRow) { r.TargetTable = "" },
	"criteria":             func(r *evidence.AuditRow) { r.Criteria = strings.ReplaceAll(r.Criteria, "2025", "2024") },
	"exec_time":            func(r *evidence.AuditRow) { r.ExecTime = r.ExecTime.Add(time.Microsecond) },
	"rows_marked":          func(r *evidence.AuditRow) { r.RowsMarked = nil },
	"rows_deleted":         func(r *evidence.AuditRow) { *r = withDeleted(*r) },
	"status":               func(r *evidence.AuditRow) { r.Status = evidence.StatusFailed },
	"executed_by":          func(r *evidence.AuditRow) { r.ExecutedBy += " " },
	"approved_by":          func(r *evidence.AuditRow) { r.ApprovedBy = "ana" },
	"approval_identity":    func(r *evidence.AuditRow) { r.ApprovalIdentity = evidence.IdentityVerified },
	"policy":               func(r *evidence.AuditRow) { r.Policy = "" },
	"legal_basis":          func(r *evidence.AuditRow) { r.LegalBasis = "none" },
	"rows_archived":        func(r *evidence.AuditRow) { r.RowsArchived = nil },
	"rows_held":            func(r *evidence.AuditRow) { r.RowsHeld = ptr(int64(0)) },
	"rows_undated":         func(r *evidence.AuditRow) { r.RowsUndated = ptr(int64(0)) },
	"rows_released":        func(r *evidence.AuditRow) { r.RowsReleased = ptr(int64(0)) },
	"bytes_before":         func(r *evidence.AuditRow) { r.BytesBefore = ptr(int64(0)) },
	"bytes_reclaimed":      func(r *evidence.AuditRow) { r.BytesReclaimed = ptr(int64(0)) },
	"version_before":       func(r *evidence.AuditRow) { r.VersionBefore = ptr(*r.VersionBefore + 1) },
	"version_after":        func(r *evidence.AuditRow) { r.VersionAfter = ptr(int64(0)) },
	"archive_table":        func(r *evidence.AuditRow) { r.ArchiveTable = "archive.x" },
	"vacuum_files_deleted": func(r *evidence.AuditRow) { r.VacuumFilesDeleted = ptr(int64(0)) },
	"vacuum_pending":       func(r *evidence.AuditRow) { r.VacuumPending = ptr(int64(0)) },
	"erasure_due":          func(r *evidence.AuditRow) { r.ErasureDue = nil },
	"error":                func(r *evidence.AuditRow) { r.Error = "x" },
	"workflow_id":          func(r *evidence.AuditRow) { r.WorkflowID = "x" },
	"workflow_run_id":      func(r *evidence.AuditRow) { r.WorkflowRunID = "x" },
	"plan_digest":          func(r *evidence.AuditRow) { r.PlanDigest = "x" },
	"prev_hash":            func(r *evidence.AuditRow) { r.PrevHash = strings.Repeat("0", 64) },
	"row_hash":             func(r *evidence.AuditRow) { r.RowHash = strings.Repeat("0", 64) },
	"reason":               func(r *evidence.AuditRow) { r.Reason += "x" },
	"restore_id":           func(r *evidence.AuditRow) { r.RestoreID = "x" },
	"certificate_digest":   func(r *evidence.AuditRow) { r.CertificateDigest = "sha256:0" },
}

// Rows from before the later columns were there, as that version sealed them.
func TestVerify_rows_of_before_the_later_columns_are_as_whole_as_ever(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/audit-before-later-columns.golden.json")
	require.NoError(t, err)
	var rows []evidence.AuditRow
	require.NoError(t, json.Unmarshal(data, &rows))
	report := evidence.Verify(rows, "")
	require.True(t, report.OK(), "%v", report.Findings)
	require.Equal(t, 3, report.Sealed)

	next := run(7)
	next.Reason = "looked at"
	rows = append(rows, next.Seal(evidence.Tip(rows)))
	require.True(t, evidence.Verify(rows, rows[len(rows)-1].RowHash).OK(), "new rows follow old ones")

	for name, edit := range map[string]func(*evidence.AuditRow){
		"a reason taken away":     func(r *evidence.AuditRow) { r.Reason = "" },
		"another reason":          func(r *evidence.AuditRow) { r.Reason = "looked away" },
		"moved to another column": func(r *evidence.AuditRow) { r.Reason, r.RestoreID = "", r.Reason },
	} {
		edited := slices.Clone(rows)
		edit(&edited[len(rows)-1])
		require.False(t, evidence.Verify(edited, "").OK(), name)
	}
	edited := slices.Clone(rows)
	edited[3].Reason = "added to a row of before"
	require.False(t, evidence.Verify(edited, "").OK())
}

// What is sealed today must verify tomorrow.
func TestVerify_sealed_rows_keep_their_hash(t *testing.T) {
	t.Parallel()
	const golden = "testdata/audit.golden.json"
	var rows []evidence.AuditRow
	for i := range 3 {
		r := run(i)
		r.Reason, r.RestoreID, r.CertificateDigest = "looked at", "2f1c9d5e", "sha256:00"
		rows = append(rows, r.Seal(evidence.Tip(rows)))
	}
	if *updateGolden {
		data, err := json.MarshalIndent(rows, "", "  ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(golden, append(data, '\n'), 0o644))
	}
	data, err := os.ReadFile(golden)
	require.NoError(t, err)
	var want []evidence.AuditRow
	require.NoError(t, json.Unmarshal(data, &want))
	for i := range rows {
		require.Equal(t, want[i].RowHash, rows[i].RowHash)
	}
}

var updateGolden = flag.Bool("update", false, "write golden files anew")

func withDeleted(r evidence.AuditRow) evidence.AuditRow {
	r.RowsDeleted = ptr(*r.RowsDeleted + 1)
	return r
}

func TestVerify_an_edit_of_any_column_is_found(t *testing.T) {
	t.Parallel()
	for _, f := range evidence.AuditSchema().Fields {
		require.Contains(t, edits, f.Name, "every column has an edit here")
	}
	whole := chain([]evidence.AuditRow{run(90), run(91)}, 4)
	for name, edit := range edits {
		for i := range whole {
			rows := slices.Clone(whole)
			edit(&rows[i])
			require.False(t, evidence.Verify(rows, "").OK(), "%s of row %d", name, i)
		}
	}
}

func TestVerify_any_single_mutation_is_found(t *testing.T) {
	t.Parallel()
	names := make([]string, 0, len(edits))
	for name := range edits {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		legacy := rapid.IntRange(0, 3).Draw(t, "legacy")
		var rows []evidence.AuditRow
		for i := range legacy {
			rows = append(rows, run(100+i))
		}
		rows = chain(rows, rapid.IntRange(2, 7).Draw(t, "n"))
		head := evidence.Tip(rows)
		i := rapid.IntRange(0, len(rows)-1).Draw(t, "row")
		j := rapid.IntRange(legacy, len(rows)-1).Filter(func(j int) bool { return j != i }).Draw(t, "other")
		switch rapid.SampledFrom([]string{"edit", "remove", "duplicate", "swap links", "swap counts", "unseal", "forge", "cut", "rewrite"}).Draw(t, "mutation") {
		case "edit":
			edits[rapid.SampledFrom(names).Draw(t, "column")](&rows[i])
		case "remove":
			rows = slices.Delete(rows, i, i+1)
		case "duplicate":
			rows = append(rows, rows[j])
		case "swap links":
			rows[i].PrevHash, rows[j].PrevHash = rows[j].PrevHash, rows[i].PrevHash
		case "swap counts":
			rows[i].RowsDeleted, rows[j].RowsDeleted = rows[j].RowsDeleted, rows[i].RowsDeleted
			if *rows[i].RowsDeleted == *rows[j].RowsDeleted {
				rows[j].RowsDeleted = nil
			}
		case "unseal":
			rows[j].PrevHash, rows[j].RowHash = "", ""
		case "forge": // a well-formed row in the middle
			rows = append(rows, run(50).Seal(rows[j].PrevHash))
		case "cut":
			rows = rows[:max(legacy, rapid.IntRange(0, len(rows)-1).Draw(t, "kept"))]
		case "rewrite": // everything from j on is written anew, in good order
			for k := j; k < len(rows); k++ {
				if k == j {
					rows[k].Criteria = "another"
				}
				prev := evidence.Genesis(rows[:legacy])
				if k > legacy {
					prev = rows[k-1].RowHash
				}
				rows[k] = rows[k].Seal(prev)
			}
		}
		require.False(t, evidence.Verify(rows, head).OK())
	})
}

func TestVerify_each_kind_of_damage_has_its_name(t *testing.T) {
	t.Parallel()
	legacy := []evidence.AuditRow{run(90), run(91)}
	whole := chain(legacy, 4)
	head := evidence.Tip(whole)
	for name, c := range map[string]struct {
		rows   func() []evidence.AuditRow
		anchor string
		want   []string
	}{
		"edited row": {func() []evidence.AuditRow {
			rows := slices.Clone(whole)
			rows[3].RowsDeleted = ptr(int64(0))
			return rows
		}, "", []string{evidence.FindingEdited}},
		"removed row":             {func() []evidence.AuditRow { return slices.Delete(slices.Clone(whole), 3, 4) }, "", []string{evidence.FindingMissing}},
		"removed first row":       {func() []evidence.AuditRow { return slices.Delete(slices.Clone(whole), 2, 3) }, "", []string{evidence.FindingMissing, evidence.FindingMissing}},
		"duplicated row":          {func() []evidence.AuditRow { return append(slices.Clone(whole), whole[4]) }, "", []string{evidence.FindingDuplicate}},
		"fork":                    {func() []evidence.AuditRow { return append(slices.Clone(whole), run(60).Seal(whole[4].PrevHash)) }, "", []string{evidence.FindingForked}},
		"two beginnings":          {func() []evidence.AuditRow { return append(slices.Clone(whole), run(60).Seal(evidence.Genesis(legacy))) }, "", []string{evidence.FindingForked}},
		"legacy row removed":      {func() []evidence.AuditRow { return whole[1:] }, "", []string{evidence.FindingGenesis}},
		"row without hash added":  {func() []evidence.AuditRow { return append(slices.Clone(whole), run(61)) }, "", []string{evidence.FindingGenesis}},
		"cut tail with anchor":    {func() []evidence.AuditRow { return whole[:5] }, head, []string{evidence.FindingAnchor}},
		"everything cut":          {func() []evidence.AuditRow { return legacy }, head, []string{evidence.FindingAnchor}},
		"cut tail without anchor": {func() []evidence.AuditRow { return whole[:5] }, "", nil}, // as documented
		"older anchor":            {func() []evidence.AuditRow { return whole }, whole[3].RowHash, nil},
		"anchor before any row":   {func() []evidence.AuditRow { return whole }, evidence.Genesis(legacy), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := evidence.Verify(c.rows(), c.anchor)
			require.Equal(t, c.want, kinds(report), "%v", report.Findings)
			require.Equal(t, c.anchor != "" && c.want == nil, report.Anchored)
		})
	}
}

func TestTip_a_broken_chain_can_still_be_appended_to(t *testing.T) {
	t.Parallel()
	rows := chain(nil, 5)
	rows = slices.Delete(rows, 2, 3)
	before := evidence.Verify(rows, "")
	rows = append(rows, run(7).Seal(evidence.Tip(rows)))
	after := evidence.Verify(rows, "")
	require.Equal(t, kinds(before), kinds(after), "the break is still reported, and no other")
	require.Equal(t, rows[len(rows)-1].RowHash, after.Head)
}

func TestHash_is_the_same_in_every_version(t *testing.T) {
	t.Parallel()
	// Computed by another program from the description of Hash.
	require.Equal(t, "genesis:0:a988f964f09019746c3eb7d0d1cc6d33fce48e8b6e9eb519ececcd4b2be78f3f", evidence.Genesis(nil))
	require.Equal(t, "7a19c2f41fbc2c5e4b945ae7a297de3239d68f6d30db3cad7a8f5d2528b02c7a", run(1).Seal(evidence.Genesis(nil)).RowHash)
}

func TestHash_what_a_table_cannot_tell_apart_does_not_count(t *testing.T) {
	t.Parallel()
	a, b := run(1), run(1)
	b.ExecTime = b.ExecTime.Add(999 * time.Nanosecond).In(time.FixedZone("x", 3600))
	b.LegalBasis = ""
	require.Equal(t, a.Hash(), b.Hash())
	b.RowsHeld = ptr(int64(0))
	require.NotEqual(t, a.Hash(), b.Hash(), "0 is not null")
}
