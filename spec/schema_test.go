package spec

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/invopop/jsonschema"
	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the generated schema and examples")

const schemaFile = "schema/retention-policy.schema.json"

func TestSchema_is_what_the_types_say(t *testing.T) {
	t.Parallel()
	golden(t, schemaFile, generate(t))
}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "out of date; run: go test ./spec -update")
}

// generate reflects the types, describes keys by their comments, and adds what
// the key table knows.
func generate(t *testing.T) []byte {
	t.Helper()
	defaults := defaultsByPath(t)
	s := reflected(t, RetentionPolicy{}, "retention-policy", "lakewarden retention policy", func(s *jsonschema.Schema, path string) bool {
		if k, ok := policyKeys[path]; ok {
			describe(s, k)
			s.Default = defaults[path]
		}
		return false
	})
	require.NoError(t, json.Unmarshal([]byte(`[{"required":["days"]},{"required":["months"]},{"required":["years"]},{"required":["until"]}]`),
		&property(t, s, "criteria.older_than").OneOf))
	archive := property(t, s, "archive")
	require.NoError(t, json.Unmarshal([]byte(`{"properties":{"table":{"const":"none"}}}`), &archive.If))
	require.NoError(t, json.Unmarshal([]byte(`{"required":["reason"]}`), &archive.Then))
	require.NoError(t, json.Unmarshal([]byte(`{"properties":{"reason":false}}`), &archive.Else))

	return encoded(t, s)
}

// reflected draws a schema from a type and its comments; known adds what the key
// table knows of each path.
func reflected(t *testing.T, doc any, name, title string, known func(s *jsonschema.Schema, path string) (whole bool)) *jsonschema.Schema {
	t.Helper()
	r := &jsonschema.Reflector{DoNotReference: true}
	require.NoError(t, r.AddGoComments("github.com/lakewarden/lakewarden/spec", "."))
	s := r.Reflect(doc)
	s.ID = jsonschema.ID("https://github.com/lakewarden/lakewarden/spec/schema/" + name + ".schema.json")
	s.Title = title
	enrich(s, "", known)
	return s
}

func encoded(t *testing.T, s *jsonschema.Schema) []byte {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	require.NoError(t, enc.Encode(s))
	return out.Bytes()
}

func property(t *testing.T, s *jsonschema.Schema, path string) *jsonschema.Schema {
	t.Helper()
	for _, name := range strings.Split(path, ".") {
		p, ok := s.Properties.Get(name)
		require.True(t, ok, path)
		s = p
	}
	return s
}

// enrich walks a schema: what known says of a path counts, and where it says that
// this is the whole, nothing below is looked at. Objects are not empty.
func enrich(s *jsonschema.Schema, path string, known func(s *jsonschema.Schema, path string) (whole bool)) {
	s.Description = strings.Join(strings.Fields(s.Description), " ")
	if known(s, path) {
		return
	}
	below := s.Properties
	if s.Type == "array" && s.Items != nil && s.Items.Properties != nil {
		s.UniqueItems = false
		below = s.Items.Properties
	}
	if s.Properties != nil {
		one := uint64(1)
		s.MinProperties = &one
	}
	if below == nil {
		return
	}
	for p := below.Oldest(); p != nil; p = p.Next() {
		enrich(p.Value, join(path, p.Key), known)
	}
}

// describe adds allowed values, forms and right values.
func describe(s *jsonschema.Schema, k key) {
	one := uint64(1)
	value := s
	if s.Type == "array" {
		s.MinItems, s.UniqueItems = &one, true
		value = s.Items
	}
	value.Pattern = k.pattern
	for _, e := range k.enum {
		value.Enum = append(value.Enum, e)
	}
	if s.Type == "integer" || s.Type == "number" {
		s.Minimum = "1"
	}
	var example any
	if yaml.Unmarshal([]byte(k.example), &example) == nil && !strings.Contains(k.example, "} or {") {
		s.Examples = []any{example}
	}
}

// defaultsByPath is what Defaults adds to the example, by path.
func defaultsByPath(t *testing.T) map[string]any {
	t.Helper()
	p, err := Parse([]byte(Example()))
	require.NoError(t, err)
	written, full := flatten(t, p), flatten(t, p.Defaults())
	for path := range written {
		delete(full, path)
	}
	return full
}

func flatten(t *testing.T, v any) map[string]any {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	var tree map[string]any
	require.NoError(t, json.Unmarshal(data, &tree))
	out := map[string]any{}
	var walk func(prefix string, m map[string]any)
	walk = func(prefix string, m map[string]any) {
		for k, v := range m {
			if inner, ok := v.(map[string]any); ok {
				walk(join(prefix, k), inner)
				continue
			}
			out[join(prefix, k)] = v
		}
	}
	walk("", tree)
	return out
}

func compiled(t *testing.T, text []byte) *santhosh.Schema {
	t.Helper()
	doc, err := santhosh.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := santhosh.NewCompiler()
	require.NoError(t, c.AddResource("schema.json", doc))
	s, err := c.Compile("schema.json")
	require.NoError(t, err)
	return s
}

// instance is a text as editors see it.
func instance(t *testing.T, text []byte) any {
	t.Helper()
	data, err := yaml.YAMLToJSON(text)
	require.NoError(t, err)
	v, err := santhosh.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	return v
}

func TestSchema_accepts_every_example(t *testing.T) {
	t.Parallel()
	s := compiled(t, PolicySchema())
	require.NoError(t, s.Validate(instance(t, []byte(Example()))))
	require.NoError(t, s.Validate(instance(t, []byte(everything))))
	files, err := filepath.Glob("../examples/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		if !bytes.Contains(data, []byte("kind: RetentionPolicy\n")) || bytes.Contains(data, []byte("kind: PurgeLakehouse\n")) {
			continue
		}
		require.NoError(t, s.Validate(instance(t, data)), file)
	}
}

func TestSchema_refuses_what_an_editor_should_underline(t *testing.T) {
	t.Parallel()
	s := compiled(t, PolicySchema())
	for name, change := range map[string][2]string{
		"unknown key":            {"owner: sales-data", "ownr: sales-data"},
		"unknown nested key":     {"days: 365", "dayz: 365"},
		"missing archive":        {"archive: {table: archive.vendas_expurgo}\n", ""},
		"two ages":               {"days: 365", "days: 365, years: 1"},
		"no age":                 {"days: 365, ", ""},
		"age of nothing":         {"days: 365", "days: 0"},
		"age as text":            {"days: 365", `days: "365"`},
		"unknown value":          {"days: 365", "days: 365, from: end_of_yaer"},
		"table without schema":   {"table: bronze.vendas", "table: vendas"},
		"none without reason":    {"archive.vendas_expurgo", "none"},
		"reason with a table":    {"archive.vendas_expurgo", `archive.vendas_expurgo, reason: "x"`},
		"duration without unit":  {"name: vendas-365d", "name: a\nvacuum: {retention: 168}"},
		"share as a number":      {"name: vendas-365d", "name: a\nlimits: {max_share_of_rows: 0.1}"},
		"address in the policy":  {"name: vendas-365d", "name: a\nnotify: {webhook: {url_env: \"https://example.org\", secret_env: LAKEWARDEN_S}}"},
		"empty section":          {"name: vendas-365d", "name: a\nhold: {}"},
		"empty list":             {"name: vendas-365d", "name: a\napproval: {on: plan, approvers: []}"},
		"other kind of document": {"kind: RetentionPolicy", "kind: SilverTable"},
	} {
		text := strings.Replace(Example(), change[0], change[1], 1)
		require.NotEqual(t, Example(), text, name)
		require.Error(t, s.Validate(instance(t, []byte(text))), name)
		_, problems := Check([]byte(text), nil)
		require.NotEmpty(t, problems, "%s: the schema is stricter than the validator", name)
	}
}

func TestKeys_every_key_of_every_type_has_a_right_value(t *testing.T) {
	t.Parallel()
	for kind, doc := range map[string]any{KindPartitionCheck: PartitionCheck{}, KindRetentionPolicy: RetentionPolicy{}, KindPurgeLakehouse: PurgeLakehouse{}, KindRestoreRequest: RestoreRequest{}} {
		paths := pathsOf(reflect.TypeOf(doc), "")
		for _, path := range paths {
			if strings.HasPrefix(path, "policies.") {
				continue // the policy's own
			}
			require.NotEmpty(t, documents[kind].keys[path].example, "%s: %s", kind, path)
		}
		for path := range documents[kind].keys {
			require.Contains(t, paths, path, "%s: a key that does not exist", kind)
		}
	}
}

func pathsOf(t reflect.Type, prefix string) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var out []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out = append(out, join(prefix, name))
		out = append(out, pathsOf(t.Field(i).Type, join(prefix, name))...)
	}
	return out
}
