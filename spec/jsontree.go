package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// jsonTree reads JSON into a tree. It keeps what encoding/json would drop:
// duplicate keys and the spelling of numbers.
func jsonTree(data []byte) (*node, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	r := &jsonReader{dec: dec, data: data}
	n, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("line %d: something follows the document; one document is one JSON value", r.line())
	}
	return n, nil
}

type jsonReader struct {
	dec   *json.Decoder
	data  []byte
	seen  int64 // offset up to which lines are counted
	lines int
}

// line is the line of the last token read, from 1.
func (r *jsonReader) line() int {
	at := r.dec.InputOffset()
	r.lines += bytes.Count(r.data[r.seen:at], []byte("\n"))
	r.seen = at
	return r.lines + 1
}

func (r *jsonReader) value(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("line %d: nested deeper than %d levels", r.line(), maxDepth)
	}
	token, err := r.dec.Token()
	if err != nil {
		return nil, fmt.Errorf("line %d: not JSON: %w", r.line(), err)
	}
	n := &node{line: r.line()}
	switch v := token.(type) {
	case json.Delim:
		if v == '[' {
			n.kind = kindList
			return n, r.list(n, depth)
		}
		n.kind = kindMap
		return n, r.object(n, depth)
	case string:
		n.kind, n.text = kindText, v
	case json.Number:
		n.kind, n.text = kindNumber, v.String()
	case bool:
		n.kind, n.text = kindBool, fmt.Sprint(v)
	}
	return n, nil
}

func (r *jsonReader) list(n *node, depth int) error {
	for r.dec.More() {
		item, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	return r.close()
}

func (r *jsonReader) object(n *node, depth int) error {
	for r.dec.More() {
		token, err := r.dec.Token()
		if err != nil {
			return fmt.Errorf("line %d: not JSON: %w", r.line(), err)
		}
		e := entry{name: token.(string), line: r.line()} // the decoder yields strings as keys
		if e.value, err = r.value(depth + 1); err != nil {
			return err
		}
		n.entries = append(n.entries, e)
	}
	return r.close()
}

func (r *jsonReader) close() error {
	if _, err := r.dec.Token(); err != nil {
		return fmt.Errorf("line %d: not JSON: %w", r.line(), err)
	}
	return nil
}
