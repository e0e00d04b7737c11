package spec

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"
)

func silverExample(t *testing.T, name string) SilverTable {
	t.Helper()
	text, err := os.ReadFile("../examples/" + name)
	require.NoError(t, err)
	s, err := ParseSilverTable(text)
	require.NoError(t, err)
	require.Empty(t, s.Validate(time.LoadLocation))
	return s.Defaults()
}

func TestSilverTable_the_examples_read_as_they_are_meant(t *testing.T) {
	t.Parallel()
	v := silverExample(t, "ventas.yaml")
	require.Equal(t, []string{"", "NULL"}, v.Sources[0].Options.NullValues)
	require.Equal(t, IncrementalFiles, v.Sources[0].Incremental)
	require.Equal(t, Scalar("0"), v.Columns[6].Default)
	require.Equal(t, "Europe/Madrid", v.Columns[4].Timezone)
	require.Equal(t, DSTReject, v.Columns[4].DST)

	c := silverExample(t, "clientes.yaml")
	require.Equal(t, ValueMap{{"ESP", "ES"}, {"ESPAÑA", "ES"}, {"SPAIN", "ES"}}, c.Columns[2].Values)
	crm, erp := c.Columns[4].ForSource(c.Sources[0]), c.Columns[4].ForSource(c.Sources[1])
	require.Equal(t, "updated_at", crm.From)
	require.Equal(t, []string{"yyyy-MM-dd'T'HH:mm:ssXXX"}, crm.Format)
	require.Equal(t, "F_MOD", erp.From)
	require.Equal(t, []string{"dd/MM/yyyy HH:mm"}, erp.Format)
	require.Equal(t, "Europe/Madrid", erp.Timezone)
	require.Equal(t, 1950, *c.Columns[3].ForSource(c.Sources[1]).TwoDigitYearBase)
	require.Equal(t, c, c.Defaults())
	require.Equal(t, v, v.Defaults())
}

func TestSilverTable_survives_each_form(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ventas.yaml", "clientes.yaml"} {
		text, err := os.ReadFile("../examples/" + name)
		require.NoError(t, err)
		s, err := ParseSilverTable(text)
		require.NoError(t, err)
		asJSON, err := JSON(s)
		require.NoError(t, err)
		var decoded SilverTable
		require.NoError(t, json.Unmarshal(asJSON, &decoded))
		require.Equal(t, s, decoded)
		asYAML, err := YAML(s)
		require.NoError(t, err)
		back, err := ParseSilverTable(asYAML)
		require.NoError(t, err)
		require.Equal(t, s.Columns, back.Columns)
	}
}

func TestSilverTable_each_mistake_names_its_key_and_a_right_form(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, new, path, want string }{
		"no key":              {"keys: [ID_Venta]\n", "", "keys", "without a key"},
		"no sequence":         {"sequence_by: [Fecha_Modificacion]\n", "", "sequence_by", "chance"},
		"unknown key":         {"keys: [ID_Venta]", "keys: [ID_Vent]", "keys[0]", "did you mean ID_Venta?"},
		"key in sequence":     {"sequence_by: [Fecha_Modificacion]", "sequence_by: [ID_Venta]", "sequence_by[0]", "orders nothing"},
		"unknown type":        {"type: string, required: true", "type: strnig, required: true", "columns[0].type", "there are string"},
		"decimal":             {"decimal(18,2)", "decimal(18)", "columns[5].type", "decimal(18,2)"},
		"wide decimal":        {"decimal(18,2)", "decimal(39,2)", "columns[5].type", "1 to 38"},
		"two columns":         {"name: Cliente,", "name: id_cliente,", "columns[2].name", "two columns"},
		"own name":            {"name: Cliente,", "name: _Cliente,", "columns[2].name", "lakewarden's own"},
		"never matches":       {`"dd/MM/yyyy"`, `"dd/MM"`, "columns[3].format[0]", "needs year"},
		"same field twice":    {`"dd/MM/yyyy"`, `"dd/dd/yyyy"`, "columns[3].format[0]", "same field twice"},
		"time in a date":      {`"dd/MM/yyyy"`, `"dd/MM/yyyy HH"`, "columns[3].format[0]", "would be lost"},
		"month names":         {`"dd/MM/yyyy"`, `"dd/MMM/yyyy"`, "columns[3].format[0]", "language"},
		"zone":                {"timezone: Europe/Madrid", "timezone: Europe/Madird", "columns[4].timezone", "time zone database"},
		"same signs":          {`grouping: "."`, `grouping: ","`, "columns[5].grouping", "same sign"},
		"clean":               {"[trim, upper]}\n  - {name: Cliente", "[trimm]}\n  - {name: Cliente", "columns[1].clean[0]", "allowed: fix_encoding"},
		"expr and clean":      {`expr: "Fecha_Venta"`, `expr: "Fecha_Venta", clean: [trim]`, "columns[7].clean", "computed"},
		"rule severity":       {"severity: warn", "severity: error", "expectations[1].severity", "allowed: warn"},
		"two rules":           {"fecha_no_futura", "importe_no_negativo", "expectations[1].name", "two rules"},
		"share":               {"max_quarantined: 5%", "max_quarantined: 500%", "limits.max_quarantined", "out of range"},
		"partition":           {"partition_by: [dt]", "partition_by: [dy]", "target.partition_by[0]", "did you mean dt?"},
		"same table":          {"quarantine: {table: silver.ventas_quarantine", "quarantine: {table: silver.ventas", "quarantine.table", "already the target.table"},
		"vacuum floor":        {"retention: 168h", "retention: 1h", "maintenance.vacuum.retention", "floor"},
		"table of files":      {"path: Files/bronze/ventas/*.csv", "table: bronze.ventas", "sources[0].path", "missing"},
		"cdf of files":        {"incremental: files", "incremental: cdf", "sources[0].incremental", "Delta tables"},
		"delimiter":           {`delimiter: ";"`, `delimiter: ";;"`, "sources[0].options.delimiter", "one ASCII character"},
		"hold_key is refused": {"limits:", "on_invalid_newest: hold_key\nlimits:", "on_invalid_newest", "not handled"},
		"add is refused":      {"limits:", "schema_drift: {new_columns: add}\nlimits:", "schema_drift.new_columns", "not handled"},
		"typing error":        {"sequence_by:", "sequence_bye:", "sequence_bye", "did you mean sequence_by?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile("../examples/ventas.yaml")
			require.NoError(t, err)
			require.Contains(t, string(text), c.old)
			_, problems := Check([]byte(strings.Replace(string(text), c.old, c.new, 1)), time.LoadLocation)
			require.NotEmpty(t, problems)
			found := false
			for _, p := range problems {
				found = found || p.Path == c.path && strings.Contains(p.String(), c.want)
			}
			require.True(t, found, problems.Error())
		})
	}
	empty := SilverTable{}.Validate(nil)
	require.Len(t, empty, 1)
	require.Equal(t, ExampleSilverTable(), empty[0].Example)
}

func TestSilverSchema_is_what_the_types_say(t *testing.T) {
	t.Parallel()
	s := reflected(t, SilverTable{}, "silver-table", "lakewarden Silver table", describeSilver)
	golden(t, "schema/silver-table.schema.json", encoded(t, s))
}

func describeSilver(s *jsonschema.Schema, path string) bool {
	k, ok := silverKeys.find(path)
	switch {
	case !ok:
	case strings.HasSuffix(path, ".values"):
		*s = jsonschema.Schema{Type: "object", Description: s.Description, AdditionalProperties: &jsonschema.Schema{Type: "string"}}
		return true
	case strings.HasSuffix(path, ".default"):
		s.Type, s.OneOf = "", []*jsonschema.Schema{{Type: "number"}, {Type: "string"}, {Type: "boolean"}}
	default:
		describe(s, k)
	}
	return false
}

func TestSilverSchema_accepts_what_is_valid_and_underlines_what_is_not(t *testing.T) {
	t.Parallel()
	s := compiled(t, SilverSchema())
	require.NoError(t, s.Validate(instance(t, []byte(ExampleSilverTable()))))
	for _, name := range []string{"ventas.yaml", "clientes.yaml"} {
		data, err := os.ReadFile(filepath.Join("../examples", name))
		require.NoError(t, err)
		require.NoError(t, s.Validate(instance(t, data)), name)
	}
	for _, change := range [][2]string{{"format: csv", "format: xls"}, {"keys: [ID_Venta]", "keyss: [ID_Venta]"}, {"keys: [ID_Venta]\n", ""}, {"severity: quarantine", "severity: error"}} {
		require.Error(t, s.Validate(instance(t, []byte(strings.Replace(ExampleSilverTable(), change[0], change[1], 1)))), change[1])
	}
}

func TestSilverKeys_every_key_has_a_right_value(t *testing.T) {
	t.Parallel()
	paths := pathsOf(reflect.TypeFor[SilverTable](), "")
	for _, path := range paths {
		if !strings.Contains(path, ".values.") {
			require.NotEmpty(t, silverKeys[path].example, path)
		}
	}
}
