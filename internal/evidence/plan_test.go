package evidence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/storage"
	"github.com/lakewarden/lakewarden/internal/evidence"
)

func TestReadPlan_the_plan_with_counts_is_preferred(t *testing.T) {
	t.Parallel()
	const empty, counted = `{"name": "empty"}`, `{"name": "counted", "counts": {"rows": 1}}`
	for name, c := range map[string]struct {
		records map[string]string
		want    string
	}{
		"one":                {map[string]string{"plan-a.json": empty}, "empty"},
		"counts null":        {map[string]string{"plan-a.json": `{"name": "null", "counts": null}`, "plan-b.json": counted}, "counted"},
		"counted first":      {map[string]string{"plan-a.json": counted, "plan-b.json": empty}, "counted"},
		"counted last":       {map[string]string{"plan-a.json": empty, "plan-b.json": counted}, "counted"},
		"other records":      {map[string]string{"plan-a.json": empty, "plan-a.md": "x", "plan-b/c.json": counted, "mark.json": counted}, "empty"},
		"broken after right": {map[string]string{"plan-a.json": counted, "plan-b.json": "{"}, "counted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := planFolder(t, c.records)
			var got struct{ Name string }
			require.NoError(t, evidence.ReadPlan(t.Context(), f, &got))
			require.Equal(t, c.want, got.Name)
		})
	}
}

func TestReadPlan_none_or_a_broken_one_is_an_error(t *testing.T) {
	t.Parallel()
	var got struct{ Name string }
	require.ErrorIs(t, evidence.ReadPlan(t.Context(), planFolder(t, nil), &got), evidence.ErrNoPlan)
	broken := planFolder(t, map[string]string{"plan-a.json": "{", "plan-b.json": `{"counts": {}}`})
	require.ErrorContains(t, evidence.ReadPlan(t.Context(), broken, &got), "plan-a.json")
}

func planFolder(t *testing.T, records map[string]string) *evidence.Folder {
	t.Helper()
	f, err := evidence.OpenRun(storage.NewMemory(), "r-1")
	require.NoError(t, err)
	for name, text := range records {
		require.NoError(t, f.Put(t.Context(), name, []byte(text)))
	}
	return f
}
