package log

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Stats are the statistics of a file. Columns are keyed by physical name and
// nest as the schema does; numbers are json.Number, exact.
type Stats struct {
	NumRecords  *int64 // rows in the data file, those hidden by a deletion vector included
	MinValues   map[string]any
	MaxValues   map[string]any
	NullCount   map[string]any
	TightBounds bool // true when absent
}

type rawStats struct {
	NumRecords  *int64         `json:"numRecords"`
	MinValues   map[string]any `json:"minValues"`
	MaxValues   map[string]any `json:"maxValues"`
	NullCount   map[string]any `json:"nullCount"`
	TightBounds *bool          `json:"tightBounds"`
}

// ParseStats reads the file's statistics; nil without error when unknown.
func (a *Add) ParseStats() (*Stats, error) {
	if a.Stats == "" {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(a.Stats)))
	dec.UseNumber()
	var r rawStats
	if err := dec.Decode(&r); err != nil {
		return nil, fmt.Errorf("statistics of %s: %w", a.Path, err)
	}
	return &Stats{
		NumRecords: r.NumRecords, MinValues: r.MinValues, MaxValues: r.MaxValues,
		NullCount: r.NullCount, TightBounds: r.TightBounds == nil || *r.TightBounds,
	}, nil
}

// Stats is ParseStats of a file of the state.
func (st *State) Stats(a *Add) (*Stats, error) { return a.ParseStats() }

// NumRecords gives the physical row count when the statistics know it, without
// parsing the rest of them.
func (a *Add) NumRecords() (n int64, known bool) {
	if a.Stats == "" {
		return 0, false
	}
	c := &cursor{b: []byte(a.Stats)}
	err := c.object(func(key string) error {
		if key != "numRecords" || c.null() {
			return c.skip()
		}
		v, err := c.int64()
		if err == nil && v >= 0 {
			n, known = v, true
		}
		return err
	})
	if err != nil {
		return 0, false
	}
	return n, known
}
