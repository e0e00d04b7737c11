package log

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// infoOrder are the fields of commitInfo that are written first, for people who
// read the log by eye; the others follow by name.
var infoOrder = []string{"inCommitTimestamp", "timestamp", "operation", "operationParameters"}

func (c *CommitInfo) encode(o *object) {
	for _, k := range infoOrder {
		if raw, ok := c.Fields[k]; ok {
			o.raw(k, oneLine(raw))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(c.Fields)) {
		if !slices.Contains(infoOrder, k) {
			o.raw(k, oneLine(c.Fields[k]))
		}
	}
}

// Get decodes a field into v; false when it is absent, null or of another type.
func (c *CommitInfo) Get(name string, v any) bool {
	if c == nil {
		return false
	}
	raw, ok := c.Fields[name]
	return ok && string(raw) != "null" && json.Unmarshal(raw, v) == nil
}

// Set puts a field.
func (c *CommitInfo) Set(name string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("commitInfo field %s: %w", name, err)
	}
	if c.Fields == nil {
		c.Fields = map[string]json.RawMessage{}
	}
	c.Fields[name] = raw
	return nil
}

// Operation is the name of the operation, "" when absent.
func (c *CommitInfo) Operation() string {
	var s string
	c.Get("operation", &s)
	return s
}

// InCommitTimestamp is the in-commit timestamp (ms), when there is one.
func (c *CommitInfo) InCommitTimestamp() (int64, bool) {
	var ms int64
	ok := c.Get("inCommitTimestamp", &ms)
	return ms, ok
}
