package notify

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/lakewarden/lakewarden/spec"
)

// Message is one notification.
type Message struct {
	// ID is the same in every attempt, such as the run id and the event.
	ID string
	// Event is what happened.
	Event spec.Event
	// Time is when it happened.
	Time time.Time
	// Data are the facts, for machines.
	Data Data
}

// Data are the facts of a notification. Rows, keys and secrets are never among
// them.
type Data struct {
	RunID      string `json:"run_id"`
	Table      string `json:"table"`
	Policy     string `json:"policy,omitempty"`
	Owner      string `json:"owner,omitempty"`
	Status     string `json:"status,omitempty"`
	Summary    string `json:"summary,omitempty"` // one sentence for people
	Next       string `json:"next,omitempty"`    // what to do now, as a command
	WorkflowID string `json:"workflow_id,omitempty"`
	PlanDigest string `json:"plan_digest,omitempty"`
	AuditHead  string `json:"audit_head,omitempty"` // anchor of the audit chain
	RowsDue    *int64 `json:"rows_due"`             // null: not known
	RowsGone   *int64 `json:"rows_gone"`            // null: not known
	// Deadline is when an approval expires.
	Deadline *time.Time `json:"deadline,omitempty"`
	Error    string     `json:"error,omitempty"`
}

// body is the request's body: type, timestamp and data, as the specification
// recommends.
func (m Message) body() ([]byte, error) {
	return json.Marshal(struct {
		Type      string `json:"type"`
		Timestamp string `json:"timestamp"`
		Data      Data   `json:"data"`
	}{"lakewarden.purge." + string(m.Event), m.Time.UTC().Format(time.RFC3339Nano), m.Data})
}

func (m Message) check() error {
	if m.ID == "" || m.Event == "" || m.Time.IsZero() {
		return fmt.Errorf("notification of run %q: id, event and time are needed", m.Data.RunID)
	}
	return nil
}
