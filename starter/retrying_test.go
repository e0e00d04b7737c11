package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/lakewarden/lakewarden/workflows"
)

func failing(attempt int32, message string, next *timestamppb.Timestamp) *workflowpb.PendingActivityInfo {
	return &workflowpb.PendingActivityInfo{
		ActivityType: &commonpb.ActivityType{Name: "MarkRows"}, Attempt: attempt,
		LastFailure: &failurepb.Failure{Message: message}, NextAttemptScheduleTime: next,
	}
}

func TestRetries_nameTheStepItsLastErrorAndTheNextTry(t *testing.T) {
	next := timestamppb.New(time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC))
	rs := retries([]*workflowpb.PendingActivityInfo{
		{ActivityType: &commonpb.ActivityType{Name: "Fine"}, Attempt: 1},
		failing(4, "disk\nfull", next), failing(5, "disk full", nil),
	})
	require.Len(t, rs, 2)
	require.Equal(t, "MarkRows: attempt 4, last error: disk full, next try at 2026-01-01T03:00:00Z", rs[0].String())
	require.Equal(t, "MarkRows: attempt 5, last error: disk full, running now", rs[1].String())
}

func TestStatus_inJSON_hasTheRetriesBesideTheState(t *testing.T) {
	data, err := json.Marshal(shownStatus{Status: workflows.Status{Table: "bronze.vendas"}, Retrying: []retrying{{Step: "MarkRows", Attempt: 2}}})
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(data, &got))
	require.Equal(t, "bronze.vendas", got["table"])
	require.Len(t, got["retrying"], 1)
}

func TestWatch_printsAFailedAttemptOnce(t *testing.T) {
	var out bytes.Buffer
	v := &view{w: &out}
	for range 3 {
		v.failed(retries([]*workflowpb.PendingActivityInfo{failing(2, "disk full", nil)}))
	}
	v.failed(retries([]*workflowpb.PendingActivityInfo{failing(3, "disk full", nil)}))
	require.Equal(t, 2, bytes.Count(out.Bytes(), []byte("\n")), out.String())
}

func TestPlain_saysWhatTheFailureSays(t *testing.T) {
	app := temporal.NewNonRetryableApplicationError("the run is unknown", "NotFound", errors.New("inner"))
	err := plain(fmt.Errorf("workflow execution error: child workflow: activity error: %w", app))
	require.EqualError(t, err, "the run is unknown")
	require.ErrorIs(t, err, app)
	require.EqualError(t, plain(fmt.Errorf("x: %w", temporal.NewCanceledError())), "cancelled")
	require.EqualError(t, plain(errors.New("no server")), "no server")
	require.NoError(t, plain(nil))
}
