package conform

import "fmt"

// Counts are what became of the rows of a run.
type Counts struct {
	Read        int64 `json:"read"`
	Quarantined int64 `json:"quarantined"`
	Expired     int64 `json:"expired"`
	// Duplicates are exact copies of another version read in the same run.
	Duplicates int64 `json:"duplicates"`
	// Superseded are older versions of a key read in the same run.
	Superseded int64 `json:"superseded"`
	// Stale are older than what the table has, Unchanged the same.
	Stale     int64 `json:"stale"`
	Unchanged int64 `json:"unchanged"`
	Inserted  int64 `json:"inserted"`
	Updated   int64 `json:"updated"`
	Deleted   int64 `json:"deleted"`

	// Ties are keys of which several different versions are equal in sequence_by.
	Ties int64 `json:"ties"`
	// Reasons counts the quarantined rows by their first reason.
	Reasons map[string]int64 `json:"reasons,omitempty"`
	// Warned and Failed count rows for which a rule does not hold.
	Warned map[string]int64 `json:"warned,omitempty"`
	Failed map[string]int64 `json:"failed,omitempty"`
	// RepairedCells counts values that cleaning or replacing changed.
	RepairedCells int64 `json:"repaired_cells"`
	// DeleteValuesDropped counts values of delete records, beside key and sequence,
	// that could not be read: the record's whole meaning is its key.
	DeleteValuesDropped int64 `json:"delete_values_dropped"`
	// KeysShadowed are keys whose newest version is quarantined, so that an older
	// one counts.
	KeysShadowed int64 `json:"keys_shadowed"`
}

// Add sums counts up.
func (c *Counts) Add(o Counts) {
	for _, p := range []struct{ to, from *int64 }{
		{&c.Read, &o.Read}, {&c.Quarantined, &o.Quarantined}, {&c.Expired, &o.Expired}, {&c.Duplicates, &o.Duplicates}, {&c.Superseded, &o.Superseded},
		{&c.Stale, &o.Stale}, {&c.Unchanged, &o.Unchanged}, {&c.Inserted, &o.Inserted}, {&c.Updated, &o.Updated}, {&c.Deleted, &o.Deleted},
		{&c.Ties, &o.Ties}, {&c.RepairedCells, &o.RepairedCells}, {&c.DeleteValuesDropped, &o.DeleteValuesDropped}, {&c.KeysShadowed, &o.KeysShadowed},
	} {
		*p.to += *p.from
	}
	for _, m := range []struct {
		to   *map[string]int64
		from map[string]int64
	}{{&c.Reasons, o.Reasons}, {&c.Warned, o.Warned}, {&c.Failed, o.Failed}} {
		for name, n := range m.from {
			if *m.to == nil {
				*m.to = map[string]int64{}
			}
			(*m.to)[name] += n
		}
	}
}

// Check says whether the counts add up: each row read is counted once.
func (c Counts) Check() error {
	sum := c.Quarantined + c.Expired + c.Duplicates + c.Superseded + c.Stale + c.Unchanged + c.Inserted + c.Updated + c.Deleted
	if sum == c.Read {
		return nil
	}
	return fmt.Errorf("the counts do not add up: read %d, but quarantined %d + expired %d + duplicates %d + superseded %d + stale %d + unchanged %d + inserted %d + updated %d + deleted %d = %d",
		c.Read, c.Quarantined, c.Expired, c.Duplicates, c.Superseded, c.Stale, c.Unchanged, c.Inserted, c.Updated, c.Deleted, sum)
}

func count(m *map[string]int64, name string) {
	if *m == nil {
		*m = map[string]int64{}
	}
	(*m)[name]++
}
