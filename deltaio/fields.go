package deltaio

import (
	"encoding/json"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

type jsonRaw = json.RawMessage

// mapFields copies a struct with every field, nested ones included, replaced by
// what change makes of it. change sees a field whose nested types are done.
func mapFields(s *schema.Struct, change func(schema.Field) schema.Field) *schema.Struct {
	out := &schema.Struct{Fields: make([]schema.Field, len(s.Fields))}
	for i, f := range s.Fields {
		f.Type = mapType(f.Type, change)
		out.Fields[i] = change(f)
	}
	return out
}

func mapType(t schema.Type, change func(schema.Field) schema.Field) schema.Type {
	switch x := t.(type) {
	case *schema.Struct:
		return mapFields(x, change)
	case *schema.Array:
		return &schema.Array{Element: mapType(x.Element, change), ContainsNull: x.ContainsNull}
	case *schema.Map:
		return &schema.Map{Key: mapType(x.Key, change), Value: mapType(x.Value, change), ValueContainsNull: x.ValueContainsNull}
	}
	return t
}

// walkType visits t and every type nested in it.
func walkType(t schema.Type, visit func(schema.Type)) {
	visit(t)
	switch x := t.(type) {
	case *schema.Array:
		walkType(x.Element, visit)
	case *schema.Map:
		walkType(x.Key, visit)
		walkType(x.Value, visit)
	case *schema.Struct:
		for _, f := range x.Fields {
			walkType(f.Type, visit)
		}
	}
}

// walkFields visits every named field of a struct, nested ones included.
func walkFields(s *schema.Struct, visit func(*schema.Field)) {
	walkType(s, func(t schema.Type) {
		if inner, ok := t.(*schema.Struct); ok {
			for i := range inner.Fields {
				visit(&inner.Fields[i])
			}
		}
	})
}

func containsType(t schema.Type, p schema.Primitive) bool {
	found := false
	walkType(t, func(t schema.Type) { found = found || t == p })
	return found
}

// pick gives the fields of the names, in order, as the schema spells them.
func pick(s *schema.Struct, names []string) (*schema.Struct, error) {
	if names == nil {
		return s, nil
	}
	out := &schema.Struct{}
	for _, name := range names {
		f, ok := s.Field(name)
		if !ok {
			return nil, unknownColumn(s, name)
		}
		out.Fields = append(out.Fields, *f)
	}
	return out, nil
}
