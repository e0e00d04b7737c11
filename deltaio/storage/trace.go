package storage

import (
	"context"
	"sync"
)

// Trace wraps s and hands every ended call to record, one at a time, with its
// outcome. The objects of a listing are counted, not recorded one by one.
func Trace(s Store, record func(Op)) Store {
	var mu sync.Mutex
	return Hook(s, Hooks{After: func(_ context.Context, op Op) error {
		mu.Lock()
		defer mu.Unlock()
		record(op)
		return nil
	}})
}
