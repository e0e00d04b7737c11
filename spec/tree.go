package spec

import "fmt"

// Bounds of a document, so that a hostile one exhausts neither stack nor memory.
const (
	maxBytes = 1 << 20
	maxDepth = 64
)

type kind int

const (
	kindNull kind = iota
	kindText
	kindNumber
	kindBool
	kindList
	kindMap
)

// node is a document as written, YAML or JSON: numbers as their text, keys in
// their order, duplicates included, each with its line.
type node struct {
	kind    kind
	line    int
	text    string // of a text, a number or a boolean
	items   []*node
	entries []entry
}

type entry struct {
	name  string
	line  int
	value *node
}

// get is the value of a key, nil where there is none.
func (n *node) get(name string) *node {
	for _, e := range n.entries {
		if e.name == name {
			return e.value
		}
	}
	return nil
}

// forgetLines drops the lines of a text that the reader of errors never sees.
func (n *node) forgetLines() {
	n.line = 0
	for _, item := range n.items {
		item.forgetLines()
	}
	for i := range n.entries {
		n.entries[i].line = 0
		n.entries[i].value.forgetLines()
	}
}

// String says what was written, for errors.
func (n *node) String() string {
	switch n.kind {
	case kindText:
		return fmt.Sprintf("the text %q", shorten(n.text))
	case kindNumber:
		return "the number " + shorten(n.text)
	case kindBool:
		return n.text
	case kindList:
		return "a list"
	case kindMap:
		return "keys and values"
	}
	return "nothing"
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
