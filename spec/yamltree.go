package spec

import (
	"bytes"
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// yamlTree reads YAML into a tree. Anchors, aliases, merge keys and tags are
// refused: what a purge does must stand in the policy as written.
func yamlTree(data []byte) (n *node, err error) {
	if err := boundNesting(data); err != nil {
		return nil, err
	}
	defer func() {
		// The parser is known to panic on some malformed text; a policy that
		// cannot be read must be an error to whoever wrote it.
		if p := recover(); p != nil {
			n, err = nil, fmt.Errorf("not YAML: %v", p)
		}
	}()
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, fmt.Errorf("not YAML: %w", err)
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if _, comment := doc.Body.(*ast.CommentGroupNode); doc.Body != nil && !comment {
			bodies = append(bodies, doc.Body)
		}
	}
	switch len(bodies) {
	case 0:
		return nil, errEmpty
	case 1:
		return yamlNode(bodies[0], 0)
	}
	return nil, fmt.Errorf("line %d: a second document starts here; write one document a file", lineOf(bodies[1]))
}

// boundNesting refuses text that opens more levels than any document needs: the
// parser recurses, and a stack that overflows cannot be recovered. It counts
// brackets in quoted text too, which no real document has a thousand of.
func boundNesting(data []byte) error {
	const most = 1000
	depth := 0
	for i, line := range bytes.Split(data, []byte("\n")) {
		depth += bytes.Count(line, []byte("[")) + bytes.Count(line, []byte("{"))
		deepest := depth
		depth = max(0, depth-bytes.Count(line, []byte("]"))-bytes.Count(line, []byte("}")))
		inLine := bytes.Count(line, []byte("- ")) + bytes.Count(line, []byte("? ")) + bytes.Count(line, []byte(": "))
		if deepest > most || inLine > most {
			return fmt.Errorf("line %d: nested deeper than %d levels", i+1, maxDepth)
		}
	}
	return nil
}

func yamlNode(a ast.Node, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("line %d: nested deeper than %d levels", lineOf(a), maxDepth)
	}
	n := &node{line: lineOf(a)}
	switch v := a.(type) {
	case nil:
	case *ast.NullNode:
	case *ast.StringNode:
		n.kind, n.text = kindText, v.Value
	case *ast.LiteralNode:
		n.kind, n.text = kindText, v.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		n.kind, n.text = kindNumber, v.GetToken().Value
	case *ast.BoolNode:
		n.kind, n.text = kindBool, fmt.Sprint(v.Value)
	case *ast.SequenceNode:
		n.kind = kindList
		return n, yamlList(n, v, depth)
	case *ast.MappingNode:
		n.kind = kindMap
		return n, yamlMap(n, v.Values, depth)
	case *ast.MappingValueNode:
		n.kind = kindMap
		return n, yamlMap(n, []*ast.MappingValueNode{v}, depth)
	default:
		return nil, fmt.Errorf("line %d: anchors (&), aliases (*) and tags (!) are not allowed here; write the value out", n.line)
	}
	return n, nil
}

func yamlList(n *node, list *ast.SequenceNode, depth int) error {
	for _, v := range list.Values {
		item, err := yamlNode(v, depth+1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	return nil
}

func yamlMap(n *node, values []*ast.MappingValueNode, depth int) error {
	for _, v := range values {
		name, err := yamlKey(v.Key)
		if err != nil {
			return err
		}
		value, err := yamlNode(v.Value, depth+1)
		if err != nil {
			return err
		}
		n.entries = append(n.entries, entry{name: name, line: lineOf(v.Key), value: value})
	}
	if len(values) > 0 {
		n.line = lineOf(values[0].Key)
	}
	return nil
}

func yamlKey(k ast.MapKeyNode) (string, error) {
	switch v := k.(type) {
	case *ast.StringNode:
		return v.Value, nil
	case *ast.MergeKeyNode:
		return "", fmt.Errorf("line %d: merge keys (<<) are not allowed here; write the keys out", lineOf(k))
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return k.GetToken().Value, nil // no key has such a name: it ends as an unknown key
	}
	return "", fmt.Errorf("line %d: a key must be plain text", lineOf(k))
}

func lineOf(a ast.Node) int {
	if a == nil {
		return 0
	}
	if t := a.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}
