package purge

import (
	"fmt"
	"slices"
	"strings"
)

// Union is the set of keys that are in a or in b; a nil set is empty. Both must
// be matched against the same columns of the target.
func Union(a, b *KeySet) (*KeySet, error) {
	switch {
	case a == nil:
		return b, nil
	case b == nil:
		return a, nil
	case !slices.EqualFunc(a.columns, b.columns, strings.EqualFold) || !slices.Equal(a.kinds, b.kinds):
		return nil, fmt.Errorf("keys over (%s) and keys over (%s) cannot be held together; use the same key columns in all holds of the table",
			strings.Join(a.columns, ", "), strings.Join(b.columns, ", "))
	}
	u := &KeySet{columns: a.columns, kinds: a.kinds, keys: slices.Concat(a.keys, b.keys), nulls: a.nulls + b.nulls}
	u.seal()
	return u, nil
}
