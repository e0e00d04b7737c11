package purge

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/zeebo/xxh3"

	"github.com/lakewarden/lakewarden/deltaio"
	"github.com/lakewarden/lakewarden/deltaio/expr"
	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// KeySet is a set of key tuples, held as a 128-bit hash each. Equality is SQL's:
// a tuple with a null is in no set, integers of all widths compare by value,
// 0.0 equals -0.0.
type KeySet struct {
	columns []string // of the target, as given
	kinds   []string // comparable kinds, one a column
	keys    []key128 // sorted, unique
	nulls   int64
}

type key128 [16]byte

// LoadKeys reads the key columns of a table into a set that is matched against
// the target's columns, position by position.
func LoadKeys(ctx context.Context, snap *deltaio.Snapshot, tableColumns, columns []string) (*KeySet, error) {
	return LoadKeysWhere(ctx, snap, tableColumns, columns, nil, expr.Context{})
}

// LoadKeysWhere is LoadKeys for the rows of the keys table for which where is
// TRUE, such as holds that have not ended.
func LoadKeysWhere(ctx context.Context, snap *deltaio.Snapshot, tableColumns, columns []string, where *expr.Expr, ec expr.Context) (*KeySet, error) {
	if len(tableColumns) == 0 || len(tableColumns) != len(columns) {
		return nil, keysError(snap, fmt.Errorf("%d key columns against %d of the target; give both lists, of the same length",
			len(tableColumns), len(columns)))
	}
	k := &KeySet{columns: columns}
	names := make([]string, len(tableColumns))
	for i, c := range tableColumns {
		f, ok := snap.Schema().Field(c)
		if !ok {
			return nil, keysError(snap, fmt.Errorf("no column %q; the keys table has %s", c, strings.Join(columnNames(snap.Schema()), ", ")))
		}
		kind, err := keyKind(f.Type)
		if err != nil {
			return nil, keysError(snap, fmt.Errorf("column %s: %w", f.Name, err))
		}
		names[i] = f.Name
		k.kinds = append(k.kinds, kind)
	}
	for rec, err := range snap.Scan(ctx, deltaio.ScanOptions{Columns: names, Where: where, Context: ec}) {
		if err != nil {
			return nil, fmt.Errorf("keys of %s: %w", snap.Table().URL(), err)
		}
		err = k.collect(rec, names)
		rec.Release()
		if err != nil {
			return nil, fmt.Errorf("keys of %s: %w", snap.Table().URL(), err)
		}
	}
	k.seal()
	return k, nil
}

// keysError: the keys table is not what the criteria take it for.
func keysError(snap *deltaio.Snapshot, err error) error {
	return &CriteriaError{Table: snap.Table().URL(), Part: "keys", Err: err}
}

func columnNames(s *schema.Struct) []string {
	out := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		out[i] = f.Name
	}
	return out
}

// newKeySet is an empty set over columns of a schema; fill it by collect and
// seal it before asking.
func newKeySet(s *schema.Struct, columns []string) (*KeySet, error) {
	k := &KeySet{columns: columns}
	for _, c := range columns {
		f, ok := s.Field(c)
		if !ok {
			return nil, fmt.Errorf("key column %q does not exist", c)
		}
		kind, err := keyKind(f.Type)
		if err != nil {
			return nil, fmt.Errorf("key column %s: %w", f.Name, err)
		}
		k.kinds = append(k.kinds, kind)
	}
	return k, nil
}

func (k *KeySet) collect(rec arrow.Record, columns []string) error {
	h, err := newKeyReader(rec, columns)
	if err != nil {
		return err
	}
	for i := range int(rec.NumRows()) {
		if key, ok := h.key(i); ok {
			k.keys = append(k.keys, key)
		} else {
			k.nulls++
		}
	}
	return nil
}

func (k *KeySet) add(key key128) { k.keys = append(k.keys, key) }

// seal sorts the set: before it nothing is found.
func (k *KeySet) seal() {
	slices.SortFunc(k.keys, compareKeys)
	k.keys = slices.Compact(k.keys)
}

func compareKeys(a, b key128) int { return strings.Compare(string(a[:]), string(b[:])) }

func (k *KeySet) has(key key128) bool {
	_, ok := slices.BinarySearchFunc(k.keys, key, compareKeys)
	return ok
}

// Len is the number of different keys.
func (k *KeySet) Len() int { return len(k.keys) }

// Nulls counts the rows left out because a key column was null.
func (k *KeySet) Nulls() int64 { return k.nulls }

// Columns are the target's columns that the keys are matched against.
func (k *KeySet) Columns() []string { return slices.Clone(k.columns) }

// Digest identifies the set: equal sets over equal columns have equal digests.
// It is salted by nothing and reveals no key that cannot be guessed.
func (k *KeySet) Digest() string {
	h := xxh3.New()
	for i, c := range k.columns {
		_, _ = h.WriteString(strings.ToLower(c) + "\x00" + k.kinds[i] + "\x00") // a hash never fails
	}
	for _, key := range k.keys {
		_, _ = h.Write(key[:])
	}
	sum := h.Sum128().Bytes()
	return hex.EncodeToString(sum[:])
}

// bind resolves the set's columns against the target's schema.
func (k *KeySet) bind(s *schema.Struct) ([]string, error) {
	names := make([]string, len(k.columns))
	for i, c := range k.columns {
		f, ok := s.Field(c)
		if !ok {
			return nil, fmt.Errorf("key column %q does not exist in the table", c)
		}
		kind, err := keyKind(f.Type)
		if err != nil {
			return nil, fmt.Errorf("key column %s: %w", f.Name, err)
		}
		if kind != k.kinds[i] {
			return nil, fmt.Errorf("key column %s is %s and the keys are %s: they never compare equal; convert the keys", f.Name, kind, k.kinds[i])
		}
		names[i] = f.Name
	}
	return names, nil
}
