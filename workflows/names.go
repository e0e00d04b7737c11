package workflows

import (
	"go.temporal.io/sdk/temporal"

	"github.com/lakewarden/lakewarden/activities"
)

// TaskQueue is the queue of workflows and activities unless configured.
const TaskQueue = "lakewarden"

// Registered workflow types.
const (
	TypePurgeTable     = "PurgeTable"
	TypeProveErasure   = "ProveErasure"
	TypeRestorePurge   = "RestorePurge"
	TypePurgeLakehouse = "PurgeLakehouse"
)

// Queries and updates. approve and reject take a Decision, retry a RetryRequest.
const (
	QueryStatus   = "status"
	UpdateApprove = "approve"
	UpdateReject  = "reject"
	UpdateRetry   = "retry"
)

// signalParked tells a PurgeLakehouse that a child waits for people (true) or
// goes on (false), so that its slot is free meanwhile.
const signalParked = "parked"

// memoParent marks children of a PurgeLakehouse, which take signalParked.
const memoParent = "lakewarden_parent"

// Typed search attributes. A namespace without them is fine: ProbeNamespace
// tells, and they are left out.
var (
	AttrTable   = temporal.NewSearchAttributeKeyKeyword(activities.AttrTable)
	AttrRun     = temporal.NewSearchAttributeKeyKeyword(activities.AttrRun)
	AttrStage   = temporal.NewSearchAttributeKeyKeyword(activities.AttrStage)
	AttrOutcome = temporal.NewSearchAttributeKeyKeyword(activities.AttrOutcome)
)

const (
	purgePrefix   = "purge:"
	erasurePrefix = "erasure:"
	restorePrefix = "restore:"
)

// PurgeID is the workflow ID that excludes all other purges and restores of the
// table.
func PurgeID(table string) string { return purgePrefix + table }

// ErasureID is the workflow ID of a run's ProveErasure.
func ErasureID(runID string) string { return erasurePrefix + runID }

// RestoreID is the workflow ID of a restore of a run.
func RestoreID(runID string) string { return restorePrefix + runID }
