package deltaio

import (
	"encoding/json"
	"fmt"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

func never(why, do string) rule {
	return func(*Snapshot) *answer { return &answer{why, do} }
}

func when(active func(*Snapshot) bool, why, do string) rule {
	return func(s *Snapshot) *answer {
		if !active(s) {
			return nil
		}
		return &answer{why, do}
	}
}

// constraintsUnderstood refuses appends where an expression of the kind is
// present and package expr cannot read it: skipping it would let bad rows in.
func constraintsUnderstood(kind constraintKind) rule {
	return func(s *Snapshot) *answer {
		for _, c := range s.constraints() {
			if c.kind == kind && c.err != nil {
				return &answer{fmt.Sprintf("%s: %v", c.name, c.err), "append with the engine that defined the expression"}
			}
		}
		return nil
	}
}

func mappingUnderstood(s *Snapshot) *answer {
	switch mode, _ := s.Property(propMappingMode); mode {
	case "", mappingNone, mappingName, mappingID:
		return nil
	default:
		return &answer{fmt.Sprintf("%s = %q is not a known mode", propMappingMode, mode), "upgrade lakewarden"}
	}
}

func identityExplicit(s *Snapshot) *answer {
	for _, f := range s.schema.Fields {
		if _, ok := f.Metadata[schema.KeyIdentityStart]; !ok {
			continue
		}
		var explicit bool
		raw, ok := f.Metadata["delta.identity.allowExplicitInsert"]
		if !ok || json.Unmarshal(raw, &explicit) != nil || !explicit {
			return &answer{"column " + f.Name + " is GENERATED ALWAYS AS IDENTITY, whose values this program does not draw", "append with Spark"}
		}
	}
	return nil
}

func hasVariant(s *Snapshot) *answer {
	for _, f := range s.schema.Fields {
		if containsType(f.Type, schema.Variant) {
			return &answer{"column " + f.Name + " holds variants", "use an engine that writes variants"}
		}
	}
	return nil
}

// typeChange is an entry of delta.typeChanges; a type is a name or a nested
// type's JSON.
type typeChange struct {
	From json.RawMessage `json:"fromType"`
	To   json.RawMessage `json:"toType"`
}

// wideningUnderstood fails on a recorded type change outside the protocol's
// list, as readers must.
func wideningUnderstood(s *Snapshot) *answer {
	var bad *answer
	walkFields(s.schema, func(f *schema.Field) {
		raw, ok := f.Metadata[schema.KeyTypeChanges]
		if !ok || bad != nil {
			return
		}
		var changes []typeChange
		if err := json.Unmarshal(raw, &changes); err != nil {
			bad = &answer{fmt.Sprintf("column %s: %s: %v", f.Name, schema.KeyTypeChanges, err), "repair the column's metadata"}
			return
		}
		for _, c := range changes {
			if !widens(c) {
				bad = &answer{fmt.Sprintf("column %s changed from %s to %s, which is not supported", f.Name, c.From, c.To), "rewrite the table with the engine that changed the type"}
				return
			}
		}
	})
	return bad
}

func widens(c typeChange) bool {
	from, err1 := parseTypeName(c.From)
	to, err2 := parseTypeName(c.To)
	if err1 != nil || err2 != nil {
		return false
	}
	rank := map[schema.Type]int{schema.Byte: 1, schema.Short: 2, schema.Integer: 3, schema.Long: 4}
	f, fromInt := rank[from]
	t, toInt := rank[to]
	toDec, toIsDec := to.(schema.Decimal)
	fromDec, fromIsDec := from.(schema.Decimal)
	switch {
	case fromInt && toInt:
		return f < t
	case fromInt && to == schema.Double:
		return f < 4
	case from == schema.Float && to == schema.Double, from == schema.Date && to == schema.TimestampNTZ:
		return true
	case fromIsDec && toIsDec:
		return toDec.Scale >= fromDec.Scale && toDec.Precision-fromDec.Precision >= toDec.Scale-fromDec.Scale
	case fromInt && toIsDec:
		// The protocol asks for 10 digits from every type below long; the preview
		// let bytes and shorts become narrower decimals that still hold them.
		digits := [...]int{1: 3, 2: 5, 3: 10, 4: 20}[f]
		return toDec.Precision-toDec.Scale >= digits
	}
	return false
}

func parseTypeName(raw json.RawMessage) (schema.Type, error) {
	s, err := schema.Parse(`{"type":"struct","fields":[{"name":"x","type":` + string(raw) + `,"nullable":true,"metadata":{}}]}`)
	if err != nil {
		return nil, err
	}
	return s.Fields[0].Type, nil
}
