package deltaio

import (
	"encoding/json"
	"maps"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// assignMapping gives every field that has none an id above maxID and a physical
// name of its own, nested fields included. It returns the new maximum.
func assignMapping(sc *schema.Struct, maxID int64, newID func() string) (*schema.Struct, int64) {
	walkFields(sc, func(f *schema.Field) {
		if id, ok := f.ColumnID(); ok {
			maxID = max(maxID, int64(id))
		}
	})
	out := mapFields(sc, func(f schema.Field) schema.Field {
		f.Metadata = maps.Clone(f.Metadata)
		if f.Metadata == nil {
			f.Metadata = map[string]json.RawMessage{}
		}
		if _, ok := f.ColumnID(); !ok {
			maxID++
			f.Metadata[schema.KeyColumnID] = jsonOf(maxID)
		}
		if _, ok := f.MetaString(schema.KeyPhysicalName); !ok {
			f.Metadata[schema.KeyPhysicalName] = jsonOf("col-" + newID())
		}
		return f
	})
	return out, maxID
}

// jsonOf encodes a string or a number, which cannot fail.
func jsonOf(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
