package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Scalar is one value as it would stand in a source: a number keeps its digits.
type Scalar string

func (s *Scalar) fromNode(n *node) string {
	switch n.kind {
	case kindText, kindNumber, kindBool:
		*s = Scalar(n.text)
		return ""
	}
	return "a text, a number, true or false"
}

// UnmarshalJSON reads a text, a number or a boolean.
func (s *Scalar) UnmarshalJSON(data []byte) error {
	n, err := jsonTree(data)
	if err != nil {
		return err
	}
	if want := s.fromNode(n); want != "" {
		return fmt.Errorf("want %s, got %s", want, n)
	}
	return nil
}

// ValueMap replaces texts, in the order they are written.
type ValueMap []ValuePair

// ValuePair replaces one text.
type ValuePair struct{ From, To string }

func (m *ValueMap) fromNode(n *node) string {
	const want = "texts and what replaces them, each text once"
	if n.kind != kindMap || len(n.entries) == 0 {
		return want
	}
	out := make(ValueMap, 0, len(n.entries))
	for _, e := range n.entries {
		if e.value.kind != kindText && e.value.kind != kindNumber || out.has(e.name) {
			return want
		}
		out = append(out, ValuePair{From: e.name, To: e.value.text})
	}
	*m = out
	return ""
}

func (m ValueMap) has(from string) bool {
	return slices.ContainsFunc(m, func(p ValuePair) bool { return p.From == from })
}

// MarshalJSON writes the pairs as one object, in their order.
func (m ValueMap) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, p := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeText(&b, p.From); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := writeText(&b, p.To); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object of texts.
func (m *ValueMap) UnmarshalJSON(data []byte) error {
	n, err := jsonTree(data)
	if err != nil {
		return err
	}
	if want := m.fromNode(n); want != "" {
		return fmt.Errorf("want %s, got %s", want, n)
	}
	return nil
}

var _ json.Marshaler = ValueMap{}

// SilverType is a column type of a SilverTable, taken apart.
type SilverType struct {
	// Name is the type's usual name, without parameters.
	Name string
	// Precision and Scale are those of a decimal.
	Precision, Scale int
}

var silverTypeNames = []string{"string", "boolean", "byte", "short", "integer", "long", "float", "double", "decimal", "date", "timestamp", "timestamp_ntz"}

// ParseSilverType reads a type such as decimal(18,2).
func ParseSilverType(text string) (SilverType, error) {
	t := strings.ToLower(strings.TrimSpace(text))
	switch t {
	case "int":
		t = "integer"
	case "bigint":
		t = "long"
	}
	if !strings.HasPrefix(t, "decimal") {
		if slices.Contains(silverTypeNames, t) {
			return SilverType{Name: t}, nil
		}
		return SilverType{}, fmt.Errorf("%q is no type that a column can have; there are %s", shorten(text), strings.Join(silverTypeNames, ", "))
	}
	out := SilverType{Name: "decimal"}
	rest := strings.ReplaceAll(strings.TrimPrefix(t, "decimal"), " ", "")
	if n, err := fmt.Sscanf(rest, "(%d,%d)", &out.Precision, &out.Scale); err != nil || n != 2 || rest != fmt.Sprintf("(%d,%d)", out.Precision, out.Scale) {
		return SilverType{}, fmt.Errorf("%q: a decimal is written decimal(18,2), digits and then digits behind the point", shorten(text))
	}
	if out.Precision < 1 || out.Precision > 38 || out.Scale < 0 || out.Scale > out.Precision {
		return SilverType{}, fmt.Errorf("%s: 1 to 38 digits, at most as many of them behind the point", shorten(text))
	}
	return out, nil
}
