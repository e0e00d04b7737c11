package log

import (
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go"
)

// A rowReader reads rows of a checkpoint file column by column. Its first error
// sticks; values after it are zero.
type rowReader struct {
	in     *interner
	leaves []*leaf
	row    int64
	err    error
	key    []byte // scratch
}

func (r *rowReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// A group is a struct column of the file; its columns are looked up by name and
// may be missing.
type group struct {
	r   *rowReader
	col *parquet.Column // nil: the file has no such column
}

func (g group) child(name string) *parquet.Column {
	if g.col == nil {
		return nil
	}
	return g.col.Column(name)
}

func (g group) group(name string) group {
	col := g.child(name)
	if col != nil && (col.Leaf() || col.Repeated()) {
		g.r.fail("column %v is no struct", col.Path())
		col = nil
	}
	return group{g.r, col}
}

// leaf finds a plain column of one of the kinds; nil when the file has none.
func (g group) leaf(name string, kinds ...parquet.Kind) *leaf {
	col := g.child(name)
	if col == nil {
		return nil
	}
	if !col.Leaf() || col.MaxRepetitionLevel() > 0 {
		g.r.fail("column %v is no plain value", col.Path())
		return nil
	}
	return g.r.leaf(col, kinds...)
}

func (r *rowReader) leaf(col *parquet.Column, kinds ...parquet.Kind) *leaf {
	l := newLeaf(col)
	ok := len(kinds) == 0
	for _, k := range kinds {
		ok = ok || k == l.kind
	}
	if !ok {
		r.fail("column %v is of type %s", col.Path(), l.kind)
		return nil
	}
	r.leaves = append(r.leaves, l)
	return l
}

func (g group) str(name string) *leaf  { return g.leaf(name, parquet.ByteArray) }
func (g group) bool(name string) *leaf { return g.leaf(name, parquet.Boolean) }
func (g group) int(name string) *leaf  { return g.leaf(name, parquet.Int64, parquet.Int32) }

// A list column is read through its one leaf, a map through its two. Writers
// disagree on the names of the levels between.
func (g group) list(name string) *leaf {
	leaves := g.below(name)
	if len(leaves) != 1 {
		if len(leaves) > 1 {
			g.r.fail("column %s is no list of values", name)
		}
		return nil
	}
	return g.r.leaf(leaves[0], parquet.ByteArray)
}

type mapLeaves struct{ key, value *leaf }

func (g group) strMap(name string) mapLeaves {
	leaves := g.below(name)
	if len(leaves) == 0 {
		return mapLeaves{}
	}
	if len(leaves) != 2 || leaves[0].Name() != "key" || leaves[1].Name() != "value" {
		g.r.fail("column %s is no map of strings", name)
		return mapLeaves{}
	}
	return mapLeaves{g.r.leaf(leaves[0], parquet.ByteArray), g.r.leaf(leaves[1], parquet.ByteArray)}
}

// below gives the leaves of a column that holds lists or maps.
func (g group) below(name string) (leaves []*parquet.Column) {
	var walk func(*parquet.Column)
	walk = func(c *parquet.Column) {
		if c.Leaf() {
			leaves = append(leaves, c)
		}
		for _, child := range c.Columns() {
			walk(child)
		}
	}
	if col := g.child(name); col != nil {
		walk(col)
		for _, l := range leaves {
			if l.MaxRepetitionLevel() != 1 {
				g.r.fail("column %v nests %d lists", l.Path(), l.MaxRepetitionLevel())
				return nil
			}
		}
	}
	return leaves
}

// values gives the values of a column in the current row; nil when the file has
// no such column.
func (r *rowReader) values(l *leaf) []parquet.Value {
	if l == nil || r.err != nil {
		return nil
	}
	v, err := l.at(r.row)
	if err != nil {
		r.err = err
		return nil
	}
	return v
}

// value gives the value of a plain column; null counts as absent.
func (r *rowReader) value(l *leaf) (parquet.Value, bool) {
	v := r.values(l)
	if len(v) != 1 || v[0].IsNull() {
		return parquet.Value{}, false
	}
	return v[0], true
}

func (r *rowReader) str(l *leaf) (string, bool) {
	v, ok := r.value(l)
	if !ok {
		return "", false
	}
	return string(v.ByteArray()), true
}

func (r *rowReader) optStr(l *leaf) *string {
	if s, ok := r.str(l); ok {
		return &s
	}
	return nil
}

func (r *rowReader) int(l *leaf) (int64, bool) {
	v, ok := r.value(l)
	if !ok {
		return 0, false
	}
	if l.kind == parquet.Int32 {
		return int64(v.Int32()), true
	}
	return v.Int64(), true
}

func (r *rowReader) int32(l *leaf) (int32, bool) {
	v, ok := r.int(l)
	if v < math.MinInt32 || v > math.MaxInt32 {
		r.fail("column %v: %d is out of range", l.col.Path(), v)
	}
	return int32(v), ok
}

func (r *rowReader) optInt(l *leaf) *int64 {
	if v, ok := r.int(l); ok {
		return &v
	}
	return nil
}

func (r *rowReader) bool(l *leaf, otherwise bool) bool {
	if v, ok := r.value(l); ok {
		return v.Boolean()
	}
	return otherwise
}

func (r *rowReader) optBool(l *leaf) *bool {
	if v, ok := r.value(l); ok {
		b := v.Boolean()
		return &b
	}
	return nil
}

// present says whether the list or map whose leaf gave these values is there,
// and whether it holds entries. A leaf below a repeated group of definition
// level d shows a null list by a level below d-1.
func present(l *leaf, v []parquet.Value) (there, entries bool) {
	if len(v) == 0 {
		return false, false
	}
	repeated := l.repeatedLevel()
	d := v[0].DefinitionLevel()
	return d >= repeated-1, d >= repeated
}

// repeatedLevel is the definition level from which on an entry is there.
func (l *leaf) repeatedLevel() int {
	if l.entryDef == 0 {
		level := 0
		for col, path := l.root, l.col.Path(); len(path) > 0; path = path[1:] {
			if col = col.Column(path[0]); col == nil {
				break
			}
			if !col.Required() {
				level++
			}
			if col.Repeated() {
				l.entryDef = level
			}
		}
	}
	return l.entryDef
}

func (r *rowReader) list(l *leaf) []string {
	v := r.values(l)
	there, entries := false, false
	if l != nil {
		there, entries = present(l, v)
	}
	if !there {
		return nil
	}
	list := []string{}
	if entries {
		for _, e := range v {
			list = append(list, string(e.ByteArray()))
		}
	}
	return list
}

// pairs gives the entries of a map, and whether the map is there.
func (r *rowReader) pairs(m mapLeaves) (keys, values []parquet.Value, there bool) {
	if m.key == nil {
		return nil, nil, false
	}
	keys, values = r.values(m.key), r.values(m.value)
	there, entries := present(m.key, keys)
	if !entries {
		return nil, nil, there
	}
	if len(keys) != len(values) {
		r.fail("column %v: %d keys and %d values", m.key.col.Path(), len(keys), len(values))
		return nil, nil, false
	}
	for _, k := range keys {
		if k.IsNull() {
			r.fail("row %d: column %v has a null key", r.row, m.key.col.Path())
			return nil, nil, false
		}
	}
	return keys, values, true
}

// spell writes the entries as a key for the interner.
func (r *rowReader) spell(keys, values []parquet.Value) []byte {
	b := r.key[:0]
	for i := range keys {
		b = appendString(b, string(keys[i].ByteArray()))
		if values[i].IsNull() {
			b = append(b, 'n')
		} else {
			b = appendString(b, string(values[i].ByteArray()))
		}
	}
	r.key = b
	return b
}

func (r *rowReader) strMap(m mapLeaves) map[string]string {
	keys, values, there := r.pairs(m)
	if !there {
		return nil
	}
	out, _ := r.in.strMap(r.spell(keys, values), func() (map[string]string, error) {
		out := make(map[string]string, len(keys))
		for i := range keys {
			if !values[i].IsNull() {
				out[string(keys[i].ByteArray())] = string(values[i].ByteArray())
			}
		}
		return out, nil
	})
	return out
}

func (r *rowReader) partitionValues(m mapLeaves) map[string]*string {
	keys, values, there := r.pairs(m)
	if !there {
		return nil
	}
	out, _ := r.in.partitionValues(r.spell(keys, values), func() (map[string]*string, error) {
		out := make(map[string]*string, len(keys))
		for i := range keys {
			var v *string
			if !values[i].IsNull() {
				s := string(values[i].ByteArray())
				v = &s
			}
			out[string(keys[i].ByteArray())] = v
		}
		return out, nil
	})
	return out
}
