package deltaio

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

// align gives a batch all columns of the schema, in its order: by name, in the
// schema's types, absent ones generated, defaulted or null. It refuses columns
// that the table lacks: dropping them would lose data. The caller releases it.
func (s *Snapshot) align(rec arrow.Record) (arrow.Record, error) {
	want, err := schema.ArrowSchema(s.schema)
	if err != nil {
		return nil, err
	}
	given, err := s.matchColumns(rec)
	if err != nil {
		return nil, err
	}
	cols := make([]arrow.Array, len(s.schema.Fields))
	defer func() {
		for _, c := range cols {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i, at := range given {
		if at < 0 {
			cols[i] = array.MakeArrayOfNull(memory.DefaultAllocator, want.Field(i).Type, int(rec.NumRows()))
			continue
		}
		if cols[i], err = retyped(rec.Column(at), want.Field(i).Type); err != nil {
			return nil, fmt.Errorf("column %s: %w", s.schema.Fields[i].Name, err)
		}
	}
	base := array.NewRecord(want, cols, rec.NumRows())
	defer base.Release()
	return s.fillAbsent(base, given)
}

// matchColumns finds for each field of the schema the batch's column, -1 for
// none.
func (s *Snapshot) matchColumns(rec arrow.Record) ([]int, error) {
	given := make([]int, len(s.schema.Fields))
	for i := range given {
		given[i] = -1
	}
	for at, f := range rec.Schema().Fields() {
		field, ok := s.schema.Field(f.Name)
		if !ok {
			return nil, unknownColumn(s.schema, f.Name)
		}
		i := slices.IndexFunc(s.schema.Fields, func(x schema.Field) bool { return x.Name == field.Name })
		if given[i] >= 0 {
			return nil, fmt.Errorf("column %s appears twice in the batch", field.Name)
		}
		given[i] = at
	}
	for i, f := range s.schema.Fields {
		if _, identity := f.Metadata[schema.KeyIdentityStart]; identity && given[i] < 0 && s.supports("identityColumns") {
			return nil, fmt.Errorf("column %s is an identity column, whose values this program does not draw: bring it in the batch", f.Name)
		}
	}
	return given, nil
}

// fillAbsent computes generated columns and defaults for the columns the batch
// did not bring.
func (s *Snapshot) fillAbsent(rec arrow.Record, given []int) (arrow.Record, error) {
	out := rec
	out.Retain()
	// Defaults first: generated columns may read them.
	for _, kind := range []constraintKind{kindDefault, kindGenerated} {
		for _, c := range s.constraints() {
			i := slices.IndexFunc(s.schema.Fields, func(f schema.Field) bool { return f.Name == c.name })
			if c.kind != kind || i < 0 || given[i] >= 0 {
				continue
			}
			next, err := computed(out, &c, i)
			out.Release()
			if err != nil {
				return nil, fmt.Errorf("%s: %w; bring the column in the batch", &c, err)
			}
			out = next
		}
	}
	return out, nil
}

func computed(rec arrow.Record, c *constraint, i int) (arrow.Record, error) {
	value := c.value
	if c.kind == kindDefault {
		value = c.bound
	}
	if c.err != nil {
		return nil, c.err
	}
	col, err := value.Eval(rec)
	if err != nil {
		return nil, err
	}
	defer col.Release()
	typed, err := retyped(col, rec.Schema().Field(i).Type)
	if err != nil {
		return nil, err
	}
	defer typed.Release()
	return rec.SetColumn(i, typed)
}

// retyped gives an array the wanted type where only names of nested members,
// nullability flags or the spelling of UTC differ. Other types are refused: a
// cast could change values, and that is the caller's decision.
func retyped(col arrow.Array, want arrow.DataType) (arrow.Array, error) {
	if arrow.TypeEqual(col.DataType(), want) {
		col.Retain()
		return col, nil
	}
	if !sameLayout(col.DataType(), want) {
		return nil, fmt.Errorf("the batch has %s, the table %s", col.DataType(), want)
	}
	data := retypedData(col.Data(), want)
	defer data.Release()
	return array.MakeFromData(data), nil
}

func retypedData(d arrow.ArrayData, want arrow.DataType) arrow.ArrayData {
	nested, ok := want.(arrow.NestedType)
	if !ok {
		return array.NewData(want, d.Len(), d.Buffers(), nil, d.NullN(), d.Offset())
	}
	children := make([]arrow.ArrayData, len(d.Children()))
	for i, c := range d.Children() {
		children[i] = retypedData(c, nested.Fields()[i].Type)
		defer children[i].Release()
	}
	return array.NewData(want, d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
}

func sameLayout(a, b arrow.DataType) bool {
	if a.ID() != b.ID() {
		return false
	}
	if ta, ok := a.(*arrow.TimestampType); ok {
		tb := b.(*arrow.TimestampType)
		return ta.Unit == tb.Unit && (ta.TimeZone == "") == (tb.TimeZone == "")
	}
	na, ok := a.(arrow.NestedType)
	if !ok {
		return arrow.TypeEqual(a, b)
	}
	fa, fb := na.Fields(), b.(arrow.NestedType).Fields()
	_, isStruct := a.(*arrow.StructType)
	return slices.EqualFunc(fa, fb, func(x, y arrow.Field) bool {
		return sameLayout(x.Type, y.Type) && (!isStruct || strings.EqualFold(x.Name, y.Name))
	})
}
