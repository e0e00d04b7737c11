package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// ErrUnknownType: a schema has a type that this package does not know.
var ErrUnknownType = errors.New("the type is not supported")

// maxDepth bounds nesting, so that a hostile schema string cannot exhaust the
// stack.
const maxDepth = 200

var decimalForm = regexp.MustCompile(`^decimal\(\s*(\d+)\s*,\s*(-?\d+)\s*\)$`)

// Parse reads metaData.schemaString. It fails on a type it does not know and
// names the column.
func Parse(schemaString string) (*Struct, error) {
	t, err := parseType(json.RawMessage(schemaString), "schema", 0)
	if err != nil {
		return nil, err
	}
	s, ok := t.(*Struct)
	if !ok {
		return nil, fmt.Errorf("schema: top level is %s, want a struct", t)
	}
	return s, nil
}

type rawType struct {
	Type              json.RawMessage `json:"type"`
	Fields            *[]rawField     `json:"fields"`
	ElementType       json.RawMessage `json:"elementType"`
	ContainsNull      bool            `json:"containsNull"`
	KeyType           json.RawMessage `json:"keyType"`
	ValueType         json.RawMessage `json:"valueType"`
	ValueContainsNull bool            `json:"valueContainsNull"`
}

type rawField struct {
	Name     string                     `json:"name"`
	Type     json.RawMessage            `json:"type"`
	Nullable bool                       `json:"nullable"`
	Metadata map[string]json.RawMessage `json:"metadata"`
}

func parseType(raw json.RawMessage, path string, depth int) (Type, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%s: nested deeper than %d types", path, maxDepth)
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil, fmt.Errorf("%s: no type", path)
	}
	if raw[0] == '"' {
		var name string
		if err := json.Unmarshal(raw, &name); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return parseName(name, path)
	}
	var r rawType
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var kind string
	if err := json.Unmarshal(r.Type, &kind); err != nil {
		return nil, fmt.Errorf("%s: type is not a name: %w", path, err)
	}
	switch kind {
	case "struct":
		return parseStruct(r, path, depth)
	case "array":
		el, err := parseType(r.ElementType, path+".element", depth+1)
		if err != nil {
			return nil, err
		}
		return &Array{Element: el, ContainsNull: r.ContainsNull}, nil
	case "map":
		k, err := parseType(r.KeyType, path+".key", depth+1)
		if err != nil {
			return nil, err
		}
		v, err := parseType(r.ValueType, path+".value", depth+1)
		if err != nil {
			return nil, err
		}
		return &Map{Key: k, Value: v, ValueContainsNull: r.ValueContainsNull}, nil
	default:
		return parseName(kind, path)
	}
}

func parseStruct(r rawType, path string, depth int) (Type, error) {
	if r.Fields == nil {
		return nil, fmt.Errorf("%s: struct without fields", path)
	}
	s := &Struct{Fields: make([]Field, 0, len(*r.Fields))}
	for _, rf := range *r.Fields {
		t, err := parseType(rf.Type, path+"."+rf.Name, depth+1)
		if err != nil {
			return nil, err
		}
		s.Fields = append(s.Fields, Field{Name: rf.Name, Type: t, Nullable: rf.Nullable, Metadata: rf.Metadata})
	}
	return s, nil
}

func parseName(name, path string) (Type, error) {
	if primitives[Primitive(name)] {
		return Primitive(name), nil
	}
	if name == "decimal" { // Spark's default
		return Decimal{10, 0}, nil
	}
	if m := decimalForm.FindStringSubmatch(name); m != nil {
		p, err1 := strconv.Atoi(m[1])
		s, err2 := strconv.Atoi(m[2])
		if err1 != nil || err2 != nil || p < 1 || p > 38 || s < 0 || s > p {
			return nil, fmt.Errorf("%s: %s is out of range: precision 1 to 38, scale 0 to precision", path, name)
		}
		return Decimal{p, s}, nil
	}
	return nil, fmt.Errorf("%s: type %q: %w", path, name, ErrUnknownType)
}

// JSON serialises the schema for metaData.schemaString.
func (s *Struct) JSON() string {
	b, err := json.Marshal(encodeType(s))
	if err != nil { // only strings, booleans and raw JSON that was parsed before
		panic(fmt.Sprintf("schema: %v", err))
	}
	return string(b)
}

type jsonStruct struct {
	Type   string      `json:"type"`
	Fields []jsonField `json:"fields"`
}

type jsonField struct {
	Name     string                     `json:"name"`
	Type     any                        `json:"type"`
	Nullable bool                       `json:"nullable"`
	Metadata map[string]json.RawMessage `json:"metadata"`
}

type jsonArray struct {
	Type         string `json:"type"`
	ElementType  any    `json:"elementType"`
	ContainsNull bool   `json:"containsNull"`
}

type jsonMap struct {
	Type              string `json:"type"`
	KeyType           any    `json:"keyType"`
	ValueType         any    `json:"valueType"`
	ValueContainsNull bool   `json:"valueContainsNull"`
}

func encodeType(t Type) any {
	switch x := t.(type) {
	case *Struct:
		out := jsonStruct{Type: "struct", Fields: make([]jsonField, 0, len(x.Fields))}
		for _, f := range x.Fields {
			m := f.Metadata
			if m == nil {
				m = map[string]json.RawMessage{}
			}
			out.Fields = append(out.Fields, jsonField{f.Name, encodeType(f.Type), f.Nullable, m})
		}
		return out
	case *Array:
		return jsonArray{"array", encodeType(x.Element), x.ContainsNull}
	case *Map:
		return jsonMap{"map", encodeType(x.Key), encodeType(x.Value), x.ValueContainsNull}
	default:
		return t.String()
	}
}
