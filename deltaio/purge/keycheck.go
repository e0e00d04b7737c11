package purge

import "github.com/lakewarden/lakewarden/deltaio"

// CheckKeys says whether columns can be a key of the table's rows: *CriteriaError
// when not.
func CheckKeys(snap *deltaio.Snapshot, columns []string) error {
	set, err := newKeySet(snap.Schema(), columns)
	if err == nil {
		_, err = set.bind(snap.Schema())
	}
	if err != nil {
		return &CriteriaError{Table: snap.Table().URL(), Part: "delete keys", Err: err}
	}
	return nil
}
