package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func TestDoctor_workersThatAreGone_areNotCounted(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) *taskqueuepb.PollerInfo {
		return &taskqueuepb.PollerInfo{LastAccessTime: timestamppb.New(now.Add(-d))}
	}
	require.Equal(t, 2, polling([]*taskqueuepb.PollerInfo{ago(time.Second), ago(time.Minute), ago(4 * time.Minute)}, now))
	require.Zero(t, polling(nil, now))
}
