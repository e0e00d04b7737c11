package spec

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/goccy/go-yaml"
)

// JSON writes a document as indented JSON, keys in their usual order.
func JSON(doc Document) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // documents hold SQL, which is full of < and >
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return out.Bytes(), nil
}

// YAML writes a document as YAML, keys in their usual order. Comments of a text
// that was read are not kept.
func YAML(doc Document) ([]byte, error) {
	data, err := JSON(doc)
	if err != nil {
		return nil, err
	}
	out, err := yaml.JSONToYAML(data)
	if err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	return out, nil
}
