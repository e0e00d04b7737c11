package log

import (
	"context"
	"errors"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio/storage"
)

// Advance gives the table at a newer version (-1: the newest) by reading only
// the commits in between. The receiver itself when there is nothing newer. Where
// the commits in between are gone, or the log no longer holds the receiver's own
// version, the table is loaded anew.
func (st *State) Advance(ctx context.Context, s storage.Store, to int64) (*State, error) {
	if to >= 0 && to < st.Version {
		return nil, fmt.Errorf("advance from version %d to the older %d", st.Version, to)
	}
	l, err := list(ctx, s, st.Version)
	if err != nil {
		return nil, err
	}
	latest, err := l.latest()
	if err != nil && !errors.Is(err, errPartial) {
		return nil, err
	}
	if to < 0 {
		to = latest
	}
	_, known := l.commit(st.Version)
	if err != nil || !known || to > latest || l.runStart(to) > st.Version {
		return Load(ctx, s, to)
	}
	if to == st.Version {
		return st, nil
	}
	next, err := l.replay(ctx, s, st, to)
	if errors.Is(err, storage.ErrNotExist) { // cleaned up since the listing
		return Load(ctx, s, to)
	}
	return next, err
}
