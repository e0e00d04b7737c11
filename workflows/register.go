package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/lakewarden/lakewarden/activities"
)

// Registry is what a worker, a replayer and a test environment have in common.
type Registry interface {
	RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions)
}

// Register registers every workflow under its type name.
func Register(r Registry) {
	r.RegisterWorkflowWithOptions(PurgeTable, workflow.RegisterOptions{Name: TypePurgeTable})
	r.RegisterWorkflowWithOptions(ProveErasure, workflow.RegisterOptions{Name: TypeProveErasure})
	r.RegisterWorkflowWithOptions(RestorePurge, workflow.RegisterOptions{Name: TypeRestorePurge})
	r.RegisterWorkflowWithOptions(PurgeLakehouse, workflow.RegisterOptions{Name: TypePurgeLakehouse})
}

// steps names the activities; it is never called through.
var steps *activities.Activities
