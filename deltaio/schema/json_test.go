package schema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/lakewarden/lakewarden/deltaio/schema"
)

func TestParse_nested_schema_with_unknown_metadata_survives_a_round_trip(t *testing.T) {
	t.Parallel()
	in := `{"type":"struct","fields":[` +
		`{"name":"id","type":"long","nullable":false,"metadata":{"delta.columnMapping.id":7,"x":{"y":1}}},` +
		`{"name":"d","type":"decimal(18,2)","nullable":true,"metadata":{}},` +
		`{"name":"a","type":{"type":"array","elementType":{"type":"struct","fields":[{"name":"k","type":"date","nullable":true,"metadata":{}}]},"containsNull":true},"nullable":true,"metadata":{}},` +
		`{"name":"m","type":{"type":"map","keyType":"string","valueType":"timestamp_ntz","valueContainsNull":false},"nullable":true,"metadata":{}}]}`
	s, err := schema.Parse(in)
	require.NoError(t, err)
	require.JSONEq(t, in, s.JSON())
	id, ok := s.Fields[0].ColumnID()
	require.True(t, ok)
	require.EqualValues(t, 7, id)
	_, err = schema.ArrowSchema(s)
	require.NoError(t, err)
}

func TestParse_unknown_type_is_refused_with_the_column(t *testing.T) {
	t.Parallel()
	_, err := schema.Parse(`{"type":"struct","fields":[{"name":"g","type":"geometry","nullable":true,"metadata":{}}]}`)
	require.ErrorContains(t, err, "schema.g")
	require.ErrorContains(t, err, "geometry")
}

func TestParse_decimal_out_of_range_is_refused(t *testing.T) {
	t.Parallel()
	for _, d := range []string{"decimal(39,2)", "decimal(0,0)", "decimal(5,6)", "decimal(5,-1)"} {
		_, err := schema.Parse(`{"type":"struct","fields":[{"name":"g","type":"` + d + `","nullable":true,"metadata":{}}]}`)
		require.ErrorContains(t, err, "out of range", d)
	}
}
