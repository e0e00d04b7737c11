package log

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// statsColumns says how statistics and partition values go into a checkpoint.
type statsColumns struct {
	asJSON     bool
	stats      *pqNode // stats_parsed, nil when not written
	partitions *pqNode // partitionValues_parsed, nil when not written
}

// statsColumnsOf follows delta.checkpoint.writeStatsAsJson and
// writeStatsAsStruct. Struct columns are made for what the files have statistics
// of, and only where the value in the struct is exactly the one in the JSON; a
// value that is not becomes null, which readers take for unknown.
func statsColumnsOf(st *State) (statsColumns, error) {
	out := statsColumns{asJSON: st.Metadata.enabled(propStatsAsJSON, true)}
	if !st.Metadata.enabled(propStatsAsStruct, false) {
		return out, nil
	}
	s, err := st.Schema()
	if err != nil {
		return out, err
	}
	have := statTree{}
	for _, a := range st.Files {
		have.collect(a.Stats)
	}
	if len(have) > 0 {
		out.stats = statsNode(s, have)
	}
	out.partitions = partitionsNode(st, s)
	return out, nil
}

// A statTree is the set of paths at which statistics hold values.
type statTree map[string]statTree

// collect adds the paths of one file's statistics. Damaged statistics add what
// was read of them.
func (t statTree) collect(stats string) {
	if stats != "" {
		c := &cursor{b: []byte(stats)}
		_ = t.walk(c) // what does not parse is unknown to readers as well
	}
}

func (t statTree) walk(c *cursor) error {
	return c.object(func(key string) error {
		if c.null() {
			return nil
		}
		child, ok := t[key]
		if !ok {
			child = statTree{}
			t[key] = child
		}
		if c.peek() == '{' {
			return child.walk(c)
		}
		return c.skip()
	})
}

func statsNode(s *schema.Struct, have statTree) *pqNode {
	long := func(name string) *pqNode {
		if _, ok := have[name]; !ok {
			return nil
		}
		return statLeaf(name, schema.Long)
	}
	var tight *pqNode
	if _, ok := have["tightBounds"]; ok {
		tight = statLeaf("tightBounds", schema.Boolean)
	}
	n := structNode("stats_parsed", func(x any) any { return parseObject(x.(*Add).Stats) },
		long("numRecords"),
		statStruct("minValues", s, have["minValues"], statLeaf),
		statStruct("maxValues", s, have["maxValues"], statLeaf),
		statStruct("nullCount", s, have["nullCount"], func(name string, t schema.Type) *pqNode {
			if _, ok := t.(*schema.Struct); ok {
				return nil
			}
			return statLeaf(name, schema.Long)
		}),
		tight)
	if len(n.children) == 0 {
		return nil
	}
	return n
}

// parseObject reads statistics for the struct columns; nil, which is null, when
// they are unknown or damaged.
func parseObject(stats string) any {
	if stats == "" {
		return nil
	}
	dec := json.NewDecoder(strings.NewReader(stats))
	dec.UseNumber()
	m := map[string]any{}
	if dec.Decode(&m) != nil {
		return nil
	}
	return m
}

// statStruct mirrors the columns of the schema for which there are statistics.
func statStruct(name string, s *schema.Struct, have statTree, leaf func(string, schema.Type) *pqNode) *pqNode {
	var children []*pqNode
	for i := range s.Fields {
		f := &s.Fields[i]
		physical := f.PhysicalName()
		below, ok := have[physical]
		if !ok {
			continue
		}
		child := leaf(physical, f.Type)
		if nested, ok := f.Type.(*schema.Struct); ok {
			child = statStruct(physical, nested, below, leaf)
		}
		if child != nil {
			children = append(children, child)
		}
	}
	if len(children) == 0 {
		return nil
	}
	return structNode(name, func(x any) any {
		if m, ok := x.(map[string]any)[name].(map[string]any); ok {
			return m
		}
		return nil
	}, children...)
}

// statLeaf is a column of typed statistics; nil for types that have none.
func statLeaf(name string, t schema.Type) *pqNode {
	typed, ok := typedOf(t)
	if !ok || t == schema.Binary {
		return nil
	}
	n := leafNode(name, typed.node, func(x any) (parquet.Value, bool) {
		v, ok := x.(map[string]any)[name]
		if !ok {
			return parquet.Value{}, false
		}
		return typed.fromJSON(v)
	})
	n.noBounds = typed.noBounds
	return n
}

// partitionsNode makes the typed partition columns; nil where a value does not
// read as its column's type: a null in its place would be a lie.
func partitionsNode(st *State, s *schema.Struct) *pqNode {
	var children []*pqNode
	for _, name := range st.Metadata.PartitionColumns {
		f, ok := s.Field(name)
		if !ok {
			return nil
		}
		typed, ok := typedOf(f.Type)
		if !ok {
			return nil
		}
		physical := f.PhysicalName()
		if !readable(st.Files, physical, typed) {
			return nil
		}
		n := leafNode(physical, typed.node, func(x any) (parquet.Value, bool) {
			v := x.(*Add).PartitionValues[physical]
			if v == nil || *v == "" {
				return parquet.Value{}, false
			}
			return typed.fromPartition(*v)
		})
		n.noBounds = typed.noBounds
		children = append(children, n)
	}
	if len(children) == 0 {
		return nil
	}
	return structNode("partitionValues_parsed", func(x any) any { return x }, children...)
}

func readable(files []*Add, column string, typed typedColumn) bool {
	seen := map[string]bool{}
	for _, a := range files {
		v := a.PartitionValues[column]
		if v == nil || *v == "" || seen[*v] {
			continue
		}
		if _, ok := typed.fromPartition(*v); !ok {
			return false
		}
		seen[*v] = true
	}
	return true
}

// sortedTxns and sortedDomains give the checkpoint a fixed order.
func sortedTxns(m map[string]Txn) []Txn {
	out := make([]Txn, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out
}

func sortedDomains(m map[string]DomainMetadata) []DomainMetadata {
	out := make([]DomainMetadata, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[k])
	}
	return out
}
