package workflows_test

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/activities"
	"github.com/lakewarden/lakewarden/spec"
	"github.com/lakewarden/lakewarden/workflows"
)

var update = flag.Bool("update", false, "write golden files anew")

// payloads are the types that stand in histories. Replay does not compare
// payloads: this golden file does. Changes are additive.
func payloads() []any {
	return []any{
		spec.RetentionPolicy{}, spec.PurgeLakehouse{}, spec.RestoreRequest{},
		workflows.PurgeResult{}, workflows.Status{}, workflows.Decision{}, workflows.Approval{}, workflows.RetryRequest{},
		workflows.ErasureInput{}, workflows.ErasureResult{}, workflows.RestoreResult{}, workflows.LakehouseResult{},
		activities.PlanPurgeInput{}, activities.PlanPurgeResult{}, activities.MarkRowsInput{}, activities.MarkRowsResult{},
		activities.ArchiveRowsInput{}, activities.ArchiveRowsResult{}, activities.VerifyArchiveInput{}, activities.VerifyArchiveResult{},
		activities.MergeDeleteInput{}, activities.MergeDeleteResult{}, activities.VerifyPurgeInput{}, activities.VerifyPurgeResult{},
		activities.VacuumTableInput{}, activities.VacuumTableResult{}, activities.ProveErasedInput{}, activities.ProveErasedResult{},
		activities.RecordAuditInput{}, activities.RecordAuditResult{}, activities.UndoInput{}, activities.FenceDeleteResult{},
		activities.UnmarkRowsResult{}, activities.RemoveArchivedResult{}, activities.FindRunInput{}, activities.FindRunResult{},
		activities.RestoreRowsInput{}, activities.RestoreRowsResult{}, activities.FenceRestoreResult{}, activities.ErasureOwed{}, activities.FindErasureResult{}, activities.NotifyInput{}, activities.NotifyResult{},
		activities.ProbeNamespaceResult{}, activities.Progress{},
	}
}

// shape describes a type by the JSON names and kinds of its fields.
func shape(t reflect.Type) any {
	switch t.Kind() {
	case reflect.Pointer:
		return shape(t.Elem())
	case reflect.Slice:
		return []any{shape(t.Elem())}
	case reflect.Struct:
		if t.String() == "time.Time" {
			return "time"
		}
		out := map[string]any{}
		for _, f := range reflect.VisibleFields(t) { // JSON takes an embedded struct's fields for the outer one's
			if tag := f.Tag.Get("json"); tag != "" {
				out[tag] = shape(f.Type)
			}
		}
		return out
	}
	return t.Kind().String()
}

func TestPayloads_have_the_shape_that_recorded_histories_and_callers_rely_on(t *testing.T) {
	t.Parallel()
	const golden = "testdata/payloads.golden.json"
	got := map[string]any{}
	for _, v := range payloads() {
		got[reflect.TypeOf(v).String()] = shape(reflect.TypeOf(v))
	}
	data, err := json.MarshalIndent(got, "", "  ")
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile(golden, append(data, '\n'), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(data), "run with -update if the change is additive")
}
