package activities

import "github.com/lakewarden/lakewarden/spec"

// NotifyInput sends one event to the policy's channels.
type NotifyInput struct {
	Run    Run               `json:"run"`
	Notify spec.Notify       `json:"notify"`
	Event  string            `json:"event"` // approval_due | failed | completed | erased
	Title  string            `json:"title"`
	Fields map[string]string `json:"fields"`
}

// NotifyResult says which channels took it.
type NotifyResult struct {
	Sent   []string `json:"sent,omitempty"`
	Failed []string `json:"failed,omitempty"`
}

// ProbeNamespaceResult says what the namespace offers.
type ProbeNamespaceResult struct {
	SearchAttributes bool     `json:"search_attributes"`
	Missing          []string `json:"missing,omitempty"`
}
