package log

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// A pqNode is a column of the checkpoint that is written: how Parquet names it
// and how its value is found in the value of its parent.
type pqNode struct {
	name     string
	node     parquet.Node // of a leaf; required in lists and keys
	children []*pqNode
	kind     pqKind
	noBounds bool // no minimum and maximum in the footer

	sub  func(parent any) any                     // structs: nil is null
	leaf func(parent any) (parquet.Value, bool)   // plain columns
	list func(parent any) []string                // nil is null
	dict func(parent any) (m []pqEntry, set bool) // maps, in order of their keys

	def  int   // definition level from which on the value is there
	cols []int // the leaves below, by column index
}

type pqKind int

const (
	pqStruct pqKind = iota
	pqLeaf
	pqList
	pqMap
)

type pqEntry struct {
	key   string
	value *string
}

func structNode(name string, sub func(any) any, children ...*pqNode) *pqNode {
	return &pqNode{name: name, kind: pqStruct, sub: sub, children: slices.DeleteFunc(children, func(c *pqNode) bool { return c == nil })}
}

func leafNode(name string, n parquet.Node, leaf func(any) (parquet.Value, bool)) *pqNode {
	return &pqNode{name: name, kind: pqLeaf, node: n, leaf: leaf}
}

func plainText() parquet.Node { return parquet.Encoded(parquet.String(), &parquet.Plain) }

// repeatedText is for columns of few distinct values.
func repeatedText() parquet.Node { return parquet.Encoded(parquet.String(), &parquet.RLEDictionary) }

func textValue(s string) parquet.Value { return parquet.ByteArrayValue([]byte(s)) }

func textLeaf[T any](name string, n parquet.Node, get func(T) string) *pqNode {
	return leafNode(name, n, func(x any) (parquet.Value, bool) { return textValue(get(x.(T))), true })
}

func optTextLeaf[T any](name string, n parquet.Node, get func(T) *string) *pqNode {
	return leafNode(name, n, func(x any) (parquet.Value, bool) {
		if s := get(x.(T)); s != nil {
			return textValue(*s), true
		}
		return parquet.Value{}, false
	})
}

func intLeaf[T any](name string, get func(T) int64) *pqNode {
	return leafNode(name, parquet.Int(64), func(x any) (parquet.Value, bool) { return parquet.Int64Value(get(x.(T))), true })
}

func int32Leaf[T any](name string, get func(T) int32) *pqNode {
	return leafNode(name, parquet.Int(32), func(x any) (parquet.Value, bool) { return parquet.Int32Value(get(x.(T))), true })
}

func optIntLeaf[T any](name string, get func(T) *int64) *pqNode {
	return leafNode(name, parquet.Int(64), func(x any) (parquet.Value, bool) {
		if v := get(x.(T)); v != nil {
			return parquet.Int64Value(*v), true
		}
		return parquet.Value{}, false
	})
}

func boolLeaf[T any](name string, get func(T) bool) *pqNode {
	return leafNode(name, parquet.Leaf(parquet.BooleanType), func(x any) (parquet.Value, bool) {
		return parquet.BooleanValue(get(x.(T))), true
	})
}

func optBoolLeaf[T any](name string, get func(T) *bool) *pqNode {
	return leafNode(name, parquet.Leaf(parquet.BooleanType), func(x any) (parquet.Value, bool) {
		if v := get(x.(T)); v != nil {
			return parquet.BooleanValue(*v), true
		}
		return parquet.Value{}, false
	})
}

func listNode[T any](name string, get func(T) []string) *pqNode {
	return &pqNode{name: name, kind: pqList, list: func(x any) []string { return get(x.(T)) }}
}

func mapNode[T any](name string, get func(T) map[string]string) *pqNode {
	return &pqNode{name: name, kind: pqMap, dict: func(x any) ([]pqEntry, bool) {
		m := get(x.(T))
		var entries []pqEntry
		for _, k := range slices.Sorted(maps.Keys(m)) {
			v := m[k]
			entries = append(entries, pqEntry{k, &v})
		}
		return entries, m != nil
	}}
}

func partitionNode[T any](get func(T) map[string]*string) *pqNode {
	return &pqNode{name: "partitionValues", kind: pqMap, dict: func(x any) ([]pqEntry, bool) {
		m := get(x.(T))
		var entries []pqEntry
		for _, k := range slices.Sorted(maps.Keys(m)) {
			entries = append(entries, pqEntry{k, m[k]})
		}
		return entries, m != nil
	}}
}

// parquetNode gives the column as Parquet's schema has it. Everything is
// optional, as Spark writes it.
func (n *pqNode) parquetNode() parquet.Node {
	switch n.kind {
	case pqLeaf:
		return parquet.Optional(n.node)
	case pqList:
		return parquet.Optional(parquet.List(parquet.Optional(repeatedText())))
	case pqMap:
		return parquet.Optional(parquet.Map(repeatedText(), parquet.Optional(repeatedText())))
	}
	return parquet.Optional(n.group())
}

func (n *pqNode) group() parquet.Group {
	g := parquet.Group{}
	for _, c := range n.children {
		g[c.name] = c.parquetNode()
	}
	return g
}

// A pqWriter writes actions as rows.
type pqWriter struct {
	root   *pqNode
	w      *parquet.Writer
	values [][]parquet.Value // of one row, by column
	row    parquet.Row
	rows   int64
}

// pqGroupRows bounds what the writer holds back.
const pqGroupRows = 100_000

func newPQWriter(out io.Writer, root *pqNode, codec compress.Codec) (*pqWriter, error) {
	schema := parquet.NewSchema("spark_schema", root.group())
	opts := []parquet.WriterOption{
		schema, parquet.DataPageVersion(1), parquet.Compression(codec), parquet.MaxRowsPerRowGroup(pqGroupRows),
		parquet.CreatedBy("lakewarden", "", ""), parquet.DefaultEncoding(&parquet.Plain),
	}
	for _, c := range root.children {
		if err := c.bind(schema, nil, 0, &opts); err != nil {
			return nil, err
		}
	}
	return &pqWriter{
		root: root, w: parquet.NewWriter(out, opts...),
		values: make([][]parquet.Value, len(schema.Columns())),
	}, nil
}

// bind finds the column indexes and levels of the node.
func (n *pqNode) bind(s *parquet.Schema, path []string, def int, opts *[]parquet.WriterOption) error {
	path = append(slices.Clip(path), n.name)
	n.def = def + 1
	leaves := [][]string{path}
	switch n.kind {
	case pqList:
		leaves = [][]string{append(slices.Clip(path), "list", "element")}
	case pqMap:
		kv := append(slices.Clip(path), "key_value")
		leaves = [][]string{append(slices.Clip(kv), "key"), append(slices.Clip(kv), "value")}
	case pqStruct:
		n.cols = nil
		for _, c := range n.children {
			if err := c.bind(s, path, n.def, opts); err != nil {
				return err
			}
			n.cols = append(n.cols, c.cols...)
		}
		return nil
	}
	for _, p := range leaves {
		leaf, ok := s.Lookup(p...)
		if !ok {
			return fmt.Errorf("checkpoint schema has no column %s", strings.Join(p, "."))
		}
		n.cols = append(n.cols, leaf.ColumnIndex)
		if n.noBounds {
			*opts = append(*opts, parquet.SkipPageBounds(p...), parquet.SkipPageStatistics(p...))
		}
	}
	return nil
}

// write adds the action as a row.
func (w *pqWriter) write(a *Action) error {
	for i := range w.values {
		w.values[i] = w.values[i][:0]
	}
	for _, c := range w.root.children {
		w.shred(c, a, 0)
	}
	w.row = w.row[:0]
	for _, v := range w.values {
		w.row = append(w.row, v...)
	}
	w.rows++
	_, err := w.w.WriteRows([]parquet.Row{w.row})
	return err
}

func (w *pqWriter) put(col int, v parquet.Value, rep, def int) {
	w.values[col] = append(w.values[col], v.Level(rep, def, col))
}

// null marks the node and all below as absent from the definition level on.
func (w *pqWriter) null(n *pqNode, def int) {
	for _, c := range n.cols {
		w.put(c, parquet.Value{}, 0, def)
	}
}

func (w *pqWriter) shred(n *pqNode, parent any, def int) {
	switch n.kind {
	case pqLeaf:
		if v, ok := n.leaf(parent); ok {
			w.put(n.cols[0], v, 0, n.def)
			return
		}
	case pqList:
		if list := n.list(parent); list != nil {
			w.entries(n, len(list), func(i, rep int) {
				w.put(n.cols[0], textValue(list[i]), rep, n.def+2)
			})
			return
		}
	case pqMap:
		if entries, ok := n.dict(parent); ok {
			w.entries(n, len(entries), func(i, rep int) {
				w.put(n.cols[0], textValue(entries[i].key), rep, n.def+1)
				if v := entries[i].value; v != nil {
					w.put(n.cols[1], textValue(*v), rep, n.def+2)
				} else {
					w.put(n.cols[1], parquet.Value{}, rep, n.def+1)
				}
			})
			return
		}
	default:
		if v := n.sub(parent); v != nil {
			for _, c := range n.children {
				w.shred(c, v, n.def)
			}
			return
		}
	}
	w.null(n, def)
}

func (w *pqWriter) entries(n *pqNode, count int, entry func(i, rep int)) {
	if count == 0 {
		w.null(n, n.def)
		return
	}
	for i := range count {
		entry(i, min(i, 1))
	}
}

func (w *pqWriter) close() error { return w.w.Close() }
